package tests

import (
	"context"
	"fmt"
	"testing"

	"github.com/sluicedb/sluice/internal/trinotest"
)

// keptByTrino are values of the types that Trino keeps.
const keptByTrino = `SELECT id, b, i2, i4, i8, f4, f8, n AS free, n::numeric(9,2) AS n, t, vc::varchar(5) AS vc, c::char(3) AS c, d, ts, tz, u, by FROM (VALUES (1, true, (-32768)::int2, 2147483647, -9223372036854775808, '-0'::real, 'NaN'::float8, -0.010, E'it''s "é" \\ \t😀<&', 'ab '::varchar(5), 'a'::char(3), '0001-01-01'::date,
 '9999-12-31 23:59:59.999999'::timestamp, '2024-02-29 12:00+02'::timestamptz, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, '\x00ff5c'::bytea),
 (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (3, false, 0, 0, 9007199254740993, 1e-45, '-Infinity', 1234567.89, '', '', '', '1582-10-10', '1969-12-31 23:59:59', '1900-01-01 00:00+00', '00000000-0000-0000-0000-000000000000', '\x'))
 AS v (id, b, i2, i4, i8, f4, f8, n, t, vc, c, d, ts, tz, u, by)`

// TestRealTrinoHandles makes handles at a server, of what it computes and of what home does, and has them go.
func TestRealTrinoHandles(t *testing.T) {
	remote := trinotest.Start(t)
	through := trinoURL(t)
	remote.Run(t, "CREATE SCHEMA memory.keeper", "CREATE TABLE memory.keeper.item AS SELECT CAST(i AS integer) AS id, 'item ' || CAST(i AS varchar) AS name FROM UNNEST(sequence(0, 999)) AS u (i)")
	t.Cleanup(func() { remote.Run(t, "DROP SCHEMA memory.keeper CASCADE") })
	exec(t, through, "ALTER SERVER memory OPTIONS (ADD schema 'keeper', ADD handles 'true')", "CREATE FOREIGN TABLE item (id int, name text) SERVER memory",
		"CREATE FOREIGN TABLE kept (table_schema text, table_name text) SERVER memory OPTIONS (schema_name 'information_schema', table_name 'tables')",
		"CREATE VIEW keeping AS SELECT table_name FROM kept WHERE table_schema = 'keeper' AND table_name <> 'item'", "CREATE TABLE plain AS SELECT generate_series(1, 100) AS a")
	conn := connect(t, through)
	want(t, conn, "SET TimeZone = 'Asia/Kolkata'", "SET")
	exec1(t, conn, "CREATE TABLE sluice_handle.h AS "+keptByTrino)
	for _, c := range [][2]string{
		{"SELECT relation, server, row_count FROM sluice.materialize('SELECT id, name FROM item WHERE id < 500', server => 'memory', name => 'own')", "sluice_handle.own|memory|500"},
		{"SELECT count(*), max(id), max(name) FROM sluice_handle.own", "500|499|item 99"},
		{"SELECT row_count FROM sluice.materialize('SELECT i.id, p.a FROM item i JOIN plain p ON p.a = i.id', server => 'memory', name => 'joined')", "100"},
		{"SELECT count(*), sum(a) FROM sluice_handle.joined", "100|5050"},
		{"SET sluice.federation_server = 'memory'", "SET"},
		{"SELECT row_count FROM sluice.materialize('SELECT i.name, p.a FROM item i JOIN plain p ON p.a = i.id', server => 'memory', name => 'sent')", "100"},
		{"SELECT count(*), sum(a), max(name) FROM sluice_handle.sent", "100|5050|item 99"},
		{"RESET sluice.federation_server", "RESET"},
		{"CREATE TABLE sluice_handle.k WITH (sluice.server = 'memory') AS TABLE sluice_handle.h", "SELECT 3"},
		{"CREATE TABLE sluice_handle.l WITH (sluice.server = 'memory') AS TABLE sluice_handle.k", "SELECT 3"},
		{"SELECT count(*) FROM keeping", "5"},
	} {
		want(t, conn, c[0], c[1])
	}
	if n := remote.Ask(t, `SELECT count(*) > 0 FROM system.runtime.queries WHERE source = 'sluice' AND starts_with(query, 'INSERT INTO "memory"."keeper"') AND strpos(query, '(VALUES (''1'')') > 0`); fmt.Sprint(n) != "[[true]]" {
		t.Error("Trino was sent no rows for a handle")
	}
	for _, sql := range []string{"SELECT * FROM sluice_handle.%s ORDER BY id", "SELECT id FROM sluice_handle.%s WHERE d < '1970-01-01' AND tz > '1800-01-01' ORDER BY id", "SELECT sum(n), max(ts) FROM sluice_handle.%s", "SELECT id, free + 1 FROM sluice_handle.%s WHERE free > -1 ORDER BY free"} {
		for _, name := range []string{"k", "l"} {
			want(t, conn, fmt.Sprintf(sql, name), rows(t, conn, fmt.Sprintf(sql, "h")))
		}
	}
	for sql, code := range map[string]string{
		"SELECT * FROM sluice.materialize('SELECT 1/(id-3) AS a FROM item', server => 'memory')":                "22012",
		"SELECT * FROM sluice.materialize('SELECT 1::money AS a', server => 'memory')":                          "0A000",
		"SELECT * FROM sluice.materialize('SELECT ''{1}''::int[] AS a', server => 'memory')":                    "0A000",
		"SELECT * FROM sluice.materialize('SELECT 1 AS a, 2 AS \"A\"', server => 'memory')":                     "42701",
		"SELECT * FROM sluice.materialize('SELECT ''NaN''::numeric(4,1) AS a', server => 'memory')":             "22P02",
		"SELECT * FROM sluice.materialize('SELECT ''infinity''::date AS a', server => 'memory')":                "22P02",
		"SELECT * FROM sluice.materialize('SELECT ''0044-03-15 BC''::timestamptz AS a', server => 'memory')":    "22P02",
		"BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'memory'); SELECT 1/0 AS a":    "22012",
		"SELECT * FROM sluice.materialize('SELECT ''294276-12-31 23:59''::timestamp AS a', server => 'memory')": "22P02",
		"INSERT INTO item VALUES (1, 'x')":                                    "0A000",
		"SELECT * FROM sluice.materialize('SELECT 1 AS a', server => 'tpch')": "0A000",
	} {
		want(t, conn, sql, code)
		want(t, conn, "ROLLBACK", "ROLLBACK")
	}
	want(t, conn, "SELECT count(*) FROM keeping", "5")
	done := make(chan error, 1)
	go func() {
		done <- drain(context.Background(), conn, "SELECT * FROM sluice.materialize('SELECT repeat(''x'', 100) AS x FROM generate_series(1, 10000000)', server => 'memory')")
	}()
	if err := cancelUntil(t, conn, done, 0); sqlState(err) != "57014" {
		t.Error(err)
	}
	becomes(t, conn, "SELECT count(*) FROM keeping", "5")
	want(t, conn, "SELECT count(sluice.drop_handle(handle_id)) FROM sluice.ctas_handles", "6")
	becomes(t, conn, "SELECT count(*) FROM keeping", "0")
}
