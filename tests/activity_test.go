package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// activityWorld is a world with two tables and a role that may read one of them.
func activityWorld(t *testing.T, role string) *world {
	t.Helper()
	w := newWorld(t, "CREATE TABLE big AS SELECT i::INTEGER AS id, 'row ' || i AS note FROM range(300000) r(i)", "CREATE TABLE few AS SELECT i::INTEGER AS id FROM range(5) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE big (id int, note text) SERVER lake", "CREATE FOREIGN TABLE few (id int) SERVER lake",
		"CREATE FUNCTION twice(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN $1 * 2; END'", "CREATE TABLE seeds AS SELECT generate_series(1, 3) AS id",
		"DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role+" LOGIN", "GRANT SELECT ON few TO "+role)
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY "+role+" CASCADE", "DROP ROLE "+role) })
	return w
}

// TestStatStatements counts each statement over foreign tables once, by both protocols, on every route.
func TestStatStatements(t *testing.T) {
	w := activityWorld(t, "act_counts")
	exec(t, w.through, "ALTER SERVER lake OPTIONS (ADD read_only 'false')")
	conn := connect(t, w.through)
	for _, extended := range []bool{false, true} {
		for _, c := range []struct{ sql, row string }{
			{"SELECT id FROM few WHERE id > 1", "SELECT id FROM few WHERE id > ?|remote|2|0|6|t|t|{\"lake\": [2, 6]}"},
			{"SELECT twice(id) FROM few", "SELECT twice(id) FROM few|home_join|2|0|10|f|f|{\"lake\": [2, 10]}"},
			{"SELECT count(*) FROM few JOIN seeds USING (id)", "SELECT count(*) FROM few JOIN seeds USING (id)|federated|2|0|2|t|t|{\"lake\": [2, 10]}"},
			{"SELECT twice(id / 0) FROM few", "SELECT twice(id / ?) FROM few|home_join|2|2|0|f|f|{\"lake\": [2, 10]}"},
			{"COPY (SELECT id FROM few) TO STDOUT", "COPY (SELECT id FROM few) TO STDOUT|remote|2|0|10|t|t|{\"lake\": [2, 10]}"},
			{"INSERT INTO few SELECT 7 WHERE false", "INSERT INTO few SELECT ? WHERE false|home_join|2|0|0|f|f|{}"},
			{"DELETE FROM few WHERE id = 10", "DELETE FROM few WHERE id = ?|home_join|2|0|0|f|f|{\"lake\": [2, 0]}"},
			{"SELECT count(*) FROM seeds", ""},
			{"EXPLAIN SELECT id FROM few", ""},
		} {
			if !extended {
				rows(t, conn, c.sql)
				continue
			}
			if r := conn.PgConn().ExecParams(timed(t), c.sql, nil, nil, nil, nil).Read(); r.Err != nil && sqlState(r.Err) == "" {
				t.Fatalf("%s: %v", c.sql, r.Err)
			}
			if c.row == "" {
				want(t, conn, "SELECT count(*) FROM sluice.stat_statements WHERE query = "+literal(c.sql), "0")
				continue
			}
			got := rows(t, conn, `SELECT query, route, calls, failed, rows, bytes > 0, first_row_ms > 0,
				(SELECT coalesce(jsonb_object_agg(key, jsonb_build_array(value['streams'], value['rows'])), '{}') FROM jsonb_each(servers))
				FROM sluice.stat_statements WHERE database = current_database() AND query = `+literal(strings.Split(c.row, "|")[0]))
			if got = strings.ReplaceAll(got, "NULL", "f"); got != c.row {
				t.Errorf("%s\n got: %s\nwant: %s", c.sql, got, c.row)
			}
		}
	}
	want(t, conn, "SELECT bool_and(total_ms >= max_ms AND max_ms >= mean_ms AND mean_ms >= coalesce(first_row_ms, 0) AND since <= last_call AND fingerprint <> '' AND role = 'postgres') FROM sluice.stat_statements", "t")
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// TestActivityIsOnesOwn shows each role what it does itself, and everything to those who may read all statistics.
func TestActivityIsOnesOwn(t *testing.T) {
	w := activityWorld(t, "act_own")
	super, own := connect(t, w.through), connect(t, w.as("act_own"))
	want(t, super, "SELECT count(*) FROM big", "300000")
	want(t, own, "SELECT sum(id) FROM few", "10")
	const statements = "SELECT role, query FROM sluice.stat_statements WHERE database = current_database() ORDER BY role, query"
	const sessions = "SELECT DISTINCT role, state FROM sluice.stat_activity WHERE database = current_database() AND role = 'act_own'"
	want(t, own, statements, "act_own|SELECT sum(id) FROM few")
	want(t, super, statements, "act_own|SELECT sum(id) FROM few\npostgres|SELECT count(*) FROM big")
	want(t, own, "SELECT role, state, query FROM sluice.stat_activity WHERE role <> 'act_own' OR query <> 'x'",
		"act_own|active|SELECT role, state, query FROM sluice.stat_activity WHERE role <> 'act_own' OR query <> 'x'")
	want(t, super, sessions, "act_own|idle")
	want(t, own, "SELECT sluice.stat_reset()", "42501")
	exec(t, w.direct, "GRANT pg_read_all_stats TO act_own")
	want(t, own, statements, "act_own|SELECT sum(id) FROM few\npostgres|SELECT count(*) FROM big")
	want(t, own, "SELECT s.pid = pg_backend_pid() FROM sluice.stat_activity s JOIN pg_stat_activity p USING (pid) WHERE s.role = 'act_own'", "t")
	want(t, super, "SELECT sluice.stat_reset()", "")
	want(t, own, statements, "SELECT 0")
	want(t, super, "SELECT sluice.stat_reset() WHERE true", "0A000")
	want(t, connect(t, w.direct), "SELECT * FROM sluice.stat_activity", "0A000")
	want(t, connect(t, w.direct), "SELECT sluice.stat_reset()", "0A000")
	exec(t, w.through, "CREATE VIEW mine AS SELECT * FROM sluice.stat_progress")
	want(t, super, "SELECT * FROM mine", "0A000")
}

// TestActivityOfStreams shows what is open at a server, and the statement that it is read for, until that is over.
func TestActivityOfStreams(t *testing.T) {
	w := activityWorld(t, "act_streams")
	exec(t, w.through, "GRANT SELECT ON big TO act_streams")
	reader, watcher := connect(t, w.as("act_streams")), connect(t, w.through)
	pid := fmt.Sprint(reader.PgConn().PID())
	exec1(t, reader, "BEGIN")
	front := reader.PgConn().Frontend()
	front.Send(&pgproto3.Parse{Query: "SELECT id, note FROM big"})
	front.Send(&pgproto3.Bind{})
	front.Send(&pgproto3.Execute{MaxRows: 3})
	front.Send(&pgproto3.Flush{})
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
	readStep(t, front)
	streams := "SELECT role, server, relations, rows > 0, bytes > 0, age > '0' FROM sluice.stat_streams WHERE pid = " + pid
	session := "SELECT role, state, route, query, rows, bytes > 0, query_start > backend_start FROM sluice.stat_activity WHERE pid = " + pid
	want(t, watcher, streams, "act_streams|lake|{public.big}|t|t|t")
	becomes(t, watcher, session, "act_streams|idle in transaction|remote|SELECT id, note FROM big|3|t|t")
	want(t, connect(t, w.as("act_streams")), streams, "act_streams|lake|{public.big}|t|t|t")
	front.Send(&pgproto3.Sync{})
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
	for ready := false; !ready; {
		m, err := front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		_, ready = m.(*pgproto3.ReadyForQuery)
	}
	exec1(t, reader, "COMMIT")
	becomes(t, watcher, session, "act_streams|idle|NULL|NULL|NULL|NULL|NULL")
	want(t, watcher, streams, "SELECT 0")
}

// TestActivityOfGovernedRows tells a role how many rows it was sent, and not how many there are.
func TestActivityOfGovernedRows(t *testing.T) {
	w := activityWorld(t, "act_governed")
	exec(t, w.through, "GRANT SELECT ON big TO act_governed", "SELECT sluice.set_row_filter('big', 'act_governed', 'id < 4')")
	own, super := connect(t, w.as("act_governed")), connect(t, w.through)
	want(t, own, "SELECT id FROM big ORDER BY id", "0\n1\n2\n3")
	const sql = "SELECT rows, servers -> 'lake' ->> 'rows', servers -> 'lake' ->> 'bytes' IS NULL FROM sluice.stat_statements WHERE role = 'act_governed'"
	want(t, own, sql, "4|NULL|t")
	want(t, super, sql, "4|4|f")
}

// TestActivityOfWork shows how far an IMPORT FOREIGN SCHEMA has come that waits for a lock.
func TestActivityOfWork(t *testing.T) {
	w := activityWorld(t, "act_work")
	worker, watcher := connect(t, w.through), connect(t, w.through)
	exec(t, w.direct, "CREATE SCHEMA lake")
	lock := connect(t, w.direct)
	exec1(t, lock, "BEGIN; LOCK TABLE pg_foreign_table IN EXCLUSIVE MODE")
	done := make(chan error, 1)
	go func() {
		_, err := worker.PgConn().Exec(timed(t), "IMPORT FOREIGN SCHEMA main FROM SERVER lake INTO lake").ReadAll()
		done <- err
	}()
	becomes(t, watcher, "SELECT role, what, relation, done < total, total > 1, pid IS NOT NULL, started < now() FROM sluice.stat_progress WHERE database = current_database()",
		"postgres|IMPORT FOREIGN SCHEMA|lake.main|t|t|t|t")
	exec1(t, lock, "COMMIT")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	becomes(t, watcher, "SELECT count(*) FROM sluice.stat_progress WHERE database = current_database()", "0")
}

// TestActivityOfInputs shows how much of a table was shipped to home so far, and how fast, until the statement is cancelled.
func TestActivityOfInputs(t *testing.T) {
	w := newWorld(t, endless)
	exec(t, w.through, "CREATE FOREIGN TABLE forever (i bigint, j bigint) SERVER lake OPTIONS (table_name 'endless')", "CREATE FUNCTION twice(bigint) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN $1 * 2; END'")
	worker, watcher := connect(t, w.through), connect(t, w.through)
	done := make(chan error, 1)
	go func() { done <- drain(timed(t), worker, "SELECT twice(i) FROM forever") }()
	becomes(t, watcher, "SELECT role, what, relation, done > 0, rate > 0, total, eta FROM sluice.stat_progress WHERE pid = "+fmt.Sprint(worker.PgConn().PID()), "postgres|home_join input|public.forever|t|t|NULL|NULL")
	becomes(t, watcher, "SELECT state, route, query, rows FROM sluice.stat_activity WHERE pid = "+fmt.Sprint(worker.PgConn().PID()), "active|home_join|SELECT twice(i) FROM forever|0")
	if err := worker.PgConn().CancelRequest(timed(t)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; sqlState(err) != "57014" {
		t.Fatalf("it ended with %v", err)
	}
	want(t, watcher, "SELECT calls, failed, rows FROM sluice.stat_statements WHERE database = current_database() AND query = 'SELECT twice(i) FROM forever'", "1|1|0")
	want(t, watcher, "SELECT (SELECT count(*) FROM sluice.stat_progress WHERE database = current_database()), (SELECT count(*) FROM sluice.stat_streams WHERE database = current_database())", "0|0")
}

// TestActivityOfCounters shows which table is being counted, by the proxy and by who asks for it, while that has to wait.
func TestActivityOfCounters(t *testing.T) {
	w := activityWorld(t, "act_counters")
	lock, worker, watcher := connect(t, w.direct), connect(t, w.through), connect(t, w.through)
	progress := "SELECT role, what, relation, done, total, pid IS NOT NULL FROM sluice.stat_progress WHERE database = current_database()"
	exec(t, w.direct, "ANALYZE seeds")
	exec1(t, lock, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT sluice.track_statistics('seeds')")
	exec1(t, lock, "SELECT pg_advisory_lock(hashtextextended('sluice counter ' || id, 0)) FROM sluice.table_statistics; COMMIT")
	becomes(t, watcher, progress, "postgres|count|public.seeds|0|3|t")
	exec1(t, lock, "SELECT pg_advisory_unlock_all()")
	becomes(t, watcher, progress, "SELECT 0")
	want(t, watcher, "SELECT sluice.table_count('seeds')", "3")
	for _, protocol := range []string{"simple", "extended"} {
		exec1(t, lock, "BEGIN; LOCK TABLE seeds")
		done := make(chan error, 1)
		go func() {
			const sql = "SELECT stored = actual FROM sluice.verify_statistics('seeds')"
			if protocol == "simple" {
				done <- drain(timed(t), worker, sql)
				return
			}
			done <- worker.PgConn().ExecParams(timed(t), sql, nil, nil, nil, nil).Read().Err
		}()
		becomes(t, watcher, progress, "postgres|verify_statistics|seeds|NULL|NULL|t")
		exec1(t, lock, "COMMIT")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		becomes(t, watcher, progress, "SELECT 0")
	}
}

// TestActivityOfHandles shows which handle is being made.
func TestActivityOfHandles(t *testing.T) {
	w := activityWorld(t, "act_handles")
	exec(t, w.through, "CREATE TABLE gate (id int)", "CREATE FUNCTION wait() RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN NOT EXISTS (SELECT FROM gate); END'")
	lock, worker, watcher := connect(t, w.direct), connect(t, w.through), connect(t, w.through)
	progress := "SELECT role, what, relation, done FROM sluice.stat_progress WHERE database = current_database()"
	exec1(t, lock, "BEGIN; LOCK TABLE gate")
	done := make(chan error, 1)
	go func() {
		done <- drain(timed(t), worker, "SELECT row_count FROM sluice.materialize('SELECT id FROM few WHERE wait()', name => 'gated')")
	}()
	becomes(t, watcher, progress, "postgres|materialize|sluice_handle.gated|NULL")
	exec1(t, lock, "COMMIT")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want(t, watcher, progress, "SELECT 0")
}

// TestActivityInStatements reads the views in statements of all kinds, each of which shows what is so at its time.
func TestActivityInStatements(t *testing.T) {
	w := activityWorld(t, "act_kinds")
	conn := connect(t, w.through)
	exec1(t, conn, "CREATE TABLE kept (n bigint)")
	const calls = "(SELECT coalesce(sum(calls), 0) FROM sluice.stat_statements WHERE database = current_database() AND query LIKE '%é%')"
	for _, c := range []struct{ sql, answer string }{
		{"SELECT " + calls, "1"},
		{"SELECT 1; SELECT " + calls + "; SELECT 2", "1\n2\n2"},
		{"BEGIN READ ONLY; SELECT " + calls + "; COMMIT", "BEGIN\n3\nCOMMIT"},
		{"BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT " + calls + "; COMMIT", "BEGIN\n4\nCOMMIT"},
		{"PREPARE p AS SELECT " + calls + "; EXECUTE p", "PREPARE\n5"},
		{"EXECUTE p", "6"},
		{"BEGIN; DECLARE c CURSOR FOR SELECT " + calls + "; FETCH c; COMMIT", "BEGIN\nDECLARE CURSOR\n7\nCOMMIT"},
		{"INSERT INTO kept SELECT " + calls + " RETURNING n", "8"},
		{"CREATE TEMP TABLE made AS SELECT " + calls + " AS n; SELECT n FROM made", "SELECT 1\n9"},
		{"SELECT count(*) > 0 FROM few f CROSS JOIN sluice.stat_activity a WHERE a.pid = pg_backend_pid()", "t"},
		{"WITH s AS MATERIALIZED (SELECT * FROM sluice.stat_statements) SELECT count(*) > 0 FROM s, few", "t"},
		{"SET search_path = sluice, public; SELECT count(*) > 0 FROM stat_statements; RESET search_path", "SET\nt\nRESET"},
		{"SET client_encoding = 'LATIN1'; SELECT max(query) FROM sluice.stat_statements WHERE query LIKE 'SELECT id AS%'; RESET client_encoding", "SET\nSELECT id AS \"\xe9\" FROM few\nRESET"},
		{"SET standard_conforming_strings = off; SET escape_string_warning = off; SELECT count(*) > 0 FROM sluice.stat_statements WHERE query <> '\\n'; RESET standard_conforming_strings", "SET\nSET\nt\nRESET"},
		{"COPY (SELECT count(*) > 0 FROM sluice.stat_statements) TO STDOUT", "COPY 1"},
		{"SET ROLE act_kinds; SELECT count(*) FROM sluice.stat_statements; RESET ROLE", "SET\n0\nRESET"},
		{"BEGIN; SELECT 1 / 0; ROLLBACK", "22012"},
		{"ROLLBACK; SELECT count(*) > 0 FROM sluice.stat_statements", "ROLLBACK\nt"},
	} {
		rows(t, conn, "SELECT id AS \"é\" FROM few")
		want(t, conn, c.sql, c.answer)
	}
	for _, sql := range []string{"EXPLAIN SELECT * FROM sluice.stat_activity", "EXPLAIN ANALYZE SELECT * FROM sluice.stat_statements"} {
		if got := rows(t, conn, sql); !strings.Contains(got, "Function Scan on jsonb_to_recordset") {
			t.Errorf("%s: %s", sql, got)
		}
	}
	for i := range 3 { // prepared once; one of those above was in a failed block
		rows(t, conn, "SELECT id AS \"é\" FROM few")
		var n int
		if err := conn.QueryRow(timed(t), "SELECT calls FROM sluice.stat_statements WHERE query = $1 AND database = current_database()", "SELECT id AS \"é\" FROM few").Scan(&n); err != nil || n != 18+i {
			t.Errorf("%d calls, %v", n, err)
		}
	}
	want(t, conn, "SELECT query FROM sluice.stat_activity WHERE pid = pg_backend_pid() AND 'é' = 'é'", "SELECT query FROM sluice.stat_activity WHERE pid = pg_backend_pid() AND 'é' = 'é'")
}
