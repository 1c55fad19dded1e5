package parser

import pg_query "github.com/pganalyze/pg_query_go/v6"

// Kind groups statements by what Sluice does with them.
type Kind int

// The kinds of statement. Utility is every one that has no kind of its own.
const (
	Utility Kind = iota
	Select       // SELECT, VALUES, TABLE, also WITH; not SELECT INTO
	Insert
	Update
	Delete
	Merge
	CreateTableAs // also SELECT INTO and CREATE MATERIALIZED VIEW
	CopyTo
	CopyFrom
	Truncate
	DeclareCursor
	Explain
	Prepare
	Execute
)

// Writes reports whether statements of the kind change rows, so that Postgres starts them at their first Execute.
func (k Kind) Writes() bool { return k == Insert || k == Update || k == Delete || k == Merge }

func kindOf(n *pg_query.Node) Kind {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_SelectStmt:
		if n.SelectStmt.IntoClause != nil {
			return CreateTableAs
		}
		return Select
	case *pg_query.Node_InsertStmt:
		return Insert
	case *pg_query.Node_UpdateStmt:
		return Update
	case *pg_query.Node_DeleteStmt:
		return Delete
	case *pg_query.Node_MergeStmt:
		return Merge
	case *pg_query.Node_CreateTableAsStmt:
		return CreateTableAs
	case *pg_query.Node_CopyStmt:
		if n.CopyStmt.IsFrom {
			return CopyFrom
		}
		return CopyTo
	case *pg_query.Node_TruncateStmt:
		return Truncate
	case *pg_query.Node_DeclareCursorStmt:
		return DeclareCursor
	case *pg_query.Node_ExplainStmt:
		return Explain
	case *pg_query.Node_PrepareStmt:
		return Prepare
	case *pg_query.Node_ExecuteStmt:
		return Execute
	}
	return Utility
}

// Plans reports whether home would plan the statement, and so needs a handler for each foreign table in it.
func Plans(s *Statement) bool {
	switch s.Kind {
	case Utility, Explain, Prepare, Execute:
		return false
	}
	return true
}
