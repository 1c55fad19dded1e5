package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/internal/oracle"
	"github.com/sluicedb/sluice/internal/tpch"
)

// tpchFactor is the scale factor of the tests' data.
const tpchFactor = 0.01

// TestTPCH asks the 22 queries of plain tables at home and of Parquet files of the same rows, on every route.
func TestTPCH(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	admin := connect(t, w.direct)
	exec(t, w.direct, "CREATE SCHEMA plain")
	exec(t, w.through, "CREATE SCHEMA lake", "CREATE SERVER files FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory '"+dir+"')")
	var load []string
	for _, table := range tpch.Tables() {
		load = append(load, tpchTable(t, admin, dir, table)...)
		exec(t, w.through, fmt.Sprintf("CREATE FOREIGN TABLE lake.%s (%s) SERVER files OPTIONS (file '%s.parquet')", table.Name,
			table.Definition(" NOT NULL"), table.Name))
	}
	duckExec(t, filepath.Join(w.dir, "load.duckdb"), load...)
	exec(t, w.direct, "CREATE INDEX ON plain.lineitem (l_partkey, l_suppkey)", "ANALYZE") // query 20 takes minutes without

	o := oracle.New(t, w.direct, w.through,
		&oracle.Side{Name: "remote", Schema: "lake", Route: "remote"},
		&oracle.Side{Name: "home_join", Schema: "lake", Route: "home_join", Quick: true})
	o.Compare(t, oracle.Statement{Pos: "search_path", SQL: "SET search_path = {s}", Setting: true})
	exec1(t, admin, "SET search_path = plain")
	conn := connect(t, w.through)
	exec1(t, conn, "SET search_path = lake")
	for i, query := range tpch.Queries() {
		name := fmt.Sprintf("query %d", i+1)
		if i+1 == 18 { // at this scale no order has as much
			query = strings.Replace(query, "> 300", "> 250", 1)
		}
		t.Run(name, func(t *testing.T) {
			o.Compare(t, oracle.Statement{Pos: name, SQL: query, Ordered: strings.Contains(query, "\nORDER BY")})
			if n := count(t, admin, query); n == 0 {
				t.Errorf("no rows: the answer of %s proves nothing", name)
			}
			t.Log(route(t, conn, query))
		})
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

// tpchTable fills a table in schema plain and returns the statements that make its Parquet file.
func tpchTable(t *testing.T, admin *pgx.Conn, dir string, table tpch.Table) []string {
	t.Helper()
	path := filepath.Join(dir, table.Name+".tbl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := table.Write(file, tpchFactor); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		t.Fatal(err)
	}
	exec(t, admin.Config().ConnString(), table.Create("plain"))
	if _, err := admin.PgConn().CopyFrom(t.Context(), file, "COPY plain."+table.Name+" FROM STDIN (DELIMITER '|')"); err != nil {
		t.Fatal(err)
	}
	return []string{
		fmt.Sprintf("CREATE TABLE %s (%s)", table.Name, table.Definition("")),
		fmt.Sprintf("COPY %s FROM '%s' (DELIMITER '|', HEADER false)", table.Name, path),
		fmt.Sprintf("COPY %s TO '%s' (FORMAT parquet)", table.Name, strings.TrimSuffix(path, "tbl")+"parquet"),
	}
}
