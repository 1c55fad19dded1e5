-- Statements that generated ones were shrunk to, each once answered otherwise.
SELECT k FROM {s}.ints x WHERE (x.k > 3) IN (x.k = x.k, x.i4 IS NULL) ORDER BY k;
SELECT x.k, (CASE WHEN x.k > 1 THEN ai END)[1] FROM {s}.misc x ORDER BY k;
SELECT x.k FROM {s}.ints x WHERE (x.i4 < x.i8) BETWEEN (x.k < 3) AND (x.i2 = x.i2) ORDER BY 1;
SELECT f8 AS a FROM {s}.floats ORDER BY a NULLS LAST, k;
SELECT f4, f8 FROM {s}.floats ORDER BY 2 DESC, k;
SELECT f8 FROM {s}.floats WHERE k <> 2 ORDER BY 1;
SELECT k FROM {s}.kinds x WHERE x.p IS NULL ORDER BY k;
SELECT k, p IS NOT NULL, (p).b IS NULL FROM {s}.kinds ORDER BY k;
SELECT p, count(*) FROM {s}.kinds GROUP BY p;
SELECT k, u, m, g, b, r FROM {s}.exact ORDER BY k;
SELECT k, jb, e, da, na, ba, ia FROM {s}.kinds ORDER BY k;
SELECT k, (NULL::int4 / '0') <> 0, i4 / NULL FROM {s}.ints ORDER BY k;
SELECT k, i4 / 0, i8 % 0::bigint, i2 / (k - k) FROM {s}.ints WHERE k = 6;
SELECT x.k, y.k FROM {s}.texts x FULL JOIN {s}.clocks y ON x.v IS DISTINCT FROM x.t;
SELECT x.k, y.k FROM {s}.ints x FULL JOIN {s}.texts y ON x.k < y.k;
SELECT x.k, y.k FROM {s}.ints x FULL JOIN {s}.texts y ON x.k = x.i4;
SELECT x.k, y.k FROM {s}.ints x FULL JOIN {s}.texts y ON x.k = y.k AND x.i4 > 0 ORDER BY 1, 2;
