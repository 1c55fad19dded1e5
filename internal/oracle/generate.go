package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// kind is a family of types that expressions are built by.
type kind int

const (
	boolean kind = iota
	integer
	bigint
	numeric
	float
	text
	date
	timestamp
	timestamptz
)

// source is a table of the fixture with columns by kind. Every source has a unique column k of type integer.
type source struct {
	from    string
	columns map[kind][]string
}

var sources = []source{
	{"{s}.ints", map[kind][]string{integer: {"i2", "i4", "k"}, bigint: {"i8"}}},
	{"{s}.nums", map[kind][]string{numeric: {"n", "w", "z", "s"}, integer: {"k"}}},
	{"{s}.floats", map[kind][]string{float: {"f4", "f8"}, integer: {"k"}}},
	{"{s}.texts", map[kind][]string{text: {"t", "v"}, integer: {"k"}}},
	{"{s}.dates", map[kind][]string{date: {"d"}, timestamp: {"ts"}, timestamptz: {"tz"}, integer: {"k"}}},
	{"{s}.misc", map[kind][]string{boolean: {"b"}, integer: {"k"}}},
	{"(SELECT id AS k, * FROM {s}.emp)", map[kind][]string{integer: {"id", "boss"}, text: {"name", "dept"}, numeric: {"pay"}}},
	{"(SELECT id::int AS k, * FROM {s}.orders)", map[kind][]string{integer: {"customer_id", "qty"}, bigint: {"id"}, numeric: {"total"},
		timestamp: {"placed"}, timestamptz: {"zoned"}, text: {"note", "status"}}},
	{"h.marks", map[kind][]string{integer: {"k"}, text: {"mark"}, numeric: {"n"}, float: {"f"}, bigint: {"i8"}}},
}

// as returns the source under an alias, with columns qualified by it.
func (src source) as(alias string) source {
	out := source{src.from + " " + alias, map[kind][]string{}}
	for k, columns := range src.columns {
		for _, c := range columns {
			out.columns[k] = append(out.columns[k], alias+"."+c)
		}
	}
	return out
}

// literals of each kind, awkward ones among them.
var literals = map[kind][]string{
	boolean:     {"true", "false", "NULL::boolean"},
	integer:     {"0", "1", "-1", "2", "7", "100", "2147483647", "NULL::int", "3::smallint"},
	bigint:      {"0::bigint", "9223372036854775807", "-5::bigint", "10000000000"},
	numeric:     {"0.0", "1.5", "-1.50", "0.01", "2.5", "99999999.99", "NULL::numeric", "10::numeric", "0.000001"},
	float:       {"0::float8", "'NaN'::float8", "'Infinity'::float8", "'-0'::float8", "2.5::float8", "1e20::float8", "0.1::real"},
	text:        {"''", "'a'", "'A'", "'a '", "'é'", "'eng'", "'it''s'", "'a\\b'", "'10'", "NULL::text", "'%'", "'a_b'", "'Note'"},
	date:        {"date '2024-02-29'", "date '1970-01-01'", "date 'infinity'", "date '2024-11-03'", "NULL::date", "date '0001-01-01'"},
	timestamp:   {"timestamp '2024-02-29 12:34:56.789'", "timestamp '1969-12-31 23:59:59.999999'", "timestamp '-infinity'", "timestamp '2024-01-15'"},
	timestamptz: {"timestamptz '2024-03-10 07:30+00'", "timestamptz '1970-01-01 00:00+00'", "timestamptz 'infinity'", "timestamptz '2024-11-03 05:30+00'"},
}

// forms are the ways to make an expression of a kind from others; %0 to %8 stand for one of kind 0 to 8.
var forms = map[kind][]string{
	boolean: {"%1 = %1", "%1 < %1", "%2 >= %1", "%3 <> %3", "%3 > %1", "%4 < %4", "%4 = %3", "%5 = %5", "%5 < %5", "%5 <> %5", "%6 = %6", "%6 < %6", "%7 >= %7", "%8 < %8",
		"%6 > %7", "%0 AND %0", "%0 OR %0", "NOT (%0)", "(%0) IS TRUE", "(%0) IS NOT FALSE", "%1 IS NULL", "%5 IS NOT NULL", "%3 IS DISTINCT FROM %3", "%1 IN (%1, %1, 3)", "%5 IN ('a', 'eng', %5)",
		"%5 NOT IN ('a', 'x')", "%1 BETWEEN %1 AND %1", "%3 BETWEEN %3 AND %3", "%5 LIKE 'a%'", "%5 LIKE '%b%'", "%5 LIKE 'N_te%'", "%5 NOT LIKE '%e'", "%5 ILIKE 'A%'", "%1 = ANY (ARRAY[1, 2, %1])",
		"CASE WHEN %0 THEN %0 ELSE %0 END", "coalesce(%0, %0)", "(%1, %1) < (%1, %1)", "%7::date = %6", "%1::text = %5", "isfinite(%6)"},
	integer: {"%1 + %1", "%1 - %1", "%1 * %1", "%1 / %1", "%1 % %1", "-(%1)", "abs(%1)", "length(%5)", "coalesce(%1, %1)", "nullif(%1, %1)", "CASE WHEN %0 THEN %1 ELSE %1 END", "greatest(%1, %1)",
		"least(%1, %1)", "(%3)::int", "extract(year FROM %6)::int", "extract(dow FROM %7)::int", "strpos(%5, 'a')", "%1 & %1", "%1 | 1", "sign(%1)::int", "%6 - %6", "ascii(%5)"},
	bigint:  {"%2 + %1", "%2 - %2", "%2 * %1", "%2 / %1", "%2 % %1", "abs(%2)", "(%1)::bigint", "coalesce(%2, %1)"},
	numeric: {"%3 + %3", "%3 - %3", "%3 * %3", "%3 / %3", "round(%3, 1)", "round(%3)", "trunc(%3)", "ceil(%3)", "floor(%3)", "abs(%3)", "-(%3)", "(%1)::numeric(10,2)", "coalesce(%3, %3)", "%3 % %3", "%3 + %1", "CASE WHEN %0 THEN %3 END", "greatest(%3, %3)"},
	float:   {"%4 + %4", "%4 - %4", "%4 * %4", "%4 / %4", "abs(%4)", "round(%4)", "floor(%4)", "(%1)::float8", "(%3)::float8", "coalesce(%4, %4)", "-(%4)", "%4 * %1", "greatest(%4, %4)", "CASE WHEN %0 THEN %4 ELSE %4 END"},
	text: {"%5 || %5", "lower(%5)", "upper(%5)", "substr(%5, 2)", "substring(%5 FROM 1 FOR 2)", "left(%5, 2)", "right(%5, 1)", "trim(%5)", "replace(%5, 'a', 'xx')", "coalesce(%5, %5)", "nullif(%5, %5)", "(%1)::text", "(%3)::text",
		"(%6)::text", "(%0)::text", "CASE WHEN %0 THEN %5 ELSE %5 END", "concat(%5, %1)", "reverse(%5)", "lpad(%5, 4, '*')", "repeat(%5, 2)", "split_part(%5, ' ', 1)", "greatest(%5, %5)", "(%4)::text", "(%7)::text"},
	date:        {"%6 + 1", "%6 - 2", "(%7)::date", "coalesce(%6, %6)", "greatest(%6, %6)", "CASE WHEN %0 THEN %6 END"},
	timestamp:   {"%7 + interval '1 day'", "%7 - interval '1 month'", "date_trunc('month', %7)", "date_trunc('day', %7)", "date_trunc('hour', %7)", "(%6)::timestamp", "coalesce(%7, %7)"},
	timestamptz: {"%8 + interval '1 hour'", "date_trunc('hour', %8)", "coalesce(%8, %8)", "least(%8, %8)"},
}

// aggregates whose result does not depend on the order of rows.
var aggregates = map[kind][]string{
	boolean: {"bool_and(%s)", "bool_or(%s)", "count(%s)"}, integer: {"sum(%s)", "avg(%s)", "min(%s)", "max(%s)", "count(DISTINCT %s)"}, bigint: {"sum(%s)", "min(%s)", "max(%s)"},
	numeric: {"sum(%s)", "avg(%s)", "min(%s)", "max(%s)", "count(%s)"}, float: {"min(%s)", "max(%s)", "count(DISTINCT %s)"}, text: {"min(%s)", "max(%s)", "count(DISTINCT %s)"},
	date: {"min(%s)", "max(%s)", "count(%s)"}, timestamp: {"min(%s)", "max(%s)"}, timestamptz: {"min(%s)", "max(%s)"},
}

// Generator makes statements from a seed, the same ones each time.
type Generator struct{ r *rand.Rand }

// NewGenerator returns a generator for a seed.
func NewGenerator(seed uint64) *Generator { return &Generator{rand.New(rand.NewPCG(seed, 1))} }

// Statement makes the next statement.
func (g *Generator) Statement(pos string) Statement {
	s := Statement{Pos: pos, Loose: true}
	src := g.source()
	switch g.r.IntN(7) {
	case 0, 1:
		s.SQL = fmt.Sprintf("SELECT x.k AS key, %s AS a, %s AS b FROM %s ORDER BY x.k", g.any(src), g.any(src), src.from)
	case 2, 3:
		s.SQL = fmt.Sprintf("SELECT x.k AS key FROM %s WHERE %s ORDER BY x.k", src.from, g.where(src))
	case 4:
		e, k := g.pick(src)
		s.SQL = fmt.Sprintf("SELECT %s AS a, count(*), %s AS b FROM %s GROUP BY 1", e, g.aggregate(src), src.from)
		if g.r.IntN(2) == 0 && k != text {
			s.SQL += " ORDER BY 1"
		}
	case 5:
		e, k := g.pick(src)
		s.SQL = fmt.Sprintf("SELECT %s AS a FROM %s WHERE %s %s SELECT %s FROM %s", e, src.from, g.where(src),
			choose(g.r, []string{"UNION", "UNION ALL", "INTERSECT", "EXCEPT"}), g.expr(src, k, 1), src.from)
	default:
		s.SQL = fmt.Sprintf("SELECT x.k AS key, %s AS a FROM %s WHERE %s ORDER BY 2 DESC, 1 LIMIT %d OFFSET %d", g.any(src), src.from,
			g.where(src), 1+g.r.IntN(9), g.r.IntN(3))
	}
	s.classify()
	return s
}

// source chooses what stands in FROM: one relation x, or a join of it with a relation y.
func (g *Generator) source() source {
	x := choose(g.r, sources[:len(sources)-1]).as("x")
	if g.r.IntN(3) > 0 {
		return x
	}
	y := choose(g.r, sources).as("y")
	join := source{fmt.Sprintf("%s %s %s ON x.k = y.k", x.from, choose(g.r, []string{"JOIN", "LEFT JOIN", "JOIN"}), y.from), map[kind][]string{}}
	for _, side := range []source{x, y} {
		for k, columns := range side.columns {
			join.columns[k] = append(join.columns[k], columns...)
		}
	}
	return join
}

// where makes a condition, now and then one with a sub-select.
func (g *Generator) where(src source) string {
	condition := g.expr(src, boolean, g.depth())
	if g.r.IntN(5) > 0 {
		return condition
	}
	z := choose(g.r, sources).as("z")
	inner := fmt.Sprintf("SELECT z.k FROM %s WHERE %s", z.from, g.expr(z, boolean, 1))
	return fmt.Sprintf(choose(g.r, []string{"x.k IN (%s)", "EXISTS (%s AND z.k = x.k)", "NOT EXISTS (%s AND z.k = x.k)", "x.k > (SELECT min(k) FROM (%s) q)"}), inner) +
		" AND (" + condition + ")"
}

// depth is mostly small, as an engine can take small expressions more often.
func (g *Generator) depth() int { return g.r.IntN(3) + g.r.IntN(2)*g.r.IntN(3) }

func (g *Generator) aggregate(src source) string {
	e, k := g.pick(src)
	return fmt.Sprintf(choose(g.r, aggregates[k]), e)
}

// any makes an expression of a kind that the source has columns of.
func (g *Generator) any(src source) string {
	e, _ := g.pick(src)
	return e
}

func (g *Generator) pick(src source) (string, kind) {
	for {
		k := kind(g.r.IntN(int(timestamptz) + 1))
		if len(src.columns[k]) > 0 || k == boolean || g.r.IntN(4) == 0 {
			return g.expr(src, k, g.depth()), k
		}
	}
}

// expr makes an expression of a kind, at most depth forms deep, where possible over columns.
func (g *Generator) expr(src source, k kind, depth int) string {
	columns := src.columns[k]
	if depth == 0 || k != boolean && g.r.IntN(3) == 0 {
		if len(columns) > 0 && g.r.IntN(4) > 0 {
			return choose(g.r, columns)
		}
		return choose(g.r, literals[k])
	}
	form := g.form(src, k)
	var b strings.Builder
	for i := 0; i < len(form); i++ {
		if form[i] == '%' && i+1 < len(form) && form[i+1] >= '0' && form[i+1] <= '8' {
			i++
			b.WriteString("(" + g.expr(src, kind(form[i]-'0'), depth-1) + ")")
			continue
		}
		b.WriteByte(form[i])
	}
	return b.String()
}

// form chooses one, and prefers those whose parts the source has columns of.
func (g *Generator) form(src source, k kind) string {
	var form string
	for range 4 {
		form = choose(g.r, forms[k])
		for other, columns := range src.columns {
			if len(columns) > 0 && strings.Contains(form, fmt.Sprintf("%%%d", other)) {
				return form
			}
		}
	}
	return form
}

func choose[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
