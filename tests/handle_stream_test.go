package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestHandleStreams has results that engines compute stream into handles: they hold what a SELECT of the query yields, in the types
// that home gives them, whatever the session's settings are.
func TestHandleStreams(t *testing.T) {
	w := newWorld(t, "CREATE TABLE item AS SELECT i::INTEGER AS id, 'né ' || i % 7 AS name, i / 3.0::DOUBLE AS f, (i / 7)::DECIMAL(12,3) AS n, DATE '2024-01-31' + i::INTEGER AS d, "+
		"TIMESTAMP '2024-01-31 12:34:56.789' + to_minutes(i) AS ts, TIMESTAMPTZ '2024-01-31 12:34:56.789+02' AS tz, to_minutes(i * 1000) AS iv, [i, NULL] AS l, encode('b' || i) AS by, "+
		"uuid() AS u, i % 2 = 0 AS b, CASE WHEN i > 2500 THEN 'x' ELSE i::VARCHAR END AS c FROM range(3000) r(i)",
		"CREATE VIEW breaks AS SELECT CASE WHEN i < 300000 THEN i ELSE ('x' || i)::BIGINT END AS i FROM range(1000000) r(i)")
	other := hometest.Database(t, w.home)
	exec(t, other, "CREATE TABLE far AS SELECT i AS id, 'é' || i AS name, i / 3.0::float8 AS f, date '2024-01-31' + i AS d, i * interval '1 hour' AS iv, array[i, NULL] AS l, jsonb_build_object('a', i) AS j FROM generate_series(1, 3000) i")
	through := postgresProxy(t, hometest.Database(t, w.home))
	exec(t, through, w.server("lake", ""), w.server("pond", ""), "CREATE SCHEMA a", "CREATE SCHEMA b", "IMPORT FOREIGN SCHEMA main FROM SERVER lake INTO a", "IMPORT FOREIGN SCHEMA main FROM SERVER pond INTO b")
	exec(t, through, otherServer(t, other, "")...)
	exec(t, through, "IMPORT FOREIGN SCHEMA public FROM SERVER other INTO public")
	conn := connect(t, through)
	for _, settings := range []string{
		"RESET ALL", "SET DateStyle = 'German'; SET extra_float_digits = 0; SET IntervalStyle = iso_8601; SET TimeZone = 'Asia/Tokyo'; SET bytea_output = escape", "SET client_encoding = 'LATIN1'; SET DateStyle = 'SQL, MDY'",
	} {
		exec1(t, conn, settings)
		for i, query := range []string{
			"SELECT * FROM a.item ORDER BY id", "SELECT name, count(*), sum(id), avg(n), max(f) FROM a.item GROUP BY name ORDER BY name", "SELECT id, NULL AS x, 'lit' AS y, 1.50 AS z FROM a.item WHERE id < 5 ORDER BY id",
			"SELECT x.id, y.name, y.f FROM a.item x JOIN b.item y ON x.id = y.id WHERE x.id % 3 = 0 ORDER BY x.id", "SELECT * FROM far ORDER BY id", "SELECT l, count(*) FROM far GROUP BY l ORDER BY l LIMIT 5",
			"SELECT f.id, f.j, i.ts FROM far f JOIN a.item i ON i.id = f.id ORDER BY f.id", "SELECT id FROM a.item WHERE false",
		} {
			name := fmt.Sprintf("h%d", i)
			want(t, conn, fmt.Sprintf("SELECT row_count FROM sluice.materialize($$%s$$, name => '%s')", query, name), rows(t, conn, "SELECT count(*) FROM ("+query+") x"))
			if a, b := rows(t, conn, query), rows(t, conn, "TABLE sluice_handle."+name); a != b {
				t.Errorf("%s: %s\n the query: %.300s\nthe handle: %.300s", settings, query, a, b)
			}
			exec1(t, conn, "SET sluice.route = home_join; CREATE TEMP TABLE same AS "+query+"; RESET sluice.route")
			const columns = "SELECT string_agg(attname || format_type(atttypid, atttypmod) || attcollation, ',' ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attrelid = '%s'::regclass"
			want(t, conn, fmt.Sprintf(columns, "sluice_handle."+name), rows(t, conn, fmt.Sprintf(columns, "same")))
			exec1(t, conn, "DROP TABLE same, sluice_handle."+name)
		}
	}
	exec1(t, conn, "RESET ALL")
	want(t, conn, "SELECT * FROM sluice.materialize('SELECT c::int AS c FROM a.item')", "22P02")
	want(t, conn, "SELECT * FROM sluice.materialize('SELECT 1 / (id - 2900) AS c FROM a.item')", "22012")
	_, err := conn.Exec(timed(t), "SELECT * FROM sluice.materialize('SELECT i FROM a.breaks')") // after rows have come
	if pe := pgError(err); pe == nil || pe.Code != "22P02" || !strings.Contains(pe.Hint, "home_join") {
		t.Errorf("%+v", pe)
	}
	want(t, conn, "BEGIN; SELECT * FROM sluice.materialize('SELECT c::int AS c FROM a.item')", "22P02")
	want(t, conn, "ROLLBACK; SELECT count(*) FROM pg_class WHERE relnamespace = 'sluice_handle'::regnamespace; SELECT count(*) FROM sluice.ctas_handle; SELECT count(*) FROM sluice.stat_streams", "ROLLBACK\n0\n0\n0")
}
