package tests

import (
	"strings"
	"testing"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestPageAnalysisIsKept reads one text over and over, while what it means changes.
func TestPageAnalysisIsKept(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	exec(t, through, "CREATE EXTENSION sluice", "CREATE SCHEMA a", "CREATE TABLE t (id int PRIMARY KEY, k int NOT NULL)", "INSERT INTO t VALUES (1, 3), (2, 2), (3, 1)", "CREATE INDEX ON t (k, id)",
		"CREATE TABLE a.t (k text PRIMARY KEY)", "INSERT INTO a.t VALUES ('x'), ('y')")
	conn, other := connect(t, through), connect(t, through)
	const call = "SELECT * FROM sluice.page('SELECT * FROM t ORDER BY k', 2) p"
	read := "SELECT (to_jsonb(p) - 'page_token')::text FROM (" + call + ") p"
	first := `{"k": 1, "id": 3}` + "\n" + `{"k": 2, "id": 2}`
	for range 2 {
		want(t, conn, read, first)
	}
	token := rows(t, conn, "SELECT page_token FROM ("+call+") p OFFSET 1")
	after := strings.Replace(read, "2) p", "2, '"+token+"') p", 1)
	want(t, other, after, `{"k": 3, "id": 1}`)
	want(t, conn, "SET search_path = a, public; "+read+"; RESET search_path", "SET\n{\"k\": \"x\"}\n{\"k\": \"y\"}\nRESET")
	want(t, conn, "CREATE TEMP TABLE t AS SELECT 7 AS k, 'temp' AS id; "+read+"; DROP TABLE pg_temp.t", "SELECT 1\n"+`{"k": 7, "id": "temp"}`+"\nDROP TABLE")
	want(t, conn, "BEGIN; ALTER TABLE t ADD note text; "+read+"; ROLLBACK", "BEGIN\nALTER TABLE\n"+`{"k": 1, "id": 3, "note": null}`+"\n"+`{"k": 2, "id": 2, "note": null}`+"\nROLLBACK")
	want(t, conn, read, first)
	exec(t, direct, "ALTER TABLE t ALTER k DROP NOT NULL", "INSERT INTO t VALUES (4, NULL)")
	want(t, conn, after, `{"k": 3, "id": 1}`+"\n"+`{"k": null, "id": 4}`)
	exec(t, direct, "ALTER TABLE t ALTER k TYPE text")
	want(t, conn, read, `{"k": "1", "id": 3}`+"\n"+`{"k": "2", "id": 2}`)
	if e := refusal(t, conn, after); e == nil || e.Code != "22023" || !strings.Contains(e.Message, "another query, or another order") {
		t.Errorf("a token of another type: %v", e)
	}
	exec(t, direct, "DROP INDEX t_k_id_idx")
	want(t, conn, "SET sluice.on_unindexed_page = error; "+read, "54000")
	exec(t, direct, "CREATE INDEX ON t (k, id)", "ALTER TABLE t RENAME id TO number")
	want(t, conn, read, `{"k": "1", "number": 3}`+"\n"+`{"k": "2", "number": 2}`)
	exec(t, direct, "SELECT sluice.set_column_mask('t', 'k', '''hidden''::text')", "DROP ROLE IF EXISTS kept_reader", "CREATE ROLE kept_reader", "GRANT SELECT ON t TO kept_reader")
	t.Cleanup(func() { exec(t, direct, "DROP OWNED BY kept_reader", "DROP ROLE kept_reader") })
	want(t, conn, "SET ROLE kept_reader; "+read+"; RESET ROLE", "SET\n"+`{"k": "hidden", "number": 1}`+"\n"+`{"k": "hidden", "number": 2}`+"\nRESET")
	exec(t, direct, "DROP TABLE t CASCADE")
	want(t, conn, read, "42P01")
}

// TestPreparedPageAtHome governs a table that pages of a prepared statement, which home runs by itself, are read of.
func TestPreparedPageAtHome(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	exec(t, through, "CREATE EXTENSION sluice", "CREATE TABLE t (id int PRIMARY KEY, name text)", "INSERT INTO t SELECT i, 'n' || i FROM generate_series(1, 9) i",
		"DROP ROLE IF EXISTS prepared_reader", "CREATE ROLE prepared_reader LOGIN", "GRANT SELECT ON t TO prepared_reader")
	t.Cleanup(func() { exec(t, direct, "DROP OWNED BY prepared_reader", "DROP ROLE prepared_reader") })
	conn := connect(t, strings.Replace(through, "postgres://postgres@", "postgres://prepared_reader@", 1))
	want(t, conn, "PREPARE p AS SELECT name FROM sluice.page('SELECT id, name FROM t', 2)", "PREPARE")
	want(t, conn, "EXECUTE p", "n1\nn2")
	if _, err := conn.Prepare(timed(t), "q", "SELECT name FROM sluice.page('SELECT id, name FROM t', 2)"); err != nil {
		t.Fatal(err)
	}
	names := func() string {
		r := conn.PgConn().ExecPrepared(timed(t), "q", nil, nil, nil).Read()
		if e := pgError(r.Err); e != nil {
			return e.Code
		}
		list := make([]string, len(r.Rows))
		for i, row := range r.Rows {
			list[i] = string(row[0])
		}
		return strings.Join(list, " ")
	}
	if got := names(); got != "n1 n2" {
		t.Error(got)
	}
	exec(t, through, "SELECT sluice.set_column_mask('t', 'name', '''hidden''::text')")
	want(t, conn, "EXECUTE p", "hidden\nhidden")
	if got := names(); got != "hidden hidden" {
		t.Error(got)
	}
	exec(t, through, "SELECT sluice.set_column_mask('t', 'id', '0')") // which the pages rely on
	want(t, conn, "EXECUTE p", "0A000")
	if got := names(); got != "0A000" {
		t.Error(got)
	}
}
