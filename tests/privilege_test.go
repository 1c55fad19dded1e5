package tests

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestPrivileges asks the same as the same role of a plain and of a foreign table with the same grants (G-16).
func TestPrivileges(t *testing.T) {
	w := newWorld(t, "CREATE TABLE emp AS SELECT 1 AS id, 'x' AS name, 100 AS salary",
		"CREATE TABLE secret AS SELECT 1 AS id", "CREATE TABLE open AS SELECT 5 AS n")
	exec(t, w.direct, "CREATE SCHEMA plain", "CREATE SCHEMA fx", "DROP ROLE IF EXISTS sluice_alice", "CREATE ROLE sluice_alice LOGIN",
		"GRANT USAGE ON SCHEMA plain, fx TO sluice_alice", "CREATE TABLE plain.emp (id int, name text, salary int)", "INSERT INTO plain.emp VALUES (1, 'x', 100)",
		"CREATE TABLE plain.secret (id int)", "INSERT INTO plain.secret VALUES (1)", "CREATE TABLE plain.open (n int)", "INSERT INTO plain.open VALUES (5)")
	t.Cleanup(func() {
		exec(t, w.direct, "DROP OWNED BY sluice_alice", "DROP ROLE sluice_alice")
	})
	exec(t, w.through, "CREATE FOREIGN TABLE fx.emp (id int, name text, salary int) SERVER lake",
		"CREATE FOREIGN TABLE fx.secret (id int) SERVER lake", "CREATE FOREIGN TABLE fx.open (n int) SERVER lake")
	for _, schema := range []string{"plain", "fx"} {
		exec(t, w.through, "GRANT SELECT (id, name) ON "+schema+".emp TO sluice_alice", "GRANT SELECT ON "+schema+".open TO sluice_alice",
			"CREATE VIEW "+schema+".all_secrets AS SELECT * FROM "+schema+".secret", "GRANT SELECT ON "+schema+".all_secrets TO sluice_alice",
			"CREATE VIEW "+schema+".own_secrets WITH (security_invoker = true) AS SELECT * FROM "+schema+".secret", "GRANT SELECT ON "+schema+".own_secrets TO sluice_alice",
			"CREATE VIEW "+schema+".closed AS SELECT n FROM "+schema+".open")
	}
	for _, login := range []bool{true, false} {
		plain, foreign := asAlice(t, w, w.direct, "plain", login), asAlice(t, w, w.through, "fx", login)
		for _, sql := range deniedOrNot {
			if a, b := rows(t, plain, sql), rows(t, foreign, sql); a != b {
				t.Errorf("login %t: %s\n plain:   %s\n foreign: %s", login, sql, a, b)
			}
		}
	}
}

// asAlice connects as the role, by login or by SET ROLE, with a schema in the search path.
func asAlice(t *testing.T, w *world, url, schema string, login bool) *pgx.Conn {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	if login {
		config.User = "sluice_alice"
	}
	conn, err := pgx.ConnectConfig(timed(t), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if !login {
		want(t, conn, "SET ROLE sluice_alice", "SET")
	}
	want(t, conn, "SET search_path = "+schema, "SET")
	return conn
}

var deniedOrNot = []string{
	"SELECT id, name FROM emp", "SELECT * FROM emp", "SELECT salary FROM emp", "SELECT id FROM emp WHERE salary > 50", "SELECT id FROM emp ORDER BY salary",
	"SELECT count(*) FROM emp", "SELECT 1 FROM emp", "SELECT FROM emp", "SELECT e FROM emp e", "SELECT row_to_json(e) FROM emp e", "SELECT (e).salary FROM emp e", "SELECT (e).id FROM emp e", "SELECT e.* FROM emp e",
	"SELECT id FROM emp NATURAL JOIN (VALUES (100)) s(salary)", "SELECT id FROM emp JOIN (VALUES (100)) s(salary) USING (salary)", "SELECT sum(salary) FROM emp", "SELECT max(id) FROM emp GROUP BY name", "SELECT max(id) FROM emp GROUP BY salary",
	"SELECT id, row_number() OVER (ORDER BY salary) FROM emp", "SELECT (SELECT salary FROM emp)", "SELECT 1 WHERE EXISTS (SELECT salary FROM emp)", "SELECT 1 WHERE EXISTS (SELECT FROM emp WHERE salary > 0)",
	"WITH c AS (SELECT * FROM emp) SELECT id FROM c", "WITH c AS (SELECT id FROM emp) SELECT * FROM c", "SELECT id FROM (SELECT * FROM emp) x", "SELECT id FROM (SELECT id FROM emp) x", "SELECT * FROM secret", "SELECT 1 FROM secret", "SELECT count(*) FROM secret",
	"SELECT * FROM secret WHERE false", "SELECT * FROM open, secret", "SELECT n FROM open WHERE n IN (SELECT id FROM secret)", "SELECT n FROM open UNION SELECT id FROM secret", "TABLE open", "TABLE emp",
	"SELECT * FROM all_secrets", "SELECT * FROM own_secrets", "SELECT * FROM closed", "SELECT count(*) FROM all_secrets", "COPY (SELECT * FROM emp) TO STDOUT", "COPY (SELECT id FROM emp) TO STDOUT", "COPY (SELECT * FROM secret) TO STDOUT",
	"EXPLAIN (COSTS OFF, ANALYZE) SELECT salary FROM emp", "EXPLAIN SELECT * FROM secret", "PREPARE p AS SELECT salary FROM emp", "EXECUTE p", "DEALLOCATE p", "BEGIN; DECLARE c CURSOR FOR SELECT * FROM secret; ROLLBACK", "ROLLBACK",
	"INSERT INTO open VALUES (1)", "UPDATE open SET n = 1", "DELETE FROM open", "TRUNCATE open", "UPDATE emp SET id = 1 WHERE salary = 1", "INSERT INTO secret SELECT 1", "CREATE TEMP TABLE x AS SELECT * FROM secret", "CREATE TEMP TABLE y AS SELECT n FROM open",
	"SELECT * INTO TEMP z FROM emp", "CREATE TEMP VIEW v AS SELECT * FROM secret", "SELECT * FROM v", "DO $$ BEGIN PERFORM id FROM all_nothing; END $$", "SELECT has_table_privilege('emp', 'select'), has_any_column_privilege('emp', 'select'), has_column_privilege('emp', 'salary', 'select')",
	"SELECT column_name FROM information_schema.columns WHERE table_name = 'emp' ORDER BY 1", "SELECT e.id, s.id FROM emp e LEFT JOIN secret s ON false", "SELECT id FROM emp WHERE id = (SELECT max(salary) FROM emp)", "SELECT length(emp::text) FROM emp", "SELECT emp.id FROM emp ORDER BY name",
	"SELECT x.id FROM emp AS x (id, b, c)", "SELECT x.c FROM emp AS x (a, b, c)", "SELECT * FROM nope",
}

// TestPrivilegesAtBind takes a privilege away between Parse and Bind (G-05).
func TestPrivilegesAtBind(t *testing.T) {
	w := newWorld(t, "CREATE TABLE emp AS SELECT 1 AS id, 100 AS salary")
	exec(t, w.through, "CREATE FOREIGN TABLE emp (id int, salary int) SERVER lake", "DROP ROLE IF EXISTS sluice_bob", "CREATE ROLE sluice_bob")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY sluice_bob", "DROP ROLE sluice_bob") })
	conn := connect(t, w.through)
	ctx := timed(t)
	if _, err := conn.PgConn().Prepare(ctx, "p", "SELECT salary FROM emp", nil); err != nil {
		t.Fatal(err)
	}
	execute := func() string { return sqlState(conn.PgConn().ExecPrepared(ctx, "p", nil, nil, nil).Read().Err) }
	if got := execute(); got != "" {
		t.Errorf("as the owner: %s", got)
	}
	want(t, conn, "SET ROLE sluice_bob", "SET")
	if got := execute(); got != "42501" {
		t.Errorf("as a role without privileges: %q, want 42501", got)
	}
	want(t, conn, "RESET ROLE", "RESET")
	if got := execute(); got != "" {
		t.Errorf("as the owner again: %s", got)
	}
	exec(t, w.direct, "GRANT SELECT ON emp TO sluice_bob")
	want(t, conn, "SET ROLE sluice_bob; SELECT salary FROM emp", "SET\n100")
	exec(t, w.direct, "REVOKE SELECT ON emp FROM sluice_bob")
	want(t, conn, "SELECT salary FROM emp", "42501")
}

// TestPrivilegesBelowView has a role that may read a view alone see no rows that the view leaves out: home gets the
// view's rows, or none at all.
func TestPrivilegesBelowView(t *testing.T) {
	w := newWorld(t, "CREATE TABLE emp AS SELECT i AS id, 'n' || i AS name FROM range(3) r(i)")
	exec(t, w.through, "CREATE SCHEMA hidden", "CREATE FOREIGN TABLE hidden.emp (id int, name text) SERVER lake",
		"CREATE VIEW one AS SELECT * FROM hidden.emp WHERE id = 1", "CREATE VIEW loud AS SELECT id, upper(name) AS name FROM hidden.emp WHERE id = 1",
		"CREATE VIEW two AS SELECT reverse(reverse(o.name)) AS name, t.id FROM one o JOIN (VALUES (1), (2)) t (id) ON true",
		"DROP ROLE IF EXISTS sluice_carol", "CREATE ROLE sluice_carol", "GRANT SELECT ON one, loud, two TO sluice_carol")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY sluice_carol", "DROP ROLE sluice_carol") })
	conn := connect(t, w.through)
	want(t, conn, "SET ROLE sluice_carol", "SET")
	want(t, conn, "SELECT name FROM one", "n1")
	want(t, conn, "SELECT name FROM hidden.emp", "42501")
	want(t, conn, "SELECT upper(name) FROM one", "N1")
	want(t, conn, "SELECT upper(name) FROM one WHERE name = 'n1' AND id < 3", "N1")
	want(t, conn, "SELECT name FROM loud", "0A000") // home would compute it, of all rows
	want(t, conn, "SELECT name FROM two", "n1\nn1")
	want(t, conn, "RESET ROLE; REVOKE SELECT ON one FROM sluice_carol; SET ROLE sluice_carol", "RESET\nREVOKE\nSET")
	want(t, conn, "SELECT name FROM two", "0A000") // home would compute it, of rows that the role may read no more
	want(t, conn, "RESET ROLE; GRANT USAGE ON SCHEMA hidden TO sluice_carol; GRANT SELECT (id, name) ON hidden.emp TO sluice_carol; SET ROLE sluice_carol",
		"RESET\nGRANT\nGRANT\nSET")
	want(t, conn, "SELECT name FROM loud", "N1")
}

// TestPrivilegesShip looks into the tables that a statement was computed over: they have no column that its role may not read.
func TestPrivilegesShip(t *testing.T) {
	w := newWorld(t, "CREATE TABLE emp AS SELECT 1 AS id, 'x' AS name, 100 AS salary")
	exec(t, w.through, "CREATE FOREIGN TABLE emp (salary int, id int, name text) SERVER lake", "CREATE TABLE pay (id int, salary int)", "INSERT INTO pay VALUES (1, 7)",
		"DROP ROLE IF EXISTS sluice_dave", "CREATE ROLE sluice_dave", "GRANT SELECT (id, name) ON emp TO sluice_dave", "GRANT SELECT ON pay TO sluice_dave")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY sluice_dave", "DROP ROLE sluice_dave") })
	conn := connect(t, w.through)
	want(t, conn, "SET sluice.route = 'home_join'; BEGIN; SET LOCAL ROLE sluice_dave", "SET\nBEGIN\nSET")
	want(t, conn, "SELECT emp.name, pay.salary FROM emp JOIN pay ON pay.id = emp.id", "x|7")
	want(t, conn, `SELECT attname FROM pg_attribute WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = pg_my_temp_schema()) AND attnum > 0 ORDER BY 1`, "id\nname")
	want(t, conn, "SELECT count(*) FROM emp, pay", "1")
	want(t, conn, "SELECT emp.salary FROM emp, pay", "42501")
	want(t, conn, "ROLLBACK", "ROLLBACK")
}

// TestPrivilegesOfHeldParameters has a parameter that the engine would read otherwise turn a remote plan into one that
// home computes: what the first was allowed is asked again for the second.
func TestPrivilegesOfHeldParameters(t *testing.T) {
	w := newWorld(t, "CREATE TABLE emp AS SELECT i AS id, TIMESTAMP '2024-01-01' + to_days(i::INTEGER) AS at FROM range(3) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE emp (id int, at timestamp) SERVER lake", "CREATE VIEW one AS SELECT id, at, id % 2 AS odd FROM emp WHERE id = 1",
		"DROP ROLE IF EXISTS sluice_erin", "CREATE ROLE sluice_erin", "GRANT SELECT ON one TO sluice_erin")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY sluice_erin", "DROP ROLE sluice_erin") })
	conn := connect(t, w.through)
	want(t, conn, "SET ROLE sluice_erin", "SET")
	for _, at := range []string{"2024-01-02", "infinity", "4000-01-01 BC"} {
		var n int
		if err := conn.QueryRow(timed(t), "SELECT count(*) FROM one WHERE at <= $1::timestamp", pgx.QueryExecModeExec, at).Scan(&n); err != nil && sqlState(err) != "0A000" {
			t.Errorf("%s: %v", at, err)
		} else if want := map[bool]int{true: 0, false: 1}[at == "4000-01-01 BC"]; err == nil && n != want {
			t.Errorf("%s: %d rows, want %d", at, n, want)
		}
	}
	want(t, conn, "SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()", "0")
}
