package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/internal/oracle"
)

// sentTable has a column of each type whose values stand in a statement's text.
const sentTable = `(id int, b bool, i2 int2, i8 int8, n numeric(12,3), f4 real, f8 float8, t text COLLATE "C", v varchar(9) COLLATE "C", c char(5), d date, at timestamp, z timestamptz, u uuid)`

const sentValues = ` VALUES
 (1, true, 32767, 9223372036854775807, 123456789.123, 0.1, -0.0, 'it''s $1 ? "é" \n 😀', 'x''''y', 'ab', '2024-02-29', '1969-12-31 23:59:59.999999', '2024-02-29 12:00:00+02', '00112233-4455-6677-8899-aabbccddeeff'),
 (2, false, -32768, -9223372036854775808, -0.001, 'NaN', 'Infinity', '', '', '', '0001-01-01', '0001-01-01', '9999-12-31 23:59:59.999999+00', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
 (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`

// TestRealTrinoValues has Trino join its tables with rows that it does not reach: of home, of another Postgres and of DuckDB.
func TestRealTrinoValues(t *testing.T) {
	w := newTrinoWorld(t, "other")
	exec(t, w.through, "ALTER SERVER trino OPTIONS (DROP catalogs, DROP home_catalog)")
	exec(t, w.other, "CREATE TABLE facts (id int, k int)", "INSERT INTO facts SELECT i, i % 5 FROM generate_series(1, 5000) i", "CREATE TABLE kinds "+sentTable, "INSERT INTO kinds"+sentValues)
	exec(t, w.direct, "CREATE TABLE here "+sentTable, "INSERT INTO here"+sentValues, "CREATE TABLE none (id int, t text)", "CREATE TABLE odd (id int, at timestamp, n numeric(5,2))",
		"INSERT INTO odd VALUES (1, 'infinity', 'NaN')")
	admin := connect(t, w.direct)
	exec1(t, admin, "CREATE SCHEMA duck")
	exec1(t, admin, "CREATE TABLE duck.kinds (LIKE here)")
	exec1(t, admin, "INSERT INTO duck.kinds TABLE here")
	lake, err := oracle.Copy(t.Context(), admin, "duck", filepath.Join(t.TempDir(), "lake.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	exec(t, w.through, append([]string{lake.Server("lake", false), "CREATE SCHEMA far", "IMPORT FOREIGN SCHEMA public FROM SERVER other INTO far", "CREATE SCHEMA ducks"}, lake.Tables("lake", "ducks", "kinds")...)...)
	exec(t, w.through, "CREATE FOREIGN TABLE facts (id int, k int) SERVER trino OPTIONS (schema_name 'public')")
	conn, plain := connect(t, w.through), connect(t, w.direct)
	for _, c := range []string{"SET sluice.federation_server = 'trino'", "SET TimeZone = 'UTC'"} {
		want(t, conn, c, "SET")
	}
	exec1(t, plain, "SET TimeZone = 'UTC'")
	exec1(t, plain, "CREATE TEMP TABLE facts AS SELECT i id, i % 5 k FROM generate_series(1, 5000) i")
	sent := func(sql string) bool {
		p := rows(t, conn, "EXPLAIN "+sql)
		return strings.Contains(p, "Server: trino") && strings.Contains(p, "VALUES sluice_feed")
	}
	const over = " FROM facts f JOIN %s h ON h.id = f.k WHERE f.id <= 20 ORDER BY f.id"
	for _, table := range []string{"here", "far.kinds", "ducks.kinds"} {
		for _, list := range []string{"f.id, h.*", "f.id, h.t || 'x', h.n + 1, h.d = '2024-02-29', h.c = 'ab', h.at < '2000-01-01', h.u"} {
			sql := "SELECT " + list + over
			if got, wanted := rows(t, conn, fmt.Sprintf(sql, table)), rows(t, plain, fmt.Sprintf(sql, "here")); got != wanted || !sent(fmt.Sprintf(sql, table)) {
				t.Errorf(sql+"\n got: %s\nwant: %s\n%s", table, got, wanted, rows(t, conn, "EXPLAIN "+fmt.Sprintf(sql, table)))
			}
		}
	}
	testSentElsewhere(t, w, conn, sent)
}

// testSentElsewhere asks for what cannot be sent, and for what other sessions do not see.
func testSentElsewhere(t *testing.T, w *trinoWorld, conn *pgx.Conn, sent func(sql string) bool) {
	const counted = "SELECT count(*), sum(f.id) FROM facts f JOIN here h ON h.id = f.k"
	role := "trino_sent_" + strings.ToLower(conn.Config().Database)
	t.Cleanup(func() { exec(t, w.through, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	for _, c := range []struct {
		sql, want string
		sent      bool
	}{
		{"SELECT count(*) FROM facts f LEFT JOIN none n ON n.id = f.k WHERE n.t IS NULL", "5000", true},
		{counted, "3000|7498500", true},
		{"BEGIN", "BEGIN", false}, {"DELETE FROM here WHERE id = 3", "DELETE 1", false}, {counted, "2000|4998000", true},
		{"DECLARE c CURSOR FOR SELECT f.id FROM facts f JOIN here h ON h.id = f.k ORDER BY f.id", "DECLARE CURSOR", false}, {"FETCH 2 FROM c", "1\n2", false}, {"ROLLBACK", "ROLLBACK", false},
		// Infinite times and NaN are no values of Trino's, and home has them.
		{"SELECT f.id, o.at FROM facts f JOIN odd o ON o.id = f.k ORDER BY f.id LIMIT 1", "1|infinity", true},
		{"SELECT f.id, o.n FROM facts f JOIN odd o ON o.id = f.k ORDER BY f.id LIMIT 1", "1|NaN", true},
		// Rules hold where rows are read.
		{"CREATE ROLE " + role, "CREATE ROLE", false}, {"GRANT USAGE ON FOREIGN SERVER trino TO " + role, "GRANT", false}, {"GRANT USAGE ON SCHEMA far TO " + role, "GRANT", false},
		{"GRANT SELECT ON facts, here, far.kinds TO " + role, "GRANT", false}, {"SELECT sluice.set_row_filter('far.kinds', '" + role + "', 'id < 2')", "", false},
		{"SELECT sluice.set_column_mask('far.kinds', 't', '''hidden''')", "", false}, {"ALTER TABLE here ENABLE ROW LEVEL SECURITY", "ALTER TABLE", false},
		{"CREATE POLICY one ON here TO " + role + " USING (id = 2)", "CREATE POLICY", false}, {"SET ROLE " + role, "SET", false},
		{"SELECT count(*), min(k.t), max(k.t) FROM facts f JOIN far.kinds k ON k.id = f.k", "1000|hidden|hidden", false}, {counted, "1000|2499500", true},
		{"SELECT count(*) FROM facts f JOIN none n ON n.id = f.k", "42501", false}, {"RESET ROLE", "RESET", false},
	} {
		want(t, conn, c.sql, c.want)
		if c.sent && !sent(c.sql) {
			t.Errorf("%s is not sent: %s", c.sql, rows(t, conn, "EXPLAIN "+c.sql))
		}
	}
	var copied strings.Builder
	if _, err := conn.PgConn().CopyTo(t.Context(), &copied, "COPY ("+counted+") TO STDOUT"); err != nil || copied.String() != "3000\t7498500\n" {
		t.Errorf("COPY: %q, %v", copied.String(), err)
	}
	// Where there turn out to be too many rows, or bytes, the statement is computed as it would be without.
	for _, c := range []struct {
		options, before string
		sent            bool
	}{
		{"ADD values_rows '2'", "", false}, {"SET values_rows '100000', ADD values_bytes '20'", "", false}, {"SET values_bytes '10000000'", "", true},
		{"SET values_bytes '10000001'", "INSERT INTO here (id, t) SELECT 1, repeat('x', 300) FROM generate_series(1, 4000)", false},
		{"SET values_rows '0'", "TRUNCATE here", false},
	} {
		exec(t, w.direct, c.before)
		exec(t, w.through, "ALTER SERVER trino OPTIONS ("+c.options+")")
		if p := rows(t, conn, "EXPLAIN ANALYZE SELECT f.id, h.t FROM facts f JOIN here h ON h.id = f.k"); strings.Contains(p, "Server: trino\n  Remote SQL: SELECT CAST(\"f\"") != c.sent {
			t.Errorf("%s: %s", c.options, p)
		}
		want(t, conn, counted, rows(t, connect(t, w.direct), strings.Replace(counted, "facts f", "(SELECT i id, i % 5 k FROM generate_series(1, 5000) i) f", 1)))
	}
}
