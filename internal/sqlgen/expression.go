package sqlgen

import (
	"strconv"
	"strings"
)

// relation is what a FROM clause offers: columns, and expressions that together tell its rows apart.
type relation struct {
	from    string
	columns []column
	keys    []string
	rows    int
}

// of returns the columns of a type.
func (r *relation) of(typ string) []column {
	var out []column
	for _, c := range r.columns {
		if c.typ == typ {
			out = append(out, c)
		}
	}
	return out
}

// expression makes one of a type, at most depth productions deep, where possible over columns.
func (g *generator) expression(r *relation, typ string, depth int) string {
	if depth <= 0 || g.n(4) == 0 && (typ != "bool" || len(r.of("bool")) > 0) {
		return g.leaf(r, typ)
	}
	p := g.production(r, g.schema.productions[typ])
	if p == nil {
		return g.leaf(r, typ)
	}
	return g.fill(p, r, depth)
}

// leaf is a column, a constant or a parameter.
func (g *generator) leaf(r *relation, typ string) string {
	columns := r.of(typ)
	for _, other := range kindred[typ] {
		if len(columns) == 0 || g.n(12) == 0 {
			columns = append(columns, r.of(other)...)
		}
	}
	if len(columns) > 0 && g.n(5) > 0 {
		return choose(g, columns).name
	}
	return g.constant(typ)
}

func (g *generator) constant(typ string) string {
	if g.n(10) == 0 {
		return "NULL::" + typeName(typ)
	}
	value := choose(g, values[typ])
	if taken := g.schema.constants[typ]; g.narrow && len(taken) > 0 {
		value = choose(g, taken)
	}
	if !g.withParams || g.n(3) > 0 || len(g.params) > 5 {
		return constant(typ, value)
	}
	g.params = append(g.params, &value)
	if g.n(12) == 0 {
		g.params[len(g.params)-1] = nil
	}
	sql := "$" + strconv.Itoa(len(g.params))
	if g.n(3) > 0 {
		sql += "::" + typeName(typ)
	}
	return sql
}

// production chooses one, and prefers those whose arguments the relation has columns of.
func (g *generator) production(r *relation, list []*production) *production {
	var p *production
	for range 12 {
		c := g.allowed(list)
		if c == nil {
			return nil
		}
		p = c
		for _, a := range c.parts {
			if a.typ != "" && (a.typ == "keys" || len(r.of(a.typ)) > 0) {
				return p
			}
		}
	}
	return p
}

// allowed chooses any production, or in narrow statements one that engines take.
func (g *generator) allowed(list []*production) *production {
	if len(list) == 0 {
		return nil
	}
	for range 40 {
		if p := choose(g, list); !g.narrow || p.taken != never {
			return p
		}
	}
	return nil
}

// fill writes a production with arguments.
func (g *generator) fill(p *production, r *relation, depth int) string {
	var b strings.Builder
	first := true
	g.free = g.free || p.form == "{bool} AND {bool}" || p.form == "{bool} OR {bool}" || strings.HasPrefix(p.form, "({int4}, {") && !strings.Contains(p.form, "<") // equal rows are so many conditions
	for _, a := range p.parts {
		switch {
		case a.typ == "":
			b.WriteString(a.text)
			continue
		case a.typ == "keys":
			b.WriteString(strings.Join(r.keys, ", "))
			continue
		}
		var arg string
		if first || p.taken != constants || !g.narrow {
			arg = g.expression(r, a.typ, depth-1)
		} else {
			arg = g.constant(a.typ)
		}
		if a.uniform {
			arg, _ = uniform(arg, a.typ)
		}
		if !plain(arg) {
			arg = "(" + arg + ")"
		}
		b.WriteString(arg)
		first = false
	}
	return b.String()
}

// plain reports that an expression needs no parentheses in a form.
func plain(sql string) bool {
	return !strings.ContainsFunc(sql, func(r rune) bool {
		return r != '.' && r != '_' && r != '"' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// some makes an expression of any type, mostly one that the relation has columns of.
func (g *generator) some(r *relation, depth int) (sql, typ string) {
	typ = choose(g, types)
	if g.n(6) > 0 && len(r.columns) > 0 {
		typ = choose(g, r.columns).typ
	} else if g.narrow || g.n(3) > 0 {
		typ = choose(g, []string{"bool", "int4", "int8", "numeric", "text", "date", "timestamp"})
	}
	return g.expression(r, typ, depth), typ
}

// key makes an expression to group by, whose equal values look equal.
func (g *generator) key(r *relation) (sql, typ string) {
	if c := choose(g, r.columns); c.uniform && g.n(3) > 0 {
		return c.name, c.typ
	}
	params := g.withParams // two mentions of a key are one only without them
	g.withParams = false
	sql, typ = g.some(r, g.depth())
	if g.narrow {
		typ = choose(g, []string{"int4", "text", "bool", "date", "timestamp", "int8"})
		sql = g.expression(r, typ, g.depth())
	}
	g.withParams = params
	return uniform(sql, typ)
}

// condition makes a WHERE clause, now and then one with a sub-select.
func (g *generator) condition(r *relation) string {
	sql := g.expression(r, "bool", 1+g.depth())
	g.free = g.free || twofold(sql)
	if g.n(6) > 0 || g.level > 2 {
		return sql
	}
	return "(" + g.subselect(r) + ") AND (" + sql + ")"
}

// twofold reports whether a condition on rows may be several, which a plan has in any order.
func twofold(condition string) bool {
	return strings.Contains(condition, " BETWEEN ") || strings.Contains(condition, " NOT IN (")
}

// subselect makes a condition with a sub-select in it.
func (g *generator) subselect(r *relation) string {
	g.free = true
	g.level++
	defer func() { g.level-- }()
	z := g.base()
	inner := &relation{columns: append(append([]column{}, z.columns...), r.columns...), keys: z.keys, rows: z.rows}
	where := g.expression(inner, "bool", 1+g.n(2))
	typ := choose(g, []string{"int4", "int4", "text", "numeric", "date"})
	outer := g.expression(r, typ, g.n(2))
	item := g.expression(z, typ, g.n(2))
	switch g.n(7) {
	case 0:
		return outer + " IN (SELECT " + item + " FROM " + z.from + " WHERE " + where + ")"
	case 1:
		return outer + " NOT IN (SELECT " + item + " FROM " + z.from + " WHERE " + where + ")"
	case 2:
		return "EXISTS (SELECT FROM " + z.from + " WHERE " + where + ")"
	case 3:
		return "NOT EXISTS (SELECT 1 FROM " + z.from + " WHERE " + item + " = " + outer + " AND " + where + ")"
	case 4:
		return outer + " " + choose(g, []string{"=", "<", ">=", "<>"}) + choose(g, []string{" ANY", " ALL"}) + " (SELECT " + item + " FROM " + z.from + " WHERE " + where + ")"
	case 5:
		return outer + " " + choose(g, []string{"=", "<", ">"}) + " (SELECT " + choose(g, []string{"min", "max"}) + "(" + item + ") FROM " + z.from + " WHERE " + where + ")"
	}
	return "(SELECT count(*) FROM " + z.from + " WHERE " + where + ") > " + g.expression(r, "int4", 1)
}
