package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExtension creates and drops the extension in every way.
func TestExtension(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS a")
	conn := connect(t, w.through)
	want(t, conn, "CREATE EXTENSION sluice", "42710")
	want(t, conn, "CREATE EXTENSION IF NOT EXISTS sluice", "CREATE EXTENSION")
	want(t, conn, "ALTER EXTENSION sluice UPDATE", "ALTER EXTENSION")
	want(t, conn, "SELECT count(*) FROM pg_foreign_data_wrapper WHERE fdwname = 'sluice_duckdb'", "1")
	want(t, conn, "DROP EXTENSION sluice", "2BP01")
	want(t, conn, "DROP EXTENSION sluice CASCADE", "DROP EXTENSION")
	want(t, conn, "SELECT count(*) FROM pg_foreign_server", "0")
	want(t, conn, "DROP EXTENSION sluice", "42704")
	want(t, conn, "DROP EXTENSION IF EXISTS sluice", "DROP EXTENSION")
	want(t, conn, "BEGIN; CREATE EXTENSION sluice; ROLLBACK", "BEGIN\nCREATE EXTENSION\nROLLBACK")
	want(t, conn, "SELECT count(*) FROM pg_namespace WHERE nspname = 'sluice'", "0")
	want(t, conn, "CREATE EXTENSION sluice SCHEMA public", "0A000")
	want(t, conn, "create extension if not exists SLUICE", "CREATE EXTENSION")
	want(t, conn, w.server("lake", ""), "CREATE SERVER")
	want(t, conn, "CREATE FOREIGN TABLE t (a int) SERVER lake; SELECT a FROM t", "CREATE FOREIGN TABLE\n1")
}

// TestServers checks what is refused and with what hint (L-06, L-07).
func TestServers(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS a")
	conn := connect(t, w.through)
	for sql, code := range map[string]string{
		"CREATE SERVER x FOREIGN DATA WRAPPER sluice_duckdb":                    "HV00B",
		"CREATE SERVER x FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (nope '1')": "HV00D",
		w.server("x", ", nope '1'"):                                             "HV00D",
		w.server("x", ", read_only 'maybe'"):                                    "22023",
		w.server("x", ", memory_limit 'much'"):                                  "22023",
		w.server("lake", ""):                                                    "42710",
		"CREATE SERVER x FOREIGN DATA WRAPPER nope":                             "42704",
		"CREATE FOREIGN TABLE x (a int) SERVER nope":                            "42704",
		"CREATE FOREIGN TABLE x (a int) SERVER lake OPTIONS (nope '1')":         "HV00D",
		"CREATE FOREIGN TABLE x (a int OPTIONS (nope '1')) SERVER lake":         "HV00D",
		"CREATE USER MAPPING FOR PUBLIC SERVER lake OPTIONS (nope '1')":         "HV00D",
		"DROP SERVER nope":                                                      "42704",
		"DROP USER MAPPING FOR PUBLIC SERVER lake":                              "42704",
		"ALTER SERVER lake OPTIONS (ADD nope '1')":                              "HV00D",
		"ALTER SERVER lake OPTIONS (ADD database '/x')":                         "42710",
		"ALTER SERVER lake OPTIONS (DROP database)":                             "HV00B",
		"ALTER SERVER lake OPTIONS (DROP threads)":                              "42704",
		"ALTER SERVER nope OPTIONS (ADD threads '1')":                           "42704",
		"IMPORT FOREIGN SCHEMA nosuch FROM SERVER lake INTO public":             "HV00Q",
		"IMPORT FOREIGN SCHEMA main FROM SERVER nope INTO public":               "42704",
		"IMPORT FOREIGN SCHEMA main FROM SERVER lake INTO nosuch":               "3F000",
	} {
		want(t, conn, sql, code)
	}
	_, err := conn.Exec(timed(t), w.server("x", ", nope '1'"))
	if pe := pgError(err); pe == nil || !strings.Contains(pe.Hint, "read_only") || !strings.Contains(pe.Message, "nope") {
		t.Errorf("the error of an unknown option has no list of valid ones: %+v", pe)
	}
	want(t, conn, w.server("IF NOT EXISTS lake", ""), "CREATE SERVER")
	want(t, conn, "ALTER SERVER lake OPTIONS (ADD threads '1')", "ALTER SERVER")
	want(t, conn, "ALTER SERVER lake OPTIONS (SET threads '2', ADD memory_limit '200MB')", "ALTER SERVER")
	want(t, conn, "ALTER SERVER lake OPTIONS (DROP threads)", "ALTER SERVER")
	want(t, conn, "CREATE FOREIGN TABLE t (a int) SERVER lake; SELECT a FROM t", "CREATE FOREIGN TABLE\n1")
	want(t, conn, "DROP SERVER lake", "2BP01")
	want(t, conn, "BEGIN; DROP SERVER lake CASCADE; SELECT a FROM t", "42P01")
	want(t, conn, "ROLLBACK; SELECT a FROM t", "ROLLBACK\n1")
	want(t, conn, "DROP SERVER lake CASCADE", "DROP SERVER")
	want(t, conn, "SELECT a FROM t", "42P01")
}

// TestOptionsLast gives wrong options to statements that Postgres refuses, or skips, before it asks a validator.
func TestOptionsLast(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS a")
	conn, role := connect(t, w.through), "stranger_"+w.database
	exec(t, w.direct, "CREATE ROLE "+role)
	t.Cleanup(func() { exec(t, w.direct, "DROP ROLE "+role) })
	want(t, conn, "CREATE FOREIGN TABLE t (a int) SERVER lake", "CREATE FOREIGN TABLE")
	for sql, answer := range map[string]string{
		w.server("lake", ", nope '1'"):                                         "42710",
		w.server("IF NOT EXISTS lake", ", nope '1'"):                           "CREATE SERVER",
		"CREATE FOREIGN TABLE t (a int) SERVER lake OPTIONS (nope '1')":        "42P07",
		"CREATE FOREIGN TABLE x (a nosuch) SERVER lake OPTIONS (nope '1')":     "42704",
		"CREATE FOREIGN TABLE nosuch.x (a int) SERVER lake OPTIONS (nope '1')": "3F000",
		"ALTER SERVER lake OPTIONS (ADD nope '1', ADD nope '2')":               "42710",
		"ALTER FOREIGN TABLE t OPTIONS (ADD nope '1'), DROP COLUMN b":          "42703",
	} {
		want(t, conn, sql, answer)
	}
	want(t, conn, "SET ROLE "+role, "SET")
	for _, sql := range []string{
		w.server("x", ", nope '1'"), "ALTER SERVER lake OPTIONS (ADD nope '1')", "CREATE USER MAPPING FOR CURRENT_USER SERVER lake OPTIONS (nope '1')",
		"CREATE FOREIGN TABLE pg_temp.x (a int) SERVER lake OPTIONS (nope '1')", "ALTER FOREIGN TABLE t OPTIONS (ADD nope '1')",
	} {
		want(t, conn, sql, "42501")
	}
}

// TestServerChanges alters what a server and its tables point to: the next statement uses it, prepared or not (L-07).
func TestServerChanges(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS a", "CREATE TABLE u AS SELECT 2 AS a")
	other := filepath.Join(w.dir, "other.duckdb")
	duckExec(t, other, "CREATE TABLE t AS SELECT 3 AS a")
	conn, second := connect(t, w.through), connect(t, w.through)
	want(t, conn, "CREATE FOREIGN TABLE t (a int) SERVER lake; PREPARE p AS SELECT a FROM t; EXECUTE p", "CREATE FOREIGN TABLE\nPREPARE\n1")
	want(t, second, "PREPARE p AS SELECT a FROM t; EXECUTE p", "PREPARE\n1")
	want(t, conn, "ALTER FOREIGN TABLE t OPTIONS (ADD table_name 'u'); SELECT a FROM t; EXECUTE p", "ALTER FOREIGN TABLE\n2\n2")
	want(t, second, "SELECT a FROM t; EXECUTE p", "2\n2")
	exec(t, w.direct, "ALTER FOREIGN TABLE t OPTIONS (SET table_name 't')")
	want(t, second, "SELECT a FROM t; EXECUTE p", "1\n1")
	want(t, conn, "ALTER SERVER lake OPTIONS (SET database '"+other+"'); SELECT a FROM t; EXECUTE p", "ALTER SERVER\n3\n3")
	want(t, second, "SELECT a FROM t; EXECUTE p", "3\n3")
	want(t, conn, "BEGIN; ALTER SERVER lake OPTIONS (SET database '"+w.file+"'); SELECT a FROM t; ROLLBACK; SELECT a FROM t", "BEGIN\nALTER SERVER\n1\nROLLBACK\n3")
	want(t, conn, "ALTER FOREIGN TABLE t RENAME TO t2; SELECT a FROM t2", "ALTER FOREIGN TABLE\n3")
	want(t, second, "SELECT a FROM t", "42P01")
	want(t, second, "SELECT a FROM t2", "3")
	want(t, conn, "ALTER FOREIGN TABLE t2 RENAME a TO b", "ALTER FOREIGN TABLE")
	want(t, conn, "SELECT b FROM t2", "42703")
	want(t, conn, "ALTER FOREIGN TABLE t2 ALTER b OPTIONS (ADD column_name 'a'); SELECT b FROM t2", "ALTER FOREIGN TABLE\n3")
	want(t, conn, "BEGIN; CREATE FOREIGN TABLE fresh (a int) SERVER lake OPTIONS (table_name 't'); SELECT a FROM fresh; ROLLBACK", "BEGIN\nCREATE FOREIGN TABLE\n3\nROLLBACK")
	want(t, conn, "SELECT a FROM fresh", "42P01")
}

// TestImport imports all, some and other than some tables, and what goes wrong undoes all (L-01, L-02, L-03).
func TestImport(t *testing.T) {
	w := newWorld(t, `CREATE TABLE "MixedCase" ("Id" INTEGER NOT NULL, "Name" VARCHAR, amount DECIMAL(10,2), ts TIMESTAMPTZ)`,
		`INSERT INTO "MixedCase" VALUES (1, 'x', 1.5, '2024-01-01 00:00:00+00')`, "CREATE TABLE plain AS SELECT 1 AS a", "CREATE TABLE other AS SELECT 2 AS b",
		`CREATE TABLE odd ("natural" INTEGER, "group" INTEGER, "order" INTEGER, "a b" INTEGER, "quote""d" INTEGER, "日本" INTEGER)`, "INSERT INTO odd VALUES (1, 2, 3, 4, 5, 6)",
		"CREATE SCHEMA second", "CREATE TABLE second.deep AS SELECT 7 AS z", "CREATE VIEW watched AS SELECT a * 10 AS a FROM plain",
		"CREATE TABLE alltypes (a TINYINT, b UTINYINT, c USMALLINT, d UINTEGER, e UBIGINT, f HUGEINT, g TIMESTAMP_S, h TIMESTAMP_MS, i TIMESTAMP_NS, j TIME, k BLOB, l UUID, m INTEGER[], n JSON, o BIT, p ENUM('x', 'y'), q STRUCT(a INTEGER))",
		"COMMENT ON TABLE plain IS 'the plain one'", "COMMENT ON COLUMN plain.a IS 'a number'")
	conn := connect(t, w.through)
	want(t, conn, "CREATE SCHEMA imp; IMPORT FOREIGN SCHEMA main LIMIT TO (plain, \"MixedCase\", odd) FROM SERVER lake INTO imp", "CREATE SCHEMA\nIMPORT FOREIGN SCHEMA")
	want(t, conn, `SELECT "Id", "Name", amount, ts AT TIME ZONE 'UTC' FROM imp."MixedCase"`, "1|x|1.50|2024-01-01 00:00:00")
	want(t, conn, `SELECT id FROM imp."MixedCase"`, "42703")
	want(t, conn, `SELECT "natural", "group", "order", "a b", "quote""d", "日本" FROM imp.odd`, "1|2|3|4|5|6")
	want(t, conn, "SELECT obj_description('imp.plain'::regclass), col_description('imp.plain'::regclass, 1)", "the plain one|a number")
	want(t, conn, `SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attrelid = 'imp."MixedCase"'::regclass AND attnum > 0 ORDER BY attnum`,
		"Id|integer|t\nName|text|f\namount|numeric(10,2)|f\nts|timestamp with time zone|f")
	want(t, conn, "IMPORT FOREIGN SCHEMA main LIMIT TO (plain) FROM SERVER lake INTO imp", "42P07")
	want(t, conn, "IMPORT FOREIGN SCHEMA main LIMIT TO (other, plain) FROM SERVER lake INTO imp", "42P07")
	want(t, conn, "SELECT to_regclass('imp.other')", "NULL")
	want(t, conn, "IMPORT FOREIGN SCHEMA main LIMIT TO (zzz) FROM SERVER lake INTO imp", "IMPORT FOREIGN SCHEMA")
	want(t, conn, "IMPORT FOREIGN SCHEMA main EXCEPT (plain, \"MixedCase\", odd, alltypes) FROM SERVER lake INTO imp", "IMPORT FOREIGN SCHEMA")
	want(t, conn, "SELECT b FROM imp.other; SELECT a FROM imp.watched", "2\n10")
	want(t, conn, "IMPORT FOREIGN SCHEMA second FROM SERVER lake INTO imp; SELECT z FROM imp.deep", "IMPORT FOREIGN SCHEMA\n7")
	want(t, conn, "BEGIN; CREATE SCHEMA imp2; IMPORT FOREIGN SCHEMA second FROM SERVER lake INTO imp2; SELECT z FROM imp2.deep; ROLLBACK", "BEGIN\nCREATE SCHEMA\nIMPORT FOREIGN SCHEMA\n7\nROLLBACK")
	want(t, conn, "SELECT to_regnamespace('imp2')", "NULL")
}

// TestFiles reads Parquet and CSV files of a directory, in schemas that IMPORT infers.
func TestFiles(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT i::INTEGER AS a, 'v' || i AS b, DATE '2024-01-01' + i::INTEGER AS c FROM range(3) r(i)")
	dir := t.TempDir()
	duckExec(t, w.file, "COPY t TO '"+dir+"/one.parquet'", "COPY t TO '"+dir+"/two.csv' (HEADER)", "COPY t TO '"+dir+"/three.json'")
	if err := os.WriteFile(filepath.Join(dir, "cut.parquet"), []byte("PAR1 and no more"), 0o644); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, w.through)
	want(t, conn, "CREATE SERVER files FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory '"+dir+"')", "CREATE SERVER")
	want(t, conn, "CREATE FOREIGN TABLE one (a int, b text, c date) SERVER files OPTIONS (file 'one.parquet'); SELECT * FROM one ORDER BY a", "CREATE FOREIGN TABLE\n0|v0|2024-01-01\n1|v1|2024-01-02\n2|v2|2024-01-03")
	want(t, conn, "CREATE FOREIGN TABLE two (a int, b text, c date) SERVER files OPTIONS (file 'two.csv'); SELECT * FROM two WHERE a = 1", "CREATE FOREIGN TABLE\n1|v1|2024-01-02")
	want(t, conn, "CREATE FOREIGN TABLE three (a int, b text, c date) SERVER files OPTIONS (file 'three.json'); SELECT count(*) FROM three", "CREATE FOREIGN TABLE\n3")
	want(t, conn, "CREATE FOREIGN TABLE every (a int) SERVER files OPTIONS (glob 'one*.parquet'); SELECT sum(a) FROM every", "CREATE FOREIGN TABLE\n3")
	for _, name := range []string{"gone.parquet", "cut.parquet"} {
		want(t, conn, "DROP FOREIGN TABLE IF EXISTS bad; CREATE FOREIGN TABLE bad (a int) SERVER files OPTIONS (file '"+name+"')", "DROP FOREIGN TABLE\nCREATE FOREIGN TABLE")
		_, err := conn.Exec(timed(t), "SELECT * FROM bad")
		pe := pgError(err)
		if pe == nil || !strings.HasPrefix(pe.Code, "58") && !strings.HasPrefix(pe.Code, "HV") || !strings.Contains(pe.Message+pe.Detail+pe.Where, "bad") && !strings.Contains(pe.Message+pe.Detail, name) {
			t.Errorf("%s: the error is %+v", name, pe)
		}
		want(t, conn, "SELECT 1", "1")
	}
	for _, bad := range []string{"../x.parquet", "/etc/passwd", "a/../../b.csv"} {
		want(t, conn, "CREATE FOREIGN TABLE evil (a text) SERVER files OPTIONS (file '"+bad+"', format 'csv')", "22023")
	}
}

// TestMissingObjects asks for remote tables and columns that are not there (L-09).
func TestMissingObjects(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS a, 'x' AS b")
	conn := connect(t, w.through)
	want(t, conn, "CREATE FOREIGN TABLE gone (a int) SERVER lake; CREATE FOREIGN TABLE nocol (a int, zz int) SERVER lake OPTIONS (table_name 't'); CREATE FOREIGN TABLE badtype (b int) SERVER lake OPTIONS (table_name 't'); CREATE FOREIGN TABLE part (b text) SERVER lake OPTIONS (table_name 't')", "CREATE FOREIGN TABLE\nCREATE FOREIGN TABLE\nCREATE FOREIGN TABLE\nCREATE FOREIGN TABLE")
	for sql, word := range map[string]string{"SELECT * FROM gone": "gone", "SELECT zz FROM nocol": "zz", "SELECT b FROM badtype": "x"} {
		_, err := conn.Exec(timed(t), sql)
		if pe := pgError(err); pe == nil || pe.Code == "XX000" || !strings.Contains(pe.Message+pe.Detail, word) {
			t.Errorf("%s: the error is %+v", sql, pe)
		}
	}
	want(t, conn, "SELECT a FROM nocol; SELECT b FROM part; SELECT count(*) FROM badtype", "1\nx\n1")
	want(t, conn, "CREATE SERVER vanished FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '"+filepath.Join(w.dir, "none.duckdb")+"'); CREATE FOREIGN TABLE v (a int) SERVER vanished", "CREATE SERVER\nCREATE FOREIGN TABLE")
	_, err := conn.Exec(timed(t), "SELECT * FROM v")
	if pe := pgError(err); pe == nil || !strings.HasPrefix(pe.Code, "58") && !strings.HasPrefix(pe.Code, "HV") || !strings.Contains(pe.Where, `"vanished"`) || pe.Hint == "" {
		t.Errorf("a database that is not there: %+v", pe)
	}
	want(t, conn, "SELECT a FROM nocol", "1")
}

// TestForeignTableDefinitions checks constraints and indexes on foreign tables (L-11).
func TestForeignTableDefinitions(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS a, 'x' AS b")
	conn := connect(t, w.through)
	want(t, conn, "CREATE FOREIGN TABLE t (a int NOT NULL CHECK (a > 0), b text DEFAULT 'zz') SERVER lake", "CREATE FOREIGN TABLE")
	want(t, conn, "CREATE INDEX ON t (a)", "42809")
	want(t, conn, "ALTER FOREIGN TABLE t ADD PRIMARY KEY (a)", "0A000")
	want(t, conn, "SELECT * FROM t", "1|x")
	want(t, conn, "COPY t TO STDOUT", "COPY 1")
	want(t, conn, "ANALYZE t", "ANALYZE")
	want(t, conn, "INSERT INTO t VALUES (2, 'y')", "0A000")
	want(t, conn, "DROP FOREIGN TABLE t; SELECT * FROM t", "42P01")
}
