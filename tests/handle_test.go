package tests

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// handleWorld has a foreign table, and a table of home.
func handleWorld(t *testing.T) *world {
	w := newWorld(t, "CREATE TABLE item AS SELECT i::INTEGER AS id, 'n' || i % 7 AS name FROM range(1000) r(i)", endless)
	exec(t, w.through, "CREATE FOREIGN TABLE item (id int, name text) SERVER lake", declareEndless, "CREATE TABLE plain AS SELECT generate_series(1, 100) AS a")
	return w
}

// TestHandles makes handles of results that home and engines compute, by each of the ways there are.
func TestHandles(t *testing.T) {
	w := handleWorld(t)
	conn := connect(t, w.through)
	want(t, conn, "SELECT relation, server, row_count, bytes > 0, expires_at > now() FROM sluice.materialize('SELECT * FROM plain WHERE a > 10', name => 'a')", "sluice_handle.a|NULL|90|t|t")
	want(t, conn, "SELECT count(*), min(a) FROM sluice_handle.a", "90|11")
	want(t, conn, "SELECT relation, h.row_count FROM sluice.materialize('SELECT name, count(*) FROM item GROUP BY name', '5 minutes', name => 'b') AS h", "sluice_handle.b|7")
	want(t, conn, "SELECT count(*), sum(count) FROM sluice_handle.b", "7|1000")
	want(t, conn, "SELECT materialize.row_count FROM sluice.materialize('SELECT i.name, p.a FROM item i JOIN plain p ON p.a = i.id -- all') WHERE row_count > 5", "100")
	want(t, conn, "CREATE TABLE sluice_handle.c WITH (sluice.ttl = '1 day', fillfactor = 70) AS SELECT id FROM item WHERE id < 5", "SELECT 5")
	want(t, conn, "CREATE TABLE sluice_handle.cc (x, y) AS SELECT id, name FROM item WHERE id < 3 ORDER BY id; SELECT x, y FROM sluice_handle.cc", "SELECT 3\n0|n0\n1|n1\n2|n2")
	want(t, conn, "CREATE TABLE sluice_handle.empty AS SELECT id FROM item WITH NO DATA; SELECT row_count FROM sluice.ctas_handles WHERE relation = 'sluice_handle.empty'::regclass", "CREATE TABLE AS\n0")
	want(t, conn, "CREATE UNLOGGED TABLE sluice_handle.ul AS SELECT id FROM item; SELECT relpersistence FROM pg_class WHERE oid = 'sluice_handle.ul'::regclass", "SELECT 1000\nu")
	want(t, conn, "PREPARE p(int) AS SELECT id FROM item WHERE id < $1; CREATE TABLE sluice_handle.d AS EXECUTE p(3)", "PREPARE\nSELECT 3")
	want(t, conn, "SELECT id, name INTO sluice_handle.into1 FROM item WHERE id < 3; SELECT a INTO sluice_handle.into2 FROM plain UNION ALL SELECT id FROM item; SELECT 1 AS a INTO UNLOGGED sluice_handle.into3", "SELECT 3\nSELECT 1100\nSELECT 1")
	want(t, conn, "SELECT relation, row_count FROM sluice.ctas_handles WHERE relation::text ~ 'into' ORDER BY relation::text", "sluice_handle.into1|3\nsluice_handle.into2|1100\nsluice_handle.into3|1")
	want(t, conn, "SELECT max(id), max(name), (SELECT relpersistence FROM pg_class WHERE relname = 'into3') FROM sluice_handle.into1", "2|n2|u")
	want(t, conn, "SELECT 1 AS a INTO sluice_handle.into1", "42P07")
	want(t, conn, "SELECT 1 AS a INTO TEMP sluice_handle.into4", "42P16")
	want(t, conn, "SELECT relation, owner, server, row_count, expires_at > now() + interval '23 hours' FROM sluice.ctas_handles WHERE relation::text ~ '[.].$' ORDER BY relation::text",
		"sluice_handle.a|postgres|NULL|90|f\nsluice_handle.b|postgres|NULL|7|f\nsluice_handle.c|postgres|NULL|5|t\nsluice_handle.d|postgres|NULL|3|f")
	want(t, conn, "SELECT reloptions FROM pg_class WHERE oid = 'sluice_handle.c'::regclass", "{fillfactor=70}")
	want(t, conn, "BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', name => 'gone'); SELECT count(*) FROM sluice_handle.gone; ROLLBACK; SELECT to_regclass('sluice_handle.gone')",
		"BEGIN\n1000\n1000\nROLLBACK\nNULL")
	want(t, conn, "PREPARE h AS SELECT row_count FROM sluice.materialize('VALUES (1), (2)'); EXECUTE h; EXECUTE h", "PREPARE\n2\n2")
	want(t, conn, "EXPLAIN (COSTS off) SELECT * FROM sluice.materialize('SELECT 1')", "Function Scan on materialize")
	want(t, conn, "SELECT sluice.extend_handle(handle_id, '2 days') > now() + interval '47 hours' FROM sluice.ctas_handles WHERE relation = 'sluice_handle.a'::regclass", "t")
	want(t, conn, "SELECT sluice.drop_handle(handle_id) FROM sluice.ctas_handles WHERE relation = 'sluice_handle.a'::regclass; SELECT to_regclass('sluice_handle.a')", "\nNULL")
	want(t, conn, "DROP TABLE sluice_handle.b; SELECT count(*) FROM sluice.ctas_handle WHERE row_count = 7", "DROP TABLE\n0")
	want(t, conn, "SELECT sluice.drop_handle('00000000-0000-0000-0000-000000000000')", "42704")
	want(t, conn, "INSERT INTO sluice.ctas_handles (relation) VALUES ('plain')", "22023")
}

// TestHandlesOfParameters asks for handles by statements with parameters, in both formats.
func TestHandlesOfParameters(t *testing.T) {
	w := handleWorld(t)
	conn := connect(t, w.through)
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		for query, rows := range map[string]int64{"SELECT * FROM item WHERE id < 10": 10, "SELECT a FROM plain": 100} {
			var relation string
			var server *string
			var n, count int64
			var expires time.Time
			err := conn.QueryRow(timed(t), "SELECT relation, server, row_count, expires_at FROM sluice.materialize($1, ttl => $2::text::interval)", mode, query, "2 hours").Scan(&relation, &server, &n, &expires)
			if err != nil || n != rows || server != nil || time.Until(expires) < time.Hour {
				t.Fatalf("%v: %s has %d rows, on %v until %v: %v", mode, relation, n, server, expires, err)
			}
			if err := conn.QueryRow(timed(t), "SELECT count(*) FROM "+relation).Scan(&count); err != nil || count != n {
				t.Errorf("%s has %d rows: %v", relation, count, err)
			}
		}
		tag, err := conn.Exec(timed(t), "CREATE TABLE sluice_handle.p WITH (sluice.ttl = '1 minute') AS SELECT * FROM item WHERE id < $1::int", mode, 4)
		if err != nil || tag.String() != "SELECT 4" {
			t.Errorf("%v: %s %v", mode, tag, err)
		}
		exec1(t, conn, "DROP TABLE sluice_handle.p")
	}
}

// TestHandlesRefused asks for handles that cannot be made, and finds nothing left of them.
func TestHandlesRefused(t *testing.T) {
	w := handleWorld(t)
	conn := connect(t, w.through)
	exec1(t, conn, "CREATE TABLE sluice_handle.taken WITH (sluice.ttl = '1 hour') AS SELECT 1 AS a")
	for sql, code := range map[string]string{
		"SELECT * FROM sluice.materialize('SELECT 1/(g-3) FROM generate_series(1, 5) g')":                "22012",
		"SELECT * FROM sluice.materialize('SELECT 1/(id-3) AS a FROM item')":                             "22012",
		"SELECT * FROM sluice.materialize('SELECT nope FROM item')":                                      "42703",
		"SELECT * FROM sluice.materialize('SELECT nope FROM plain')":                                     "42703",
		"SELECT * FROM sluice.materialize('SELECT FROM FROM')":                                           "42601",
		"SELECT * FROM sluice.materialize('')":                                                           "0A000",
		"SELECT * FROM sluice.materialize('SELECT 1; SELECT 2')":                                         "0A000",
		"SELECT * FROM sluice.materialize('DELETE FROM plain RETURNING a')":                              "0A000",
		"SELECT * FROM sluice.materialize('SELECT 1 INTO x')":                                            "0A000",
		"SELECT * FROM sluice.materialize('SELECT $1::int')":                                             "42P02",
		"SELECT * FROM sluice.materialize('SELECT 1, 2')":                                                "42701",
		"SELECT * FROM sluice.materialize('SELECT 1', name => 'taken')":                                  "42P07",
		"SELECT * FROM sluice.materialize('SELECT 1', '-1 hour')":                                        "22023",
		"SELECT * FROM sluice.materialize('SELECT 1', 'soon')":                                           "22007",
		"SELECT * FROM sluice.materialize('SELECT 1', NULL)":                                             "22004",
		"SELECT * FROM sluice.materialize(NULL)":                                                         "22004",
		"SELECT * FROM sluice.materialize('SELECT 1', name => repeat('x', 64))":                          "42622",
		"SELECT * FROM sluice.materialize('SELECT 1', server => 'nowhere')":                              "42704",
		"SELECT * FROM sluice.materialize('SELECT * FROM sluice.materialize(''SELECT 1'')')":             "0A000",
		"SELECT sluice.materialize('SELECT 1')":                                                          "0A000",
		"SELECT * FROM sluice.materialize('SELECT 1'), plain":                                            "0A000",
		"SELECT * FROM sluice.materialize((SELECT 'SELECT ' || a FROM plain LIMIT 1))":                   "0A000",
		"INSERT INTO plain SELECT row_count FROM sluice.materialize('SELECT 1')":                         "0A000",
		"WITH x AS (SELECT 1) SELECT * FROM sluice.materialize('SELECT 1')":                              "0A000",
		"EXPLAIN ANALYZE SELECT * FROM sluice.materialize('SELECT 1')":                                   "0A000",
		"SELECT nope FROM sluice.materialize('SELECT 1 AS a', name => 'x')":                              "42703",
		"SELECT 1/(row_count-1) FROM sluice.materialize('SELECT 1 AS a', name => 'x')":                   "22012",
		"BEGIN READ ONLY; SELECT * FROM sluice.materialize('SELECT 1 AS a')":                             "25006",
		"BEGIN READ ONLY; SELECT * FROM sluice.materialize('SELECT * FROM item')":                        "25006",
		"CREATE TABLE sluice_handle.x WITH (sluice.ttl = '-1') AS SELECT 1 AS a":                         "22023",
		"CREATE TABLE sluice_handle.x WITH (sluice.tll = '1 hour') AS SELECT 1 AS a":                     "22023",
		"CREATE TABLE sluice_handle.x WITH (nope = 1) AS SELECT 1 AS a":                                  "22023",
		"CREATE TABLE sluice_handle.x AS SELECT 1/(id-3) AS a FROM item":                                 "22012",
		"CREATE TABLE sluice_handle.taken AS SELECT 1 AS a":                                              "42P07",
		"CREATE TABLE IF NOT EXISTS sluice_handle.x AS SELECT 1 AS a":                                    "0A000",
		"UPDATE sluice.ctas_handles SET expires_at = now()":                                              "22023",
		"UPDATE sluice.ctas_handles SET expires_at = 'infinity'":                                         "22023",
		"SELECT sluice.extend_handle(handle_id, NULL) FROM sluice.ctas_handles":                          "22004",
		"BEGIN; SELECT row_count FROM sluice.materialize('SELECT 1 AS a', name => 'x'); SELECT 1/0 AS a": "22012",
	} {
		if got := rows(t, conn, sql); got != code {
			t.Errorf("%s\n got: %s\nwant: %s", sql, got, code)
		}
		want(t, conn, "ROLLBACK", "ROLLBACK")
	}
	want(t, conn, "SELECT relname FROM pg_class WHERE relnamespace = 'sluice_handle'::regnamespace", "taken")
	want(t, conn, "SELECT relation FROM sluice.ctas_handle", "sluice_handle.taken")
	_, err := conn.Exec(timed(t), "SELECT * FROM sluice.materialize('SELECT a, nope FROM plain')")
	if pe := pgError(err); pe == nil || pe.InternalQuery != "SELECT a, nope FROM plain" || pe.InternalPosition != 11 || pe.Position != 0 {
		t.Errorf("%+v", pe)
	}
}

// TestHandleColumnTypes has columns as CREATE TABLE AS makes them.
func TestHandleColumnTypes(t *testing.T) {
	w := handleWorld(t)
	conn := connect(t, w.through)
	const query = "SELECT 1 a, ''x'' b, null c, 1.5 d, ''abc''::varchar(3) e, array[1] f, now() g, 2147483648 h, sum(1) i"
	for name, from := range map[string]string{"x": "", "y": " FROM item"} {
		want(t, conn, "SELECT row_count FROM sluice.materialize('"+query+from+"', name => '"+name+"')", "1")
		want(t, conn, "SELECT string_agg(format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'sluice_handle."+name+"'::regclass AND attnum > 0",
			"integer, text, text, numeric, character varying(3), integer[], timestamp with time zone, bigint, bigint")
	}
}

// TestHandleOfRoles has handles made, read and dropped by roles that may, and not by others: masks and row filters hold in them.
func TestHandleOfRoles(t *testing.T) {
	w := handleWorld(t)
	exec(t, w.direct, "DROP ROLE IF EXISTS handle_maker, handle_reader", "CREATE ROLE handle_maker LOGIN", "CREATE ROLE handle_reader LOGIN")
	t.Cleanup(func() {
		exec(t, w.direct, "DROP OWNED BY handle_maker, handle_reader", "DROP ROLE handle_maker, handle_reader")
	})
	exec(t, w.through, "GRANT SELECT ON item, plain TO handle_maker, handle_reader", "SELECT sluice.set_row_filter('item', 'handle_maker', 'id < 10')",
		"SELECT sluice.set_column_mask('item', 'name', $$'***'$$)", "SELECT sluice.set_column_mask('plain', 'a', 'a / 10 * 10')")
	conn := connect(t, w.through)
	want(t, conn, "SET ROLE handle_maker; SELECT row_count FROM sluice.materialize('TABLE item', name => 'm'); SELECT row_count FROM sluice.materialize('TABLE plain', name => 'n')", "SET\n10\n100")
	want(t, conn, "CREATE TABLE sluice_handle.o AS SELECT * FROM item", "SELECT 10")
	want(t, conn, "SELECT count(*), min(name), max(name) FROM sluice_handle.m; SELECT count(DISTINCT a) FROM sluice_handle.n; SELECT max(name) FROM sluice_handle.o", "10|***|***\n11\n***")
	want(t, conn, "SELECT relation, owner FROM sluice.ctas_handles ORDER BY 1", "sluice_handle.m|handle_maker\nsluice_handle.n|handle_maker\nsluice_handle.o|handle_maker")
	for _, sql := range []string{"INSERT INTO sluice_handle.m VALUES (1)", "DELETE FROM sluice_handle.m", "TRUNCATE sluice_handle.m", "UPDATE sluice_handle.m SET id = 1", "SELECT sluice.reap_handle()",
		"DELETE FROM sluice.ctas_handles", "UPDATE sluice.ctas_handles SET row_count = 1", "SELECT * FROM sluice.ctas_handle"} {
		want(t, conn, sql, "42501")
	}
	id := rows(t, conn, "SELECT handle_id FROM sluice.ctas_handles WHERE relation = 'sluice_handle.m'::regclass")
	other := connect(t, w.through)
	want(t, other, "SET ROLE handle_reader; SELECT count(*) FROM sluice.ctas_handles", "SET\n0")
	want(t, other, "SELECT * FROM sluice_handle.m", "42501")
	want(t, other, "SELECT sluice.drop_handle('"+id+"')", "42704")
	want(t, conn, "GRANT SELECT ON sluice_handle.m TO handle_reader", "GRANT")
	want(t, other, "SELECT count(*) FROM sluice_handle.m; SELECT row_count FROM sluice.ctas_handles", "10\n10")
	want(t, other, "SELECT sluice.drop_handle('"+id+"')", "42501")
	want(t, other, "SELECT sluice.extend_handle('"+id+"')", "42501")
	want(t, other, "INSERT INTO sluice.ctas_handles (handle_id, relation, query_hash, row_count, expires_at) VALUES (gen_random_uuid(), 'sluice_handle.m', '', 1, now() + '1 hour')", "42501")
	want(t, other, "SELECT * FROM sluice.materialize('SELECT * FROM pg_authid')", "42501")
	exec(t, w.direct, "REVOKE CREATE ON SCHEMA sluice_handle FROM PUBLIC", "GRANT CREATE ON SCHEMA sluice_handle TO handle_maker")
	want(t, other, "SELECT * FROM sluice.materialize('SELECT 1 AS a')", "42501")
	want(t, conn, "SELECT row_count FROM sluice.materialize('SELECT 1 AS a')", "1")
	exec(t, w.through, "ALTER EXTENSION sluice UPDATE") // keeps what was revoked
	want(t, other, "SELECT * FROM sluice.materialize('SELECT 1 AS a')", "42501")
	want(t, conn, "SELECT sluice.drop_handle('"+id+"')", "")
}

// TestHandleExpires has handles dropped once their time is over, but none that somebody reads.
func TestHandleExpires(t *testing.T) {
	w := handleWorld(t)
	conn, reader := connect(t, w.through), connect(t, w.through)
	want(t, conn, "SELECT row_count FROM sluice.materialize('TABLE item', '2 seconds', name => 'read'); CREATE VIEW over AS SELECT id FROM sluice_handle.read", "1000\nCREATE VIEW")
	want(t, reader, "BEGIN; SELECT count(*) FROM sluice_handle.read", "BEGIN\n1000")
	want(t, conn, "SELECT count(*) FROM sluice.materialize('TABLE item', '2 seconds', name => 'unread'); CREATE TABLE sluice_handle.kept WITH (sluice.ttl = '2 seconds') AS TABLE item; ALTER TABLE sluice_handle.kept SET SCHEMA public",
		"1\nSELECT 1000\nALTER TABLE")
	becomes(t, conn, "SELECT to_regclass('sluice_handle.unread')", "NULL")
	becomes(t, conn, "SELECT relation FROM sluice.ctas_handle", "sluice_handle.read")
	want(t, reader, "SELECT count(*) FROM sluice_handle.read; COMMIT", "1000\nCOMMIT")
	becomes(t, conn, "SELECT to_regclass('sluice_handle.read')", "NULL")
	want(t, conn, "SELECT count(*) FROM sluice.ctas_handle; SELECT count(*) FROM kept; SELECT to_regclass('over')", "0\n1000\nNULL")
}

// TestHandleCutOff cancels the making of handles, or has the client vanish, and finds nothing left; meanwhile nobody else sees the
// table, or can drop it.
func TestHandleCutOff(t *testing.T) {
	w := handleWorld(t)
	for _, sql := range []string{
		"SELECT * FROM sluice.materialize('TABLE endless', name => 'x')", "SELECT * FROM sluice.materialize('SELECT g FROM generate_series(1, 10000000000) g', name => 'x')",
		"CREATE TABLE sluice_handle.x AS SELECT i FROM endless",
	} {
		for _, vanish := range []bool{false, true} {
			conn, other := connect(t, w.through), connect(t, w.through)
			done := make(chan error, 1)
			go func() { done <- drain(context.Background(), conn, sql) }()
			active := fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND (state <> 'idle' OR %t)", pidOf(conn), vanish)
			becomes(t, other, active, "1")
			want(t, other, "DROP TABLE sluice_handle.x", "42P01")
			if vanish {
				_ = conn.PgConn().Conn().Close()
				<-done
			} else if err := cancelUntil(t, conn, done, 0); sqlState(err) != "57014" {
				t.Errorf("%s: %v", sql, err)
			}
			becomes(t, other, active, "0")
			want(t, other, "SELECT count(*) FROM pg_class WHERE relnamespace = 'sluice_handle'::regnamespace; SELECT count(*) FROM sluice.ctas_handle", "0\n0")
		}
	}
}
