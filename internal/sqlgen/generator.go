package sqlgen

import (
	"math/rand/v2"
	"strings"
)

// Statement is what a generator makes: text in which {s} stands for the schema, and the text of its parameters, nil for
// none.
type Statement struct {
	SQL    string
	Params []*string
	// Ordered says that the rows have a total order. Free says that a plan may decide whether an error shows: where
	// several relations, a sub-select, AND, OR, a LIMIT or a HAVING without aggregates take part, Postgres does not promise
	// which rows an expression comes to.
	Ordered, Free bool
}

// generator makes one statement.
type generator struct {
	r       *rand.Rand
	schema  *Schema
	narrow  bool // only productions that engines take
	free    bool
	level   int // of sub-selects
	aliases int
	names   int
	ctes    []cte

	withParams bool
	params     []*string
}

// Generate makes a statement, always the same one for a seed and a number over one schema.
func (s *Schema) Generate(seed, n uint64) Statement {
	g := &generator{r: rand.New(rand.NewPCG(seed, n)), schema: s}
	g.narrow = g.n(10) < 7
	g.withParams = g.n(4) == 0
	c := g.clauses(nil)
	names := make([]string, len(c.targets))
	for i := range names {
		if g.n(4) == 0 {
			names[i] = choose(g, []string{"a", "Total", "order", "c", "é"}) + string(rune('0'+i))
			names[i] = `"` + names[i] + `"`
		}
	}
	sql := c.text(names)
	out := Statement{}
	if c.first != "" || g.n(3) > 0 {
		order := g.order(c, names, true)
		sql += order
		out.Ordered = order != ""
		if order != "" && (g.n(4) == 0) {
			rows := 0
			sql += g.limit(&rows)
		}
	}
	out.SQL, out.Free, out.Params = strings.TrimSpace(sql), g.free, g.params
	return out
}

func (g *generator) n(n int) int { return g.r.IntN(n) }

// depth is mostly small, as an engine can take small expressions more often.
func (g *generator) depth() int { return g.n(3) + g.n(2)*g.n(2) }

// seldom says in narrow statements mostly not to use what engines may not take.
func (g *generator) seldom() bool { return g.narrow && g.n(4) > 0 }

func choose[T any](g *generator, list []T) T { return list[g.n(len(list))] }
