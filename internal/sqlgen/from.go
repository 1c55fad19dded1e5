package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// most is how many rows a join may have at most before anything restricts it.
const most = 6000

// alias returns a new one.
func (g *generator) alias() string {
	g.aliases++
	if g.aliases <= 26 {
		return string(rune('a' + (g.aliases+22)%26))
	}
	return fmt.Sprintf("x%d", g.aliases)
}

// under returns a relation of columns that an alias qualifies.
func under(from, alias string, columns []column, keys []string, rows int) *relation {
	r := &relation{from: from, rows: rows}
	for _, c := range columns {
		c.name = alias + "." + c.name
		r.columns = append(r.columns, c)
	}
	for _, k := range keys {
		r.keys = append(r.keys, alias+"."+k)
	}
	return r
}

// base is one table, mostly of the engine's.
func (g *generator) base() *relation {
	list := g.schema.tables
	if !g.narrow && len(g.schema.local) > 0 && g.n(12) == 0 {
		list = g.schema.local
		g.free = true
	}
	t := choose(g, list)
	alias := g.alias()
	r := under(t.from+" "+alias, alias, t.columns, []string{"k"}, t.rows)
	if g.narrow {
		r.columns = slices.DeleteFunc(r.columns, func(c column) bool { return c.local })
	}
	return r
}

// item is what may stand between commas in FROM.
func (g *generator) item() *relation {
	switch n := g.n(20); {
	case n < 15 || g.level > 2 || n >= 18 && g.seldom():
		for _, c := range g.ctes {
			if g.n(2) == 0 {
				alias := g.alias()
				return under(c.name+" "+alias, alias, c.columns, c.keys, c.rows)
			}
		}
		return g.base()
	case n < 18:
		return g.derived("", nil)
	case n == 18:
		return g.values()
	default:
		alias := g.alias()
		if g.n(2) == 0 {
			return under("generate_series(1, "+g.small()+") AS "+alias+" (k)", alias, []column{{name: "k", typ: "int4", uniform: true}}, []string{"k"}, 4)
		}
		return under("unnest(ARRAY[10, NULL, 20]) WITH ORDINALITY AS "+alias+" (v, k)", alias, []column{{name: "v", typ: "int4", uniform: true}, {name: "k", typ: "int8", uniform: true}}, []string{"k"}, 3)
	}
}

// derived is a sub-select in FROM; a lateral one may mention columns of outer.
func (g *generator) derived(lateral string, outer *relation) *relation {
	g.level++
	defer func() { g.level-- }()
	g.free = true // what is above it may be evaluated before what is below
	alias := g.alias()
	q := g.query(outer)
	return under(lateral+"("+q.sql+") AS "+alias, alias, q.columns, q.keys, q.rows)
}

// values is a list of rows.
func (g *generator) values() *relation {
	g.free = true
	alias := g.alias()
	typ := choose(g, []string{"text", "int4", "numeric", "date", "bool"})
	var rows []string
	for i := range 1 + g.n(4) {
		rows = append(rows, fmt.Sprintf("(%d, %s)", i+1, g.constant(typ)))
	}
	name := "(VALUES " + strings.Join(rows, ", ") + ") AS " + alias + " (k, v)"
	return under(name, alias, []column{{name: "k", typ: "int4", uniform: true}, {name: "v", typ: typ, uniform: typ != "numeric"}}, []string{"k"}, len(rows))
}

// from is a FROM clause: one item, or a join of up to three.
func (g *generator) from() *relation {
	r := g.item()
	for joins := 0; joins < 2 && g.n(5) < 2; joins++ {
		r = g.join(r)
	}
	return r
}

// join adds an item to a FROM clause.
func (g *generator) join(l *relation) *relation {
	g.free = true
	if g.n(8) == 0 && g.level < 2 && !g.seldom() {
		params := len(g.params)
		if r := g.derived(" LATERAL ", l); l.rows*r.rows > most {
			g.params = g.params[:params]
		} else {
			from := fmt.Sprintf(choose(g, []string{"%s CROSS JOIN%s", "%s LEFT JOIN%s ON true", "%s JOIN%s ON true"}), l.from, r.from)
			return both(l, r, from, l.rows*r.rows)
		}
	}
	r := g.item()
	kind := choose(g, []string{" JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ", " CROSS JOIN ", ", "})
	if l.rows*r.rows > most && (kind == " CROSS JOIN " || kind == ", ") {
		kind = " JOIN "
	}
	switch {
	case kind == " CROSS JOIN " || kind == ", " && !strings.Contains(l.from, "JOIN"):
		return both(l, r, l.from+kind+r.from, l.rows*r.rows)
	case kind == ", ":
		kind = " LEFT JOIN "
	}
	rows := max(l.rows, r.rows)
	switch n := g.n(9); {
	case n < 2 && g.seldom():
	case n == 0:
		return both(l, r, l.from+kind+r.from+" USING (k)", rows)
	case n == 1:
		return both(l, r, l.from+strings.Replace(kind, " ", " NATURAL ", 1)+r.from, rows)
	}
	j := both(l, r, "", rows)
	on := choose(g, l.keys) + " = " + choose(g, r.keys)
	if c := choose(g, l.columns); len(r.of(c.typ)) > 0 && g.n(3) == 0 && l.rows*r.rows <= most {
		on = c.name + " = " + choose(g, r.of(c.typ)).name
	}
	switch {
	case g.n(3) == 0:
		on += " AND " + operand(g.expression(j, "bool", 1+g.n(2)))
	case g.n(6) == 0 && l.rows*r.rows <= most:
		on = g.expression(j, "bool", 1+g.n(2))
	}
	j.from = l.from + kind + r.from + " ON " + on
	return j
}

func operand(sql string) string {
	if plain(sql) {
		return sql
	}
	return "(" + sql + ")"
}

func both(l, r *relation, from string, rows int) *relation {
	return &relation{from: from, rows: rows,
		columns: append(append([]column{}, l.columns...), r.columns...), keys: append(append([]string{}, l.keys...), r.keys...)}
}

func (g *generator) small() string { return choose(g, []string{"1", "3", "5"}) }
