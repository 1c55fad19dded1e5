package tests

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// keeperWorld has two DuckDB servers that take handles, lake and keep.
func keeperWorld(t *testing.T) *world {
	w := handleWorld(t)
	other := w.file + ".other"
	duckExec(t, other, "CREATE TABLE mine AS SELECT 1 AS a", "CREATE VIEW kept AS SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'sluice%'")
	exec(t, w.through, "CREATE SERVER keep FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '"+other+"', read_only 'false', handles 'true')",
		"ALTER SERVER lake OPTIONS (ADD read_only 'false', ADD handles 'true')", "CREATE FOREIGN TABLE mine (a int) SERVER keep", "CREATE FOREIGN TABLE kept (name text) SERVER keep")
	return w
}

// TestHandlesInDuckDB makes handles at a server, of what it computes and of what others do.
func TestHandlesInDuckDB(t *testing.T) {
	w := keeperWorld(t)
	conn := connect(t, w.through)
	want(t, conn, "SELECT relation, server, row_count, bytes FROM sluice.materialize('SELECT * FROM item WHERE id < 500', server => 'lake', name => 'own')", "sluice_handle.own|lake|500|NULL")
	want(t, conn, "SELECT count(*), max(id) FROM sluice_handle.own", "500|499")
	want(t, conn, "SELECT row_count FROM sluice.materialize('SELECT i.id, p.a FROM item i JOIN plain p ON p.a = i.id', server => 'keep', name => 'joined')", "100")
	want(t, conn, "SELECT count(*), sum(a) FROM sluice_handle.joined", "100|5050")
	want(t, conn, "BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'lake', name => 'a'); SELECT count(*) FROM sluice_handle.a", "BEGIN\n1000\n1000")
	want(t, conn, "SELECT row_count FROM sluice.materialize('SELECT id FROM sluice_handle.a WHERE id < 7', server => 'lake', name => 'b'); INSERT INTO plain SELECT id FROM sluice_handle.b; COMMIT", "7\nINSERT 0 7\nCOMMIT")
	want(t, connect(t, w.through), "SELECT (SELECT count(*) FROM sluice_handle.a), (SELECT sum(id) FROM sluice_handle.b), (SELECT count(*) FROM plain)", "1000|21|107")
	want(t, conn, "SELECT owner, server, row_count FROM sluice.ctas_handles WHERE relation = 'sluice_handle.b'::regclass", "postgres|lake|7")
	want(t, conn, "CREATE TABLE sluice_handle.made WITH (sluice.server = 'keep', sluice.ttl = '1 day') AS SELECT id FROM item WHERE id < 9", "SELECT 9")
	want(t, conn, "SELECT server, row_count, expires_at > now() + '23 hours' FROM sluice.ctas_handles WHERE relation = 'sluice_handle.made'::regclass; SELECT sum(id) FROM sluice_handle.made", "keep|9|t\n36")
	for mode, query := range map[pgx.QueryExecMode]string{pgx.QueryExecModeCacheStatement: "TABLE item", pgx.QueryExecModeExec: "SELECT 5 AS a"} {
		var n int64
		if err := conn.QueryRow(timed(t), "SELECT row_count FROM sluice.materialize($1, server => $2)", mode, query, "keep").Scan(&n); err != nil || n != 1000 && n != 1 {
			t.Errorf("%s: %d rows: %v", query, n, err)
		}
	}
}

// keptTypes are values of each type that DuckDB keeps.
const keptTypes = `SELECT * FROM (VALUES
 (true, 1::int2, 2::int4, 3::int8, 1.5::float4, 2.5::float8, 12345678.90::numeric(10,2), 'é ''x'::text, 'abc'::varchar(3), '2024-02-29'::date, '2024-02-29 12:34:56.789012'::timestamp, '2024-02-29 12:34:56.789012+02'::timestamptz, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, '\x00ff'::bytea, 1.0 / 3),
 (false, -32768, -2147483648, -9223372036854775808, '-infinity', 'nan', -99999999.99, '', '', '0044-03-15 BC', 'infinity', '-infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '', 0),
 (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
) v (b, i2, i4, i8, f4, f8, n, t, vc, d, ts, tz, u, by, n38)`

// TestHandleTypesInDuckDB has values come back from a handle as they went into it, and refuses types that cannot.
func TestHandleTypesInDuckDB(t *testing.T) {
	w := keeperWorld(t)
	conn := connect(t, w.through)
	query := strings.Replace(keptTypes, "SELECT *", "SELECT b, i2, i4, i8, f4, f8, n::numeric(10,2) AS n, t, vc::varchar(3) AS vc, d, ts, tz, u, by, n38::numeric(38,30) AS n38", 1)
	exec1(t, conn, "CREATE TABLE typed AS "+query)
	want(t, conn, "SELECT row_count FROM sluice.materialize('TABLE typed', server => 'lake', name => 'one')", "3")
	want(t, conn, "SELECT row_count FROM sluice.materialize('TABLE sluice_handle.one', server => 'lake', name => 'two')", "3")
	want(t, conn, "SELECT row_count FROM sluice.materialize('TABLE sluice_handle.two', server => 'keep', name => 'three')", "3")
	values, columns := rows(t, conn, "TABLE typed"), "SELECT string_agg(attname || format_type(atttypid, atttypmod), ',' ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attrelid = '%s'::regclass"
	types := rows(t, conn, fmt.Sprintf(columns, "typed"))
	for _, name := range []string{"one", "two", "three"} {
		want(t, conn, "TABLE sluice_handle."+name, values)
		want(t, conn, fmt.Sprintf(columns, "sluice_handle."+name), types)
	}
	for sql, code := range map[string]string{
		"SELECT 1.5 AS a": "1", "SELECT sum(id) AS a, avg(id) AS b FROM item": "1", "SELECT 1::money AS a": "0A000", "SELECT ''item''::regclass AS a": "0A000", "SELECT 1.5::numeric(39,1) AS a": "0A000", "SELECT array[array[1]] AS a": "2202E", "SELECT ''[0:1]={1,2}''::int[] AS a": "2202E", "SELECT array[''1''::json] AS a": "1", "SELECT array[1.5] AS a": "1", "SELECT ''::1''::inet AS a": "1", "SELECT 1 AS a, 2 AS \"A\"": "42701", "SELECT 1, 2": "42701", "SELECT": "0A000",
		"SELECT ''NaN''::numeric(10,2) AS a": "22P02", "SELECT ''x''::bpchar AS a": "0A000", "SELECT ''200000-01-01''::timestamp AS a": "1",
	} {
		want(t, conn, "SELECT row_count FROM sluice.materialize('"+sql+"', server => 'lake')", code)
	}
}

// richTypes are values of types that DuckDB keeps in a form of its own.
const richTypes = `SELECT id, c::char(3) AS c, j::json AS j, b::jsonb AS b, i::interval AS i, t::time AS t, tz::timetz AS tz, a::int[] AS a, x::text[] AS x, ts::timestamp(3) AS ts, n::numeric(6,2)[] AS n, d::date[] AS d, y::bytea[] AS y, f::float8[] AS f FROM (VALUES
 (1, 'x', '{"b": 1, "a":  [1,2], "a": 2}', '{"b": 1, "a":  [1,2]}', '1 mon', '12:00', '12:00+01', '{1,2,NULL}', '{a,"b c"}', '2024-01-01 00:00:00.1236', '{1.5,NULL}', '{2024-02-29,0044-03-15 BC,infinity}', '{"\\x00ff","\\x"}', '{1.5,NaN,-Infinity,-0,1e300}'),
 (2, 'abc', '10', '10', '30 days', '24:00', '11:00+00', '{}', '{}', 'infinity', '{}', '{}', '{}', '{}'),
 (3, 'X', '"9 \u00e9"', '9', '29 days 24:00', '00:00', '11:00+02', '{1}', '{NULL,"NULL","","q\"\\"}', '2024-01-01', '{9999.99}', '{-infinity}', NULL, '{NULL}'),
 (4, 'x ', ' 1.50 ', '{"a": {"c": null}}', '-1 year +3 mons -4 days +01:02:03.000004', '12:00:00.5', '13:00+03', '{10,1}', '{"",b}', '0044-01-01 BC', NULL, NULL, NULL, NULL),
 (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (6, 'é', '[]', '12345678901234567890123456789012345678901234567890.50', '178000000 years', '23:59:59.999999', '00:00-15:59:59', '{2}', '{B,"a,\"b\\"}', '2024-12-31 23:59:59.999', NULL, NULL, NULL, NULL)) v (id, c, j, b, i, t, tz, a, x, ts, n, d, y, f)`

// richAsked is asked of them.
var richAsked = []string{
	"SELECT * FROM %s ORDER BY id", "SELECT to_jsonb(v) FROM %s v ORDER BY id", "SELECT id FROM %s WHERE c = 'x' ORDER BY id", "SELECT id FROM %s WHERE c LIKE 'x' ORDER BY id", "SELECT id FROM %s WHERE c LIKE 'x  ' ORDER BY id",
	`SELECT id FROM %s WHERE c COLLATE "C" < 'b' ORDER BY id`, "SELECT length(c), c || '!', concat(c, '!'), c::text || '!' FROM %s ORDER BY id", "SELECT c, count(*) FROM %s GROUP BY c ORDER BY 2, 1",
	"SELECT j ->> 'b', j -> 'a', json_typeof(j) FROM %s ORDER BY id", "SELECT b ->> 'b', b @> '{\"b\": 1}' FROM %s ORDER BY id", "SELECT id FROM %s ORDER BY b, id", "SELECT id FROM %s WHERE b = '{\"a\": [1, 2], \"b\": 1.0}'", "SELECT id FROM %s WHERE b > '9' ORDER BY id",
	"SELECT id FROM %s ORDER BY i, id", "SELECT id FROM %s WHERE i = '30 days' ORDER BY id", "SELECT count(DISTINCT i), min(i) FROM %s", "SELECT id FROM %s ORDER BY tz, id", "SELECT id FROM %s WHERE tz > '11:00+00' ORDER BY id", "SELECT min(t), max(t) FROM %s",
	"SELECT id FROM %s WHERE ts > '2024-01-01 00:00:00.123' ORDER BY id", "SELECT id FROM %s ORDER BY a, id", "SELECT id FROM %s WHERE 1 = ANY (a) ORDER BY id", "SELECT a[1], cardinality(a), a || 7, array_ndims(x) FROM %s ORDER BY id", "SELECT id FROM %s ORDER BY x, id",
}

// TestHandleRichTypesInDuckDB asks the same of handles at home and in DuckDB, made there of home's rows and of its own.
func TestHandleRichTypesInDuckDB(t *testing.T) {
	w := keeperWorld(t)
	conn := connect(t, w.through)
	exec1(t, conn, "CREATE TABLE sluice_handle.h AS "+richTypes)
	want(t, conn, "CREATE TABLE sluice_handle.k WITH (sluice.server = 'keep') AS TABLE sluice_handle.h; CREATE TABLE sluice_handle.l WITH (sluice.server = 'keep') AS TABLE sluice_handle.k", "SELECT 6\nSELECT 6")
	columns := "SELECT string_agg(attname || format_type(atttypid, atttypmod), ',' ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attrelid = 'sluice_handle.%s'::regclass"
	for _, sql := range richAsked {
		bare := rows(t, conn, fmt.Sprintf(sql, "sluice_handle.h"))
		for _, name := range []string{"k", "l"} {
			want(t, conn, fmt.Sprintf(sql, "sluice_handle."+name), bare)
		}
	}
	for _, name := range []string{"k", "l"} {
		want(t, conn, fmt.Sprintf(columns, name), rows(t, conn, fmt.Sprintf(columns, "h")))
	}
	for _, query := range []string{"SELECT id, upper(c)::char(5) AS c FROM %s", "SELECT id, x[1]::char(4) AS c FROM %s", "SELECT id, j -> 'a' AS c, b::json AS d FROM %s", "SELECT id, i + '1 day' AS c FROM %s", "SELECT id, ts::timestamp(1) AS c FROM %s", "SELECT id, a || a AS c FROM %s"} {
		want(t, conn, "CREATE TABLE sluice_handle.computed WITH (sluice.server = 'keep') AS "+fmt.Sprintf(query, "sluice_handle.k"), "SELECT 6")
		want(t, conn, "SELECT * FROM sluice_handle.computed ORDER BY id", rows(t, conn, fmt.Sprintf(query, "sluice_handle.h")+" ORDER BY id"))
		exec1(t, conn, "DROP FOREIGN TABLE sluice_handle.computed")
	}
	for _, value := range []string{`'"\ud800"'::json`, "'2562047788:00:54.775807'::interval"} { // what DuckDB does not take is an error
		if got := rows(t, conn, "CREATE TABLE sluice_handle.refused WITH (sluice.server = 'keep') AS SELECT "+value+" AS a"); got != "22P02" && got != "22007" {
			t.Errorf("%s: %s", value, got)
		}
	}
}

// TestHandlesInDuckDBRefused asks for handles that cannot be made: nothing is left of them, here or there.
func TestHandlesInDuckDBRefused(t *testing.T) {
	w := keeperWorld(t)
	exec(t, w.direct, "DROP ROLE IF EXISTS keep_user", "CREATE ROLE keep_user", "GRANT SELECT ON item TO keep_user")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY keep_user", "DROP ROLE keep_user") })
	conn := connect(t, w.through)
	exec(t, w.through, "CREATE SERVER files FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory '"+w.dir+"')", "CREATE SERVER plainduck FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '"+w.file+"', read_only 'false')")
	for sql, code := range map[string]string{
		"SELECT * FROM sluice.materialize('SELECT 1/(id-3) AS a FROM item', server => 'lake')":                                                              "22012",
		"SELECT * FROM sluice.materialize('SELECT 1/(id-3) AS a FROM item', server => 'keep')":                                                              "22012",
		"SELECT * FROM sluice.materialize('SELECT nope FROM item', server => 'keep')":                                                                       "42703",
		"SELECT * FROM sluice.materialize('TABLE item', server => 'nowhere')":                                                                               "42704",
		"SELECT * FROM sluice.materialize('TABLE item', server => 'files')":                                                                                 "0A000",
		"SELECT * FROM sluice.materialize('TABLE item', server => 'plainduck')":                                                                             "0A000",
		"SELECT * FROM sluice.materialize('SELECT $1::int', server => 'keep')":                                                                              "42P02",
		"SELECT * FROM sluice.materialize('SELECT 1 AS a', '-1 hour', 'keep')":                                                                              "22023",
		"SET ROLE keep_user; SELECT * FROM sluice.materialize('TABLE item', server => 'keep')":                                                              "42501",
		"SET ROLE keep_user; SELECT * FROM sluice.materialize('TABLE plain', server => 'keep')":                                                             "42501",
		"BEGIN READ ONLY; SELECT * FROM sluice.materialize('TABLE item', server => 'keep')":                                                                 "25006",
		"BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'keep'); SELECT 1/0 AS a":                                                  "22012",
		"BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'keep'); DELETE FROM mine":                                                 "0A000",
		"BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'keep'); SELECT * FROM sluice.materialize('TABLE item', server => 'lake')": "0A000",
		"BEGIN; DELETE FROM mine; SELECT row_count FROM sluice.materialize('TABLE item', server => 'keep')":                                                 "0A000",
		"BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'keep'); PREPARE TRANSACTION 'x'":                                          "0A000",
		"CREATE TABLE sluice_handle.x WITH (sluice.server = 'keep', fillfactor = 70) AS TABLE item":                                                         "0A000",
		"CREATE TABLE sluice_handle.x (a) WITH (sluice.server = 'keep') AS SELECT id FROM item":                                                             "0A000",
		"CREATE TABLE sluice_handle.x WITH (sluice.server = 'keep') AS SELECT 1 / (id - 3) AS a FROM item":                                                  "22012",
		"CREATE TABLE sluice_handle.x WITH (sluice.server = 'files') AS TABLE item":                                                                         "0A000",
		"CREATE SERVER no FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '" + w.file + "', handles 'true')":                                           "HV00D",
	} {
		if got := rows(t, conn, sql); got != code {
			t.Errorf("%s\n got: %s\nwant: %s", sql, got, code)
		}
		want(t, conn, "ROLLBACK; RESET ROLE", "ROLLBACK\nRESET")
	}
	want(t, conn, "BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'keep'); ROLLBACK; SELECT count(*) FROM kept", "BEGIN\n1000\nROLLBACK\n0")
	want(t, conn, "BEGIN; SAVEPOINT s; SELECT row_count FROM sluice.materialize('TABLE item', server => 'keep'); ROLLBACK TO s; COMMIT; SELECT count(*) FROM kept", "BEGIN\nSAVEPOINT\n1000\nROLLBACK\nCOMMIT\n0")
	want(t, conn, "SELECT count(*) FROM pg_class WHERE relnamespace = 'sluice_handle'::regnamespace; SELECT count(*) FROM sluice.ctas_handle", "0\n0")
	for _, sql := range []string{"SELECT * FROM sluice.materialize('TABLE endless', server => 'keep')", "SELECT * FROM sluice.materialize('TABLE endless', server => 'lake')"} {
		done := make(chan error, 1)
		go func() { done <- drain(context.Background(), conn, sql) }()
		if err := cancelUntil(t, conn, done, 0); sqlState(err) != "57014" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	want(t, conn, "SELECT count(*) FROM kept; SELECT count(*) FROM sluice.ctas_handle; SELECT count(*) FROM pg_foreign_table", "0\n0\n4")
}

// TestHandlesInDuckDBSwept has tables at a server go with their handles, and those that were never known, but not what is another's.
func TestHandlesInDuckDBSwept(t *testing.T) {
	w := keeperWorld(t)
	conn, maker := connect(t, w.through), connect(t, w.through)
	prefix := rows(t, conn, "SELECT sluice.handles_here()")
	exec1(t, conn, "DROP SERVER keep CASCADE") // and with it the proxy's hold on the file
	duckExec(t, w.file+".other", "CREATE TABLE "+prefix+"orphan AS SELECT 1 AS a", "CREATE TABLE sluice_handle_another_1 AS SELECT 1 AS a")
	exec(t, w.through, "CREATE SERVER keep FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '"+w.file+".other', read_only 'false', handles 'true')", "CREATE FOREIGN TABLE kept (name text) SERVER keep")
	becomes(t, conn, "SELECT name FROM kept", "sluice_handle_another_1")
	want(t, conn, "SELECT row_count FROM sluice.materialize('TABLE item', server => 'keep', name => 'x'); SELECT row_count FROM sluice.materialize('TABLE item', '3 seconds', 'keep', name => 'y')", "1000\n1000")
	want(t, maker, "BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'keep', name => 'z')", "BEGIN\n1000")
	want(t, conn, "SELECT sluice.drop_handle(handle_id) FROM sluice.ctas_handles WHERE relation = 'sluice_handle.x'::regclass; SELECT to_regclass('sluice_handle.x')", "\nNULL")
	becomes(t, conn, "SELECT to_regclass('sluice_handle.y')", "NULL")
	want(t, maker, "COMMIT", "COMMIT")
	becomes(t, conn, "SELECT count(*) FROM kept", "2") // z, and what is another's
	want(t, conn, "SELECT count(*) FROM sluice_handle.z", "1000")
}

// TestHandlesInDuckDBOfRoles has masks and row filters hold in what is kept at a server, whoever computes it.
func TestHandlesInDuckDBOfRoles(t *testing.T) {
	w := keeperWorld(t)
	exec(t, w.direct, "DROP ROLE IF EXISTS keep_maker, keep_reader", "CREATE ROLE keep_maker", "CREATE ROLE keep_reader")
	t.Cleanup(func() {
		exec(t, w.direct, "DROP OWNED BY keep_maker, keep_reader CASCADE", "DROP ROLE keep_maker, keep_reader")
	})
	exec(t, w.through, "GRANT SELECT ON item, plain TO keep_maker", "GRANT USAGE ON FOREIGN SERVER lake, keep TO keep_maker", "SELECT sluice.set_row_filter('item', 'keep_maker', 'id < 10')",
		"SELECT sluice.set_column_mask('item', 'name', $$'***'$$)", "SELECT sluice.set_column_mask('plain', 'a', 'a / 10 * 10')")
	conn := connect(t, w.through)
	want(t, conn, "SET ROLE keep_maker", "SET")
	for _, server := range []string{"lake", "keep"} {
		want(t, conn, "SELECT row_count FROM sluice.materialize('TABLE item', server => '"+server+"', name => 'item_"+server+"')", "10")
		want(t, conn, "SELECT count(*), min(name), max(name) FROM sluice_handle.item_"+server, "10|***|***")
		want(t, conn, "SELECT row_count FROM sluice.materialize('TABLE plain', server => '"+server+"', name => 'plain_"+server+"')", "100")
		want(t, conn, "SELECT count(DISTINCT a) FROM sluice_handle.plain_"+server, "11")
		want(t, conn, "SELECT row_count FROM sluice.materialize('SELECT count(*) AS n FROM item WHERE 1 / (id - 500) IS NOT NULL', server => '"+server+"')", "1") // home knows better
		for _, sql := range []string{"INSERT INTO sluice_handle.item_" + server + " VALUES (1)", "DELETE FROM sluice_handle.item_" + server, "TRUNCATE sluice_handle.item_" + server} {
			want(t, conn, sql, "42501")
		}
	}
	other := connect(t, w.through)
	want(t, other, "SET ROLE keep_reader; SELECT count(*) FROM sluice.ctas_handles", "SET\n0")
	want(t, other, "SELECT * FROM sluice_handle.item_lake", "42501")
	want(t, conn, "GRANT SELECT ON sluice_handle.item_lake TO keep_reader", "GRANT")
	want(t, other, "SELECT count(*), max(name) FROM sluice_handle.item_lake; SELECT relation FROM sluice.ctas_handles", "10|***\nsluice_handle.item_lake")
	want(t, other, "SELECT sluice.drop_handle(handle_id) FROM sluice.ctas_handles", "42501")
	want(t, other, "SELECT * FROM sluice.materialize('SELECT 1 AS a', server => 'keep')", "42501")
	want(t, conn, "SELECT count(sluice.drop_handle(handle_id)) FROM sluice.ctas_handles", "6")
}

// TestDropExtensionWithHandles drops the extension with handles only where it is told to, and makes it anew.
func TestDropExtensionWithHandles(t *testing.T) {
	w := keeperWorld(t)
	conn := connect(t, w.through)
	want(t, conn, "DROP SERVER lake CASCADE; SELECT row_count FROM sluice.materialize('TABLE plain', server => 'keep', name => 'there'); SELECT row_count FROM sluice.materialize('TABLE plain', name => 'here')", "DROP SERVER\n100\n100")
	want(t, conn, "DROP EXTENSION sluice", "2BP01")
	want(t, conn, "SELECT count(*) FROM sluice.ctas_handles", "2")
	want(t, conn, "DROP EXTENSION sluice CASCADE; SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'sluice%'", "DROP EXTENSION\n0")
	want(t, conn, "CREATE EXTENSION sluice; SELECT count(*) FROM sluice.ctas_handles", "CREATE EXTENSION\n0")
	want(t, conn, "SELECT row_count FROM sluice.materialize('TABLE plain', name => 'here')", "100")
}
