package plan

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
)

// usedColumns is what a statement may use of its relations, by name alone: a superset, whatever the scopes are.
type usedColumns struct {
	names   map[string]bool // each name in a column reference or a USING list
	starred map[string]bool // each name whose columns are wanted all: t.*, or a row as a whole
	all     bool            // *, NATURAL
}

func columnsUsed(node *pg_query.RawStmt) usedColumns {
	u := usedColumns{names: map[string]bool{}, starred: map[string]bool{}}
	var joins []string // names of joins, whose columns are those of several relations
	parser.Walk(node, func(m proto.Message) bool {
		switch n := m.(type) {
		case *pg_query.ColumnRef:
			u.reference(n.Fields)
		case *pg_query.JoinExpr:
			joins = append(joins, n.GetAlias().GetAliasname(), n.GetJoinUsingAlias().GetAliasname())
			u.all = u.all || n.IsNatural
			for _, name := range n.UsingClause {
				u.names[name.GetString_().GetSval()] = true
			}
		}
		return true
	})
	u.all = u.all || slices.ContainsFunc(joins, func(name string) bool { return u.starred[name] })
	return u
}

func (u *usedColumns) reference(fields []*pg_query.Node) {
	last := len(fields) - 1
	switch {
	case fields[last].GetAStar() == nil:
		u.names[fields[last].GetString_().GetSval()] = true
		if last == 0 { // perhaps a row as a whole
			u.starred[fields[0].GetString_().GetSval()] = true
		}
	case last == 0:
		u.all = true
	default:
		u.starred[fields[last-1].GetString_().GetSval()] = true
	}
}

// columns returns the columns of a source that are shipped: those that the statement may use, or fewer where home has said
// which it does. There may be none then: only how many rows there are matters.
func (b *builder) columns(s *source) []int {
	columns := b.used.of(s)
	only, ok := b.req.Only[s.table.OID]
	if !ok || slices.Contains(only, catalog.WholeRow) {
		return columns
	}
	return slices.DeleteFunc(columns, func(c int) bool { return !slices.Contains(only, s.table.Columns[c].Num) })
}

// of returns the columns of a source that must be shipped, at least one.
func (u *usedColumns) of(s *source) []int {
	everything := u.all || u.starred[s.alias] || s.Var.GetAlias().GetColnames() != nil
	var columns []int
	cheapest := 0
	for i, c := range s.table.Columns {
		if everything || u.names[c.Name] {
			columns = append(columns, i)
		}
		if width(c.Type) < width(s.table.Columns[cheapest].Type) {
			cheapest = i
		}
	}
	if len(columns) == 0 && len(s.table.Columns) > 0 {
		columns = []int{cheapest}
	}
	return columns
}

// width orders types by what a value takes to ship.
func width(oid uint32) int {
	switch oid {
	case 16:
		return 1
	case 21:
		return 2
	case 23, 700, 1082:
		return 4
	case 20, 701, 1114, 1184:
		return 8
	}
	return 64
}
