package tests

import (
	"fmt"
	"testing"

	"github.com/sluicedb/sluice/engines/databricks/fake"
)

// TestHandlesInDatabricks makes handles at a workspace, of what it computes and of what home does, and has them go.
func TestHandlesInDatabricks(t *testing.T) {
	f := fake.Start(t, "CREATE SCHEMA keeper", "CREATE TABLE keeper.item AS SELECT i::INTEGER AS id, 'item ' || i AS name FROM range(1000) r(i)")
	through := brickURL(t, f, ", schema 'Keeper', handles 'true'")
	exec(t, through, "CREATE FOREIGN TABLE item (id int, name text) SERVER brick", "CREATE TABLE plain AS SELECT generate_series(1, 100) AS a",
		"CREATE FOREIGN TABLE kept (table_schema text, table_name text) SERVER brick OPTIONS (schema_name 'fake_information', table_name 'tables')",
		"CREATE VIEW keeping AS SELECT table_name FROM kept WHERE table_schema = 'keeper' AND table_name <> 'item'")
	conn := connect(t, through)
	want(t, conn, "SET TimeZone = 'Asia/Kolkata'", "SET")
	exec1(t, conn, "CREATE TABLE sluice_handle.h AS "+keptByTrino)
	for _, c := range [][2]string{
		{"SELECT relation, server, row_count FROM sluice.materialize('SELECT id, name FROM item WHERE id < 500', server => 'brick', name => 'own')", "sluice_handle.own|brick|500"},
		{"SELECT count(*), max(id), max(name) FROM sluice_handle.own", "500|499|item 99"},
		{"SELECT row_count FROM sluice.materialize('SELECT i.id, p.a FROM item i JOIN plain p ON p.a = i.id', server => 'brick', name => 'joined')", "100"},
		{"SELECT count(*), sum(a) FROM sluice_handle.joined", "100|5050"},
		{"CREATE TABLE sluice_handle.k WITH (sluice.server = 'brick') AS TABLE sluice_handle.h", "SELECT 3"},
		{"SELECT count(*) FROM keeping", "3"},
	} {
		want(t, conn, c[0], c[1])
	}
	for _, sql := range []string{"SELECT * FROM sluice_handle.%s ORDER BY id", "SELECT id FROM sluice_handle.%s WHERE d < '1970-01-01' AND tz > '1800-01-01' ORDER BY id", "SELECT sum(n), max(ts) FROM sluice_handle.%s", "SELECT id, free + 1 FROM sluice_handle.%s WHERE free > -1 ORDER BY free"} {
		want(t, conn, fmt.Sprintf(sql, "k"), rows(t, conn, fmt.Sprintf(sql, "h")))
	}
	for sql, code := range map[string]string{
		"SELECT * FROM sluice.materialize('SELECT 1::money AS a', server => 'brick')":                       "0A000",
		"SELECT * FROM sluice.materialize('SELECT ''{1}''::int[] AS a', server => 'brick')":                 "0A000",
		"SELECT * FROM sluice.materialize('SELECT 1 AS \"a b\"', server => 'brick')":                        "0A000",
		"SELECT * FROM sluice.materialize('SELECT 1 AS a, 2 AS \"A\"', server => 'brick')":                  "42701",
		"SELECT * FROM sluice.materialize('SELECT ''infinity''::date AS a', server => 'brick')":             "22P02",
		"BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'brick'); SELECT 1/0 AS a": "22012",
		"INSERT INTO item VALUES (1, 'x')":                                                                  "0A000",
		"ALTER SERVER brick OPTIONS (DROP schema)":                                                          "HV00D",
	} {
		want(t, conn, sql, code)
		want(t, conn, "ROLLBACK", "ROLLBACK")
	}
	becomes(t, conn, "SELECT count(*) FROM keeping", "3")
	want(t, conn, "SELECT count(sluice.drop_handle(handle_id)) FROM sluice.ctas_handles", "4")
	becomes(t, conn, "SELECT count(*) FROM keeping", "0")
}
