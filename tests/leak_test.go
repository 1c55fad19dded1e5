package tests

import (
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/datadriven"
)

var leakWhole = flag.Bool("leaks.whole", false, "make each attempt on each route in all protocols, instead of one by turns")

// secret matches what leak_alice may not see of testdata/leaks_world.sql: values of hidden rows, what is behind its masks,
// and how much is hidden. Where an attempt says such a thing itself, an echo of it tells nothing.
var secret = regexp.MustCompile(`hush[-\w]*|987-65|\b77\d{5}\b|86753\d{2,4}|86750\d{2}|\b1955-0|922337203685477580\d|\b(4001|4005|4009|3917|3921|3600|3601)\b`)

// leaked are the secrets in what was said.
func leaked(said []string, script string) []string {
	var found []string
	for _, line := range said {
		for _, s := range secret.FindAllString(line, -1) {
			if !strings.Contains(script, s) {
				found = append(found, s)
			}
		}
	}
	return found
}

// leakAttempt is one that is to learn what leak_alice may not.
type leakAttempt struct {
	script []string // statements in turn; "@owner " and "@bob " before one say who runs it
	same   bool     // compared with the tables of what leak_alice may see, in home
	blind  bool     // compared with such tables behind the same engine
	vague  bool     // sampling, which foreign tables do not know
	abroad bool     // made on foreign tables alone
	free   bool     // made on no forced route, which may refuse it sooner or later than what it waits for
	place  int      // among all attempts

	mu    sync.Mutex
	twins map[string][]string // what was said in home, by protocols
}

// leakRuns numbers runs, for names that no two share.
var leakRuns atomic.Int64

// run makes the attempt as a role over the tables of a schema, and returns what the role was told.
func (w *leakWorld) run(t *testing.T, e *leakEngine, a *leakAttempt, role, address, schema, route string, p leakProtocol) ([]string, error) {
	c, settings, err := w.client(t, e, address, role, route)
	if err != nil {
		return nil, err
	}
	number := fmt.Sprintf("n%d_", leakRuns.Add(1))
	for _, sql := range a.script {
		sql = strings.NewReplacer("{s}", schema, "{n}", number).Replace(sql)
		by, way := c, p
		for prefix, other := range map[string]string{"@owner ": "postgres", "@bob ": "leak_bob"} {
			if rest, ok := strings.CutPrefix(sql, prefix); ok {
				if by, _, err = w.client(t, e, address, other, ""); err != nil {
					return nil, err
				}
				sql, way = rest, leakProtocols[0]
			}
		}
		if err := by.send(sql, way); err != nil {
			return nil, fmt.Errorf("%s: %w", sql, err)
		}
		if by != c {
			if said := by.take(); strings.HasPrefix(sql, "GRANT") && leakCode(said[0]) != "" {
				return nil, fmt.Errorf("%s: %s", sql, said)
			}
		}
	}
	said := c.take()
	if len(a.script) == 1 {
		return said, nil
	}
	return said, c.clear(settings...)
}

// road is a way that an attempt is made.
type road struct {
	engine   *leakEngine
	route    string
	protocol leakProtocol
}

func (r road) String() string {
	route := r.route
	if route == "" {
		route = "auto"
	}
	return r.engine.name + " " + route
}

// try makes the attempt on one road. It returns how that came out in short, and what was learnt: secrets, and what was said
// otherwise than where there are none.
func (w *leakWorld) try(t *testing.T, a *leakAttempt, role string, r road) (outcome string, learnt []string) {
	got, err := w.run(t, r.engine, a, role, w.through, r.engine.full, r.route, r.protocol)
	if err != nil {
		return "broken", []string{err.Error()}
	}
	learnt = leaked(got, strings.Join(a.script, "\n"))
	var want []string
	if a.same {
		want, err = w.twin(t, a, role, r)
	} else {
		want, err = w.run(t, r.engine, a, role, w.through, r.engine.bare, r.route, r.protocol)
	}
	if err != nil {
		return "broken", []string{err.Error()}
	}
	if r.engine.name == homeEngine {
		got, want = r.engine.unnamed(got), r.engine.unnamed(want)
	}
	codes := failures(got)
	if a.same && strings.Contains(codes, "0A000") && !strings.Contains(failures(want), "0A000") && (r.route != "" || a.vague) {
		return "0A000", learnt
	}
	if r.engine.name == homeEngine && a.same && codes != failures(want) && unmasked(codes) {
		return codes, learnt
	}
	got, want = lasting(got), lasting(want)
	if a.same {
		got, want = comparable(got), comparable(want)
	}
	if d := differing(want, got); d != "" && (a.same || a.blind) {
		learnt = append(learnt, d)
	}
	switch {
	case a.same:
		return "same", learnt
	case codes == "":
		return "told nothing", learnt
	}
	return "told nothing, but " + codes, learnt
}

// alters reports whether others change what governs the tables meanwhile, which waits for readers of home's own.
func (a *leakAttempt) alters() bool {
	return slices.ContainsFunc(a.script, func(sql string) bool { return strings.HasPrefix(sql, "@owner") })
}

// unnamed leaves out which of an engine's schemas was asked.
func (e *leakEngine) unnamed(said []string) []string {
	out := make([]string, len(said))
	for i, line := range said {
		out[i] = strings.NewReplacer(e.full, "{s}", e.bare, "{s}").Replace(line)
	}
	return out
}

// unmasked says that a statement was refused for what masks of home's tables do not allow: see docs/masks.md.
func unmasked(codes string) bool {
	return slices.Contains([]string{"0A000", "42501", "42703", "42803"}, codes)
}

// twin makes the attempt in home, over plain tables of what the role may see; once in each protocol.
func (w *leakWorld) twin(t *testing.T, a *leakAttempt, role string, r road) ([]string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if said, ok := a.twins[r.protocol.name]; ok {
		return said, nil
	}
	said, err := w.run(t, w.home, a, role, w.direct, "sl_tw", "", r.protocol)
	if err == nil {
		a.twins[r.protocol.name] = said
	}
	return said, err
}

// failures lists the SQLSTATEs in what was said.
func failures(said []string) string {
	var codes []string
	for _, line := range said {
		if c := leakCode(line); c != "" && !slices.Contains(codes, c) {
			codes = append(codes, c)
		}
	}
	return strings.Join(codes, " ")
}

// comparable leaves out of errors what is the engine's own to say, and of others what home has no word on.
func comparable(said []string) []string {
	var out []string
	for _, line := range said {
		switch {
		case leakCode(line) != "":
			line = "ERROR " + leakCode(line)
		case strings.HasPrefix(line, "parameter "):
			continue
		}
		out = append(out, line)
	}
	return out
}

// differing says what was said otherwise than wanted. Which of the rows that it may see functions of the role's own come to, and in
// which order, is the plan's choice.
func differing(want, got []string) string {
	want, known := apart(want)
	got, notices := apart(got)
	for _, n := range notices {
		if !slices.Contains(known, n) {
			return "said " + n
		}
	}
	for i := range max(len(want), len(got)) {
		a, b := "nothing", "nothing"
		if i < len(want) {
			a = want[i]
		}
		if i < len(got) {
			b = got[i]
		}
		if a != b {
			return "said " + b + " instead of " + a
		}
	}
	return ""
}

// apart takes notices and notifications out of what was said.
func apart(said []string) (others, notices []string) {
	for _, line := range said {
		if strings.HasPrefix(line, "NOTICE") || strings.HasPrefix(line, "notify") {
			notices = append(notices, line)
		} else {
			others = append(others, line)
		}
	}
	return others, notices
}

// roads are the ways on which an attempt is made on an engine: each route, in the protocols by turns, or in all of them.
func (a *leakAttempt) roads(e *leakEngine) (list []road) {
	for i, route := range e.routes {
		if a.free && route != "" || e.name == homeEngine && (a.abroad || a.alters()) {
			continue
		}
		for j, p := range leakProtocols {
			if *leakWhole || (a.place+i)%len(leakProtocols) == j {
				list = append(list, road{e, route, p})
			}
		}
	}
	return list
}

// everywhere makes an attempt on all roads, at once on different engines, and sums up how it came out.
func (w *leakWorld) everywhere(t *testing.T, a *leakAttempt) string {
	var all sync.WaitGroup
	var mu sync.Mutex
	outcomes := map[string][]string{}
	for _, e := range w.engines {
		all.Add(1)
		go func() {
			defer all.Done()
			for _, r := range a.roads(e) {
				outcome, learnt := w.try(t, a, "leak_alice", r)
				mu.Lock()
				if !slices.Contains(outcomes[outcome], r.String()) {
					outcomes[outcome] = append(outcomes[outcome], r.String())
				}
				if len(learnt) > 0 {
					w.found = append(w.found, fmt.Sprintf("%v %s: leak_alice learns %.2000q of\n%s", r, r.protocol.name, learnt, strings.Join(a.script, "\n")))
				}
				mu.Unlock()
			}
		}()
	}
	all.Wait()
	return summary(outcomes)
}

// summary says the outcome that most roads have, and which have others.
func summary(outcomes map[string][]string) string {
	var list []string
	for o := range outcomes {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b string) int {
		if d := len(outcomes[b]) - len(outcomes[a]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	out := list[0] + "\n"
	for _, o := range list[1:] {
		slices.Sort(outcomes[o])
		out += o + ": " + strings.Join(outcomes[o], ", ") + "\n"
	}
	return out
}

// readAttempt reads an attempt. Lines that begin with a blank go on.
func readAttempt(d *datadriven.TestData) *leakAttempt {
	text := strings.ReplaceAll(d.Input, "\n ", " ")
	place, _ := strconv.Atoi(d.Pos[strings.LastIndex(d.Pos, ":")+1:])
	return &leakAttempt{script: strings.Split(text, "\n"), same: d.Cmd == "same", blind: d.Cmd == "blind", vague: d.HasArg("vague"), free: d.HasArg("free"), abroad: d.HasArg("abroad"), place: place, twins: map[string][]string{}}
}

// TestLeakCorpus makes every attempt of the corpus on every route, engine and protocol. It fails wherever leak_alice is told of what
// it may not see, or is told anything else than if there were no more than it may see.
func TestLeakCorpus(t *testing.T) {
	w := newLeakWorld(t)
	defer w.close()
	paths, err := filepath.Glob("testdata/leaks/*")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no attempts: %v", err)
	}
	w.settings(t)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			defer w.report(t)
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				return w.everywhere(t, readAttempt(d))
			})
		})
	}
	t.Run("ungoverned", w.trusted)
}

// settings has values of rules evaluated under settings that would have them mean others.
func (w *leakWorld) settings(t *testing.T) {
	for setting, want := range map[string]string{
		"extra_float_digits = -15": "55.5|double precision", "datestyle = 'SQL, DMY'": "2005-05-06|date", "intervalstyle = 'sql_standard'": "-1 days +02:00:00|interval",
	} {
		value, typ, _ := strings.Cut(want, "|")
		got := rows(t, connect(t, w.through), "SET "+setting+"; SELECT * FROM sluice.evaluate($$'"+value+"'::"+typ+"$$)")
		if got != "SET\n"+want {
			t.Errorf("under %s: %s", setting, got)
		}
	}
}

// report fails the test for what was found: datadriven goes no further once a test has failed.
func (w *leakWorld) report(t *testing.T) {
	for _, f := range w.found {
		t.Error(f)
	}
	w.found = nil
}

// trusted makes the attempts as a role that no rule holds for. But for those marked as "nobody", each learns something: the
// attempts and what is made of their answers can find a leak.
func (w *leakWorld) trusted(t *testing.T) {
	defer w.report(t)
	paths, _ := filepath.Glob("testdata/leaks/*")
	var attempts, learning int
	for _, path := range paths {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			a := readAttempt(d)
			_, learnt := w.try(t, a, "leak_trusted", road{w.engines[0], "", leakProtocols[attempts%len(leakProtocols)]})
			attempts++
			if len(learnt) > 0 {
				learning++
			}
			if len(learnt) > 0 == d.HasArg("nobody") {
				w.found = append(w.found, fmt.Sprintf("%s: a role that no rule holds for learns %.300q of\n%s", d.Pos, learnt, d.Input))
			}
			return d.Expected
		})
	}
	t.Logf("%d attempts, %d of which learn something where no rules hold", attempts, learning)
}
