package tests

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/sluicedb/sluice/engines/snowflake/fake"
)

// insertSelect fills a table of what an account computes.
var insertSelect = regexp.MustCompile(`^INSERT INTO "LAKE"[.]"KEEPER"[.]"[a-z0-9_]+" SELECT `)

// TestHandlesInSnowflake makes handles at an account, of what it computes and of what home does, and has them go.
func TestHandlesInSnowflake(t *testing.T) {
	f := fake.Start(t, "CREATE SCHEMA keeper", "CREATE TABLE keeper.item AS SELECT i::INTEGER AS id, 'item ' || i AS name FROM range(1000) r(i)")
	through := flakeURL(t, f)
	exec(t, through, "ALTER SERVER flake OPTIONS (ADD schema 'keeper', ADD handles 'true')", "IMPORT FOREIGN SCHEMA keeper FROM SERVER flake INTO public", "CREATE TABLE plain AS SELECT generate_series(1, 100) AS a",
		"CREATE FOREIGN TABLE kept (table_schema text, table_name text) SERVER flake OPTIONS (schema_name 'INFORMATION_SCHEMA', table_name 'TABLES')",
		"CREATE VIEW keeping AS SELECT table_name FROM kept WHERE table_schema = 'KEEPER' AND table_name <> 'ITEM'")
	conn := connect(t, through)
	want(t, conn, "SET TimeZone = 'Asia/Kolkata'", "SET")
	exec1(t, conn, "CREATE TABLE sluice_handle.h AS "+keptByTrino)
	for _, c := range [][2]string{
		{"SELECT relation, server, row_count FROM sluice.materialize('SELECT id, name FROM item WHERE id < 500', server => 'flake', name => 'own')", "sluice_handle.own|flake|500"},
		{"SELECT count(*), max(id), max(name) FROM sluice_handle.own", "500|499|item 99"},
		{"SELECT row_count FROM sluice.materialize('SELECT i.id, p.a FROM item i JOIN plain p ON p.a = i.id', server => 'flake', name => 'joined')", "100"},
		{"SELECT count(*), sum(a) FROM sluice_handle.joined", "100|5050"},
		{"CREATE TABLE sluice_handle.k WITH (sluice.server = 'flake') AS TABLE sluice_handle.h", "SELECT 3"},
		{"CREATE TABLE sluice_handle.l WITH (sluice.server = 'flake') AS SELECT id, b, i8, n, t, d, by FROM sluice_handle.k", "SELECT 3"},
		{"SELECT count(*), sum(n), max(t COLLATE \"C\") FROM sluice_handle.l", "3|1234567.88|it's \"é\" \\ \t😀<&"},
		{"SELECT count(*) FROM keeping", "4"},
	} {
		want(t, conn, c[0], c[1])
	}
	filled := 0
	for _, o := range f.Orders() {
		if insertSelect.MatchString(o.SQL) {
			filled++
		}
	}
	if filled != 2 { // own and l; the others hold what the account did not compute
		t.Errorf("the account has filled %d tables: %+v", filled, f.Orders())
	}
	for _, sql := range []string{"SELECT * FROM sluice_handle.%s ORDER BY id", "SELECT id FROM sluice_handle.%s WHERE d < '1970-01-01' AND tz > '1800-01-01' ORDER BY id", "SELECT sum(n), max(ts) FROM sluice_handle.%s",
		"SELECT id, free + 1 FROM sluice_handle.%s WHERE free > -1 ORDER BY free", "SELECT id FROM sluice_handle.%s WHERE t LIKE 'it%%' OR c = 'a' OR u > '1' ORDER BY t, id"} {
		want(t, conn, fmt.Sprintf(sql, "k"), rows(t, conn, fmt.Sprintf(sql, "h")))
	}
	for sql, code := range map[string]string{
		"SELECT * FROM sluice.materialize('SELECT 1::money AS a', server => 'flake')":                       "0A000",
		"SELECT * FROM sluice.materialize('SELECT ''{1}''::int[] AS a', server => 'flake')":                 "0A000",
		"SELECT * FROM sluice.materialize('SELECT now()::timestamp(3) AS a', server => 'flake')":            "0A000",
		"SELECT * FROM sluice.materialize('SELECT 1 AS a, 2 AS \"A\"', server => 'flake')":                  "42701",
		"SELECT * FROM sluice.materialize('SELECT ''infinity''::date AS a', server => 'flake')":             "22P02",
		"BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'flake'); SELECT 1/0 AS a": "22012",
		"INSERT INTO item VALUES (1, 'x')": "0A000",
	} {
		want(t, conn, sql, code)
		want(t, conn, "ROLLBACK", "ROLLBACK")
	}
	becomes(t, conn, "SELECT count(*) FROM keeping", "4")
	want(t, conn, "SELECT count(sluice.drop_handle(handle_id)) FROM sluice.ctas_handles", "5")
	becomes(t, conn, "SELECT count(*) FROM keeping", "0")
}
