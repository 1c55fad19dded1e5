package tests

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestPageInfo asks what the last page was: of home's tables, of an engine's and of cursors, after transactions and as another role.
func TestPageInfo(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT range AS id, range % 3 AS s FROM range(10)")
	exec(t, w.direct, "DROP ROLE IF EXISTS info_reader", "CREATE ROLE info_reader LOGIN")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY info_reader", "DROP ROLE info_reader") })
	exec(t, w.through, "CREATE SCHEMA lake", "CREATE FOREIGN TABLE lake.t (id bigint OPTIONS (key 'true') NOT NULL, s bigint) SERVER lake", "CREATE TABLE e (id int PRIMARY KEY)",
		"CREATE TABLE t AS SELECT i AS id, i % 3 AS s FROM generate_series(0, 9) i", "ALTER TABLE t ADD PRIMARY KEY (id)", "CREATE INDEX ON t (s, id)", "GRANT SELECT ON t TO info_reader")
	conn := connect(t, w.through)
	const info = "SELECT has_more, page_token IS NOT NULL AS token, row_count, page_size FROM sluice.page_info()"
	want(t, conn, info, "SELECT 0")
	for _, table := range []string{"t", "lake.t"} {
		page := func(rest string) string {
			return "SELECT id FROM sluice.page('SELECT id, s FROM " + table + " ORDER BY s DESC', " + rest + ")"
		}
		want(t, conn, page("4")+"; "+info, "8\n5\n2\n7\nt|t|4|4")
		token := rows(t, conn, "SELECT page_token FROM sluice.page_info()")
		want(t, conn, page("4, '"+token+"'"), "4\n1\n9\n6")
		want(t, conn, page("4, (SELECT page_token FROM sluice.page_info())"), "0A000")
		want(t, conn, info, "t|t|4|4")
		want(t, conn, "BEGIN; "+page("10")+"; "+info+"; ROLLBACK", "BEGIN\n8\n5\n2\n7\n4\n1\n9\n6\n3\n0\nf|f|10|10\nROLLBACK")
		want(t, conn, info, "t|t|4|4") // of the page that stands
		want(t, conn, "BEGIN; SAVEPOINT a; SELECT count(*) FROM ("+page("3")+") p; ROLLBACK TO a; "+info+"; COMMIT", "BEGIN\nSAVEPOINT\n3\nROLLBACK\nt|t|4|4\nCOMMIT")
		want(t, conn, "SELECT count(*) FROM ("+page("12 - 1")+") p; "+info, "10\nf|f|10|11")
		want(t, conn, "SELECT id FROM sluice.page('SELECT id FROM "+table+" WHERE id > 9 ORDER BY id', 3); "+info, "SELECT 0\nf|f|0|3")
		want(t, conn, "SET sluice.max_page_size = 2; SELECT count(*) FROM ("+page("9")+") p; "+info+"; RESET sluice.max_page_size", "SET\n2\nt|t|2|2\nRESET")
		exec1(t, conn, "EXPLAIN "+page("7"))
		want(t, conn, info, "t|t|2|2")
		want(t, conn, "BEGIN; DECLARE k CURSOR FOR "+page("5")+"; "+info+"; FETCH 1 FROM k; "+info+"; COMMIT", "BEGIN\nDECLARE CURSOR\nt|t|2|2\n8\nt|t|5|5\nCOMMIT")
		want(t, conn, "SELECT name FROM sluice.open_cursor('SELECT id FROM "+table+" ORDER BY id', 'c'); SELECT id FROM sluice.fetch_cursor('c', 6); "+info, "c\n0\n1\n2\n3\n4\n5\nt|t|6|6")
		want(t, conn, "SELECT page_token = (SELECT position FROM sluice.keyset_cursor) FROM sluice.page_info()", "t")
		want(t, conn, "SELECT id FROM sluice.fetch_cursor('c', 6); "+info, "6\n7\n8\n9\nf|f|4|6")
		want(t, conn, "SELECT count(*) FROM ("+page("1")+") p; SELECT id FROM sluice.fetch_cursor('c', 6); "+info+"; SELECT sluice.close_cursor('c')", "1\nSELECT 0\nf|f|0|6\n")
	}
	want(t, conn, "SELECT id FROM sluice.page('SELECT id FROM e', 3); "+info, "SELECT 0\nf|f|0|3")
	want(t, conn, "SELECT s FROM sluice.page('SELECT s FROM (SELECT s FROM t) q ORDER BY s', 5); SELECT has_more FROM sluice.page_info()", "22023") // which no token could tell apart
	extendedPageInfo(t, connect(t, w.through))
	rolesOfPageInfo(t, conn, info)
}

// extendedPageInfo reads a page and asks what it was in one pipeline, by statements that are prepared.
func extendedPageInfo(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	ctx := timed(t)
	d, err := conn.Prepare(ctx, "info", "SELECT * FROM sluice.page_info()")
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, f := range d.Fields {
		got += f.Name + " "
	}
	if got != "has_more page_token row_count page_size " || d.Fields[0].DataTypeOID != 16 || d.Fields[1].DataTypeOID != 25 || d.Fields[2].DataTypeOID != 20 {
		t.Errorf("it is described as %s", got)
	}
	var token *string
	for page, last := range []int{2, 5, 8, 9} {
		var b pgx.Batch
		b.Queue("SELECT id FROM sluice.page('SELECT id FROM t ORDER BY id', $1, $2) p", 3, token)
		b.Queue("info")
		results := conn.SendBatch(ctx, &b)
		r, err := results.Query()
		if err != nil {
			t.Fatal(err)
		}
		ids, err := pgx.CollectRows(r, pgx.RowTo[int])
		if err != nil || ids[len(ids)-1] != last {
			t.Errorf("page %d: %v, %v", page, ids, err)
		}
		var more bool
		var count, size int
		if err := results.QueryRow().Scan(&more, &token, &count, &size); err != nil || more != (page < 3) || count != len(ids) || size != 3 || more != (token != nil) {
			t.Errorf("page %d: more %t, %d rows of %d, %v", page, more, count, size, err)
		}
		if err := results.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// rolesOfPageInfo asks as another role, and where the setting was spoiled.
func rolesOfPageInfo(t *testing.T, conn *pgx.Conn, info string) {
	t.Helper()
	const page = "SELECT id FROM sluice.page('SELECT id FROM t ORDER BY id', 1)"
	want(t, conn, page+"; SET ROLE info_reader; "+info+"; "+page+"; "+info+"; RESET ROLE; "+info, "0\nSET\nSELECT 0\n0\nt|t|1|1\nRESET\nSELECT 0")
	want(t, conn, page, "0")
	want(t, conn, "DISCARD ALL", "DISCARD ALL")
	want(t, conn, info, "SELECT 0")
	want(t, conn, "SET sluice.last_page = 'nothing'; "+info, "22023")
	want(t, conn, "SET sluice.last_page = '5'; "+info, "SET\nSELECT 0")
	if e := refusal(t, conn, "SELECT has_more FROM "+strings.TrimPrefix(page, "SELECT id FROM ")+", sluice.page_info()"); e == nil || e.Code != "0A000" || e.Hint == "" || e.Position == 0 {
		t.Errorf("in one statement: %v", e)
	}
}
