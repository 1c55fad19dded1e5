package parser

import "testing"

// TestDeparse prints statements whose parentheses and constants are easily lost, and reads them again: Deparse itself
// refuses a text that reads differently.
func TestDeparse(t *testing.T) {
	for _, text := range []string{
		`SELECT (- (-10 - -12))::numeric, not (6 > 5 and 6 < 8), (false and true) is false, 1 - (2 - 3), 10/(2*5)`,
		`SELECT -(2^2), (-2)^2, - 2 ^ 2, 2^3^2, not true is null`,
		`SELECT (('2024-01-01 02:00'::timestamp at time zone 'America/New_York')::text)::date`,
		`SELECT (k > 1 OR NULL) IS NULL, (a AND b) IS NOT TRUE, (NOT a) IS NULL, (a IS NULL) IS NOT NULL FROM t`,
		`SELECT (a IS DISTINCT FROM b) IS NOT DISTINCT FROM (c > d), (a IS NULL) IS DISTINCT FROM b, (a IS DISTINCT FROM b) IS NULL, a IS DISTINCT FROM (b IS NOT NULL) FROM t`,
		`SELECT pg_typeof(4294967310), 4294967310, 1.50, -1, - (-1), .5e10, 'it''s', E'a\\b\n', U&'d\0061t'`,
		`SELECT (a).b, (a.b).c, (array[1,2])[1], (f(x)).y, x[1:2], (t.*)::text FROM t`,
		`SELECT a IN (1,2), (a, b) IN ((1,2)), a = ANY (ARRAY[1]), a <> ALL ('{1}'), (a,b) = (SELECT 1,2) FROM t`,
		`SELECT CASE WHEN a THEN 1 ELSE 2 END + 1, CASE a WHEN 1 THEN 'x' END || 'y' FROM t`,
		`SELECT (a || b) COLLATE "C" < 'x', a COLLATE "C" || b FROM t ORDER BY a COLLATE "C" DESC NULLS LAST`,
		`SELECT count(*) FILTER (WHERE a > 1) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t`,
		`SELECT DISTINCT ON (a) a, b FROM t ORDER BY a FETCH FIRST 1 ROW WITH TIES`,
		`WITH RECURSIVE x(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM x WHERE n < 5) SELECT * FROM x`,
		`SELECT * FROM (a JOIN b ON a.x = b.x) LEFT JOIN c USING (y) CROSS JOIN LATERAL (SELECT a.x) d`,
		`SELECT (SELECT 1) UNION (SELECT 2 EXCEPT SELECT 3) ORDER BY 1 LIMIT 1`,
		`SELECT NOT a = b, (NOT a) = b, a = (b = c), (a = b) = c, a BETWEEN 1 AND (2 + 3), NOT (a BETWEEN 1 AND 2) FROM t`,
		`SELECT a LIKE 'x' ESCAPE '!', a NOT ILIKE 'y', a SIMILAR TO 'z', (a ~ 'b') = true FROM t`,
		`SELECT extract(year FROM d), substring(a FROM 1 FOR 2), trim(both 'x' FROM a), position('a' IN b), overlay(a PLACING 'x' FROM 1) FROM t`,
		`SELECT (a IS DISTINCT FROM b) IS TRUE, (a IS DISTINCT FROM b) = c, (a IN (1, 2)) = b, (a LIKE 'x') IS NULL FROM t`,
		`SELECT (a BETWEEN 1 AND 2) = c, (a = ANY (b)) IS NOT FALSE, a = (b IS NULL), (a + b) IS NULL, (a = b) IS NULL FROM t`,
		`SELECT (a < b) IN (c, d), (a < b) IN (SELECT 1), (a = b) = ANY (c), (a = b) >= ALL (SELECT 1), (a = b) LIKE c, (a = b) IS NOT DISTINCT FROM c`,
		`SELECT (a = b) BETWEEN (c < d) AND (d < e), x BETWEEN (a AND b) AND c, x NOT BETWEEN SYMMETRIC (a IS NULL) AND (b OR c), (a, b) IN (SELECT 1, 2)`,
		`SELECT (CASE WHEN a THEN b END)[1], (coalesce(a, b))[1:2], (greatest(a, b)).c, (nullif(a, b))[1], (a || b)[1], (SELECT a)[1]`,
		`INSERT INTO t (a) SELECT 1 ON CONFLICT (a) DO UPDATE SET a = excluded.a WHERE t.a > 1 RETURNING *`,
		`COPY (SELECT 1) TO STDOUT WITH (FORMAT csv, HEADER true, DELIMITER ';')`,
		`DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT 1`,
		`CREATE TEMP TABLE x ON COMMIT DROP AS SELECT a.* FROM a WITH NO DATA`,
		`SELECT interval '1' day, interval(3) '1 s', timestamp(3) 'now', date 'today', bit '101', '1'::char(3), "char" 'x'`,
		`SELECT a.b.c, "A"."b" FROM a.b, "A" WHERE ROW(1, NULL) IS NULL AND (a.b.c, 1) < (2, 3)`,
		`SELECT grouping(a), sum(b) FROM t GROUP BY GROUPING SETS ((a), ()), CUBE (c), ROLLUP (d, e)`,
		`SELECT * FROM t TABLESAMPLE bernoulli (10) REPEATABLE (1), generate_series(1, 2) WITH ORDINALITY AS g(x, n), ROWS FROM (f(1), g(2))`,
	} {
		list, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if _, err := Deparse(list[0].Node); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
