package tally

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
)

// Rewrite returns a statement with queries in it that read counters; false where none can. counted finds the tables of a bare name
// whose rows are counted.
func Rewrite(st *parser.Statement, counted func(name string) []*catalog.Counted) (string, bool) {
	clone := st.Clone()
	top := queried(clone.Node.Stmt)
	if top == nil {
		return "", false
	}
	relations := map[*pg_query.RangeVar]bool{}
	for _, r := range clone.Relations() {
		relations[r.Var] = true
	}
	var list []*query
	kept := false // it locks rows, or creates a table where Postgres refuses that
	parser.Walk(clone.Node, func(m proto.Message) bool {
		if s, ok := m.(*pg_query.SelectStmt); ok {
			kept = kept || len(s.LockingClause) > 0 || s.IntoClause != nil && s != top.GetSelectStmt()
			if q := queryOf(s, relations, counted); q != nil {
				list = append(list, q)
			}
		}
		return true
	})
	if len(list) == 0 || kept || !scrolls(clone.Node.Stmt, list) {
		return "", false
	}
	for _, q := range list {
		if err := q.rewrite(); err != nil {
			return "", false
		}
	}
	sql, err := parser.Deparse(clone.Node)
	return sql, err == nil
}

// queried returns what home plans of a statement: itself, or what it explains, prepares, copies, fetches from or fills a table with. It
// is nil where home plans nothing, or keeps the text: as of a view.
func queried(n *pg_query.Node) *pg_query.Node {
	switch x := n.GetNode().(type) {
	case *pg_query.Node_SelectStmt:
		if isOurs(x.SelectStmt.IntoClause) {
			return nil
		}
		return n
	case *pg_query.Node_InsertStmt, *pg_query.Node_UpdateStmt, *pg_query.Node_DeleteStmt, *pg_query.Node_MergeStmt:
		return n
	case *pg_query.Node_ExplainStmt:
		return queried(x.ExplainStmt.Query)
	case *pg_query.Node_PrepareStmt:
		return queried(x.PrepareStmt.Query)
	case *pg_query.Node_DeclareCursorStmt:
		return queried(x.DeclareCursorStmt.Query)
	case *pg_query.Node_CopyStmt:
		return queried(x.CopyStmt.Query)
	case *pg_query.Node_CreateTableAsStmt:
		if x.CreateTableAsStmt.Objtype == pg_query.ObjectType_OBJECT_TABLE && !isOurs(x.CreateTableAsStmt.Into) {
			return queried(x.CreateTableAsStmt.Query)
		}
	}
	return nil
}

// isOurs reports whether a table is a handle, which is made from the text of its query.
func isOurs(into *pg_query.IntoClause) bool {
	return into.GetRel().GetSchemaname() == "sluice_handle"
}

const (
	scroll   = 1 << 1 // CURSOR_OPT_SCROLL
	noScroll = 1 << 2 // CURSOR_OPT_NO_SCROLL
)

// scrolls has a cursor scroll backward as it would without counters, which is what the plan makes of it where the cursor does not say, and
// reports false where that cannot be known. A cursor may be fetched from under another role than it was declared by.
func scrolls(n *pg_query.Node, list []*query) bool {
	if e := n.GetExplainStmt(); e != nil {
		n = e.Query
	}
	c := n.GetDeclareCursorStmt()
	if c == nil {
		return true
	}
	within := map[*pg_query.SelectStmt]bool{}
	parser.Walk(c, func(m proto.Message) bool {
		if l, ok := m.(*pg_query.SubLink); ok {
			within[l.Subselect.GetSelectStmt()] = true
		}
		return true
	})
	top := c.Query.GetSelectStmt()
	for _, q := range list {
		q.cursor = true
		switch {
		case c.Options&(scroll|noScroll) != 0, within[q.SelectStmt]:
		case q.SelectStmt == top && len(q.SortClause) == 0: // an aggregate does not
			c.Options |= noScroll
		default:
			return false
		}
	}
	return true
}
