package plan

import (
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

func (s *shipper) groupBy(q *pg_query.SelectStmt, e *scope, columns []scopeColumn) (string, bool) {
	if len(q.GroupClause) == 0 {
		return "", true
	}
	grouped := false // a condition on what groups have in common names it itself
	s.selected = &grouped
	defer func() { s.selected = nil }()
	var parts []string
	for _, n := range q.GroupClause {
		sql, ok := s.grouping(n, e, columns)
		if !ok {
			return "", false
		}
		parts = append(parts, sql)
	}
	if q.GroupDistinct {
		s.no("GROUP BY DISTINCT is evaluated at home")
		return "", false
	}
	return " GROUP BY " + strings.Join(parts, ", "), true
}

// grouping prints one entry of GROUP BY.
func (s *shipper) grouping(n *pg_query.Node, e *scope, columns []scopeColumn) (string, bool) {
	if set := n.GetGroupingSet(); set != nil {
		return s.groupingSet(set, e, columns)
	}
	if i := target(n, columns, e, false); i >= 0 {
		if s.quirky != nil { // to which a position is a number
			return columns[i].sql, s.groups(columns[i].typ)
		}
		return strconv.Itoa(i + 1), s.groups(columns[i].typ)
	}
	sql, t, ok := s.expression(n, e)
	return sql, ok && s.groups(t)
}

// groups reports whether an engine makes groups of values of a type as Postgres does, and notes why not.
func (s *shipper) groups(t typ) bool {
	if !t.Groupable() {
		s.unproven("grouping by %s, or under its collation,", t.Name())
	}
	return t.Groupable()
}

var setWords = map[pg_query.GroupingSetKind]string{
	pg_query.GroupingSetKind_GROUPING_SET_ROLLUP: "ROLLUP ", pg_query.GroupingSetKind_GROUPING_SET_CUBE: "CUBE ",
	pg_query.GroupingSetKind_GROUPING_SET_SETS: "GROUPING SETS ", pg_query.GroupingSetKind_GROUPING_SET_EMPTY: "",
}

// groupingSet prints ROLLUP, CUBE, GROUPING SETS and (), whose entries are expressions, lists of them and sets.
func (s *shipper) groupingSet(set *pg_query.GroupingSet, e *scope, columns []scopeColumn) (string, bool) {
	word, ok := setWords[set.Kind]
	if s.standard != nil { // whose sets are of columns alone, which may be printed as casts
		s.unproven("a grouping set")
		return "", false
	}
	if !ok {
		s.no("this grouping set is evaluated at home")
		return "", false
	}
	parts, ok := s.setEntries(set.Content, e, columns)
	return word + "(" + strings.Join(parts, ", ") + ")", ok
}

func (s *shipper) setEntries(list []*pg_query.Node, e *scope, columns []scopeColumn) ([]string, bool) {
	var parts []string
	for _, n := range list {
		if row := n.GetRowExpr(); row != nil {
			inner, ok := s.setEntries(row.Args, e, columns)
			if !ok {
				return nil, false
			}
			parts = append(parts, "("+strings.Join(inner, ", ")+")")
			continue
		}
		if n.GetGroupingSet() != nil {
			sql, ok := s.grouping(n, e, columns)
			if !ok {
				return nil, false
			}
			parts = append(parts, sql)
			continue
		}
		if i := target(n, columns, e, false); i >= 0 && columns[i].fixed || i < 0 && !refers(n) {
			s.constantSets()
			return nil, false
		}
		sql, t, ok := s.key(n, e, columns, false)
		if !ok || !s.groups(t) {
			return nil, false
		}
		if t.Null {
			s.constantSets()
			return nil, false
		}
		parts = append(parts, sql)
	}
	return parts, true
}

func (s *shipper) constantSets() {
	s.no("grouping sets over constants are evaluated at home, which does not sort by them")
}

// groupingFunc prints GROUPING(…), which tells what a row was grouped by.
func (s *shipper) groupingFunc(g *pg_query.GroupingFunc, e *scope) (string, typ, bool) {
	parts := make([]string, len(g.Args))
	for i, n := range g.Args {
		var ok bool
		if parts[i], _, ok = s.expression(n, e); !ok {
			return "", typ{}, false
		}
	}
	t := typ{OID: int4OID, Typmod: -1}
	return "CAST(grouping(" + strings.Join(parts, ", ") + ") AS " + s.d.Type(t.OID, -1) + ")", t, true
}
