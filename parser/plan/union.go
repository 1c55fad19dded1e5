package plan

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

// union prints UNION ALL for an engine that gets simple statements: as what one SELECT yields, so that an order is that of all rows.
func (s *shipper) union(q *pg_query.SelectStmt, e *scope) (string, []scopeColumn, bool) {
	arms := [2]string{}
	lists := [2][]scopeColumn{}
	for i, arm := range []*pg_query.SelectStmt{q.Larg, q.Rarg} {
		var ok bool
		if arms[i], lists[i], ok = s.query(arm, e); !ok {
			return "", nil, false
		}
	}
	columns, ok := s.united(lists[0], lists[1], true)
	if !ok {
		return "", nil, false
	}
	names, outer := make([]string, len(columns)), make([]string, len(columns))
	alias := s.d.Identifier(s.alias("u"))
	for i := range columns {
		c := &columns[i]
		if lists[0][i].typ.Opaque || lists[1][i].typ.Opaque {
			s.unproven("UNION ALL of a column of this type")
			return "", nil, false
		}
		c.typ.NotNull = lists[0][i].typ.NotNull && lists[1][i].typ.NotNull
		c.typ.Declared = c.typ.Declared && lists[0][i].typ.Declared
		names[i] = s.fresh()
		c.sql = alias + "." + s.d.Identifier(names[i])
		c.remote = names[i]
		outer[i] = c.sql + " AS " + s.d.Identifier(names[i])
	}
	for i := range arms {
		arms[i] = s.unionArm(arms[i], remoteNames(lists[i]), names, columns)
	}
	return "SELECT " + strings.Join(outer, ", ") + " FROM (" + arms[0] + " UNION ALL " + arms[1] + ") AS " + alias, columns, true
}

// unionArm brings what an arm yields to the names and types of all.
func (s *shipper) unionArm(sql string, from, names []string, columns []scopeColumn) string {
	list := make([]string, len(names))
	for i, name := range names {
		t := columns[i].typ
		if t.IsInt() {
			t = dialect.Plain(int8OID)
		}
		value := s.d.Identifier(from[i])
		if s.quirky != nil { // else a cast may make a number of what is none
			value = "CAST(" + value + " AS " + s.d.Type(t.OID, t.Typmod) + ")"
		}
		list[i] = value + " AS " + s.d.Identifier(name)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + sql + ") AS " + s.d.Identifier(s.alias("a"))
}
