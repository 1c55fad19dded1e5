package tests

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/internal/clickbench"
	"github.com/sluicedb/sluice/internal/oracle"
	"github.com/sluicedb/sluice/internal/tpch"
)

// TestTPCH asks the 22 queries of plain tables at home and of Parquet files of the same rows, on every route.
func TestTPCH(t *testing.T) {
	const factor = 0.01
	b := newBenchmark(t)
	for _, table := range tpch.Tables() {
		b.load(t, table.Name, table.Definition, "DELIMITER '|'", func(w io.Writer) error { return table.Write(w, factor) })
	}
	b.plain(t, "CREATE INDEX ON plain.lineitem (l_partkey, l_suppkey)", "ANALYZE") // query 20 takes minutes without
	queries := tpch.Queries()
	queries[17] = strings.Replace(queries[17], "> 300", "> 250", 1) // at this scale no order has as much
	b.spread(t, "lineitem", "orders")
	spread := &oracle.Side{Name: "spread federated", Schema: "spread", Route: "federated", Quick: true}
	b.ask(t, queries[:], 22, spread)
	if n := spread.Taken(); n != 22 {
		t.Errorf("%d queries run federated with lineitem and orders on a server and the rest at home", n)
	}
}

// TestClickBench does so with the 43 queries of ClickBench.
func TestClickBench(t *testing.T) {
	b := newBenchmark(t)
	b.load(t, "hits", clickbench.Definition, "DELIMITER E'\\t'", func(w io.Writer) error { return clickbench.Write(w, 20_000) })
	b.plain(t, "ANALYZE")
	b.ask(t, clickbench.Queries(), 42, &oracle.Side{Name: "federated", Schema: "lake", Route: "federated", Quick: true})
}

// benchmark has the same tables in schema plain at home and, foreign, in schema lake.
type benchmark struct {
	*world
	admin       *pgx.Conn         // around the proxy
	definitions map[string]string // of the tables, by name
	files       string            // where the Parquet files are
}

func newBenchmark(t *testing.T) *benchmark {
	b := &benchmark{world: newWorld(t), files: t.TempDir(), definitions: map[string]string{}}
	b.admin = connect(t, b.direct)
	b.plain(t, "CREATE SCHEMA plain")
	exec(t, b.through, "CREATE SCHEMA lake", "CREATE SERVER files FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory '"+b.files+"')")
	return b
}

func (b *benchmark) plain(t *testing.T, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		exec1(t, b.admin, sql)
	}
}

// load makes a table on both sides, with the rows that write writes in the form of COPY under the options given.
func (b *benchmark) load(t *testing.T, name string, definition func(more string) string, options string, write func(io.Writer) error) {
	t.Helper()
	path := filepath.Join(b.files, name+".csv")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := write(file); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	b.plain(t, fmt.Sprintf("CREATE TABLE plain.%s (%s)", name, definition(" NOT NULL")))
	if _, err := b.admin.PgConn().CopyFrom(t.Context(), file, fmt.Sprintf("COPY plain.%s FROM STDIN (%s)", name, options)); err != nil {
		t.Fatal(err)
	}
	duckExec(t, filepath.Join(b.dir, name+".duckdb"),
		fmt.Sprintf("CREATE TABLE %s (%s)", name, definition("")),
		fmt.Sprintf("COPY %s FROM '%s' (HEADER false, FORCE_NOT_NULL *, %s)", name, path, strings.Replace(options, "E'", "'", 1)),
		fmt.Sprintf("COPY %s TO '%s' (FORMAT parquet)", name, filepath.Join(b.files, name+".parquet")))
	b.definitions[name] = fmt.Sprintf("%s (%s)", name, definition(" NOT NULL"))
	b.foreign(t, "lake", name)
}

// foreign declares a table's file in a schema.
func (b *benchmark) foreign(t *testing.T, schema, name string) {
	t.Helper()
	exec(t, b.through, "CREATE FOREIGN TABLE "+schema+"."+b.definitions[name]+" SERVER files OPTIONS (file '"+name+".parquet')")
}

// spread makes schema spread, in which only the tables named are foreign, and the others home's own.
func (b *benchmark) spread(t *testing.T, foreign ...string) {
	t.Helper()
	b.plain(t, "CREATE SCHEMA spread")
	for name := range b.definitions {
		if slices.Contains(foreign, name) {
			b.foreign(t, "spread", name)
			continue
		}
		b.plain(t, "CREATE TABLE spread."+name+" (LIKE plain."+name+")", "INSERT INTO spread."+name+" SELECT * FROM plain."+name)
	}
	b.plain(t, "ANALYZE")
}

// ask compares the answers to queries on each route, and which way they go when they are free to choose: so many remote, as
// docs/pushdown.md says.
func (b *benchmark) ask(t *testing.T, queries []string, remote int, more ...*oracle.Side) {
	o := oracle.New(t, b.direct, b.through, append(more,
		&oracle.Side{Name: "remote", Schema: "lake", Route: "remote"},
		&oracle.Side{Name: "home_join", Schema: "lake", Route: "home_join", Quick: true})...)
	o.Compare(t, oracle.Statement{Pos: "search_path", SQL: "SET search_path = {s}", Setting: true})
	b.plain(t, "SET search_path = plain")
	conn := connect(t, b.through)
	exec1(t, conn, "SET search_path = lake")
	for i, query := range queries {
		name := fmt.Sprintf("query %d", i+1)
		t.Run(name, func(t *testing.T) {
			o.Compare(t, oracle.Statement{Pos: name, SQL: query, Ordered: strings.Contains(query, "ORDER BY")})
			if n := count(t, b.admin, query); n == 0 {
				t.Errorf("no rows: the answer of %s proves nothing", name)
			}
			way := route(t, conn, query)
			t.Log(way)
			if strings.Contains(way, "Route: remote") {
				remote--
			}
		})
	}
	if remote != 0 {
		t.Errorf("%d queries more should have run remote", remote)
	}
	t.Log(o.Report())
}

// count returns how many rows a query yields.
func count(t *testing.T, conn *pgx.Conn, query string) int {
	t.Helper()
	tag, err := conn.Exec(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	return int(tag.RowsAffected())
}

// route returns the lines of a query's EXPLAIN that say which way it goes, and why.
func route(t *testing.T, conn *pgx.Conn, query string) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "EXPLAIN "+query)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines[:min(len(lines), 3)], "; ")
}
