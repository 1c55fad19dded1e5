package sqlgen

import (
	"fmt"
	"strconv"
	"strings"
)

// query is a SELECT whose columns have names of their own. Rows are told apart by keys, or are equal and look equal.
type query struct {
	sql     string
	columns []column
	keys    []string
	rows    int
}

// target is one item of a SELECT list.
type target struct {
	sql, typ string
	key      bool
	uniform  bool
}

// selectClauses are the parts of a SELECT that the order of its rows is added to.
type selectClauses struct {
	targets []target
	with    string
	before  string // SELECT and what stands in front of the list
	after   string // FROM and what follows, up to ORDER BY
	rows    int
	sets    bool   // a set operation: ORDER BY takes positions alone
	first   string // what ORDER BY must begin with, for DISTINCT ON
	only    string // the whole text where it is none of the above
}

// query makes a SELECT for use in another one; outer is what a lateral one may mention.
func (g *generator) query(outer *relation) query {
	c := g.clauses(outer)
	q := query{rows: c.rows}
	names := make([]string, len(c.targets))
	for i, t := range c.targets {
		names[i] = fmt.Sprintf("c%d", i+1)
		q.columns = append(q.columns, column{name: names[i], typ: t.typ, uniform: t.uniform})
		if t.key {
			q.keys = append(q.keys, names[i])
		}
	}
	if len(q.columns) > 0 && q.columns[0].typ == "int4" && c.targets[0].key && g.n(2) == 0 {
		names[0], q.columns[0].name, q.keys[0] = "k", "k", "k"
	}
	q.sql = c.text(names)
	if c.first != "" || g.n(5) == 0 {
		q.sql += g.order(c, names, false) + g.limit(&q.rows)
	}
	return q
}

// text prints the clauses, with names for the columns.
func (c *selectClauses) text(names []string) string {
	if c.only != "" {
		return c.with + strings.Replace(c.only, "\x00", c.list(names), 1)
	}
	return c.with + c.before + c.list(names) + c.after
}

func (c *selectClauses) list(names []string) string {
	list := make([]string, len(c.targets))
	for i, t := range c.targets {
		list[i] = t.sql
		if names[i] != "" {
			list[i] += " AS " + names[i]
		}
	}
	return strings.Join(list, ", ")
}

// order makes a total ORDER BY.
func (g *generator) order(c *selectClauses, names []string, top bool) string {
	var items []string
	if c.first != "" {
		items = append(items, c.first)
	}
	direction := func() string {
		return choose(g, []string{"", "", " ASC", " DESC"}) + choose(g, []string{"", "", " NULLS FIRST", " NULLS LAST"})
	}
	for i, t := range c.targets {
		if sortable(t.typ) && !t.key && g.n(3) == 0 {
			items = append(items, g.mention(c, names, i)+direction())
		}
	}
	for i, t := range c.targets {
		if t.key {
			items = append(items, g.mention(c, names, i)+direction())
		}
	}
	if len(items) == 0 {
		return ""
	}
	return " ORDER BY " + strings.Join(items, ", ")
}

// mention names a column in ORDER BY: by position, by name, or by its expression again.
func (g *generator) mention(c *selectClauses, names []string, i int) string {
	t := c.targets[i]
	switch {
	case names[i] != "" && g.n(2) == 0:
		return names[i]
	case c.sets || g.n(3) == 0 || strings.Contains(t.sql, "$"):
		return strconv.Itoa(i + 1)
	case strings.HasPrefix(c.before, "SELECT DISTINCT") || strings.Contains(c.after, " GROUP BY ") || !plain(t.sql):
		return strconv.Itoa(i + 1)
	}
	return t.sql
}

// sortable reports whether a type has an order.
func sortable(typ string) bool { return typ != "json" }

// limit makes LIMIT, OFFSET or FETCH.
func (g *generator) limit(rows *int) string {
	g.free = true
	n := 1 + g.n(9)
	*rows = min(*rows, n)
	switch g.n(6) {
	case 0:
		return fmt.Sprintf(" LIMIT %d OFFSET %d", n, g.n(4))
	case 1:
		return fmt.Sprintf(" FETCH FIRST %d ROWS WITH TIES", n)
	case 2:
		return fmt.Sprintf(" OFFSET %d ROWS FETCH NEXT %d ROWS ONLY", g.n(3), n)
	case 3:
		if g.withParams {
			v := strconv.Itoa(n)
			g.params = append(g.params, &v)
			return " LIMIT $" + strconv.Itoa(len(g.params))
		}
	}
	return fmt.Sprintf(" LIMIT %d", n)
}

// clauses makes any SELECT.
func (g *generator) clauses(outer *relation) *selectClauses {
	n := g.n(20)
	switch {
	case n == 0 && g.level < 2 && outer == nil && !g.seldom():
		return g.recursive()
	case n <= 2 && g.level < 2 && outer == nil:
		return g.with()
	case n <= 4 && g.level < 3 && outer == nil:
		return g.setOperation()
	case n <= 9:
		return g.grouped(outer)
	case n <= 11 && !g.seldom():
		return g.window(outer)
	case n == 12:
		return g.distinct(outer)
	case n == 13:
		return g.aggregated(outer)
	}
	return g.simple(outer)
}

// source is FROM, with the columns of outer to be mentioned; and WHERE, mostly.
func (g *generator) source(outer *relation) (r *relation, where string) {
	r = g.from()
	if outer != nil {
		wide := *r
		wide.columns = append(append([]column{}, r.columns...), outer.columns...)
		r = &wide
	}
	if g.n(3) > 0 {
		where = " WHERE " + g.condition(r)
	}
	return r, where
}

func (g *generator) simple(outer *relation) *selectClauses {
	r, where := g.source(outer)
	c := &selectClauses{before: "SELECT ", after: " FROM " + r.from + where, rows: r.rows}
	for _, k := range r.keys {
		c.targets = append(c.targets, target{k, "int4", true, true})
	}
	for range 1 + g.n(3) {
		sql, typ := g.some(r, g.depth())
		if g.n(12) == 0 && g.level < 2 {
			sql, typ = g.scalar(r)
		}
		c.targets = append(c.targets, target{sql: sql, typ: typ})
	}
	return c
}

// scalar is a sub-select that yields one value.
func (g *generator) scalar(r *relation) (sql, typ string) {
	g.free = true
	g.level++
	defer func() { g.level-- }()
	z := g.base()
	wide := &relation{columns: append(append([]column{}, z.columns...), r.columns...), keys: z.keys}
	agg, typ := g.aggregate(z)
	return "(SELECT " + agg + " FROM " + z.from + " WHERE " + g.expression(wide, "bool", 1+g.n(2)) + ")", typ
}

func (g *generator) distinct(outer *relation) *selectClauses {
	r, where := g.source(outer)
	c := &selectClauses{before: "SELECT DISTINCT ", after: " FROM " + r.from + where, rows: r.rows}
	if g.n(2) == 0 {
		sql, typ := g.key(r)
		c.before += "ON (" + sql + ") "
		c.targets = append(c.targets, target{sql, typ, false, true})
		c.first = sql
		for _, k := range r.keys {
			c.targets = append(c.targets, target{k, "int4", true, true})
		}
		sql, typ = g.some(r, g.depth())
		c.targets = append(c.targets, target{sql: sql, typ: typ})
		return c
	}
	for range 1 + g.n(2) {
		sql, typ := g.key(r)
		c.targets = append(c.targets, target{sql, typ, true, true})
	}
	return c
}

// setOperation unites two SELECTs of the same types.
func (g *generator) setOperation() *selectClauses {
	g.free = true
	var typs []string
	l, lw := g.source(nil)
	c := &selectClauses{sets: true, rows: l.rows}
	for range 1 + g.n(2) {
		sql, typ := uniform(g.key(l)) // which may be a column of numbers of one scale, other than that of an equal number on the right
		c.targets = append(c.targets, target{sql, typ, true, true})
		typs = append(typs, typ)
	}
	op := choose(g, []string{" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ", " INTERSECT ALL ", " EXCEPT ALL "})
	var right []string
	r, rw := g.source(nil)
	for _, typ := range typs {
		sql, _ := uniform(g.expression(r, typ, g.depth()), typ)
		right = append(right, sql)
	}
	c.rows += r.rows
	c.only = "SELECT \x00 FROM " + l.from + lw + op + "SELECT " + strings.Join(right, ", ") + " FROM " + r.from + rw
	return c
}
