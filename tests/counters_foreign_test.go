package tests

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestCountersOfForeignTables has another Postgres and DuckDB count the rows of their tables, and compares what is said of these with
// the rows, as they are written to by statements through the proxy and beside it.
func TestCountersOfForeignTables(t *testing.T) {
	w := newWorld(t, "CREATE TABLE duck (id INTEGER)", "INSERT INTO duck SELECT range FROM range(500)", "CREATE VIEW seen AS FROM duck")
	config, err := pgconn.ParseConfig(w.direct)
	if err != nil {
		t.Fatal(err)
	}
	w.through = proxyURL(startBoth(t, config), w.database)
	other := hometest.Database(t, w.home)
	exec(t, other, "CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t SELECT generate_series(1, 100)", "CREATE TABLE child (id int REFERENCES t ON DELETE CASCADE)", "CREATE TABLE empty ()",
		"CREATE TABLE parts (id int) PARTITION BY LIST (id)")
	exec(t, w.through, "ALTER SERVER lake OPTIONS (ADD read_only 'false')", "IMPORT FOREIGN SCHEMA main FROM SERVER lake INTO public")
	exec(t, w.through, append(otherServer(t, other, ", updatable 'true'"), "IMPORT FOREIGN SCHEMA public FROM SERVER other INTO public")...)
	conn, direct, beside := connect(t, w.through), connect(t, w.direct), connect(t, other)
	tables := []string{"t", "child", "empty", "duck"}
	counted := func() {
		t.Helper()
		for _, table := range tables {
			n := rows(t, conn, "SELECT count(*) FROM "+table)
			want(t, conn, "SELECT sluice.table_count('"+table+"'), row_count, source FROM sluice.table_counts WHERE relation = '"+table+"'::regclass", n+"|"+n+"|engine")
		}
	}
	for i, table := range tables {
		want(t, direct, "SELECT sluice.track_statistics('"+table+"')", "")
		becomes(t, conn, "SELECT sluice.table_count('"+table+"')", []string{"100", "0", "0", "500"}[i])
	}
	counted()
	for _, sql := range []string{"INSERT INTO t SELECT generate_series(101, 1300)", "DELETE FROM t WHERE id % 3 = 0", "UPDATE t SET id = -id WHERE id < 10",
		"BEGIN; INSERT INTO t VALUES (5000); INSERT INTO child VALUES (5000); SELECT sluice.table_count('t') - 863, sluice.table_count('child'); ROLLBACK",
		"INSERT INTO child SELECT id FROM t WHERE id > 0", "DELETE FROM t WHERE id BETWEEN 10 AND 500", "BEGIN; DELETE FROM child; ROLLBACK", "TRUNCATE child", "INSERT INTO child VALUES (1000)",
		"DELETE FROM duck WHERE id < 100", "BEGIN; INSERT INTO duck VALUES (1), (2); SELECT sluice.table_count('duck'); COMMIT", "TRUNCATE duck", "INSERT INTO duck SELECT generate_series(1, 7)"} {
		if got := rows(t, conn, sql); len(got) == 5 && got != "BEGIN" {
			t.Errorf("%s: %s", sql, got)
		}
		counted()
	}
	want(t, conn, "BEGIN; INSERT INTO duck VALUES (1), (2); SELECT sluice.table_count('duck'); ROLLBACK", "BEGIN\nINSERT 0 2\n9\nROLLBACK")
	exec(t, other, "INSERT INTO t SELECT generate_series(9001, 9100)", "MERGE INTO t USING (VALUES (9001), (7001)) v (id) ON t.id = v.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (v.id)",
		"SET session_replication_role = replica; INSERT INTO t VALUES (-70); RESET session_replication_role", "WITH w AS (INSERT INTO empty DEFAULT VALUES) INSERT INTO empty DEFAULT VALUES")
	counted()
	n := rows(t, conn, "SELECT count(*) FROM t")
	const listed = "SELECT r ->> 'rows', r ->> 'rows_source', r ? 'changed_at' FROM jsonb_array_elements(sluice.manifest() -> 'relations') r WHERE r ->> 'name' = 't'"
	want(t, conn, listed, n+"|engine|f")
	want(t, conn, "SELECT sluice.describe_for_agents() ~ 'Foreign table of server other, "+n+" rows'", "t")
	want(t, direct, listed, "NULL|unknown|f") // nobody asks the server
	exec(t, other, "ALTER TABLE t DISABLE TRIGGER ALL; INSERT INTO t VALUES (8000); ALTER TABLE t ENABLE TRIGGER ALL")
	want(t, conn, "SELECT sluice.table_count('t'), source FROM sluice.table_counts WHERE relation = 't'::regclass", "NULL|unverified")
	exec(t, w.direct, "SELECT sluice.untrack_statistics('t')", "SELECT sluice.track_statistics('t')")
	becomes(t, conn, "SELECT source FROM sluice.table_counts WHERE relation = 't'::regclass", "engine")
	counted()
	for sql, state := range map[string]string{"SELECT sluice.track_statistics('t')": "42710", "SELECT sluice.track_statistics('parts', '{id}')": "0A000", "SELECT sluice.verify_statistics('t')": "0A000",
		"SELECT sluice.table_count('parts')": "42704", "SELECT sluice.untrack_statistics('parts')": "42704"} {
		want(t, conn, sql, state)
	}
	for _, table := range []string{"parts", "seen"} {
		exec(t, w.through, "SELECT sluice.track_statistics('"+table+"')")
		becomes(t, conn, "SELECT sluice.table_count('"+table+"')", "55000")
		want(t, conn, "SELECT source, row_count FROM sluice.table_counts WHERE relation = '"+table+"'::regclass", "pending|NULL")
	}
	want(t, direct, "SELECT count(*) FROM sluice.table_counts WHERE source <> 'pending' OR row_count IS NOT NULL", "0") // nobody asks the servers
	exec(t, w.through, "SELECT sluice.untrack_statistics(relation) FROM sluice.table_statistics_foreign")
	becomes(t, direct, "SELECT count(*) FROM sluice.table_statistics_foreign", "0")
	want(t, beside, "SELECT (SELECT count(*) FROM sluice_table_statistics), (SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal)", "0|0")
	want(t, conn, "INSERT INTO t VALUES (77777); SELECT sluice.table_count('t')", "42704")
}

// TestCountersOfForeignTablesVerified spoils counts of foreign tables, and has them found and put right, by those who may, while a writer is in
// the middle of a transaction there.
func TestCountersOfForeignTablesVerified(t *testing.T) {
	w := newWorld(t, "CREATE TABLE duck (id INTEGER)", "INSERT INTO duck SELECT range FROM range(500)")
	config, err := pgconn.ParseConfig(w.direct)
	if err != nil {
		t.Fatal(err)
	}
	w.through = proxyURL(startBoth(t, config), w.database)
	other := hometest.Database(t, w.home)
	exec(t, other, "CREATE TABLE t (id int)", "INSERT INTO t SELECT generate_series(1, 100)", "CREATE TABLE late (id int)")
	exec(t, w.through, "CREATE TABLE own (id int)", "INSERT INTO own VALUES (1)", "SELECT sluice.track_statistics('own')", "ALTER SERVER lake OPTIONS (ADD read_only 'false')",
		"IMPORT FOREIGN SCHEMA main FROM SERVER lake INTO public", "DROP ROLE IF EXISTS sluice_verifying", "CREATE ROLE sluice_verifying")
	t.Cleanup(func() { exec(t, w.through, "DROP OWNED BY sluice_verifying", "DROP ROLE sluice_verifying") })
	exec(t, w.through, append(otherServer(t, other, ", updatable 'true'"), "IMPORT FOREIGN SCHEMA public FROM SERVER other INTO public",
		"SELECT sluice.track_statistics('t'), sluice.track_statistics('duck')")...)
	conn, direct, beside := connect(t, w.through), connect(t, w.direct), connect(t, other)
	for table, n := range map[string]string{"t": "100", "duck": "500"} {
		becomes(t, conn, "SELECT sluice.table_count('"+table+"')", n)
	}
	const found = `SELECT string_agg(concat(relation, '|', "group", '|', stored, '|', actual, '|', repaired), ' ' ORDER BY relation::text) FROM sluice.verify_statistics`
	want(t, conn, found+"()", "duck||500|500|f own||1|1|f t||100|100|f")
	exec(t, other, "ALTER TABLE t DISABLE TRIGGER sluice_count_insert; INSERT INTO t VALUES (101), (102); ALTER TABLE t ENABLE ALWAYS TRIGGER sluice_count_insert")
	exec1(t, beside, "BEGIN")
	exec1(t, beside, "INSERT INTO t VALUES (103)")
	for _, step := range []struct{ sql, answer string }{
		{"SELECT sluice.table_count('t')", "100"}, // which nobody can know to be wrong
		{found + "('t')", "t||100|102|f"}, {"BEGIN; " + found + "(repair => true, relation => 't'); ROLLBACK", "BEGIN\nt||100|102|t\nROLLBACK"},
		{"SELECT v.stored - v.actual, relation FROM sluice.verify_statistics('t') v WHERE actual > 0", "0|t"},
		{found + "('own')", "own||1|1|f"},
		{"BEGIN READ ONLY; " + found + "('t', true)", "25006"}, {"ROLLBACK", "ROLLBACK"},
		{"BEGIN; INSERT INTO t VALUES (7); " + found + "('t', true)", "0A000"}, {"ROLLBACK", "ROLLBACK"},
		{"SELECT sluice.verify_statistics('t')", "0A000"}, {"SELECT count(*) FROM t, sluice.verify_statistics('t')", "0A000"},
		{found + "('late')", "42704"}, {found + "(NULL::regclass, NULL)", "duck||500|500|f own||1|1|f t||102|102|f"},
		{"SET ROLE sluice_verifying", "SET"}, {found + "('t')", "42501"}, {"RESET ROLE", "RESET"},
		{"GRANT EXECUTE ON FUNCTION sluice.verify_statistics TO sluice_verifying; SET ROLE sluice_verifying", "GRANT\nSET"}, {found + "('t')", "t||102|102|f"}, {"RESET ROLE", "RESET"},
	} {
		want(t, conn, step.sql, step.answer)
	}
	exec1(t, beside, "COMMIT")
	want(t, conn, found+"('t')", "t||103|103|f")
	want(t, conn, "SELECT sluice.table_count('t')", "103")
	want(t, direct, found+"('t')", "0A000") // nobody asks the server
	want(t, direct, found+"()", "own||1|1|f")
	exec(t, other, "ALTER TABLE t DISABLE TRIGGER sluice_count_insert; INSERT INTO t VALUES (104)")
	want(t, conn, found+"('t', true)", "t||103|104|t")
	exec(t, other, "INSERT INTO t VALUES (105)")
	want(t, conn, "SELECT row_count, source FROM sluice.table_counts WHERE relation = 't'::regclass", "105|engine")
	var stored, actual int64
	if err := conn.QueryRow(timed(t), "SELECT stored, actual FROM sluice.verify_statistics($1::text::regclass, $2)", "t", false).Scan(&stored, &actual); err != nil || stored != 105 || actual != 105 {
		t.Errorf("%d of %d: %v", stored, actual, err)
	}
}

// TestCountersOfForeignTablesByRole asks for counts as roles that may not see a foreign table, or not all of its rows.
func TestCountersOfForeignTablesByRole(t *testing.T) {
	c, home, _ := remoteTables(t, ", updatable 'true'", "CREATE TABLE t (id int)", "INSERT INTO t SELECT generate_series(1, 100)")
	exec(t, home, "DROP ROLE IF EXISTS sluice_remote_counting", "CREATE ROLE sluice_remote_counting", "SELECT sluice.track_statistics('t')")
	t.Cleanup(func() { exec(t, home, "DROP OWNED BY sluice_remote_counting", "DROP ROLE sluice_remote_counting") })
	becomes(t, c, "SELECT sluice.table_count('t')", "100")
	exec1(t, c, "SET ROLE sluice_remote_counting")
	for _, step := range []struct{ sql, answer string }{
		{"SELECT 1", "42501"}, {"GRANT SELECT (id) ON t TO sluice_remote_counting", "42501"}, {"GRANT SELECT ON t TO sluice_remote_counting", "100"},
		{"SELECT sluice.set_row_filter('t', 'sluice_remote_counting', 'id > 90')", "42501"}, {"SELECT sluice.drop_row_filter('t', 'sluice_remote_counting')", "42501"},
		{"SELECT sluice.set_row_security('t', false, false)", "100"}, {"REVOKE SELECT ON t FROM sluice_remote_counting", "42501"},
	} {
		exec(t, home, step.sql)
		want(t, c, "SELECT sluice.table_count('t')", step.answer)
		visible := "1"
		if step.answer == "42501" {
			visible = "0"
		}
		want(t, c, "SELECT count(*) FROM sluice.table_counts", visible)
		want(t, c, "SELECT count(*) FROM jsonb_array_elements(sluice.manifest() -> 'relations') r WHERE r ->> 'rows_source' = 'engine'", visible)
	}
}

// TestCountersOfForeignTableAfterKill has sessions write to a table of another Postgres, and kills the process of their proxy in the middle:
// each transaction there has its rows and their count, or neither.
func TestCountersOfForeignTableAfterKill(t *testing.T) {
	const sessions, each = 4, 60
	home := hometest.Start(t)
	direct, other := hometest.Database(t, home), hometest.Database(t, home)
	exec(t, other, "CREATE TABLE t (who int, n int, PRIMARY KEY (who, n))")
	at := func(addr string) string { return strings.Replace(direct, home.Addr(), addr, 1) }
	first := startChild(t, home.URL("postgres"))
	exec(t, at(first.addr), append([]string{"CREATE EXTENSION sluice"}, append(otherServer(t, other, ", updatable 'true'"), "IMPORT FOREIGN SCHEMA public FROM SERVER other INTO public",
		"SELECT sluice.track_statistics('t')")...)...)
	becomes(t, connect(t, at(first.addr)), "SELECT sluice.table_count('t')", "0")
	var through atomic.Pointer[string]
	through.Store(new(at(first.addr)))
	var done atomic.Int64
	var wg sync.WaitGroup
	for who := range sessions {
		wg.Go(func() {
			w := &countedWriter{who: who, random: rand.New(rand.NewPCG(3, uint64(who))), through: &through}
			defer w.close()
			for range each {
				if err := w.write(timed(t)); err != nil {
					t.Error(err)
					return
				}
				if done.Add(1) == sessions*each/2 {
					second := startChild(t, home.URL("postgres"))
					first.kill(t)
					through.Store(new(at(second.addr)))
				}
			}
		})
	}
	wg.Wait()
	beside := connect(t, other)
	becomes(t, beside, "SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass AND pid <> pg_backend_pid()", "0")
	n := rows(t, beside, "SELECT count(*) FROM t")
	want(t, connect(t, *through.Load()), "SELECT row_count, source FROM sluice.table_counts", fmt.Sprintf("%s|engine", n))
	if n == "0" {
		t.Error("no rows were written")
	}
}
