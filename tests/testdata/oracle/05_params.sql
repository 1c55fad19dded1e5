-- Parameters: every type, NULL, in every place.
-- params: ["3"]
SELECT name FROM {s}.emp WHERE id = $1;
-- params: [null]
SELECT name FROM {s}.emp WHERE id = $1;
-- params: ["x"]
SELECT name FROM {s}.emp WHERE id = $1;
-- params: ["3000000000"]
SELECT name FROM {s}.emp WHERE id = $1;
-- params: ["eng"]
SELECT id FROM {s}.emp WHERE dept = $1 ORDER BY id;
-- params: ["it's \"q\""]
SELECT k FROM {s}.texts WHERE t = $1;
-- params: ["a\\b"]
SELECT k FROM {s}.texts WHERE t = $1;
-- params: ["a%"]
SELECT k FROM {s}.texts WHERE t LIKE $1 ORDER BY k;
-- params: ["a\\"]
SELECT k FROM {s}.texts WHERE t LIKE $1 ORDER BY k;
-- params: ["é"]
SELECT k FROM {s}.texts WHERE t = $1 OR c = $1 ORDER BY k;
-- params: [""]
SELECT k FROM {s}.texts WHERE t = $1 ORDER BY k;
-- params: ["500"]
SELECT id FROM {s}.emp WHERE pay > $1 ORDER BY id;
-- params: ["499.995"]
SELECT id FROM {s}.emp WHERE pay > $1 ORDER BY id;
-- params: ["NaN"]
SELECT k FROM {s}.floats WHERE f8 = $1;
-- params: ["-0"]
SELECT k FROM {s}.floats WHERE f8 = $1 ORDER BY k;
-- params: ["0.1"]
SELECT k FROM {s}.floats WHERE f4 = $1 ORDER BY k;
-- params: ["2024-02-29"]
SELECT k FROM {s}.dates WHERE d = $1;
-- params: ["infinity"]
SELECT k FROM {s}.dates WHERE d = $1 OR ts = 'infinity' ORDER BY k;
-- params: ["2024-02-29 12:34:56.789"]
SELECT k FROM {s}.dates WHERE ts = $1;
-- params: ["2024-02-29 13:34:56.789+01"]
SELECT k FROM {s}.dates WHERE tz = $1;
-- params: ["0044-03-15 BC"]
SELECT k FROM {s}.dates WHERE d = $1;
-- params: ["yesterday-ish"]
SELECT k FROM {s}.dates WHERE d = $1;
-- params: ["12:00"]
SELECT k FROM {s}.dates WHERE tm = $1 ORDER BY k;
-- params: ["1 mon"]
SELECT k FROM {s}.spans WHERE v = $1 ORDER BY k;
-- params: ["on"]
SELECT k FROM {s}.misc WHERE b = $1 ORDER BY k;
-- params: ["00112233445566778899AABBCCDDEEFF"]
SELECT k FROM {s}.misc WHERE u = $1;
-- params: ["\\xdeadbeef"]
SELECT k FROM {s}.misc WHERE y = $1;
-- params: ["{1,2,3}"]
SELECT k FROM {s}.misc WHERE ai = $1;
-- params: ["{2,4,6}"]
SELECT id FROM {s}.emp WHERE id = ANY ($1) ORDER BY id;
-- params: ["{}"]
SELECT id FROM {s}.emp WHERE id = ANY ($1::int[]) ORDER BY id;
-- params: ["2", "4"]
SELECT id FROM {s}.emp WHERE id BETWEEN $1 AND $2 ORDER BY id;
-- params: ["4", "2"]
SELECT id FROM {s}.emp WHERE id BETWEEN $2 AND $1 ORDER BY id;
-- params: ["2"]
SELECT id, $1::int, id + $1, id * $1::numeric FROM {s}.emp WHERE id > $1 ORDER BY id;
-- params: ["lit"]
SELECT $1 FROM {s}.emp;
-- params: ["lit"]
SELECT $1::text AS p, name || $1 FROM {s}.emp ORDER BY id;
-- params: ["2", "1"]
SELECT id FROM {s}.emp ORDER BY id LIMIT $1 OFFSET $2;
-- params: [null, null]
SELECT id FROM {s}.emp ORDER BY id LIMIT $1 OFFSET $2;
-- params: ["-1"]
SELECT id FROM {s}.emp ORDER BY id LIMIT $1;
-- params: ["0"]
SELECT id FROM {s}.emp ORDER BY id LIMIT $1;
-- params: ["1", "eng", "500.00"]
SELECT id FROM {s}.emp WHERE boss > $1 - 1 AND dept = $2 AND pay = $3 ORDER BY id;
-- params: ["1"]
SELECT dept, count(*) FROM {s}.emp GROUP BY dept HAVING count(*) > $1 ORDER BY dept;
-- params: ["7"]
SELECT m.mark, e.name FROM h.marks m JOIN {s}.emp e ON e.id = m.k WHERE m.k = $1;
-- params: ["0"]
SELECT 1 / $1::int FROM {s}.emp;
-- params: ["0"]
SELECT id FROM {s}.emp WHERE id / $1 = 1;
-- params: ["2024-01-01", "2024-02-01"]
SELECT count(*), sum(total) FROM {s}.orders WHERE placed >= $1 AND placed < $2;
-- params: ["{\"a\":2}"]
SELECT k FROM {s}.misc WHERE j::jsonb @> $1 ORDER BY k;
-- params: ["1"]
SELECT id FROM {s}.emp WHERE $1::int = 1 AND id = 1;
-- params: [null]
SELECT id FROM {s}.emp WHERE $1::int IS NULL ORDER BY id;
-- params: ["abcdefgh"]
SELECT id FROM {s}.emp WHERE name = $1::varchar(3);
-- params: ["2"]
WITH c AS (SELECT id FROM {s}.emp WHERE id > $1) SELECT count(*) FROM c;
-- params: ["2"]
SELECT id FROM {s}.emp e WHERE EXISTS (SELECT 1 FROM {s}.emp x WHERE x.boss = e.id AND x.id > $1) ORDER BY id;
