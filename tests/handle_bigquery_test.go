package tests

import (
	"fmt"
	"testing"

	"github.com/sluicedb/sluice/engines/bigquery/fake"
)

// TestHandlesInBigQuery makes handles at a project, of what it computes and of what home does, and has values come back as they went in.
func TestHandlesInBigQuery(t *testing.T) {
	p := fake.Start(t, "CREATE SCHEMA kept", "CREATE TABLE kept.item AS SELECT i AS id, 'item ' || i AS name FROM range(1000) t(i)")
	through := bigURL(t, p)
	exec(t, through, "ALTER SERVER big OPTIONS (ADD dataset 'kept', ADD handles 'true')", "IMPORT FOREIGN SCHEMA kept FROM SERVER big INTO public", "CREATE TABLE plain AS SELECT generate_series(1, 100) AS a")
	conn := connect(t, through)
	want(t, conn, "SELECT relation, server, row_count, bytes FROM sluice.materialize('SELECT * FROM item WHERE id < 500', server => 'big', name => 'own')", "sluice_handle.own|big|500|NULL")
	want(t, conn, "SELECT count(*), max(id) FROM sluice_handle.own", "500|499")
	want(t, conn, "SELECT row_count FROM sluice.materialize('SELECT i.id, p.a FROM item i JOIN plain p ON p.a = i.id', server => 'big', name => 'joined')", "100")
	want(t, conn, "SELECT count(*), sum(a) FROM sluice_handle.joined", "100|5050")
	for sql, code := range map[string]string{
		"SELECT * FROM sluice.materialize('SELECT array[1] AS a', server => 'big')":                       "0A000",
		"SELECT * FROM sluice.materialize('SELECT 1', server => 'big')":                                   "0A000", // "?column?" is no name there
		"SELECT * FROM sluice.materialize('SELECT ''NaN''::numeric(4,1) AS a', server => 'big')":          "22P02",
		"BEGIN; SELECT row_count FROM sluice.materialize('TABLE item', server => 'big'); SELECT 1/0 AS a": "22012",
		"INSERT INTO item VALUES (1, 'x')":                                                                "0A000",
		"INSERT INTO sluice_handle.own VALUES (1, 'x')":                                                   "0A000",
	} {
		want(t, conn, sql, code)
		want(t, conn, "ROLLBACK", "ROLLBACK")
	}
	want(t, conn, "CREATE TABLE sluice_handle.home AS SELECT row_number() OVER () AS id, 'b'::char(3) AS c, v.* FROM (VALUES (true, 1::smallint, 0.1::real, 'a'::varchar(3), 1.50::numeric(10,2), 1.5::numeric, '2024-02-29'::date, '2024-02-29 12:00:00.5+02'::timestamptz, '10:11:12.5'::time, '61f0c404-5cb3-11e7-907b-a6006ad3dba0'::uuid, '\\x00ff'::bytea, '{\"a\": 1}'::jsonb, '10.0.0.1'::inet),"+
		" (NULL, NULL, 'NaN', '', NULL, 'NaN', NULL, NULL, NULL, NULL, '', NULL, NULL)) v(b, s, r, vc, n, wide, d, z, at, u, x, j, i)", "SELECT 2")
	want(t, conn, "CREATE TABLE sluice_handle.there WITH (sluice.server = 'big') AS TABLE sluice_handle.home", "SELECT 2")
	for _, sql := range []string{"SELECT * FROM %s ORDER BY id", "SELECT id FROM %s ORDER BY d, id", "SELECT sum(n), sum(wide), max(z), min(vc COLLATE \"C\") FROM %s", "SELECT id FROM %s WHERE b", "SELECT id FROM %s WHERE u = '61F0C404-5cb3-11e7-907b-a6006ad3dba0'", "SELECT id FROM %s WHERE c = 'b'", "SELECT id FROM %s ORDER BY r, id"} {
		want(t, conn, fmt.Sprintf(sql, "sluice_handle.there"), rows(t, conn, fmt.Sprintf(sql, "sluice_handle.home")))
	}
	want(t, conn, "SELECT count(sluice.drop_handle(handle_id)) FROM sluice.ctas_handles", "4")
	until(t, "the project has none of the tables, though nobody asks for anything", func() (bool, string) {
		return len(p.Left()) == 0, fmt.Sprint(p.Left())
	})
}
