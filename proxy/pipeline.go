package proxy

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/proxy/wire"
)

// leavePipeline ends what home has begun for us alone: the client has executed nothing since its last Sync, so that to
// Postgres its Query or FunctionCall stands alone, while home takes what we have asked for the start of a pipeline. In one it
// refuses some commands, and from Postgres 18 on it neither commits behind a Query nor at the Sync that follows. A Query that
// begins a block, or that sets the isolation of the transaction, for which it is too late, goes on with it
// and its portals instead, and one that names portals is left to onQuery.
func (s *Session) leavePipeline(typ byte, size int) error {
	s.namesPortals = false
	if typ != 'Q' && typ != 'F' || !s.group || !s.home.pipelines() {
		return nil
	}
	if err := s.takeHome(); err != nil {
		return ignoreCopyIn(err)
	}
	s.settleTransaction()
	if s.hasExecuted() || s.home.failed() || s.home.inBlock() {
		return nil
	}
	if typ == 'Q' {
		frame, err := s.in.Frame(size)
		if err != nil {
			return err
		}
		text, _ := queryText(frame[wire.HeaderSize:])
		list, _ := s.parse(text)
		if s.namesPortals = anyOf(list, namesPortal); s.namesPortals || anyOf(list, goesOn) {
			return nil
		}
	}
	return s.syncHome(s.ctx)
}

// hasExecuted reports whether the client has executed anything in the transaction that its last Sync has left to begin.
// Home is ours.
func (s *Session) hasExecuted() bool { return s.executed || s.home.clientPipelines() }

func anyOf(list []*parser.Statement, is func(*pg_query.Node) bool) bool {
	for _, st := range list {
		if is(st.Node.Stmt) {
			return true
		}
	}
	return false
}

func goesOn(n *pg_query.Node) bool {
	switch n.GetTransactionStmt().GetKind() {
	case pg_query.TransactionStmtKind_TRANS_STMT_BEGIN, pg_query.TransactionStmtKind_TRANS_STMT_START:
		return true
	}
	for _, mode := range n.GetVariableSetStmt().GetArgs() {
		if mode.GetDefElem().GetDefname() == "transaction_isolation" {
			return n.GetVariableSetStmt().Name == "TRANSACTION"
		}
	}
	return false
}

func namesPortal(n *pg_query.Node) bool {
	return n.GetFetchStmt() != nil || n.GetClosePortalStmt() != nil
}
