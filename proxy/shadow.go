package proxy

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/pgerr"
)

// shadowName is the name at home of the statement that stands for those that engines run: a utility, which home does not
// look into before it is executed, and it never is.
const shadowName = ownPrefix + "shadow"

const shadowSQL = "RESET ROLE"

// bindShadow makes a portal at home that has the name of the portal of ours that m asks for, so that home knows the names
// that are taken and which portals end with a subtransaction.
func (s *Session) bindShadow(ctx context.Context, p *prepared, m *pgproto3.Bind) error {
	var d request
	if _, err := s.describeBound(ctx, d.describe('S', m.PreparedStatement), p.statement, m); err != nil {
		return err
	}
	var r request
	r.close('S', shadowName).parse(shadowName, withSource(shadowSQL, p.statement.Source), nil)
	return s.ask(ctx, r.bind(m.DestinationPortal, shadowName, nil), nil)
}

// needsShadow reports whether the life of a portal of this name depends on more than the session knows.
func (s *Session) needsShadow(name string) bool { return name != "" || s.hasSavepoints() }

// livesSQL finds a portal at home.
const livesSQL = "SELECT FROM pg_catalog.pg_cursors WHERE name OPERATOR(pg_catalog.=) $1"

// lives reports whether a portal of ours has not ended with a subtransaction. Home is ours.
func (s *Session) lives(name string) (bool, error) {
	if name == "" || !s.hasSavepoints() || s.home.state() == 'E' {
		return true, nil
	}
	rows, err := s.Query(s.ctx, livesSQL, name)
	return len(rows) > 0, err
}

// checkPortal complains of a portal of ours that cannot be executed or described: in a failed transaction block, or
// because it has ended with a subtransaction. Home is ours.
func (s *Session) checkPortal(name string, p *portal, execute bool) error {
	if s.home.state() == 'E' && (p.late == nil || !endsBlock(p.late.statement.Node.Stmt)) && (execute || p.fields != nil) {
		return aborted()
	}
	if !p.shadowed || !s.hasSavepoints() {
		return nil
	}
	var r request
	err := s.ask(s.ctx, r.describe('P', name), nil)
	if pe, ok := err.(*pgconn.PgError); ok && pe.Code == pgerr.InvalidCursorName {
		s.closePortal(name)
	}
	return err
}

// aborted is what home says to all but the end of a failed transaction block.
func aborted() error {
	return pgerr.New("25P02", "current transaction is aborted, commands ignored until end of transaction block")
}

// endsBlock reports whether a statement is allowed in a failed transaction block.
func endsBlock(n *pg_query.Node) bool { return n.GetTransactionStmt() != nil }
