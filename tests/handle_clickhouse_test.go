package tests

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// clickKeeper is a proxy over a ClickHouse that takes handles, in a database of its own, which has table item of 1000 rows, and kept, the
// names of the tables there; and over a home that has table plain of 100.
func clickKeeper(t *testing.T) (through string) {
	const database = "handle_keeper"
	through = clickHouseURL(t, "DROP DATABASE IF EXISTS "+database, "CREATE DATABASE "+database,
		"CREATE TABLE "+database+".item (id Int32, name String) ENGINE = MergeTree ORDER BY id", "INSERT INTO "+database+".item SELECT toInt32(number), concat('item ', toString(number)) FROM numbers(1000)")
	exec(t, through, "ALTER SERVER events OPTIONS (ADD database '"+database+"', ADD handles 'true')", "IMPORT FOREIGN SCHEMA "+database+" FROM SERVER events INTO public",
		"CREATE FOREIGN TABLE kept (database text, name text) SERVER events OPTIONS (schema_name 'system', table_name 'tables')",
		"CREATE VIEW keeping AS SELECT name FROM kept WHERE database = '"+database+"' AND name <> 'item'",
		"CREATE TABLE plain AS SELECT generate_series(1, 100) AS a")
	return through
}

// TestHandlesInClickHouse makes handles at a server, of what it computes and of what home does, and has them go.
func TestHandlesInClickHouse(t *testing.T) {
	through := clickKeeper(t)
	conn := connect(t, through)
	want(t, conn, "SELECT relation, server, row_count, bytes FROM sluice.materialize('SELECT * FROM item WHERE id < 500', server => 'events', name => 'own')", "sluice_handle.own|events|500|NULL")
	want(t, conn, "SELECT count(*), max(id), max(name) FROM sluice_handle.own", "500|499|item 99")
	want(t, conn, "SELECT row_count FROM sluice.materialize('SELECT i.id, p.a, now() AS at FROM item i JOIN plain p ON p.a = i.id', server => 'events', name => 'joined')", "100")
	want(t, conn, "SELECT count(*), sum(a), count(*) FILTER (WHERE at <= now()) FROM sluice_handle.joined", "100|5050|100")
	want(t, conn, "BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'events', name => 'a'); SELECT count(*) FROM sluice_handle.a", "BEGIN\n1000\n1000")
	want(t, conn, "SELECT row_count FROM sluice.materialize('SELECT id FROM sluice_handle.a WHERE id < 7', server => 'events', name => 'b'); INSERT INTO plain SELECT id FROM sluice_handle.b; COMMIT", "7\nINSERT 0 7\nCOMMIT")
	want(t, connect(t, through), "SELECT (SELECT count(*) FROM sluice_handle.a), (SELECT sum(id) FROM sluice_handle.b), (SELECT count(*) FROM plain)", "1000|21|107")
	want(t, conn, "CREATE TABLE sluice_handle.made WITH (sluice.server = 'events', sluice.ttl = '1 day') AS SELECT id FROM item WHERE id < 9", "SELECT 9")
	want(t, conn, "SELECT count(*) FROM keeping", "5")
	for sql, code := range map[string]string{
		"SELECT * FROM sluice.materialize('SELECT 1/(id-3) AS a FROM item', server => 'events')":                              "22012",
		"SELECT * FROM sluice.materialize('SELECT nope FROM item', server => 'events')":                                       "42703",
		"SELECT * FROM sluice.materialize('SELECT 1::money AS a', server => 'events')":                                        "0A000",
		"SELECT * FROM sluice.materialize('SELECT', server => 'events')":                                                      "0A000",
		"SELECT * FROM sluice.materialize('SELECT ''NaN''::numeric(4,1) AS a', server => 'events')":                           "22P02",
		"BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'events'); SELECT 1/0 AS a":                  "22012",
		"BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'events'); INSERT INTO item VALUES (1, 'x')": "0A000",
		"INSERT INTO item VALUES (1, 'x')":              "0A000",
		"DELETE FROM item":                              "0A000",
		"TRUNCATE item":                                 "0A000",
		"INSERT INTO sluice_handle.own VALUES (1, 'x')": "0A000",
		"UPDATE item SET name = 'x' WHERE id = 1":       "0A000",
		"CREATE TABLE sluice_handle.x WITH (sluice.server = 'events') AS SELECT 1 / (id - 3) AS a FROM item": "22012",
	} {
		want(t, conn, sql, code)
		want(t, conn, "ROLLBACK", "ROLLBACK")
	}
	want(t, conn, "BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'events'); ROLLBACK; SELECT count(*) FROM keeping", "BEGIN\n1000\nROLLBACK\n5")
	becomes(t, conn, "SELECT count(*) FROM keeping", "5")
	want(t, conn, "SELECT count(*) FROM item", "1000")
	want(t, conn, "SELECT count(sluice.drop_handle(handle_id)) FROM sluice.ctas_handles", "5")
	becomes(t, conn, "SELECT count(*) FROM keeping", "0")
}

// TestHandleTypesInClickHouse has values come back from a handle as they went in, and asks the same of it and of a handle at home.
func TestHandleTypesInClickHouse(t *testing.T) {
	conn := connect(t, clickKeeper(t))
	exec1(t, conn, `CREATE TYPE sluice_mood AS ENUM ('sad', 'ok', 'a ''b"')`)
	sameKept(t, conn, "events")
}

// sameKept makes a handle at a server of values of each type that can be kept, one of what that has, and compares them with one at home.
func sameKept(t *testing.T, conn *pgx.Conn, server string) {
	t.Helper()
	plain := "SELECT row_number() OVER () AS id, b, i2, i4, i8, f4, f8, n::numeric(10,2) AS n, t, vc::varchar(3) AS vc, d, ts, tz, u, by, n38::numeric(38,30) AS n38, n::numeric(60,2) AS wide, (n / 1000)::numeric(3,-5) AS coarse, (n38 / 1000)::numeric(2,5) AS fine" + keptTypes[len("SELECT *"):]
	for i, made := range []struct {
		query string
		asked []string
	}{{plain, []string{"SELECT id FROM %s ORDER BY n, id", "SELECT id FROM %s ORDER BY d, id", "SELECT id FROM %s WHERE d < '1970-01-01'", "SELECT id FROM %s WHERE ts > now() ORDER BY id", "SELECT min(d), max(ts), max(f8) FROM %s", "SELECT id FROM %s WHERE b", "SELECT id FROM %s WHERE by > '\\x'", "SELECT id FROM %s WHERE u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
		"SELECT id FROM %s WHERE i8 = -9223372036854775808", "SELECT sum(i8), sum(i4), sum(n) FROM %s", "SELECT id FROM %s WHERE t = '' OR f8 = 'nan' ORDER BY id", "SELECT id FROM %s ORDER BY f8, id", "SELECT count(b), count(d), min(t), max(vc), min(i2) FROM %s", "SELECT id FROM %s ORDER BY t COLLATE \"C\", id", "SELECT id FROM %s WHERE d IS NULL", "SELECT d, count(*) FROM %s GROUP BY d ORDER BY d", "SELECT a.id FROM %[1]s a JOIN plain ON plain.a = a.id WHERE a.d IS NOT NULL ORDER BY 1"}},
		{richTypes, richAsked}, {textTypes, textAsked}} {
		h, k, l := fmt.Sprintf("sluice_handle.h%d", i), fmt.Sprintf("sluice_handle.k%d", i), fmt.Sprintf("sluice_handle.l%d", i)
		exec1(t, conn, "CREATE TABLE "+h+" AS "+made.query)
		exec1(t, conn, "CREATE TABLE "+k+" WITH (sluice.server = '"+server+"') AS TABLE "+h)
		exec1(t, conn, "CREATE TABLE "+l+" WITH (sluice.server = '"+server+"') AS TABLE "+k)
		for _, sql := range append([]string{"SELECT * FROM %s ORDER BY id", "SELECT to_jsonb(v) FROM %s v ORDER BY id"}, made.asked...) {
			bare := rows(t, conn, fmt.Sprintf(sql, h))
			want(t, conn, fmt.Sprintf(sql, k), bare)
			want(t, conn, fmt.Sprintf(sql, l), bare)
		}
		want(t, conn, "BEGIN READ ONLY; SELECT * FROM "+k+" ORDER BY id; COMMIT", "BEGIN\n"+rows(t, conn, "SELECT * FROM "+h+" ORDER BY id")+"\nCOMMIT")
		columns := "SELECT string_agg(attname || format_type(atttypid, atttypmod), ',' ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attrelid = '%s'::regclass"
		want(t, conn, fmt.Sprintf(columns, k), rows(t, conn, fmt.Sprintf(columns, h)))
		want(t, conn, fmt.Sprintf(columns, l), rows(t, conn, fmt.Sprintf(columns, h)))
	}
}
