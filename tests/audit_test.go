package tests

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// auditWorld is a world with tables of which people, big and forever are governed, and a role that reads all but hidden.
func auditWorld(t *testing.T, role string) *world {
	t.Helper()
	w := newWorld(t, "CREATE TABLE people AS SELECT i::INTEGER AS id, 'secret' || i AS email, CASE WHEN i < 4 THEN 'eu' ELSE 'us' END AS region FROM range(1, 6) r(i)",
		"CREATE TABLE big AS SELECT i::INTEGER AS id, 'row ' || i AS note FROM range(5000) r(i)", "CREATE TABLE plain AS SELECT 1 AS id", endless)
	exec(t, w.through, "CREATE FOREIGN TABLE people (id int, email text, region text) SERVER lake", "CREATE FOREIGN TABLE big (id int, note text) SERVER lake",
		"CREATE FOREIGN TABLE plain (id int) SERVER lake", "CREATE FOREIGN TABLE hidden (id int, note text) SERVER lake OPTIONS (table_name 'big')",
		"CREATE FOREIGN TABLE forever (i bigint, j bigint) SERVER lake OPTIONS (table_name 'endless')", "CREATE VIEW eu AS SELECT id FROM people WHERE region = 'eu'",
		"CREATE TABLE sink (id int)", "CREATE TABLE seeds AS VALUES (3), (4)", "CREATE FUNCTION twice(int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN $1 * 2; END'",
		"DROP ROLE IF EXISTS "+role, "CREATE ROLE "+role+" LOGIN", "GRANT SELECT ON people, big, plain, forever, eu, seeds TO "+role, "GRANT ALL ON sink TO "+role,
		"SELECT sluice.set_row_filter('people', '"+role+"', 'id <> 5')", "SELECT sluice.set_column_mask('people', 'email', $$'***'$$)",
		"SELECT sluice.set_row_filter('big', 'public', 'true')", "SELECT sluice.set_row_filter('forever', 'public', 'true')", "SELECT sluice.set_row_filter('hidden', 'public', 'true')")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY "+role+" CASCADE", "DROP ROLE "+role) })
	return w
}

// as is the URL through the proxy of another role.
func (w *world) as(role string) string { return strings.Replace(w.through, "postgres@", role+"@", 1) }

// audited waits until the audit has a number of rows, and returns an expression of each.
func audited(t *testing.T, direct *pgx.Conn, expression string, n int) []string {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got := rows(t, direct, "SELECT count(*) FROM sluice.audit")
		if got == fmt.Sprint(n) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the audit has %s rows, want %d\n%s", got, n, rows(t, direct, "SELECT door, outcome, sqlstate, relation_names FROM sluice.audit ORDER BY at"))
		}
	}
	return strings.Split(rows(t, direct, "SELECT "+expression+" FROM sluice.audit ORDER BY at"), "\n")
}

// auditedStatements are statements, and the row that the audit has of each.
var auditedStatements = []struct{ sql, row string }{
	{"SELECT * FROM people", "DOOR|ok|00000|4|remote|{public.people}|{public.people.email}"},
	{"SELECT twice(id) FROM people", "DOOR|ok|00000|4|home_join|{public.people}|{public.people.email}"},
	{"SELECT id FROM eu", "DOOR|ok|00000|3|remote|{public.eu,public.people}|{public.people.email}"},
	{"SELECT id FROM people WHERE id = 7", "DOOR|ok|00000|0|remote|{public.people}|{public.people.email}"},
	{"SELECT * FROM hidden", "DOOR|denied|42501|0|remote|{public.hidden}|{}"},
	{"SELECT id / (id - id) FROM people", "DOOR|failed|22012|0|home_join|{public.people}|{public.people.email}"},
	{"SELECT twice(id / 0) FROM people", "DOOR|failed|22012|0|home_join|{public.people}|{public.people.email}"},
	{"UPDATE people SET id = 1", "DOOR|denied|42501|0|home_join|{public.people}|{public.people.email}"},
	{"COPY (SELECT id FROM people) TO STDOUT", "copy|ok|00000|4|remote|{public.people}|{public.people.email}"},
	{"COPY (SELECT twice(id) FROM people) TO STDOUT (FORMAT csv, HEADER)", "copy|ok|00000|4|home_join|{public.people}|{public.people.email}"},
	{"INSERT INTO sink SELECT id FROM people WHERE twice(id) > 4", "DOOR|ok|00000|2|home_join|{public.people}|{public.people.email}"},
	{"INSERT INTO sink SELECT id / 0 FROM people", "DOOR|failed|22012|4|home_join|{public.people}|{public.people.email}"},
	{"CREATE TEMP TABLE taken AS SELECT id FROM big", "DOOR|ok|00000|5000|home_join|{public.big}|{}"},
	{"SELECT p.id FROM people p JOIN seeds s ON s.column1 = p.id", "DOOR|ok|00000|2|federated|{public.people}|{public.people.email}"},
	{"WITH x AS (SELECT id FROM people) SELECT count(*) FROM x, plain, big WHERE big.id = 1 AND x.id IN (SELECT id FROM eu)", "DOOR|ok|00000|1|remote|{public.big,public.eu,public.people,public.plain}|{public.people.email}"},
	{"EXPLAIN ANALYZE SELECT id FROM people", "DOOR|ok|00000|0|remote|{public.people}|{public.people.email}"},
	{"EXPLAIN SELECT id FROM people", "DOOR|ok|00000|0|remote|{public.people}|{public.people.email}"},
}

const auditedRow = "door, outcome, sqlstate, rows, route, relation_names, masked"

// TestAudit notes each statement over governed tables once, by both protocols, whatever its end, and no other.
func TestAudit(t *testing.T) {
	w := auditWorld(t, "aud_each")
	direct := connect(t, w.direct)
	n := 0
	for _, door := range []string{"simple", "extended"} {
		conn := connect(t, w.as("aud_each"))
		for _, s := range auditedStatements {
			if door == "simple" {
				rows(t, conn, s.sql)
			} else if r := conn.PgConn().ExecParams(timed(t), s.sql, nil, nil, nil, nil).Read(); r.Err != nil && sqlState(r.Err) == "" {
				t.Fatalf("%s: %v", s.sql, r.Err)
			}
			n++
			list := audited(t, direct, auditedRow, n)
			if got, want := list[n-1], strings.ReplaceAll(s.row, "DOOR", door); got != want {
				t.Errorf("%s: %s\n got: %s\nwant: %s", door, s.sql, got, want)
			}
		}
		want(t, conn, "SELECT id FROM plain", "1")
		want(t, conn, "SELECT nothing FROM people", "42703")
		want(t, conn, "DROP TABLE taken", "DROP TABLE")
	}
	want(t, direct, "SELECT DISTINCT session_role, role, client, servers, text, count(fingerprint) FROM sluice.audit GROUP BY 1, 2, 3, 4, 5",
		fmt.Sprintf("aud_each|aud_each|127.0.0.1|{lake}|NULL|%d", n))
	want(t, direct, "SELECT count(*) FROM sluice.audit WHERE bytes = 0 AND outcome = 'ok' AND rows > 0 OR duration < '0' OR at > now() OR relations <> relation_names::regclass[]::oid[]", "0")
}

// TestAuditOfWrites notes who writes to a governed table, governed or not.
func TestAuditOfWrites(t *testing.T) {
	w := auditWorld(t, "aud_writes")
	exec(t, w.through, "ALTER SERVER lake OPTIONS (ADD read_only 'false')")
	direct, conn := connect(t, w.direct), connect(t, w.through)
	for i, s := range []struct{ sql, row string }{
		{"INSERT INTO people VALUES (7, 'x', 'eu'), (8, 'y', 'us')", "simple|ok|00000|2"},
		{"INSERT INTO people SELECT id, note, 'eu' FROM big WHERE id BETWEEN 100 AND 102 RETURNING id", "simple|ok|00000|3"},
		{"UPDATE people SET region = 'uk' WHERE id > 99", "simple|ok|00000|3"},
		{"DELETE FROM people WHERE id > 100", "simple|ok|00000|2"},
		{"INSERT INTO people VALUES (1 / 0, 'x', 'eu')", "simple|failed|22012|0"},
		{"COPY people FROM PROGRAM 'echo 9'", "copy|failed|22P04|0"},
		{"PREPARE p (int) AS SELECT id FROM people WHERE id > $1; EXECUTE p (6)", "simple|ok|00000|3"},
	} {
		rows(t, conn, s.sql)
		if got := audited(t, direct, "door, outcome, sqlstate, rows", i+1); got[i] != s.row {
			t.Errorf("%s\n got: %s\nwant: %s", s.sql, got[i], s.row)
		}
	}
	want(t, direct, "SELECT DISTINCT role, 'public.people' = ANY (relation_names) FROM sluice.audit", "postgres|t")
}

// TestAuditOfPortals notes a portal once, when it ends, with the rows that it has given.
func TestAuditOfPortals(t *testing.T) {
	w := auditWorld(t, "aud_portals")
	direct := connect(t, w.direct)
	for i, end := range []struct{ name, row string }{
		{"to the end", "extended|ok|00000|5000"}, {"closed", "extended|partial|00000|10"}, {"rolled back", "extended|partial|00000|10"}, {"left", "extended|gone|08006|10"},
	} {
		t.Run(end.name, func(t *testing.T) {
			conn := connect(t, w.as("aud_portals"))
			want(t, conn, "BEGIN", "BEGIN")
			front := conn.PgConn().Frontend()
			front.Send(&pgproto3.Parse{Query: "SELECT id FROM big"})
			front.Send(&pgproto3.Bind{DestinationPortal: "p"})
			limits := []uint32{5, 5}
			if end.name == "to the end" {
				limits = []uint32{5, 2000, 0}
			}
			for _, limit := range limits {
				front.Send(&pgproto3.Execute{Portal: "p", MaxRows: limit})
			}
			if end.name == "closed" {
				front.Send(&pgproto3.Close{ObjectType: 'P', Name: "p"})
			}
			front.Send(&pgproto3.Sync{})
			if err := front.Flush(); err != nil {
				t.Fatal(err)
			}
			readToReady(t, front)
			switch end.name {
			case "rolled back":
				want(t, conn, "ROLLBACK", "ROLLBACK")
			case "left":
				_ = conn.PgConn().Conn().Close()
			}
			if got := audited(t, direct, "door, outcome, sqlstate, rows", i+1); got[i] != end.row {
				t.Errorf("got %s, want %s", got[i], end.row)
			}
		})
	}
}

// TestAuditOfEnds notes statements that are cancelled, and whose client is gone, on each route, and what is rolled back.
func TestAuditOfEnds(t *testing.T) {
	w := auditWorld(t, "aud_ends")
	direct, watcher := connect(t, w.direct), connect(t, w.through)
	begun := func(conn *pgx.Conn) { // a statement that ends before home has looked at it is none that rules are known to hold for
		t.Helper()
		running := fmt.Sprintf("SELECT count(*) FROM sluice.stat_activity WHERE pid = %d AND route IS NOT NULL", conn.PgConn().PID())
		for deadline := time.Now().Add(patience); rows(t, watcher, running) != "1"; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the statement does not begin")
			}
		}
	}
	n := 0
	for _, sql := range []string{"SELECT count(*) FROM forever WHERE i % 7 = 3", "SELECT i FROM forever", "INSERT INTO sink SELECT i FROM forever", "COPY (SELECT i FROM forever) TO STDOUT"} {
		conn := connect(t, w.as("aud_ends"))
		done := make(chan error, 1)
		go func() { done <- drain(context.Background(), conn, sql) }()
		begun(conn)
		if err := cancelUntil(t, conn, done, 50*time.Millisecond); sqlState(err) != "57014" {
			t.Fatalf("%s ended with %v", sql, err)
		}
		n++
		if got := audited(t, direct, "outcome, sqlstate", n); got[n-1] != "cancelled|57014" {
			t.Errorf("%s, cancelled: %s", sql, got[n-1])
		}
		go func() { done <- drain(context.Background(), conn, sql) }()
		begun(conn)
		_ = conn.PgConn().Conn().Close()
		if err := <-done; err == nil {
			t.Fatalf("%s came to an end", sql)
		}
		n++
		if got := audited(t, direct, "outcome, sqlstate", n); got[n-1] != "gone|08006" {
			t.Errorf("%s, left: %s", sql, got[n-1])
		}
	}
	want(t, connect(t, w.as("aud_ends")), "BEGIN; SELECT count(*) FROM people; ROLLBACK", "BEGIN\n4\nROLLBACK")
	audited(t, direct, "outcome", n+1)
}

// TestAuditIsLossless has as many rows as there were statements in sessions at once, the proxy's end notwithstanding.
func TestAuditIsLossless(t *testing.T) {
	const sessions, each = 8, 200
	w := auditWorld(t, "aud_many")
	direct := connect(t, w.direct)
	t.Run("statements", func(t *testing.T) { // through a proxy that ends with them
		through := strings.Replace(w.as("aud_many"), w.addr, startProxy(t, w.home), 1)
		var wg sync.WaitGroup
		for range sessions {
			conn := connect(t, through)
			wg.Go(func() {
				for i := range each {
					if got, err := conn.PgConn().Exec(timed(t), fmt.Sprintf("SELECT id FROM people WHERE id = %d", i%4+1)).ReadAll(); err != nil || len(got[0].Rows) != 1 {
						t.Errorf("%v %v", got, err)
					}
				}
			})
		}
		wg.Wait()
	})
	want(t, direct, "SELECT count(*), count(DISTINCT fingerprint), sum(rows) FROM sluice.audit", fmt.Sprintf("%d|1|%d", sessions*each, sessions*each))
}

// TestAuditSettings has superusers alone say what is audited, and strips statements of their literals.
func TestAuditSettings(t *testing.T) {
	w := auditWorld(t, "aud_set")
	direct := connect(t, w.direct)
	set := func(setting string) {
		t.Helper()
		want(t, direct, "ALTER ROLE aud_set IN DATABASE "+w.database+" SET "+setting, "ALTER ROLE")
	}
	conn := connect(t, w.as("aud_set"))
	want(t, conn, "SET sluice.audit = 'none'; SELECT count(*) FROM people", "SET\n4")
	want(t, conn, "ALTER ROLE aud_set SET sluice.audit = 'none'", "42501")
	audited(t, direct, "text", 1)
	set("sluice.audit = 'all'")
	set("sluice.audit_text = on")
	conn = connect(t, w.as("aud_set"))
	want(t, conn, "ALTER ROLE aud_set IN DATABASE "+w.database+" RESET sluice.audit", "42501")
	want(t, conn, "ALTER ROLE aud_set IN DATABASE "+w.database+" RESET ALL", "ALTER ROLE")
	for _, s := range []struct{ sql, text string }{
		{"SELECT id FROM plain WHERE id = 1 -- 4111111111111111", "SELECT id FROM plain WHERE id = ?"},
		{"SELECT id, 'pw' FROM people /* ssn 123 */ WHERE email = E'o\\'x' OR id IN (2, 3.5)", "SELECT id, ? FROM people  WHERE email = ? OR id IN (?, ?)"},
		{"CREATE TEMP TABLE t1 AS SELECT id FROM people WHERE email = 'secret1'", "CREATE TEMP TABLE t1 AS SELECT id FROM people WHERE email = ?"},
		{"COPY (SELECT id FROM people WHERE email = $$secret1$$) TO STDOUT", "COPY (SELECT id FROM people WHERE email = ?) TO STDOUT"},
	} {
		rows(t, conn, s.sql)
		for deadline := time.Now().Add(patience); rows(t, direct, "SELECT count(*) FROM sluice.audit WHERE text = $t$"+s.text+"$t$") != "1"; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s is not there as %s\n%s", s.sql, s.text, rows(t, direct, "SELECT text FROM sluice.audit"))
			}
		}
	}
	want(t, conn, "SET standard_conforming_strings = off; SET escape_string_warning = off", "SET\nSET")
	want(t, conn, "SELECT count(*) FROM people WHERE email = 'a\\'secret1'", "0")
	audited(t, direct, "text", 6)
	want(t, direct, "SELECT count(*) FROM sluice.audit WHERE text ~ 'secret|411|123'", "0")
	set("sluice.audit = 'none'")
	conn = connect(t, w.as("aud_set"))
	want(t, conn, "SELECT count(*) FROM people; SELECT count(*) FROM plain", "4\n1")
	set("sluice.audit = 'some'")
	want(t, connect(t, w.as("aud_set")), "SELECT count(*) FROM plain", "22023")
	want(t, direct, "SELECT count(*) FROM sluice.audit", "6")
}

// TestAuditIsKept lets nobody change the audit, and drops whole days of it.
func TestAuditIsKept(t *testing.T) {
	w := auditWorld(t, "aud_keep")
	direct, boss, conn := connect(t, w.direct), connect(t, w.through), connect(t, w.as("aud_keep"))
	want(t, conn, "SELECT count(*) FROM people", "4")
	audited(t, direct, "1", 1)
	today := rows(t, direct, "SELECT tableoid::regclass FROM sluice.audit")
	for _, table := range []string{"sluice.audit", today} {
		for _, sql := range []string{"INSERT INTO %s SELECT * FROM sluice.audit", "UPDATE %s SET role = 'x'", "UPDATE %s SET role = 'x' WHERE false", "DELETE FROM %s", "TRUNCATE %s"} {
			want(t, boss, fmt.Sprintf(sql, table), "42501")
			want(t, conn, fmt.Sprintf(sql, table), "42501")
		}
		want(t, conn, "SELECT count(*) FROM "+table, "42501")
	}
	for _, sql := range []string{"SELECT sluice.write_audit('[]')", "SELECT sluice.drop_audit_before(now()::date)", "SELECT sluice.make_audit_day(now()::date)"} {
		want(t, conn, sql, "42501")
	}
	want(t, direct, "SELECT sluice.make_audit_day('2020-02-28'); SELECT sluice.make_audit_day('2020-02-29')", "\n")
	want(t, boss, "SELECT day, rows FROM sluice.drop_audit_before('2020-02-29')", "2020-02-28|0")
	want(t, boss, "SELECT day, rows FROM sluice.drop_audit_before((now() AT TIME ZONE 'UTC')::date)", "2020-02-29|0")
	want(t, boss, "SELECT rows FROM sluice.drop_audit_before((now() AT TIME ZONE 'UTC')::date + 1)", "1")
	want(t, conn, "SELECT count(*) FROM people", "4")
	audited(t, direct, "1", 1)
	exec(t, w.through, "DROP EXTENSION sluice CASCADE", "CREATE EXTENSION sluice")
	want(t, direct, "SELECT count(*) FROM sluice.audit", "0")
}

// TestAuditRequired refuses statements that cannot be audited where they must be, and keeps the rows of those that ran.
func TestAuditRequired(t *testing.T) {
	w := auditWorld(t, "aud_must")
	direct := connect(t, w.direct)
	want(t, direct, "ALTER ROLE aud_must IN DATABASE "+w.database+" SET sluice.audit_required = on", "ALTER ROLE")
	conn := connect(t, w.as("aud_must"))
	want(t, conn, "SELECT count(*) FROM people", "4")
	audited(t, direct, "1", 1)
	today := strings.TrimPrefix(rows(t, direct, "SELECT DISTINCT tableoid::regclass FROM sluice.audit"), "sluice.")
	want(t, direct, "ALTER TABLE sluice."+today+" RENAME TO away", "ALTER TABLE")
	ran := 1
	for deadline := time.Now().Add(patience); ; ran++ { // those may still run of whose like one was just written
		got := rows(t, conn, "SELECT count(*) FROM people")
		if got == "58000" {
			break
		}
		if got != "4" || time.Now().After(deadline) {
			t.Fatalf("got %s", got)
		}
	}
	want(t, conn, "SELECT count(*) FROM plain", "1")
	want(t, conn, "COPY people TO STDOUT", "58000")
	want(t, connect(t, w.through), "SELECT count(*) FROM people", "5")
	want(t, direct, "ALTER TABLE sluice.away RENAME TO "+today, "ALTER TABLE")
	for deadline := time.Now().Add(patience); rows(t, conn, "SELECT count(*) FROM people") != "4"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("statements are refused although the audit can be written again")
		}
	}
	for deadline := time.Now().Add(patience); rows(t, direct, "SELECT count(*) FROM sluice.audit WHERE outcome = 'ok'") != fmt.Sprint(ran+2); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("of %d statements the audit has %s", ran+2, rows(t, direct, "SELECT count(*) FROM sluice.audit WHERE outcome = 'ok'"))
		}
	}
}
