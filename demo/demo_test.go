package demo

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// TestFiles reads back what makeFiles made, twice, for a demo's directory may be used again.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		f, err := makeFiles(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		for file, want := range map[string]struct {
			from string
			rows int
		}{
			f.database: {"flights", 5000},
			"":         {"read_parquet(" + quote(filepath.Join(f.directory, "*")) + ")", 2922},
		} {
			if got := countRows(t, file, want.from); got != want.rows {
				t.Errorf("%s has %d rows, want %d", want.from, got, want.rows)
			}
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("the directory holds %v (%v), want lake and files", left, err)
	}
}

func countRows(t *testing.T, database, from string) (n int) {
	t.Helper()
	connector, err := duckdb.NewConnector(database, nil)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+from).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTourAtHome runs the tour without a proxy, over views in place of foreign tables: every statement is one that
// Postgres takes, and equal answers count as equal.
func TestTourAtHome(t *testing.T) {
	c, out := homeOnly(t)
	if err := c.runAll(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, want := strings.Count(out.String(), "the same as on plain tables"), len(steps)-2; got != want {
		t.Errorf("%d steps were compared, want %d (all but \\d and EXPLAIN)", got, want)
	}
}

// TestTourFindsDifference changes one row behind the foreign tables' back.
func TestTourFindsDifference(t *testing.T) {
	c, out := homeOnly(t, "UPDATE plain.flights SET delay = delay + 1 WHERE delay = (SELECT max(delay) FROM plain.flights)")
	err := c.runAll(t.Context())
	if err == nil || !strings.Contains(err.Error(), "on plain tables") {
		t.Errorf("the tour did not find the difference: %v\n%s", err, out)
	}
}

// homeOnly loads home, with tables in lake and files, runs more statements, and makes a Config that knows no proxy.
func homeOnly(t *testing.T, more ...string) (Config, *bytes.Buffer) {
	t.Helper()
	home := hometest.Start(t)
	var out bytes.Buffer
	c := Config{HomeURL: home.URL("postgres"), ProxyURL: home.URL("postgres"), Out: &out}
	err := within(t.Context(), c.HomeURL, func(conn *pgconn.PgConn) error { return makeDatabase(t.Context(), conn) })
	if err != nil {
		t.Fatal(err)
	}
	err = within(t.Context(), inDatabase(c.HomeURL), func(conn *pgconn.PgConn) error {
		if err := (Config{}).loadHome(t.Context(), conn); err != nil {
			return err
		}
		return run(t.Context(), conn, append([]string{
			"CREATE SCHEMA lake", "CREATE TABLE lake.flights AS TABLE plain.flights",
			"CREATE SCHEMA files", "CREATE TABLE files.weather AS TABLE plain.weather",
		}, more...)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, &out
}

// runAll is Tour without the step that needs a foreign table.
func (c Config) runAll(ctx context.Context) error {
	for _, s := range steps {
		if s.describe != "" {
			continue
		}
		if err := c.runStep(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func TestPrintTable(t *testing.T) {
	var out bytes.Buffer
	printTable(&out, result{
		fields: []field{{name: "n", oid: 23}, {name: "city", oid: 25}},
		rows:   [][]value{{{text: "7"}, {text: "Zürich"}}, {{text: "1000"}, {null: true}}},
	})
	want := "  n   |  city\n------+--------\n    7 | Zürich\n 1000 |\n(2 rows)\n"
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", out.String(), want)
	}
}

func TestPrintPlan(t *testing.T) {
	var out bytes.Buffer
	printTable(&out, result{
		fields: []field{{name: "QUERY PLAN", oid: 25}},
		rows:   [][]value{{{text: "Scan"}}, {{text: "  Remote SQL: " + strings.Repeat("word ", 25) + "end"}}},
	})
	for _, want := range []string{
		" Scan\n   Remote SQL: word ", " word\n       word ", " word end\n(2 rows)\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed\n%swithout %q", out.String(), want)
		}
	}
}

func TestCompare(t *testing.T) {
	one := result{fields: []field{{name: "a", oid: 23, typmod: -1}}, rows: [][]value{{{text: "1"}}}, tag: "SELECT 1"}
	for name, change := range map[string]func(*result){
		"columns": func(r *result) { r.fields = []field{{name: "a", oid: 20, typmod: -1}} },
		"row 1":   func(r *result) { r.rows = [][]value{{{null: true}}} },
		"0 rows":  func(r *result) { r.rows = nil },
		"COPY":    func(r *result) { r.copied = "x" },
		"tag":     func(r *result) { r.tag = "SELECT 2" },
	} {
		other := one
		change(&other)
		if err := compare(other, one); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a difference in %s gives %v", name, err)
		}
	}
	if err := compare(one, one); err != nil {
		t.Error(err)
	}
}
