package sqlgen

import "fmt"

// cte is a common table expression that may be read.
type cte struct {
	name string
	query
}

// with is a SELECT that reads common table expressions.
func (g *generator) with() *selectClauses {
	g.free = true
	before := g.ctes
	text := "WITH "
	for i := range 1 + g.n(2) {
		if i > 0 {
			text += ", "
		}
		g.names++
		name := fmt.Sprintf("w%d", g.names)
		g.level++
		q := g.query(nil)
		g.level--
		text += name + " AS " + choose(g, []string{"", "", "MATERIALIZED ", "NOT MATERIALIZED "}) + "(" + q.sql + ")"
		if len(q.keys) > 0 {
			g.ctes = append(g.ctes, cte{name, q})
		}
	}
	g.level++
	c := g.simple(nil)
	if g.n(3) == 0 {
		c = g.grouped(nil)
	}
	g.level--
	c.with = text + " "
	g.ctes = before
	return c
}

// recursive is a SELECT over a bounded recursion.
func (g *generator) recursive() *selectClauses {
	g.free = true
	before := g.ctes
	g.names++
	name := fmt.Sprintf("r%d", g.names)
	g.level += 2
	b := g.base()
	typ := choose(g, b.columns).typ
	start, typ := uniform(g.expression(b, typ, 0), typ)
	where := g.expression(b, "bool", 1)
	union := choose(g, []string{"UNION ALL", "UNION"})
	if typ == "numeric" || typ == "bpchar" || typ == "varchar" { // their modifiers must be the same
		start, typ = "("+start+")::text", "text"
	}
	key := b.keys[0]
	text := fmt.Sprintf("WITH RECURSIVE %[1]s (k, n, v) AS (SELECT %[2]s, 1, %[3]s FROM %[4]s WHERE %[5]s %[6]s SELECT k, n + 1, v FROM %[1]s WHERE n < %[7]s AND k < 5) ",
		name, key, start, b.from, where, union, g.small())
	g.ctes = append([]cte{{name, query{columns: []column{{name: "k", typ: "int4", uniform: true}, {name: "n", typ: "int4", uniform: true}, {name: "v", typ: typ, uniform: true}}, keys: []string{"k", "n"}, rows: b.rows * 2}}}, g.ctes...)
	c := g.simple(nil)
	g.level -= 2
	c.with = text
	g.ctes = before
	return c
}
