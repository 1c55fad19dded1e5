package plan

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

var joinWords = map[pg_query.JoinType]string{
	pg_query.JoinType_JOIN_INNER: " JOIN ", pg_query.JoinType_JOIN_LEFT: " LEFT JOIN ",
	pg_query.JoinType_JOIN_RIGHT: " RIGHT JOIN ", pg_query.JoinType_JOIN_FULL: " FULL JOIN ",
}

func (s *shipper) join(j *pg_query.JoinExpr, e *scope) (string, bool) {
	word, ok := joinWords[j.Jointype]
	if !ok || j.Alias != nil || j.JoinUsingAlias != nil {
		s.no("a join with an alias is evaluated at home")
		return "", false
	}
	first := len(e.relations)
	left, ok := s.fromItem(j.Larg, e)
	if !ok {
		return "", false
	}
	second := len(e.relations)
	right, ok := s.fromItem(j.Rarg, e)
	if !ok {
		return "", false
	}
	if s.simple != nil && !s.joinsSimply(j, e.relations[first:second], e.relations[second:]) {
		return "", false
	}
	if names := usingNames(j, e, first, second); names != nil {
		on, ok := s.using(j, names, e, first, second)
		return "(" + left + word + right + " ON " + on + ")", ok
	}
	if j.Quals == nil {
		return "(" + left + " CROSS JOIN " + right + ")", true
	}
	if j.Jointype == pg_query.JoinType_JOIN_FULL && !equates(j.Quals, &scope{relations: e.relations[first:second]}, &scope{relations: e.relations[second:]}) {
		s.no("a FULL JOIN on anything but equal columns is evaluated at home")
		return "", false
	}
	on, t, ok := s.qualification(j.Quals, e)
	if !ok || t.OID != boolOID {
		s.no("this join condition is evaluated at home")
		return "", false
	}
	return "(" + left + word + right + " ON " + on + ")", true
}

// joinsSimply reports whether an engine of simple statements joins as Postgres does. Columns of a side that may lack a partner may be NULL.
func (s *shipper) joinsSimply(j *pg_query.JoinExpr, left, right []scopeRelation) bool {
	var sides []scopeRelation
	switch j.Jointype {
	case pg_query.JoinType_JOIN_LEFT:
		sides = right
	case pg_query.JoinType_JOIN_RIGHT:
		sides = left
	case pg_query.JoinType_JOIN_FULL:
		s.unproven("FULL JOIN")
		return false
	}
	for _, r := range sides {
		for i := range r.columns {
			r.columns[i].typ.NotNull = false
		}
	}
	if j.Quals != nil && !s.isCondition(j.Quals) {
		s.unproven("%s as a condition", describe(j.Quals))
		return false
	}
	return true
}

// usingNames returns the columns that a join by USING or NATURAL makes one of, nil for none.
func usingNames(j *pg_query.JoinExpr, e *scope, first, second int) []string {
	var names []string
	if !j.IsNatural {
		return append(names, texts(j.UsingClause)...)
	}
	for _, r := range e.relations[first:second] {
		for _, c := range r.columns {
			if _, ok := visible(e.relations[second:], c.name); ok && !c.merged && !slices.Contains(names, c.name) {
				names = append(names, c.name)
			}
		}
	}
	return names
}

// visible finds a column by its bare name.
func visible(relations []scopeRelation, name string) (*scopeColumn, bool) {
	for i := range relations {
		for k := range relations[i].columns {
			if c := &relations[i].columns[k]; c.name == name && !c.merged {
				return c, true
			}
		}
	}
	return nil, false
}

// using prints the condition of such a join and puts the columns that it makes in front of the others.
func (s *shipper) using(j *pg_query.JoinExpr, names []string, e *scope, first, second int) (string, bool) {
	var made scopeRelation
	conditions := make([]string, len(names))
	for i, name := range names {
		l, lok := visible(e.relations[first:second], name)
		r, rok := visible(e.relations[second:], name)
		if !lok || !rok || l.typ.OID != r.typ.OID || l.typ.Typmod != r.typ.Typmod {
			s.no("columns %s of different types are brought together at home", name)
			return "", false
		}
		list := []operand{{sql: l.sql, typ: l.typ}, {sql: r.sql, typ: r.typ}}
		sql, _, ok := s.apply(dialect.Operator, "=", list, e)
		if !ok || s.shadowed("=") {
			s.notCompared("=", list)
			return "", false
		}
		s.exposeColumns(*l, *r)
		conditions[i] = sql
		c := *l
		switch j.Jointype {
		case pg_query.JoinType_JOIN_RIGHT:
			c = *r
		case pg_query.JoinType_JOIN_FULL:
			c.sql = "coalesce(" + l.sql + ", " + r.sql + ")"
		}
		made.columns = append(made.columns, c)
		l.merged, r.merged = true, true
	}
	e.relations = slices.Insert(e.relations, first, made)
	return "(" + strings.Join(conditions, " AND ") + ")", true
}
