package tests

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestKeysetCursors reads cursors over connections and proxies, and takes back what was read.
func TestKeysetCursors(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT range AS id, range % 3 AS s FROM range(10)")
	exec(t, w.direct, "DROP ROLE IF EXISTS cursor_reader", "CREATE ROLE cursor_reader LOGIN")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY cursor_reader", "DROP ROLE cursor_reader") })
	exec(t, w.through, "CREATE SCHEMA lake", "CREATE FOREIGN TABLE lake.t (id bigint OPTIONS (key 'true') NOT NULL, s bigint) SERVER lake", "GRANT USAGE ON SCHEMA lake TO cursor_reader",
		"CREATE TABLE t AS SELECT i AS id, i % 3 AS s FROM generate_series(0, 9) i", "ALTER TABLE t ADD PRIMARY KEY (id)", "CREATE INDEX ON t (s, id)", "GRANT SELECT ON t, lake.t TO cursor_reader")
	conn := connect(t, w.through)
	other := connect(t, proxyURL(startProxy(t, w.home), w.database))
	reader := connect(t, strings.Replace(w.through, "postgres://postgres@", "postgres://cursor_reader@", 1))
	for _, table := range []string{"t", "lake.t"} {
		form, index := "two_leg", "t_s_id_idx"
		if table != "t" {
			form, index = "bounded_and", "NULL"
		}
		open := "SELECT form, index_used, sort_keys, position, done FROM sluice.open_cursor('SELECT id, s FROM " + table + " ORDER BY s DESC', 'c', ttl => '1 hour')"
		want(t, conn, open, form+"|"+index+"|{\"s DESC\",\""+strings.TrimPrefix(table, "lake.")+".id DESC\"}|NULL|f")
		want(t, conn, open, "42P03")
		const fetch = "SELECT * FROM sluice.fetch_cursor('c', 3)"
		want(t, conn, fetch, "8|2\n5|2\n2|2")
		want(t, conn, "BEGIN; "+fetch+"; "+fetch+"; ROLLBACK", "BEGIN\n7|1\n4|1\n1|1\n9|0\n6|0\n3|0\nROLLBACK")
		want(t, other, fetch, "7|1\n4|1\n1|1")
		want(t, conn, "BEGIN; SAVEPOINT a; SELECT id FROM sluice.fetch_cursor('c', 1); ROLLBACK TO a; SELECT id FROM sluice.fetch_cursor('c', 2); COMMIT", "BEGIN\nSAVEPOINT\n9\nROLLBACK\n9\n6\nCOMMIT")
		want(t, conn, "SELECT owner, name, fetched, done, expires_at > now() + '59 min' FROM sluice.keyset_cursor", "postgres|c|8|f|t")
		want(t, reader, fetch, "34000")
		want(t, reader, "SELECT * FROM sluice.keyset_cursor", "SELECT 0")
		want(t, reader, "SELECT sluice.close_cursor('c')", "34000")
		want(t, reader, "UPDATE sluice.keyset_cursor SET position = NULL", "42501")
		want(t, other, "SELECT id FROM sluice.fetch_cursor('c', 1) WHERE id < 0", "SELECT 0")
		want(t, other, fetch, "0|0")
		want(t, other, fetch, "SELECT 0")
		want(t, conn, "SELECT fetched, done FROM sluice.keyset_cursor", "10|t")
		exec(t, w.direct, "UPDATE sluice.keyset_cursor SET expires_at = now() - interval '1 s'")
		want(t, conn, fetch, "34000")
		want(t, conn, open, form+"|"+index+"|{\"s DESC\",\""+strings.TrimPrefix(table, "lake.")+".id DESC\"}|NULL|f") // the old one is gone
		want(t, conn, "PREPARE f AS "+fetch+"; EXECUTE f; EXECUTE f", "PREPARE\n8|2\n5|2\n2|2\n7|1\n4|1\n1|1")
		want(t, conn, "SELECT sluice.close_cursor('c')", "")
		want(t, conn, "EXECUTE f", "34000")
		want(t, conn, "SELECT name FROM sluice.open_cursor('SELECT id FROM "+table+" ORDER BY id', 'c')", "c")
		want(t, conn, "EXECUTE f", "0A000")
		want(t, conn, "DEALLOCATE f; SELECT sluice.close_cursor('c')", "DEALLOCATE\n")
	}
	want(t, conn, "SELECT sluice.open_cursor('SELECT id FROM t WHERE id > $1', 'p')", "0A000")
	want(t, conn, "SELECT sluice.open_cursor('SELECT id FROM t', '')", "34000")
	want(t, conn, "SELECT sluice.open_cursor('SELECT id FROM t', 'p', '0')", "22023")
	want(t, conn, "SELECT * FROM sluice.fetch_cursor('p')", "34000")
	want(t, conn, "SELECT sluice.fetch_cursor('p')", "0A000")
	want(t, conn, "SELECT sluice.close_cursor('p')", "34000")
	want(t, connect(t, w.direct), "SELECT sluice.open_cursor('SELECT id FROM t', 'p')", "0A000")
	want(t, connect(t, w.direct), "SELECT * FROM sluice.fetch_cursor('p')", "0A000")
}

// TestKeysetCursorsAtOnce has many clients, some of which vanish within their transactions, read one cursor: each row goes to one.
func TestKeysetCursorsAtOnce(t *testing.T) {
	const clients, total = 6, 500
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS a")
	exec(t, w.through, "CREATE TABLE t AS SELECT i AS id, i % 7 AS s FROM generate_series(1, 500) i", "ALTER TABLE t ADD PRIMARY KEY (id)", "CREATE INDEX ON t (s, id)",
		"SELECT sluice.open_cursor('SELECT id FROM t ORDER BY s', 'shared')")
	var mu sync.Mutex
	var got []int
	var wg sync.WaitGroup
	for who := range clients {
		conn, err := pgx.Connect(timed(t), w.through)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer conn.Close(t.Context())
			for i := 0; ; i++ {
				if who%3 == 0 && i == 5 {
					_, _ = conn.Exec(t.Context(), "BEGIN; SELECT * FROM sluice.fetch_cursor('shared', 9)")
					_ = conn.PgConn().Conn().Close()
					return
				}
				r, err := conn.Query(t.Context(), fmt.Sprintf("SELECT id FROM sluice.fetch_cursor('shared', %d)", 1+i%9))
				if err != nil {
					t.Error(err)
					return
				}
				ids, err := pgx.CollectRows(r, pgx.RowTo[int])
				if err != nil {
					t.Error(err)
					return
				}
				if len(ids) == 0 {
					return
				}
				mu.Lock()
				got = append(got, ids...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(got)
	if len(got) != total || len(slices.Compact(got)) != total {
		t.Errorf("%d rows were read", len(got))
	}
	want(t, connect(t, w.through), "SELECT fetched, done FROM sluice.keyset_cursor", "500|t")
}
