package wirefuzz

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// generator makes one sequence.
type generator struct {
	*rand.Rand
	theme    theme
	known    map[string]statement // what was parsed under a name, as far as the generator sees
	bound    []string             // portals
	messages []string
	major    int  // of the Postgres that judges
	executed bool // an Execute has no Sync behind it
}

// Generate makes the n-th sequence of a seed for a Postgres of a major version. ddl says that it may have changed the
// relations' definitions.
func Generate(seed, n uint64, major int) (q Sequence, ddl bool) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, n)), known: map[string]statement{}, major: major}
	g.theme = pick(g, themes)
	if routes := g.theme.routes; len(routes) > 0 {
		if route := pick(g, routes); route != "" {
			q = append(q, Round{Messages: []string{query("set sluice.route = '" + route + "'")}})
		}
	}
	for range 1 + g.IntN(6) {
		q = append(q, g.round()...)
	}
	if g.IntN(12) == 0 {
		q = append(q, Round{[]string{pick(g, broken)}, Broken})
	}
	return q, g.theme.ddl
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

func (g *generator) statement() statement { return pick(g, pick(g, g.theme.groups)) }

// round makes messages up to a settled end, in one write or in several with a Flush in between.
func (g *generator) round() Sequence {
	var q Sequence
	if g.IntN(5) == 0 {
		for range 1 + g.IntN(3) {
			g.extended(false)
			q = append(q, Round{g.take(), Flushed})
		}
	}
	for range 1 + g.IntN(4) {
		switch g.IntN(8) {
		case 0, 1, 2:
			g.simple()
		case 3:
			g.stray()
		default:
			g.extended(true)
		}
		if g.IntN(3) == 0 {
			g.add("Sync")
		}
	}
	g.executed = false
	return append(q, Round{g.take(), Settled})
}

func (g *generator) take() []string {
	m := g.messages
	g.messages = nil
	return m
}

func (g *generator) add(lines ...string) {
	for _, line := range lines {
		g.executed = line != "Sync" && (g.executed || strings.HasPrefix(line, "Execute "))
	}
	g.messages = append(g.messages, lines...)
}

// simple adds a simple query of one or several statements. Parameters there are an error.
func (g *generator) simple() {
	n := 1
	if g.IntN(3) == 0 {
		n = 2 + g.IntN(3)
	}
	var texts []string
	data := 0
	for range n {
		st := g.statement()
		texts = append(texts, g.literal(st))
		if st.copies {
			data++
		}
		if strings.Contains(st.sql, "from pg_") { // rule "edited names": home counts positions behind them in what it was given
			break
		}
	}
	if g.executed && g.major >= brokenPipelines {
		g.add("Sync")
	}
	g.add(query(strings.Join(texts, "; ")))
	for range data {
		g.copyData()
	}
}

// literal puts values in the places of parameters, mostly.
func (g *generator) literal(st statement) string {
	sql := st.sql
	if g.IntN(10) == 0 {
		return sql
	}
	for i, kind := range st.params {
		v := pick(g, values[kind])
		if kind == 't' && v != "null" {
			v = "'" + v + "'"
		}
		sql = strings.ReplaceAll(sql, "$"+strconv.Itoa(i+1), v)
	}
	return sql
}

var values = map[rune][]string{
	'i': {"0", "1", "3", "4", "1000", "-1", "null"},
	't': {"one", "", "six", "x y", "null"},
	'n': {"1.5", "0", "-0.01", "null"},
}

var wrongValues = []string{"", "x", "99999999999", "1.5.5"}

// binaryValues are the same as some values, in binary form.
var binaryValues = map[rune][]string{
	'i': {"00000001", "00000004", "000003e8", "ffffffff"},
	't': {"6f6e65", "", "736978"},
	'n': {"0002000000000001" + "0001" + "1388", "0000000000000000"},
}

var names = []string{"", "", "s1", "s2", "p1"}
var portals = []string{"", "", "a", "b", "c"}
var limits = []int{0, 0, 0, 1, 2, 3, 6, 7, 999, 1000, 1001, 1100}

// extended adds the messages of an extended query in their usual order, each of them left out now and then.
func (g *generator) extended(copyData bool) {
	st, name, portal := g.statement(), pick(g, names), pick(g, portals)
	for st.copies && !copyData {
		st = g.statement()
	}
	if !slices.Contains(foreignReads, st) && !slices.Contains(homeReads, st) { // rule "EXECUTE of utilities": SQL's EXECUTE runs none
		name = pick(g, []string{"", "s2"})
	}
	if g.IntN(6) > 0 {
		g.parse(name, st)
	}
	if g.IntN(3) == 0 {
		g.add(message{ObjectType: "S", Name: name}.line("Describe"))
	}
	if g.IntN(10) > 0 {
		g.bind(portal, name)
	}
	if g.IntN(2) == 0 {
		g.add(message{ObjectType: "P", Name: portal}.line("Describe"))
	}
	executes := g.IntN(4)
	if st.copies { // rule "unfinished COPY" as well: nothing comes between an Execute and its data
		executes = min(executes, 1)
	}
	for range executes {
		if g.IntN(8) == 0 && len(g.bound) > 0 {
			portal = pick(g, g.bound)
		}
		g.add(message{Portal: portal, MaxRows: pick(g, limits)}.line("Execute"))
	}
	if executes > 0 && st.copies && copyData {
		g.copyData()
	}
	if g.IntN(8) == 0 {
		g.add(message{ObjectType: pick(g, []string{"S", "P"}), Name: pick(g, []string{name, portal})}.line("Close"))
	}
}

func (g *generator) parse(name string, st statement) {
	m := message{Name: name, Query: st.sql}
	if g.IntN(4) == 0 {
		for _, kind := range st.params {
			m.ParameterOIDs = append(m.ParameterOIDs, map[rune]int{'i': 23, 't': 25, 'n': 1700}[kind])
		}
	}
	g.known[name] = st
	g.add(m.line("Parse"))
}

func (g *generator) bind(portal, name string) {
	m := message{DestinationPortal: portal, PreparedStatement: name}
	st := g.known[name]
	for _, kind := range st.params {
		v, format := g.value(kind)
		m.Parameters = append(m.Parameters, v)
		m.ParameterFormatCodes = append(m.ParameterFormatCodes, format)
	}
	if !slices.Contains(m.ParameterFormatCodes, 1) {
		m.ParameterFormatCodes = nil
	}
	switch g.IntN(24) {
	case 0:
		m.Parameters = append(m.Parameters, "1")
		m.ParameterFormatCodes = nil
	case 1:
		if len(m.Parameters) == 0 { // rule "one complaint": a Bind that is wrong in two places is refused for either
			m.ResultFormatCodes = []int{0, 1, 0}
		}
	case 2:
		m.ResultFormatCodes = []int{2}
	case 3, 4, 5, 6, 7:
		m.ResultFormatCodes = []int{1}
	}
	g.bound = append(g.bound, portal)
	g.add(m.line("Bind"))
}

// value returns a parameter and its format code, a wrong one now and then.
func (g *generator) value(kind rune) (any, int) {
	switch g.IntN(16) {
	case 0:
		return pick(g, wrongValues), 0
	case 1:
		return binary{"0001"}, 1
	case 2, 3, 4:
		return binary{pick(g, binaryValues[kind])}, 1
	}
	v := pick(g, values[kind])
	if v == "null" {
		return nil, 0
	}
	return v, 0
}

// copyData adds COPY data and their end. Rule "unfinished COPY": data without an end are left out, for whether home
// has met a bad row or still waits when another message comes can not be seen from outside.
func (g *generator) copyData() {
	for range g.IntN(3) {
		g.add(message{Data: pick(g, copyLines)}.line("CopyData"))
	}
	if g.IntN(8) == 0 {
		text := "no more"
		g.add(message{Message: &text}.line("CopyFail"))
		return
	}
	g.add("CopyDone")
}

var copyLines = []string{"60\tsixty\n", "61\tx\n62\t\\N\n", "63,a\n", "64,\"q\"\"q\"\n", "nonsense", "65\t", "\\.\n", "k,t\n66,b\n"}

// stray adds a message that stands where it should not, or of a rare kind.
func (g *generator) stray() {
	switch g.IntN(10) {
	case 0:
		g.add(message{Data: "70\tstray\n"}.line("CopyData"))
	case 1:
		g.add("CopyDone")
	case 2:
		g.add(message{Function: 177, Arguments: []any{"1", "2"}}.line("FunctionCall")) // int4pl
	case 3:
		g.add(message{Function: 154, Arguments: []any{"1", "0"}}.line("FunctionCall")) // int4div
	case 4:
		g.add(message{Portal: pick(g, portals), MaxRows: pick(g, limits)}.line("Execute"))
	case 5:
		g.bind(pick(g, portals), pick(g, names))
	case 6:
		g.add(message{ObjectType: pick(g, []string{"S", "P", "X"}), Name: pick(g, portals)}.line("Describe"))
	case 7:
		g.add(message{ObjectType: pick(g, []string{"S", "P"}), Name: pick(g, portals)}.line("Close"))
	case 8:
		g.add(pick(g, malformed))
	default:
		g.add("Flush")
	}
}

// malformed messages are errors that a connection survives: a Query and a Parse without their ends, a Bind cut short, an
// Execute with a byte too many, a Describe of nothing.
var malformed = []string{
	"raw 51 00000008 61626364", "raw 50 00000008 00616263", "raw 42 00000006 0000", "raw 45 0000000a 00 00000000 00", "raw 44 00000004",
}

// broken messages end a connection: unknown types, and lengths that cannot be.
var broken = []string{
	"raw 5a 00000004", "raw 7a 00000008 00000000", "raw 51 00000003", "raw 51 ffffffff", "raw 50 7fffffff", "raw 00 00000000", "Terminate",
}
