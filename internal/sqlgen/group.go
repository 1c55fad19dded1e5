package sqlgen

import (
	"fmt"
	"strings"
)

// aggregate makes a call of one over a relation.
func (g *generator) aggregate(r *relation) (sql, typ string) {
	p := g.call(r, g.schema.aggregates)
	sql, typ = g.fill(p, r, 1+g.n(2)), p.result
	if g.n(6) == 0 {
		sql += " FILTER (WHERE " + g.expression(r, "bool", 1+g.n(2)) + ")"
	}
	return sql, typ
}

// call chooses an aggregate or a window function of any type, of those that engines take where there are such.
func (g *generator) call(r *relation, lists map[string][]*production) *production {
	for range 20 {
		if p := g.production(r, lists[choose(g, called)]); p != nil {
			return p
		}
	}
	return lists["int8"][0]
}

// called are the types that aggregates and window functions are of, the more frequent ones more than once.
var called = []string{"int8", "int8", "numeric", "numeric", "int4", "bool", "text", "text", "float8", "date", "timestamp", "timestamptz", "interval", "_int4", "_text", "jsonb",
	"json", "mood"}

// aggregated is a SELECT of aggregates alone.
func (g *generator) aggregated(outer *relation) *selectClauses {
	r, where := g.source(outer)
	c := &selectClauses{before: "SELECT ", after: " FROM " + r.from + where, rows: 1}
	c.targets = append(c.targets, target{"count(*)", "int8", true, true})
	for range 1 + g.n(2) {
		sql, typ := g.aggregate(r)
		c.targets = append(c.targets, target{sql: sql, typ: typ})
	}
	return c
}

// grouped is a SELECT with GROUP BY in any of its forms.
func (g *generator) grouped(outer *relation) *selectClauses {
	r, where := g.source(outer)
	c := &selectClauses{before: "SELECT ", rows: r.rows}
	var keys []string
	over := &relation{rows: r.rows}
	for range 1 + g.n(2) {
		sql, typ := g.key(r)
		keys = append(keys, sql)
		c.targets = append(c.targets, target{sql, typ, true, true})
		over.columns = append(over.columns, column{name: sql, typ: typ, uniform: true})
	}
	group := strings.Join(keys, ", ")
	form := g.n(8)
	if form < 4 && g.seldom() {
		form = 4
	}
	switch last := keys[len(keys)-1]; form {
	case 0:
		group = "ROLLUP (" + group + ")"
	case 1:
		group = "CUBE (" + group + ")"
	case 2:
		group = fmt.Sprintf("GROUPING SETS ((%s), (%s), ())", group, last)
	case 3:
		group = fmt.Sprintf("%s, GROUPING SETS ((%s), ())", keys[0], last)
	case 4:
		group = "1"
		for i := range keys[1:] {
			group += fmt.Sprintf(", %d", i+2)
		}
	}
	if form < 4 {
		c.targets = append(c.targets, target{"grouping(" + strings.Join(keys, ", ") + ")", "int4", true, true})
	}
	for range 1 + g.n(2) {
		sql, typ := g.aggregate(r)
		c.targets = append(c.targets, target{sql: sql, typ: typ})
	}
	c.after = " FROM " + r.from + where + " GROUP BY " + group
	if g.n(4) == 0 {
		sql, typ := g.aggregate(r)
		over.columns = append(over.columns, column{name: sql, typ: typ})
		having := g.expression(over, "bool", 1+g.n(2))
		g.free = g.free || twofold(having) || !strings.Contains(having, sql) // it is one more condition on the rows themselves
		c.after += " HAVING " + having
	}
	return c
}

// window is a SELECT of window functions.
func (g *generator) window(outer *relation) *selectClauses {
	r, where := g.source(outer)
	c := &selectClauses{before: "SELECT ", after: " FROM " + r.from + where, rows: r.rows}
	for _, k := range r.keys {
		c.targets = append(c.targets, target{k, "int4", true, true})
	}
	named := ""
	for range 1 + g.n(2) {
		sql, typ, over := g.windowed(r)
		if named == "" && g.n(4) == 0 {
			named = " WINDOW w AS (" + over + ")"
			over = "w"
		} else {
			over = "(" + over + ")"
		}
		c.targets = append(c.targets, target{sql: sql + " OVER " + over, typ: typ})
	}
	c.after += named
	return c
}

// windowed makes a window function and what it is over.
func (g *generator) windowed(r *relation) (sql, typ, over string) {
	total := g.n(2) == 0
	list := g.schema.windowed
	if total {
		list = g.schema.ordered
	}
	p := g.call(r, list)
	sql, typ = g.fill(p, r, 1+g.n(2)), p.result
	if g.n(2) == 0 {
		key, _ := g.key(r)
		over = "PARTITION BY " + key
	}
	params := g.withParams
	g.withParams = false
	by, byType := g.some(r, g.n(2))
	g.withParams = params
	by, byType = uniform(by, byType)
	switch {
	case total:
		over += " ORDER BY " + strings.Join(append([]string{by + choose(g, []string{"", " DESC", " NULLS FIRST"})}, r.keys...), ", ")
		if !strings.HasPrefix(sql, "string_agg") && g.n(2) == 0 {
			over += frame(g, "ROWS", "GROUPS")
		}
	case g.n(3) > 0:
		over += " ORDER BY " + by + choose(g, []string{"", " DESC", " NULLS FIRST"})
		switch {
		case g.n(3) == 0 && (byType == "int4" || byType == "int8" || byType == "numeric"):
			over += frame(g, "RANGE")
		case g.n(3) == 0:
			over += frame(g, "GROUPS")
		}
	}
	return sql, typ, strings.TrimSpace(over)
}

// frame makes a frame clause in one of the modes.
func frame(g *generator, modes ...string) string {
	start := choose(g, []string{"UNBOUNDED PRECEDING", "1 PRECEDING", "CURRENT ROW", "2 PRECEDING"})
	end := choose(g, []string{"CURRENT ROW", "1 FOLLOWING", "UNBOUNDED FOLLOWING"})
	return " " + choose(g, modes) + " BETWEEN " + start + " AND " + end + choose(g, []string{"", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE TIES", " EXCLUDE GROUP"})
}
