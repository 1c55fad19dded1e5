package tests

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/sluicedb/sluice/internal/oracle"
	"github.com/sluicedb/sluice/internal/sqlgen"
)

// questions say which generated statements are asked.
type questions struct {
	n, seconds  *int
	seed, first *uint64
}

// questionFlags declares flags with a prefix.
func questionFlags(prefix string, n int) questions {
	return questions{
		n:       flag.Int(prefix+".n", n, "how many generated statements are asked"),
		seconds: flag.Int(prefix+".seconds", 0, "ask generated statements for so long instead"),
		seed:    flag.Uint64(prefix+".seed", 1, "seed of the generated statements"),
		first:   flag.Uint64(prefix+".first", 0, "number of the first statement, to ask a found one again"),
	}
}

var oracleQuestions = questionFlags("oracle", 250)

// settingsOf are those that blocks of statements run under, in turn.
var settingsOf = [][]string{
	{"RESET timezone", "RESET datestyle", "RESET intervalstyle", "RESET extra_float_digits", "RESET bytea_output"},
	{"SET timezone = 'America/New_York'"},
	{"SET timezone = 'Asia/Kolkata'", "SET bytea_output = 'escape'"},
	{"SET timezone = 'Europe/London'", "SET datestyle = 'SQL, DMY'", "SET intervalstyle = 'iso_8601'", "SET extra_float_digits = 0"},
}

// block is how many statements run under the same settings.
const block = 100

// TestOracleGenerated asks statements that nobody thought of.
func TestOracleGenerated(t *testing.T) {
	newGenerated(t).ask(t, oracleQuestions)
}

// ask asks until there are enough failures.
func (a *generatedOracle) ask(t *testing.T, q questions) {
	end := time.Now().Add(time.Duration(*q.seconds) * time.Second)
	n := *q.first
	for last := n + uint64(*q.n); a.failures < mostFailures; n++ {
		if *q.seconds > 0 && time.Now().After(end) || *q.seconds == 0 && n >= last {
			break
		}
		if n == *q.first || n%block == 0 {
			a.settings(t, int(n/block)%len(settingsOf))
		}
		a.compare(t, *q.seed, n)
	}
	t.Logf("seed %d up to statement %d: %d differ\n%s", *q.seed, n, a.failures, a.oracle.Details())
}

// generatedOracle is an oracle that is asked generated statements.
type generatedOracle struct {
	oracle   *oracle.Oracle
	schema   *sqlgen.Schema
	set      []string
	failures int
}

// newGenerated makes the fixture in DuckDB (schema fx), Parquet (fp), another Postgres (fo), and half here and half there (fh).
func newGenerated(t *testing.T) *generatedOracle {
	url, through, lake := twins(t)
	other, _ := fixture(t)
	here := []string{"clocks", "coll", "floats", "kinds", "misc", "orders", "texts"}
	exec(t, through, append(append(otherServer(t, other, ""), "IMPORT FOREIGN SCHEMA plain FROM SERVER other INTO fo",
		"IMPORT FOREIGN SCHEMA plain EXCEPT ("+strings.Join(here, ", ")+") FROM SERVER other INTO fh"), lake.Tables("lake", "fh", here...)...)...)
	o := oracle.New(t, url, through,
		&oracle.Side{Name: "duckdb remote", Schema: "fx", Route: "remote"},
		&oracle.Side{Name: "duckdb", Schema: "fx"},
		&oracle.Side{Name: "duckdb home_join", Schema: "fx", Route: "home_join"},
		&oracle.Side{Name: "parquet", Schema: "fp", Lacks: []string{"spans", "clocks"}},
		&oracle.Side{Name: "postgres remote", Schema: "fo", Route: "remote"},
		&oracle.Side{Name: "duckdb federated", Schema: "fx", Route: "federated"},
		&oracle.Side{Name: "spread", Schema: "fm"},
		&oracle.Side{Name: "spread federated", Schema: "fm", Route: "federated"},
		&oracle.Side{Name: "duckdb and postgres", Schema: "fh"},
	)
	schema, err := sqlgen.Read(t.Context(), connect(t, url), "plain")
	if err != nil {
		t.Fatal(err)
	}
	calibrate(t, schema, url, through)
	return &generatedOracle{oracle: o, schema: schema}
}

// calibrate finds out which expressions engines take, so that most statements are made of them.
func calibrate(t *testing.T, schema *sqlgen.Schema, url, through string) {
	asks := func(url, before, schema string, settings ...string) func(string) bool {
		conn := connect(t, url)
		for _, s := range settings {
			want(t, conn, s, "SET")
		}
		return func(sql string) bool {
			_, err := conn.PgConn().Exec(timed(t), before+strings.ReplaceAll(sql, "{s}", schema)).ReadAll()
			return err == nil
		}
	}
	start := time.Now()
	kept, taken := schema.Calibrate(asks(url, "EXPLAIN ", "plain"), asks(through, "EXPLAIN ", "fx", "SET sluice.route = 'remote'"))
	if taken == 0 {
		t.Error("no expression is taken by an engine")
	}
	t.Logf("%d expressions, of which an engine takes %d (asked in %v)", kept, taken, time.Since(start).Round(time.Second))
}

func (a *generatedOracle) settings(t *testing.T, i int) {
	for _, sql := range settingsOf[i] {
		if err := a.oracle.Set(oracle.Statement{SQL: sql}); err != nil {
			t.Fatal(err)
		}
	}
	a.set = settingsOf[i]
}

// generate makes a statement and the form of the protocol to ask it in, and asks it.
func (a *generatedOracle) generate(t *testing.T, seed, n uint64) (oracle.Statement, []oracle.Finding) {
	made := a.schema.Generate(seed, n)
	s := oracle.Statement{SQL: made.SQL, Params: made.Params, Ordered: made.Ordered, Free: made.Free, Generated: true, Form: 1 + int(n%3)}
	if s.Form == 1 && s.Params != nil {
		s.Form = 2
	}
	findings, err := a.oracle.Ask(s)
	if err != nil {
		t.Fatalf("statement %d of seed %d: %s\n%v", n, seed, s.SQL, err)
	}
	return s, findings
}

// compare asks one statement, and shows a shorter one where it differs.
func (a *generatedOracle) compare(t *testing.T, seed, n uint64) {
	s, findings := a.generate(t, seed, n)
	if len(findings) == 0 {
		return
	}
	a.failures++
	f := findings[0]
	t.Logf("statement %d of seed %d: %v\n%s;\nlooking for a shorter one", n, seed, f, s.SQL)
	small := oracle.Shrink(s, 200, func(c oracle.Statement) bool { return a.oracle.Again(f, c) })
	if again, err := a.oracle.Ask(small); err == nil && len(again) > 0 {
		f = again[0]
	}
	t.Errorf("statement %d of seed %d: %v\n%s;\n%s\n", n, seed, f, strings.Join(a.set, ";\n"), small.Case())
}
