package proxy

import (
	"github.com/jackc/pgx/v5/pgproto3"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// implicit is the transaction that the statements of one simple query share outside a transaction block. Postgres has it
// for its own simple queries only, so a block of home's stands for it while the statements run one by one.
type implicit struct {
	session *Session
	several bool // a single statement has none
	open    bool
}

// enter prepares for a statement. done says that it was transaction control that is carried out.
func (i *implicit) enter(st *parser.Statement) (done bool, err error) {
	t := st.Node.Stmt.GetTransactionStmt()
	switch {
	case i.open && t != nil:
		return i.control(t)
	case i.open || !i.several || t != nil || i.session.home.state() != 'I':
		return false, nil
	}
	_, err = i.session.Exec(i.session.ctx, "BEGIN")
	i.open = err == nil
	return false, err
}

// control carries out transaction control within the implicit transaction: BEGIN makes a block of it, COMMIT and ROLLBACK
// end it with a warning, which home gives when it is asked for once more.
func (i *implicit) control(t *pg_query.TransactionStmt) (done bool, err error) {
	s := i.session
	switch {
	case t.Kind == pg_query.TransactionStmtKind_TRANS_STMT_BEGIN, t.Kind == pg_query.TransactionStmtKind_TRANS_STMT_START:
		err := i.becomeBlock(t)
		i.open = err != nil
		return true, err
	case t.Kind == pg_query.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		return true, needsBlock("SAVEPOINT")
	case t.Kind == pg_query.TransactionStmtKind_TRANS_STMT_RELEASE:
		return true, needsBlock("RELEASE SAVEPOINT")
	case t.Kind == pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		return true, needsBlock("ROLLBACK TO SAVEPOINT")
	case t.Kind == pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK && t.Chain:
		return true, needsBlock("ROLLBACK AND CHAIN")
	case t.Kind == pg_query.TransactionStmtKind_TRANS_STMT_COMMIT && t.Chain:
		return true, needsBlock("COMMIT AND CHAIN")
	case t.Kind == pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		i.open = false
		s.undoWrite()
		_, err = s.Exec(s.ctx, "ROLLBACK")
		return false, err
	default:
		return false, i.commit()
	}
}

const noActiveTransaction = "25P01"

func needsBlock(what string) error {
	return pgerr.New(noActiveTransaction, "%s can only be used in transaction blocks", what)
}

// becomeBlock answers a BEGIN: the block is open already, with the transaction's default modes.
func (i *implicit) becomeBlock(t *pg_query.TransactionStmt) error {
	s := i.session
	if len(t.Options) > 0 {
		set := &pg_query.VariableSetStmt{Kind: pg_query.VariableSetKind_VAR_SET_MULTI, Name: "TRANSACTION", Args: t.Options}
		sql, err := parser.Deparse(&pg_query.RawStmt{Stmt: &pg_query.Node{Node: &pg_query.Node_VariableSetStmt{VariableSetStmt: set}}})
		if err != nil {
			return err
		}
		if _, err := s.Exec(s.ctx, sql); err != nil {
			return err
		}
	}
	tag := "BEGIN"
	if t.Kind == pg_query.TransactionStmtKind_TRANS_STMT_START {
		tag = "START TRANSACTION"
	}
	s.say(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	return s.flush()
}

// commit ends the transaction at the end of the simple query.
func (i *implicit) commit() error {
	if !i.open {
		return nil
	}
	i.open = false
	s := i.session
	if err := s.commitWrite(); err != nil {
		i.open = true // for abandon
		return err
	}
	_, err := s.Exec(s.ctx, "COMMIT")
	return err
}

// abandon rolls the transaction back after an error, which home has answered by skipping everything up to a Sync.
func (i *implicit) abandon() error {
	if !i.open {
		return nil
	}
	i.open = false
	s := i.session
	s.undoWrite()
	if err := s.syncHome(s.ctx); err != nil {
		return err
	}
	return s.queryHome("ROLLBACK") // not by a portal of ours: the failed transaction may still hold one of the name
}
