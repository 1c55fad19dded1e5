package plan

import (
	"fmt"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
)

// usedColumns is what a statement may use of each relation that it names, by name alone: a superset, where a name may mean
// columns of several relations.
type usedColumns struct {
	names   map[*pg_query.RangeVar]map[string]bool
	starred map[*pg_query.RangeVar]bool // all of its columns are wanted: *, t.*, NATURAL, or a row as a whole
	derived map[string]bool             // aliases of what is no relation, whose columns are selected within it
}

func columnsUsed(node *pg_query.RawStmt) usedColumns {
	u := usedColumns{names: map[*pg_query.RangeVar]map[string]bool{}, starred: map[*pg_query.RangeVar]bool{}, derived: map[string]bool{}}
	others := []string{"excluded", "old", "new"} // names whose columns are those of relations
	parser.Walk(node, func(m proto.Message) bool {
		switch n := m.(type) {
		case *pg_query.RangeSubselect:
			u.derived[n.GetAlias().GetAliasname()] = true
		case *pg_query.RangeFunction:
			u.derived[n.GetAlias().GetAliasname()] = true
		case *pg_query.JoinExpr:
			others = append(others, n.GetAlias().GetAliasname(), n.GetJoinUsingAlias().GetAliasname())
		}
		return true
	})
	for _, name := range others {
		delete(u.derived, name)
	}
	u.level(node, nil)
	return u
}

// level notes what one query level uses of its own relations and of those of the levels around it.
func (u *usedColumns) level(at proto.Message, outer []*pg_query.RangeVar) {
	var own []*pg_query.RangeVar
	parser.Walk(at, func(m proto.Message) bool {
		if v, ok := m.(*pg_query.RangeVar); ok {
			own = append(own, v)
		}
		_, inner := m.(*pg_query.SelectStmt)
		return !inner || m == at
	})
	visible := slices.Concat(own, outer)
	parser.Walk(at, func(m proto.Message) bool {
		switch n := m.(type) {
		case *pg_query.SelectStmt:
			if n != at {
				u.level(n, visible)
				return false
			}
		case *pg_query.ColumnRef:
			u.reference(n.Fields, own, visible)
		case *pg_query.JoinExpr:
			if n.IsNatural {
				u.star(own)
			}
			for _, name := range n.UsingClause {
				u.use(own, name.GetString_().GetSval())
			}
		}
		return true
	})
}

func (u *usedColumns) reference(fields []*pg_query.Node, own, visible []*pg_query.RangeVar) {
	last := len(fields) - 1
	name := fields[last].GetString_().GetSval()
	if last > 0 {
		alias := fields[last-1].GetString_().GetSval()
		named := aliased(visible, alias)
		switch {
		case len(named) > 0:
			visible = named
		case u.derived[alias]:
			return
		} // else it is a join's, or stands for a row that is written
	}
	switch {
	case fields[last].GetAStar() == nil:
		u.use(visible, name)
		if last == 0 { // perhaps a row as a whole
			u.star(aliased(visible, name))
		}
	case last == 0:
		u.star(own)
	default:
		u.star(visible)
	}
}

func aliased(list []*pg_query.RangeVar, alias string) (out []*pg_query.RangeVar) {
	for _, v := range list {
		if aliasOf(v) == alias {
			out = append(out, v)
		}
	}
	return out
}

func (u *usedColumns) use(list []*pg_query.RangeVar, name string) {
	for _, v := range list {
		if u.names[v] == nil {
			u.names[v] = map[string]bool{}
		}
		u.names[v][name] = true
	}
}

func (u *usedColumns) star(list []*pg_query.RangeVar) {
	for _, v := range list {
		u.starred[v] = true
	}
}

// share has sources that are read alike use the same columns: one input then serves them all.
func (b *builder) share(filters map[*pg_query.RangeVar]filter) {
	alike := map[string][]*pg_query.RangeVar{}
	for i := range b.sources {
		if s := &b.sources[i]; s.server != nil {
			f := filters[s.Var]
			key := fmt.Sprint(s.table.OID, s.role, s.body, f.sql, f.params)
			alike[key] = append(alike[key], s.Var)
		}
	}
	for _, vars := range alike {
		for _, v := range vars {
			for name := range b.used.names[v] {
				b.used.use(vars, name)
			}
			if b.used.starred[v] {
				b.used.star(vars)
			}
		}
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
	everything := u.starred[s.Var] || s.Var.GetAlias().GetColnames() != nil
	var columns []int
	cheapest := 0
	for i, c := range s.table.Columns {
		if everything || u.names[s.Var][c.Name] {
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
