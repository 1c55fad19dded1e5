package tests

import (
	"strings"
	"testing"

	"github.com/sluicedb/sluice/internal/oracle"
)

var leakQuestions = questionFlags("leaks", 80)

// TestLeaksGenerated asks statements that nobody thought of as a governed role, on every route and engine. Each must answer as
// over plain tables of what the role may see; and where there is an error, as over foreign tables in which all that it may not
// see is otherwise.
func TestLeaksGenerated(t *testing.T) {
	w := newHidden(t)
	w.role(t, "leak_reader").ask(t, leakQuestions)
	t.Run("ungoverned", w.ungoverned)
}

// role asks as one.
func (w *hidden) role(t *testing.T, name string) *generatedOracle {
	var sides []*oracle.Side
	for _, e := range w.engines {
		for _, route := range e.routes {
			sides = append(sides, &oracle.Side{Name: strings.TrimSpace(e.name + " " + route), Schema: e.full, Blind: e.bare, Route: route})
		}
	}
	o := oracle.New(t, as(t, w.direct, name), as(t, w.through, name), sides...)
	o.Secret, o.Lasting = secret, last
	return &generatedOracle{oracle: o, schema: w.schema}
}

// hiddenQuestions is how many statements are asked as a role that no rule holds for.
const hiddenQuestions = 40

// ungoverned asks as a role that no rule holds for, which must make a difference: statements and what is made of their
// answers can find a leak of rows, of values and by the words of an error.
func (w *hidden) ungoverned(t *testing.T) {
	a := w.role(t, "leak_free")
	a.settings(t, 0)
	differ := 0
	for n := range uint64(hiddenQuestions) {
		if _, found := a.generate(t, *leakQuestions.seed, n); len(found) > 0 {
			differ++
		}
	}
	t.Logf("%d of %d statements differ", differ, hiddenQuestions)
	if differ < hiddenQuestions/8 {
		t.Errorf("only %d of %d statements differ where no rules hold", differ, hiddenQuestions)
	}
	for sql, what := range map[string]string{
		"SELECT k FROM {s}.spans": "tag:", "SELECT k, u FROM {s}.misc WHERE k = 1": "row", "SELECT t::int FROM {s}.texts WHERE t LIKE 'hu%'": "secret:", "SELECT 10 / i4 FROM {s}.ints": "hidden:",
	} {
		found, err := a.oracle.Ask(oracle.Statement{SQL: sql, Form: 1})
		if err != nil || len(found) < len(w.engines) {
			t.Errorf("%s: %d sides differ, %v", sql, len(found), err)
		}
		for _, f := range found {
			if !strings.HasPrefix(f.What, what) {
				t.Errorf("%s: %v, want %s", sql, f, what)
			}
		}
	}
}
