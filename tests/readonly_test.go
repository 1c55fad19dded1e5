package tests

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// readOnlyColumns are of types that travel in each way there is, and one collation that is not its type's.
const readOnlyColumns = `(id int, name text COLLATE "C", code char(5), pay numeric(10,2), big numeric, day date, at timestamptz, span interval, raw bytea, doc jsonb, tags text[], ok boolean)`

// TestReadOnlyJoin has home compute statements in read-only transactions, which take no temporary tables.
func TestReadOnlyJoin(t *testing.T) {
	const insert = `INSERT INTO %s VALUES (1, 'a\b"c''d,{}NULL', 'ab', 1.50, 12345678901234567890.5, '2024-02-29', '2024-01-01 12:00+00', '1 mon -2 days', '\x00ff27', '{"k": "\"\\ \u00e9"}', '{"a b",NULL,"é"}', true),
 (2, 'ünï 😀', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (3, '', '', 0, 0, '0044-03-15 BC', 'infinity', '0', '', 'null', '{}', false)`
	w := newWorld(t, `CREATE TABLE item (id INTEGER, name VARCHAR, code VARCHAR, pay DECIMAL(10,2), big VARCHAR, day DATE, "at" TIMESTAMPTZ, span INTERVAL, raw BLOB, doc JSON, tags VARCHAR[], ok BOOLEAN)`)
	exec(t, w.through, "DROP SERVER lake", w.server("lake", ", read_only 'false'"), "CREATE SCHEMA fx", "CREATE SCHEMA plain",
		"CREATE FOREIGN TABLE fx.item "+readOnlyColumns+" SERVER lake", "CREATE TABLE plain.item "+readOnlyColumns,
		strings.Replace(insert, "%s", "fx.item", 1), strings.Replace(insert, "%s", "plain.item", 1), "CREATE TABLE h AS SELECT g AS id FROM generate_series(1, 3) g")
	for _, encoding := range []string{"UTF8", "LATIN1"} {
		for _, conforming := range []string{"on", "off"} {
			plain, foreign := connect(t, w.direct), connect(t, w.through)
			for conn, schema := range map[*pgx.Conn]string{plain: "plain", foreign: "fx"} {
				exec1(t, conn, "SET default_transaction_read_only = on; SET client_encoding = "+encoding+"; SET standard_conforming_strings = "+conforming+"; SET search_path = "+schema+", public")
			}
			for _, sql := range readOnlyStatements {
				if encoding != "UTF8" {
					sql = strings.Replace(sql, "item.*", "item.id, ascii(item.name), length(item.name), item.tags::text = '{\"a b\",NULL,\"\u00e9\"}'", 1)
				}
				if a, b := answer(t, plain, sql), answer(t, foreign, sql); a != b {
					t.Errorf("%s, conforming %s: %s\n  plain: %s\nforeign: %s", encoding, conforming, sql, a, b)
				}
			}
		}
	}
}

var readOnlyStatements = []string{
	"SELECT item.* FROM item JOIN h USING (id) ORDER BY id",
	"SELECT name FROM item JOIN h USING (id) ORDER BY name",
	"SELECT a.id, b.id FROM item a JOIN item b ON a.id < b.id JOIN h ON h.id = a.id ORDER BY 1, 2",
	"SELECT x.c FROM item AS x (a, b, c), h WHERE h.id = x.a ORDER BY x.a",
	"SELECT row_to_json(i)::text FROM item i, h WHERE h.id = i.id AND i.id = 3",
	"SELECT count(*), sum(pay), max(code) FROM item, h",
	"SELECT id FROM h WHERE EXISTS (SELECT FROM item WHERE item.id = h.id AND pay > 1)",
	"SELECT count(*) FROM item, h WHERE false",
	"COPY (SELECT id, name FROM item JOIN h USING (id) WHERE id <> 2 ORDER BY id) TO STDOUT",
	"BEGIN; DECLARE c CURSOR FOR SELECT item.id FROM item JOIN h USING (id) ORDER BY 1; FETCH 2 FROM c; MOVE 1 FROM c; FETCH 1 FROM c; COMMIT",
	"SELECT item.id FROM item, h FOR UPDATE",
	"CREATE TEMP TABLE x AS SELECT item.id FROM item, h",
	"INSERT INTO h SELECT id FROM item",
	"PREPARE p AS SELECT count(*) FROM item, h WHERE item.id > $1; EXECUTE p (1); DEALLOCATE p",
	"BEGIN READ WRITE; SELECT count(*) FROM item, h; SET TRANSACTION READ ONLY; SELECT count(*) FROM item, h; COMMIT",
}

// TestReadOnlyExtended is TestReadOnlyJoin by messages: with parameters, in binary, and explained.
func TestReadOnlyExtended(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i AS id, 'n' || i AS name FROM range(5) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, name text) SERVER lake", "CREATE TABLE h AS SELECT g AS id FROM generate_series(1, 3) g")
	conn := connect(t, w.through)
	exec1(t, conn, "SET default_transaction_read_only = on")
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec, pgx.QueryExecModeDescribeExec} {
		for range 2 {
			names, err := pgx.CollectRows(must(conn.Query(timed(t), "SELECT upper(name) FROM item JOIN h USING (id) WHERE id >= $1 ORDER BY id", mode, 2)), pgx.RowTo[string])
			if got := strings.Join(names, " "); err != nil || got != "N2 N3" {
				t.Errorf("%v: %s, %v", mode, got, err)
			}
		}
	}
	for sql, want := range map[string]string{
		"EXPLAIN SELECT reverse(name) FROM item JOIN h USING (id)":         "Function Scan",
		"EXPLAIN ANALYZE SELECT reverse(name) FROM item JOIN h USING (id)": "rows=3",
	} {
		if got := rows(t, conn, sql); !strings.Contains(got, want) {
			t.Errorf("%s has no %q:\n%s", sql, want, got)
		}
	}
}

func must(r pgx.Rows, err error) pgx.Rows {
	if err != nil {
		panic(err)
	}
	return r
}

// TestReadOnlyBound refuses what would not fit into a statement, and the session goes on.
func TestReadOnlyBound(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i AS id, repeat('x', 1000) AS name FROM range(100000) r(i)")
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, name text) SERVER lake", "CREATE TABLE h AS SELECT 1 AS id")
	conn := connect(t, w.through)
	exec1(t, conn, "SET sluice.route = 'home_join'")
	exec1(t, conn, "BEGIN READ ONLY")
	_, err := conn.PgConn().Exec(timed(t), "SELECT count(name) FROM item, h").ReadAll()
	if pe, ok := err.(*pgconn.PgError); !ok || pe.Code != "54000" || !strings.Contains(pe.Message, "item") || pe.Hint == "" {
		t.Errorf("%v", err)
	}
	want(t, conn, "ROLLBACK", "ROLLBACK")
	want(t, conn, "SELECT count(name) FROM item, h", "100000")
	want(t, conn, "BEGIN READ ONLY; SELECT count(name) FROM item, h WHERE item.id < 10; COMMIT", "BEGIN\n10\nCOMMIT")
}

// TestReadOnlyEnds cancels a statement while its inputs are read, and refuses one that has too many: the engine's streams
// end, and the session goes on.
func TestReadOnlyEnds(t *testing.T) {
	w, streams := newCountedWorld(t, endless)
	exec(t, w.through, declareEndless, "CREATE TABLE h AS SELECT 3 AS i")
	conn := connect(t, w.through)
	exec1(t, conn, "SET default_transaction_read_only = on")
	for round := range 3 {
		done := make(chan error, 1)
		go func() {
			done <- drain(context.Background(), conn, "SELECT count(*) FROM endless JOIN h USING (i) WHERE j % 2 = 1")
		}() // no row ever comes
		if err := cancelUntil(t, conn, done, time.Duration(round)*50*time.Millisecond); sqlState(err) != "57014" {
			t.Fatalf("round %d: the cancelled statement ended with %v", round, err)
		}
		streams.await(t, 0)
	}
	want(t, conn, "SELECT count(*) FROM endless JOIN h USING (i)", "54000")
	streams.await(t, 0)
	want(t, conn, "SELECT count(*) FROM h", "1")
}
