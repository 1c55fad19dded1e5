package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
)

// equals are the columns of a query with grouping sets that a condition says to be equal to something. Home may take one
// for another, or for a constant, and not sort by it nor tell rows apart by it, though some sets have NULL in its place:
// Postgres up to 17 does.
type equals struct {
	names map[string]bool
	any   bool // there may be more
}

// equalsOf returns them, nil for a query without grouping sets.
func (s *shipper) equalsOf(q *pg_query.SelectStmt, e *scope) *equals {
	sets := false
	for _, n := range q.GroupClause {
		sets = sets || n.GetGroupingSet() != nil
	}
	if !sets {
		return nil
	}
	eq := &equals{names: map[string]bool{}}
	for _, n := range append([]*pg_query.Node{q.WhereClause}, q.FromClause...) {
		if n != nil {
			parser.Walk(n, func(m proto.Message) bool { eq.note(m, e); return true })
		}
	}
	return eq
}

// note takes in what stands in WHERE and FROM.
func (eq *equals) note(m proto.Message, e *scope) {
	switch m := m.(type) {
	case *pg_query.A_Expr:
		if name := lastName(m.Name); name == "=" {
			eq.noteColumns(m)
		}
	case *pg_query.SubLink:
		eq.noteColumns(m.Testexpr)
	case *pg_query.JoinExpr:
		eq.any = eq.any || m.IsNatural
		for _, name := range texts(m.UsingClause) {
			eq.names[name] = true
		}
	case *pg_query.RangeSubselect:
		eq.any = true
	case *pg_query.RangeVar:
		_, table := e.cte(m.Relname)
		eq.any = eq.any || table && m.Schemaname == ""
	}
}

func (eq *equals) noteColumns(m proto.Message) {
	parser.Walk(m, func(m proto.Message) bool {
		if c, ok := m.(*pg_query.ColumnRef); ok {
			eq.names[lastName(c.Fields)] = true
		}
		return true
	})
}

// in reports whether a key is made of such a column.
func (eq *equals) in(key *pg_query.Node) (found bool) {
	if eq == nil {
		return false
	}
	parser.Walk(key, func(m proto.Message) bool {
		if c, ok := m.(*pg_query.ColumnRef); ok {
			found = found || eq.any || eq.names[lastName(c.Fields)]
		}
		return true
	})
	return found
}

// settled reports, and notes, that home may not tell rows apart by one of the keys. A key may name an entry of the select
// list; without keys, all its entries are.
func (s *shipper) settled(q *pg_query.SelectStmt, e *scope, columns []scopeColumn, keys ...*pg_query.Node) bool {
	if e.equals == nil {
		return false
	}
	list := keys
	if len(keys) == 0 {
		list = q.TargetList
	}
	for _, n := range list {
		if i := target(n, columns, e, true); i >= 0 {
			if n = nil; len(q.TargetList) == len(columns) {
				n = q.TargetList[i]
			}
		}
		if n == nil || e.equals.in(n) {
			s.no("rows of grouping sets are ordered at home by columns that a condition equates")
			return true
		}
	}
	return false
}
