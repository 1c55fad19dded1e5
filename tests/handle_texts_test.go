package tests

import (
	"fmt"
	"testing"
)

// textTypes are values of types that DuckDB keeps as home writes them.
const textTypes = `SELECT id, n::numeric AS n, i::inet AS i, m::sluice_mood AS m, j::jsonb[] AS j, s::sluice_mood[] AS s, b::bit varying AS b, b3::bit(3) AS b3, r::tstzrange AS r, a::numeric[] AS a, ia::cidr[] AS ia, c::macaddr AS c, v::tsvector AS v FROM (VALUES
 (1, '1.50', '10.0.0.1/8', 'sad', '{"{\"a\": 1}",NULL}', '{ok,sad}', '0101', '101', '[2024-02-29 12:00+02,infinity)', '{1.50,NaN,NULL}', '{10.0.0.0/8,::1}', '08:00:2b:01:02:03', 'a:1 fat:2A'),
 (2, '1.5', '9.0.0.1', 'ok', '[0:1]={1,2}', '{}', '', '000', 'empty', '{}', '{{10.0.0.0/8},{9.0.0.0/8}}', '08:00:2b:01:02:02', ''),
 (3, 'NaN', '::1', 'a ''b"', '{}', NULL, '1', '111', '(,)', '{-0.000}', '{}', NULL, '''it''''s'':3'),
 (4, '-123456789012345678901234567890123456789012345.000', NULL, NULL, NULL, '{"a ''b\""}', NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (5, '10', '10.0.0.1', 'ok', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (6, NULL, '10.0.0.1/8', 'sad', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)) v (id, n, i, m, j, s, b, b3, r, a, ia, c, v)`

// textAsked is asked of them.
var textAsked = []string{
	"SELECT * FROM %s ORDER BY id", "SELECT to_jsonb(v) FROM %s v ORDER BY id", "SELECT id FROM %s WHERE n > 9 ORDER BY id", "SELECT id FROM %s WHERE n = 1.50 ORDER BY id", "SELECT id FROM %s WHERE n IN (1.5, 10.0) ORDER BY id", "SELECT n FROM %s ORDER BY n, id",
	"SELECT n = 1.5, count(*) FROM %s GROUP BY n ORDER BY 2, 1", "SELECT count(DISTINCT n), count(n), min(n), max(n) FROM %s", "SELECT sum(n), avg(n) FROM %s WHERE id IN (1, 2, 5)", "SELECT count(*) FROM (SELECT DISTINCT n FROM %s) d",
	"SELECT a.id, b.id FROM %[1]s a JOIN %[1]s b ON a.n = b.n ORDER BY 1, 2", "SELECT id FROM %s WHERE n IS NULL", "SELECT id FROM %s WHERE n BETWEEN 2 AND 11", "SELECT n + 1, -n, abs(n), n::int FROM %s WHERE id IN (1, 5) ORDER BY id", "SELECT n::text FROM %s ORDER BY id",
	"SELECT coalesce(n, 0), greatest(n, 2), nullif(n, 1.5), CASE n WHEN 1.5 THEN 'x' END, round(n, 1), n::float8 > 2 FROM %s ORDER BY id", "SELECT id FROM %s WHERE n IS DISTINCT FROM 1.5 ORDER BY id", "SELECT id FROM %s WHERE n::text = '1.50'",
	"SELECT id, rank() OVER (ORDER BY n), array_agg(n) OVER (ORDER BY n, id) FROM %s ORDER BY id", "SELECT count(*) FROM (SELECT n FROM %[1]s UNION SELECT n FROM %[1]s) u", "SELECT id FROM %s WHERE n = ANY ('{1.500,10}'::numeric[]) ORDER BY id",
	"SELECT id FROM %s WHERE i = '10.0.0.1' ORDER BY id", "SELECT id FROM %s WHERE i << '10.0.0.0/7' ORDER BY id", "SELECT id FROM %s ORDER BY i, id", "SELECT i, count(*) FROM %s GROUP BY i ORDER BY 1", "SELECT max(i), count(DISTINCT i) FROM %s",
	"SELECT id FROM %s ORDER BY m, id", "SELECT id FROM %s WHERE m > 'sad' ORDER BY id", "SELECT m, count(*) FROM %s GROUP BY m ORDER BY m", "SELECT m::text FROM %s ORDER BY id", "SELECT id FROM %s WHERE m = ANY (s) ORDER BY id", "SELECT min(m), max(m) FROM %s",
	"SELECT a.id, b.id FROM %[1]s a JOIN %[1]s b USING (m) ORDER BY 1, 2", "SELECT j[1], array_dims(j) FROM %s ORDER BY id", "SELECT s[1], 'sad' = ANY (s) FROM %s ORDER BY id", "SELECT id, lower(r) FROM %s WHERE r @> now() ORDER BY id", "SELECT a[1] = 1.5, cardinality(a) FROM %s ORDER BY id",
	"SELECT length(b), b || b'1', b3 & b'101' FROM %s ORDER BY id", "SELECT id FROM %s WHERE v @@ 'fat' ORDER BY id", "SELECT id FROM %s ORDER BY b, b3, c, r, a, ia, s, id",
}

// TestHandleTextTypesInDuckDB has values of types that DuckDB does not know come back as they went in, and compares what is asked of
// them with a handle at home.
func TestHandleTextTypesInDuckDB(t *testing.T) {
	w := keeperWorld(t)
	exec(t, w.direct, `CREATE TYPE sluice_mood AS ENUM ('sad', 'ok', 'a ''b"')`)
	conn := connect(t, w.through)
	exec1(t, conn, "CREATE TABLE sluice_handle.h AS "+textTypes)
	want(t, conn, "CREATE TABLE sluice_handle.k WITH (sluice.server = 'keep') AS TABLE sluice_handle.h; CREATE TABLE sluice_handle.l WITH (sluice.server = 'keep') AS TABLE sluice_handle.k", "SELECT 6\nSELECT 6")
	columns := "SELECT string_agg(attname || format_type(atttypid, atttypmod), ',' ORDER BY attnum) FROM pg_attribute WHERE attnum > 0 AND attrelid = 'sluice_handle.%s'::regclass"
	for _, sql := range textAsked {
		bare := rows(t, conn, fmt.Sprintf(sql, "sluice_handle.h"))
		for _, name := range []string{"k", "l"} {
			want(t, conn, fmt.Sprintf(sql, "sluice_handle."+name), bare)
		}
	}
	for _, name := range []string{"k", "l"} {
		want(t, conn, fmt.Sprintf(columns, name), rows(t, conn, fmt.Sprintf(columns, "h")))
	}
	for _, query := range []string{"SELECT id, n * 2 AS n FROM %s", "SELECT id, sum(n) AS n FROM %s WHERE id < 3 GROUP BY id", "SELECT id, id / 3.0 AS n FROM %s", "SELECT id, host(i)::inet AS n FROM %s", "SELECT id, m AS n FROM %s"} {
		bare := rows(t, conn, fmt.Sprintf(query, "sluice_handle.h")+" ORDER BY id")
		exec1(t, conn, "CREATE TABLE sluice_handle.computed WITH (sluice.server = 'keep') AS "+fmt.Sprintf(query, "sluice_handle.k"))
		want(t, conn, "SELECT * FROM sluice_handle.computed ORDER BY id", bare)
		exec1(t, conn, "DROP FOREIGN TABLE sluice_handle.computed")
	}
}
