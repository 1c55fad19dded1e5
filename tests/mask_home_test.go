package tests

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestLeaks lists the ways to a table of home that need no privilege on it, closes each by the remedy that is printed with it, and
// finds none left.
func TestLeaks(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT 1 AS id")
	exec(t, w.direct, "DROP ROLE IF EXISTS leak_reader", "DROP ROLE IF EXISTS leak_owner", "CREATE ROLE leak_reader", "CREATE ROLE leak_owner",
		"GRANT CREATE ON SCHEMA public TO leak_owner")
	t.Cleanup(func() {
		exec(t, w.direct, "DROP OWNED BY leak_reader, leak_owner CASCADE", "DROP ROLE leak_reader, leak_owner")
	})
	exec(t, w.direct, "SET ROLE leak_owner", "CREATE TABLE pay (id int, salary int) PARTITION BY LIST (id)", "CREATE TABLE pay_1 PARTITION OF pay FOR VALUES IN (1)",
		"INSERT INTO pay VALUES (1, 100)", "CREATE TABLE log (salary int)", "CREATE TABLE other (id int)",
		"CREATE VIEW shown AS SELECT * FROM pay", "CREATE VIEW above AS SELECT salary FROM shown", "CREATE VIEW own AS SELECT * FROM pay",
		"CREATE VIEW invoked WITH (security_invoker) AS SELECT * FROM pay", `CREATE MATERIALIZED VIEW "Kept" AS SELECT * FROM pay`,
		"CREATE FUNCTION told() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN RETURN (SELECT sum(salary) FROM PAY); END'",
		"CREATE FUNCTION atomic() RETURNS bigint LANGUAGE sql SECURITY DEFINER RETURN (SELECT sum(salary) FROM pay_1)",
		"CREATE FUNCTION invoked() RETURNS bigint LANGUAGE sql AS 'SELECT sum(salary) FROM pay'",
		"CREATE FUNCTION private() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT sum(salary) FROM pay'", "REVOKE ALL ON FUNCTION private() FROM PUBLIC",
		"CREATE RULE copied AS ON INSERT TO other DO ALSO INSERT INTO log SELECT salary FROM pay",
		"GRANT SELECT ON pay_1, shown, invoked TO leak_reader", "GRANT SELECT (salary) ON above TO leak_reader", `GRANT SELECT ON "Kept" TO PUBLIC`,
		"RESET ROLE", "CREATE PUBLICATION told FOR TABLE pay", "GRANT pg_read_all_data TO leak_reader")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int) SERVER lake", "CREATE VIEW items AS SELECT * FROM item", "GRANT SELECT ON items TO PUBLIC")
	conn := connect(t, w.through)
	want(t, conn, "SELECT kind, object, roles FROM sluice.leaks('pay') WHERE object <> 'pg_read_all_data'", strings.Join([]string{
		"function|public.atomic()|{PUBLIC}", "function|public.told()|{PUBLIC}", `materialized view|public."Kept"|{PUBLIC}`, "publication|told of public.pay|NULL",
		"rule|copied ON public.other|NULL", "table|public.pay_1|{leak_reader}", "view|public.above|{leak_reader}", "view|public.shown|{leak_reader}"}, "\n"))
	want(t, conn, "SELECT remedy FROM sluice.leaks('pay') WHERE object = 'public.above'", "REVOKE SELECT ON public.above FROM leak_reader")
	want(t, conn, "SELECT kind, object FROM sluice.leaks('pay_1') WHERE kind = 'function'", "function|public.atomic()\nfunction|public.told()")
	want(t, conn, "SELECT count(*) FROM sluice.leaks('item')", "0")
	for _, read := range []string{"SELECT salary FROM pay_1", "SELECT salary FROM above", "SELECT atomic()", "SELECT told()", `SELECT salary FROM "Kept"`} {
		want(t, conn, "SET ROLE leak_reader; "+read+"; RESET ROLE", "SET\n100\nRESET")
	}
	for _, remedy := range strings.Split(rows(t, conn, "SELECT remedy FROM sluice.leaks('pay')"), "\n") {
		if code := rows(t, conn, remedy); len(code) == 5 {
			t.Errorf("%s: %s", remedy, code)
		}
	}
	want(t, conn, "SELECT * FROM sluice.leaks('pay')", "SELECT 0")
	for _, read := range []string{"pay", "pay_1", "above", "shown", "invoked", "own", `"Kept"`} {
		want(t, conn, "SET ROLE leak_reader; SELECT salary FROM "+read, "42501")
		want(t, conn, "RESET ROLE", "RESET")
	}
	for _, call := range []string{"atomic", "told", "invoked", "private"} {
		want(t, conn, "SET ROLE leak_reader; SELECT "+call+"()", "42501")
		want(t, conn, "RESET ROLE", "RESET")
	}
}

// hear connects and returns what the server warns of since it was last asked, each with its hint.
func hear(t *testing.T, url string) (conn *pgx.Conn, heard func() string) {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			lines = append(lines, n.Message+" > "+n.Hint)
		}
	}
	conn, err = pgx.ConnectConfig(timed(t), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(timed(t)) })
	return conn, func() string {
		defer func() { lines = nil }()
		return strings.Join(lines, "\n")
	}
}

// TestLeaksWarned enables row security of a table of home that a view and a function get around.
func TestLeaksWarned(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT 1 AS id")
	conn, heard := hear(t, w.through)
	for _, sql := range []string{"CREATE TABLE pay (id int, salary int)", "CREATE VIEW shown AS SELECT * FROM pay", "GRANT SELECT ON shown TO PUBLIC",
		"CREATE FUNCTION told() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT sum(salary) FROM pay'", "CREATE TABLE other (id int)",
		"CREATE POLICY none ON pay USING (false)", "ALTER TABLE other ENABLE ROW LEVEL SECURITY", "ALTER TABLE IF EXISTS nowhere ENABLE ROW LEVEL SECURITY"} {
		if rows(t, conn, sql); heard() != "" {
			t.Errorf("%s: a warning", sql)
		}
	}
	want(t, conn, "ALTER TABLE pay ENABLE ROW LEVEL SECURITY", "ALTER TABLE")
	const warnings = `function public.told() gets at rows of table "pay" as they are, for PUBLIC > REVOKE EXECUTE ON ROUTINE public.told() FROM PUBLIC
view public.shown gets at rows of table "pay" as they are, for PUBLIC > REVOKE SELECT ON public.shown FROM PUBLIC`
	if got := heard(); got != warnings {
		t.Errorf("warned:\n%s", got)
	}
	want(t, conn, "REVOKE EXECUTE ON ROUTINE told() FROM PUBLIC; REVOKE SELECT ON shown FROM PUBLIC; ALTER TABLE pay ENABLE ROW LEVEL SECURITY", "REVOKE\nREVOKE\nALTER TABLE")
	if got := heard(); got != "" {
		t.Errorf("warned:\n%s", got)
	}
}
