package tests

import (
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/embedded"
	"github.com/sluicedb/sluice/embedded/hometest"
)

// run runs a program and returns what it prints.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := osexec.CommandContext(timed(t), name, args...)
	cmd.Env = append(cmd.Environ(), "PGOPTIONS=", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.2000s", name, err, out)
	}
	return string(out)
}

// needPgDump skips a test where this machine's pg_dump is older than home, which it then refuses to dump.
func needPgDump(t *testing.T, home *embedded.Home) {
	t.Helper()
	version := run(t, "pg_dump", "--version") // pg_dump (PostgreSQL) 15.18 …
	fields := strings.Fields(version)
	major, _, _ := strings.Cut(fields[min(2, len(fields)-1)], ".")
	if server := majorOf(t, home); major < server {
		t.Skipf("%s does not dump a server of version %s", strings.TrimSpace(version), server)
	}
}

// TestDump dumps a database with foreign tables through the proxy and restores it through the proxy, in each way there is:
// the extension works in what comes out, and the rows of a foreign table go along where they are asked for.
func TestDump(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i::INTEGER AS id, 'né ' || i AS name FROM range(500) r(i)")
	needPgDump(t, w.home)
	exec(t, w.through, "DROP SERVER lake", w.server("lake", ", read_only 'false'"), "CREATE SCHEMA fx", "CREATE FOREIGN TABLE fx.item (id int NOT NULL, name text) SERVER lake",
		"CREATE TABLE plain (id int PRIMARY KEY, name text)", "INSERT INTO plain SELECT * FROM fx.item", "CREATE VIEW both_sides AS SELECT i.id, p.name FROM fx.item i JOIN plain p USING (id)",
		"CREATE TABLE child (id int REFERENCES plain)", "CREATE INDEX ON plain (name)",
		"SELECT sluice.track_statistics('plain', '{name}'), sluice.track_statistics('child')", "INSERT INTO child VALUES (1), (2)",
		"CREATE TABLE sluice_handle.kept WITH (sluice.ttl = '1 day') AS SELECT id FROM fx.item")
	dir := t.TempDir()
	plain, custom, rows := filepath.Join(dir, "dump.sql"), filepath.Join(dir, "dump.custom"), filepath.Join(dir, "rows.sql")
	run(t, "pg_dump", "-f", plain, w.through)
	run(t, "pg_dump", "-Fc", "-f", custom, w.through)
	run(t, "pg_dump", "-t", "fx.item", "--data-only", "--include-foreign-data=lake", "-f", rows, w.through)
	for name, restore := range map[string]func(url string) string{
		"psql": func(url string) string {
			return run(t, "psql", "-Xqo", "/dev/null", "-v", "ON_ERROR_STOP=1", "-f", plain, url)
		},
		"psql in one": func(url string) string {
			return run(t, "psql", "-1Xqo", "/dev/null", "-v", "ON_ERROR_STOP=1", "-f", plain, url)
		},
		"pg_restore":         func(url string) string { return run(t, "pg_restore", "-e", "-d", url, custom) },
		"pg_restore in one":  func(url string) string { return run(t, "pg_restore", "-1", "-d", url, custom) },
		"pg_restore by jobs": func(url string) string { return run(t, "pg_restore", "-e", "-j", "2", "-d", url, custom) },
	} {
		direct := hometest.Database(t, w.home)
		url := strings.Replace(direct, w.home.Addr(), w.addr, 1)
		if out := restore(url); out != "" {
			t.Errorf("%s says\n%.2000s", name, out)
		}
		conn := connect(t, url)
		want(t, conn, "SELECT count(*), min(name) FROM fx.item", "500|né 0")
		want(t, conn, "SELECT count(*), max(name) FROM both_sides", "500|né 99")
		want(t, conn, "SELECT h.relation, h.row_count, count(k) FROM sluice.ctas_handles h, sluice_handle.kept k GROUP BY 1, 2", "sluice_handle.kept|500|500")
		want(t, conn, "DELETE FROM child WHERE id = 1; SELECT sluice.table_count('child'), sluice.table_count('plain'); SELECT count(*) FROM sluice.verify_statistics() WHERE stored <> actual", "DELETE 1\n1|500\n0")
		want(t, conn, "CREATE FOREIGN TABLE x (id int) SERVER lake OPTIONS (nope '1')", "HV00D")
		want(t, conn, "DROP SCHEMA fx CASCADE; SELECT count(*) FROM sluice.relations", "DROP SCHEMA\n0")
	}
	schema := filepath.Join(dir, "schema.sql")
	run(t, "pg_dump", "-s", "-f", schema, w.through)
	direct := hometest.Database(t, w.home)
	url := strings.Replace(direct, w.home.Addr(), w.addr, 1)
	run(t, "psql", "-Xqo", "/dev/null", "-v", "ON_ERROR_STOP=1", "-f", schema, url)
	conn := connect(t, url)
	want(t, conn, "SELECT count(*) FROM fx.item", "55000") // with a hint
	want(t, conn, "ALTER EXTENSION sluice UPDATE", "ALTER EXTENSION")
	want(t, conn, "SELECT count(*) FROM fx.item", "500")
	want(t, conn, "SELECT sluice.table_count('plain')", "42704") // a schema has no counters
	want(t, conn, "SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'sluice\\_count%'", "0")
	exec(t, w.through, "DELETE FROM fx.item")
	run(t, "psql", "-Xqo", "/dev/null", "-v", "ON_ERROR_STOP=1", "-f", rows, w.through)
	want(t, connect(t, w.through), "SELECT count(*), max(name) FROM fx.item", "500|né 99")
}

// TestNotInstalled names what our triggers watch for in a database without the extension.
func TestNotInstalled(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	conn, early := connect(t, through), connect(t, through)
	want(t, early, "SELECT 1", "1")
	want(t, conn, "BEGIN; CREATE TABLE sluice (server int); SELECT server AS sluice FROM sluice; COMMIT", "BEGIN\nCREATE TABLE\nSELECT 0\nCOMMIT")
	want(t, conn, "SELECT * FROM sluice.relations", "42P01")
	want(t, conn, "CREATE EXTENSION sluice", "CREATE EXTENSION")
	want(t, early, "SELECT count(*) FROM sluice.relations", "0") // it was there before
	want(t, early, "CREATE SERVER s FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (nope '1')", "HV00D")
}
