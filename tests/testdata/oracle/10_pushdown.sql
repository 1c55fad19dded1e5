-- What the dialects' tables of push-down claim, over awkward values. A line "-- case: name" begins the statements that
-- prove the entries which name it.

-- case: comparisons
SELECT a.k, b.k FROM {s}.ints a JOIN {s}.ints b ON a.i4 = b.i8 ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.ints a JOIN {s}.nums b ON a.i4 = b.n ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.ints a JOIN {s}.nums b ON a.i2 > b.z ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.nums a JOIN {s}.nums b ON a.n <= b.s ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.nums a JOIN {s}.nums b ON a.n <> b.w ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.floats a JOIN {s}.floats b ON a.f8 = b.f8 ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.floats a JOIN {s}.floats b ON a.f4 < b.f4 ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.floats a JOIN {s}.floats b ON a.f8 >= b.f8 ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.texts a JOIN {s}.texts b ON a.t = b.v ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.texts a JOIN {s}.texts b ON a.t < b.t ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.texts a JOIN {s}.texts b ON a.c = b.c ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.texts a JOIN {s}.texts b ON a.c = b.t ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.texts a JOIN {s}.texts b ON a.c > b.c ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.texts a JOIN {s}.texts b ON a.c IS DISTINCT FROM b.c AND a.k < 8 AND b.k < 8 ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.dates a JOIN {s}.dates b ON a.d = b.d ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.dates a JOIN {s}.dates b ON a.d < b.d ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.dates a JOIN {s}.dates b ON a.ts <= b.ts ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.dates a JOIN {s}.dates b ON a.tz > b.tz ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.dates a JOIN {s}.dates b ON a.d IS NOT DISTINCT FROM b.d ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.misc a JOIN {s}.misc b ON a.u < b.u ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.misc a JOIN {s}.misc b ON a.b >= b.b ORDER BY 1, 2;
SELECT k FROM {s}.texts WHERE c = 'a' ORDER BY k;
SELECT k FROM {s}.texts WHERE c = 'a   ' ORDER BY k;
SELECT k FROM {s}.texts WHERE c = ' ' ORDER BY k;
SELECT k FROM {s}.texts WHERE c = '' ORDER BY k;
SELECT k FROM {s}.texts WHERE c IN ('a', 'A  ', 'abc') ORDER BY k;
SELECT k FROM {s}.texts WHERE c BETWEEN 'a' AND 'b  ' ORDER BY k;
SELECT k FROM {s}.texts WHERE c <= 'a_b ' ORDER BY k;
SELECT k FROM {s}.nums WHERE n = '1.5' ORDER BY k;
SELECT k FROM {s}.nums WHERE n IN (0, 1.5, -1.50, 2.500) ORDER BY k;
SELECT k FROM {s}.nums WHERE n BETWEEN 0.01 AND 2.5 ORDER BY k;
SELECT k FROM {s}.nums WHERE w > 0.00000000001 ORDER BY k;
SELECT k FROM {s}.nums WHERE w >= 9999999999999999999999999999.9999999999 ORDER BY k;
SELECT k FROM {s}.ints WHERE i4 <> 1.5 ORDER BY k;
SELECT k FROM {s}.ints WHERE i8 = 9223372036854775807 ORDER BY k;
SELECT k FROM {s}.ints WHERE i8 < 99999999999999999999 ORDER BY k;
SELECT c FROM {s}.texts GROUP BY c ORDER BY c;
SELECT DISTINCT c FROM {s}.texts ORDER BY 1 DESC;
SELECT c, count(*) FROM {s}.texts GROUP BY 1 ORDER BY 2, 1;
SELECT c, v FROM {s}.texts ORDER BY c DESC NULLS LAST, k;
SELECT status FROM {s}.orders GROUP BY status ORDER BY status;
SELECT id FROM {s}.orders WHERE status IN ('new', 'paid ') ORDER BY id LIMIT 5;

-- case: integer_arithmetic
SELECT k, i2 + i2, i4 - i2, i8 * 1, -i8 FROM {s}.ints WHERE k NOT IN (4, 5) ORDER BY k;
SELECT k, i4 + i8 + 1 FROM {s}.ints WHERE k < 4 ORDER BY k;
SELECT i2 * i2 FROM {s}.ints WHERE k = 4;
SELECT i4 + i4 FROM {s}.ints WHERE k = 4;
SELECT i8 - 1 FROM {s}.ints WHERE k = 5;
SELECT -i2 FROM {s}.ints WHERE k = 5;
SELECT -i8 FROM {s}.ints WHERE k = 5;
SELECT sum(i4 * 2) FROM {s}.ints;
SELECT k FROM {s}.ints WHERE i4 + 1 > 5 AND k <> 4 ORDER BY k;

-- case: integer_division
SELECT k, i4 / 2, i4 / 7, i4 % 7, i8 / -3, i8 % -3, i2 / 2::smallint FROM {s}.ints ORDER BY k;
SELECT a.k, b.k, a.i4 / b.i4, a.i4 % b.i4, mod(a.i8, b.i8) FROM {s}.ints a, {s}.ints b WHERE b.k NOT IN (1, 3) ORDER BY 1, 2;
SELECT a.k, a.i4 % b.i4, a.i8 % b.i8, a.i2 % b.i2 FROM {s}.ints a, {s}.ints b WHERE b.k = 3 ORDER BY 1;
SELECT i4 / i2 FROM {s}.ints WHERE k = 1;
SELECT i4 % i2 FROM {s}.ints WHERE k = 1;
SELECT mod(i8, 0) FROM {s}.ints WHERE k = 2;
SELECT a.i4 / b.i4 FROM {s}.ints a, {s}.ints b WHERE a.k = 5 AND b.k = 3;
SELECT a.i8 / b.i8 FROM {s}.ints a, {s}.ints b WHERE a.k = 5 AND b.k = 3;
SELECT a.i2 / b.i2 FROM {s}.ints a, {s}.ints b WHERE a.k = 5 AND b.k = 3;
SELECT sum(10 / i4) FROM {s}.ints WHERE k > 1;
SELECT sum(10 / i4) FROM {s}.ints;
SELECT k FROM {s}.ints WHERE i4 <> 0 AND 10 / i4 > 1 ORDER BY k;
SELECT CASE WHEN i4 = 0 THEN -1 ELSE 100 / i4 END FROM {s}.ints ORDER BY k;

-- case: numeric_arithmetic
SELECT k, n + 1, 1 - n, n * 2, n + 0.125, n * n, -n, n - n FROM {s}.nums ORDER BY k;
SELECT k, z * z * z, s + n, s * n, s - 1.5, n * 0.000 FROM {s}.nums ORDER BY k;
SELECT k, w + n, w * 1.5, w - w FROM {s}.nums WHERE k NOT IN (4, 5) ORDER BY k;
SELECT a.k, b.k, a.n * b.i4, a.n + b.i8 FROM {s}.nums a, {s}.ints b ORDER BY 1, 2;
SELECT sum(w * s) FROM {s}.nums WHERE k NOT IN (4, 5);
SELECT sum(w * s) FROM {s}.nums;
SELECT sum(w * w) FROM {s}.nums WHERE k IN (2, 3, 8);
SELECT k, n * (1 - s) * (1 + n) FROM {s}.nums WHERE k > 6 ORDER BY k;
SELECT k, 0.06 - 0.01, 0.1 * 0.10, 2 * 1.50 FROM {s}.nums ORDER BY k;
SELECT k, n * 1e3, n + 1.25E-2, 1e0, 1.50e1 - n, 12e-5, 0.5e-17, 1e17, .5e2, 5.e1, -n * 1.234e2 FROM {s}.nums ORDER BY k;
SELECT k, CASE WHEN k > 7 THEN n ELSE 0 END FROM {s}.nums ORDER BY k;
SELECT k, CASE k WHEN 7 THEN n WHEN 8 THEN s ELSE 1 END FROM {s}.nums ORDER BY k;
SELECT k, coalesce(n, 0), coalesce(n, s, 0.5) FROM {s}.nums ORDER BY k;
SELECT k, 2 * CASE WHEN k > 7 THEN n END, CASE WHEN k > 7 THEN n ELSE 1.234 END + s FROM {s}.nums ORDER BY k;
SELECT k, CASE WHEN k > 7 THEN n ELSE 0 END + CASE WHEN k > 8 THEN s ELSE 1.5 END FROM {s}.nums ORDER BY k;

-- case: numeric_division
SELECT k, n / 3, 1 / (n + 0.005), n / 7.0, s / 1000000, z / 7 FROM {s}.nums ORDER BY k;
SELECT a.k, b.k, a.n / b.n FROM {s}.nums a, {s}.nums b WHERE b.n <> 0 ORDER BY 1, 2;
SELECT a.k, b.k, a.w / b.s FROM {s}.nums a, {s}.nums b WHERE b.s <> 0 ORDER BY 1, 2;
SELECT a.k, a.n / b.i4 FROM {s}.nums a, {s}.ints b WHERE b.k = 7 ORDER BY 1;
SELECT n / n FROM {s}.nums WHERE k = 1;
SELECT sum(n / n) FROM {s}.nums WHERE k = 1;
SELECT k, n / 3 + 1, n / 3 - n, n / 3 * 2, n / 3 / 2, 1 - n / 3 FROM {s}.nums ORDER BY k;
SELECT k FROM {s}.nums WHERE n / 3 > 0.5 ORDER BY n / 3, k;
SELECT k, n / 3 = n / 3, n / 3 < n, n > n / 3, n / 3 <> 0.5 FROM {s}.nums ORDER BY k;
SELECT sum(n) / 7.0, sum(n) / count(*), sum(n) / sum(s), 100.00 * sum(n) / sum(z) FROM {s}.nums WHERE k > 6;
SELECT 100.00 * sum(CASE WHEN k > 8 THEN n ELSE 0 END) / sum(n) FROM {s}.nums WHERE k > 6;
SELECT 100.00 * sum(CASE WHEN k > 80 THEN n ELSE 0 END) / sum(n) FROM {s}.nums WHERE k > 6;
SELECT sum(CASE WHEN k > 80 THEN n ELSE 0 END) / sum(s) FROM {s}.nums WHERE k > 6;

-- case: numeric_functions
SELECT k, abs(n), abs(w), abs(z), abs(i) FROM (SELECT *, k - 5 AS i FROM {s}.nums) x ORDER BY k;
SELECT k, round(n), round(s), round(w), round(z) FROM {s}.nums ORDER BY k;
SELECT k, round(n * 1.005), round(-2.5 * n) FROM {s}.nums ORDER BY k;
SELECT k, greatest(n, 1), least(n, s), greatest(k, 3), least(k, NULL, 2), greatest(t, 'b') FROM {s}.nums JOIN {s}.texts USING (k) ORDER BY k;
SELECT abs(i4) FROM {s}.ints WHERE k = 5;
SELECT abs(i8) FROM {s}.ints WHERE k = 5;
SELECT nullif(n, 0), nullif(n, 1.5), nullif(k, 3) FROM {s}.nums ORDER BY k;

-- case: numeric_rounding
SELECT k, round(n, 1), round(n, 0), round(n, 4), round(s, 3), round(z, 2), round(k, 2) FROM {s}.nums ORDER BY k;
SELECT k, round(w, 9), round(w, 12), trunc(w, 3), trunc(s), ceil(s), floor(s), ceiling(n), trunc(n, 5) FROM {s}.nums ORDER BY k;
SELECT k, ceil(n), floor(n), trunc(n), ceil(-n), floor(-s), round(-n, 1), trunc(z) FROM {s}.nums ORDER BY k;
SELECT k, round(n / 3, 2), round(n / 3), round(n / 7, 20), trunc(n / 3, 1), trunc(n / 3), round(-n / 3, 2), round(n * 1.005, 2) FROM {s}.nums ORDER BY k;
SELECT k, round(-0.005, 2), round(0.995 * n, 2), trunc(-0.009 * n, 2) FROM {s}.nums ORDER BY k;
SELECT round(avg(n), 1), round(avg(k), 2), round(sum(n) / count(*), 3), trunc(avg(s), 4), sum(round(n * 1.1, 1)) FROM {s}.nums WHERE k NOT IN (4, 5);
SELECT dept, round(avg(pay), 1) AS a FROM {s}.emp GROUP BY dept ORDER BY a DESC NULLS LAST, dept;
SELECT round(avg(pay), 2) FROM {s}.emp WHERE id < 0;
SELECT round(total, 1), count(*) FROM {s}.orders GROUP BY 1 ORDER BY 1;
SELECT k, ceil(r), floor(r), round(r, 2), trunc(r, 3), round(g, 1), trunc(g), ceil(g) FROM {s}.exact ORDER BY k;
SELECT k, round(CASE WHEN k > 7 THEN n ELSE 1.234 END, 2), round(coalesce(n, 0), 1) FROM {s}.nums ORDER BY k;
SELECT round(k), round(k) / 2, ceil(k), trunc(k) FROM {s}.nums ORDER BY k;

-- case: date_interval
SELECT k, d + interval '1 month', d - interval '1 day', d + interval '36 hours' FROM {s}.dates WHERE k NOT IN (3, 4) ORDER BY k;
SELECT k, ts + interval '1 month', ts - interval '100 years', ts + interval '1' second FROM {s}.dates WHERE k NOT IN (3, 4) ORDER BY k;
SELECT k, d + interval '1 month' FROM {s}.dates WHERE k IN (3, 4) ORDER BY k;
SELECT k FROM {s}.dates WHERE d < date '2024-03-31' - interval '1 month' ORDER BY k;
SELECT k FROM {s}.dates WHERE d <= date '2024-01-31' + interval '1' month ORDER BY k;
SELECT k FROM {s}.dates WHERE d >= date '2024-03-31' + interval '-1 month' ORDER BY k;
SELECT k FROM {s}.dates WHERE ts < date '2024-02-29' + interval '1 year' ORDER BY k;
SELECT k FROM {s}.dates WHERE ts = date '2024-02-28' + interval '2 days' ORDER BY k;
SELECT k FROM {s}.dates WHERE d BETWEEN date '2024-03-01' - interval '1 day' AND date '2024-03-01' + interval '1 year' ORDER BY k;
SELECT a.k, b.k FROM {s}.dates a, {s}.dates b WHERE a.d = b.ts ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.dates a, {s}.dates b WHERE a.ts >= b.d ORDER BY 1, 2;
SELECT a.k FROM {s}.dates a WHERE a.d + interval '1 day' > a.ts ORDER BY 1;
SELECT DISTINCT date '1998-12-01' - interval '90' day, date '2024-03-31' + interval '11 months' FROM {s}.dates;
SELECT max(d + interval '100 years') FROM {s}.dates;

-- case: date_functions
SELECT k, extract(year FROM d), extract(month FROM d), extract(day FROM d), extract(quarter FROM d), extract(doy FROM d), extract(dow FROM d) FROM {s}.dates ORDER BY k;
SELECT k, extract(year FROM ts), extract(hour FROM ts), extract(minute FROM ts), extract(doy FROM ts) FROM {s}.dates WHERE k NOT IN (3, 4, 7) ORDER BY k;
SELECT k, date_part('year', d), date_part('dow', ts) FROM {s}.dates WHERE k NOT IN (3, 4, 7) ORDER BY k;
SELECT extract(month FROM ts), extract(dow FROM d) FROM {s}.dates WHERE k IN (3, 4, 6) ORDER BY k;
SELECT extract(year FROM d), count(*) FROM {s}.dates GROUP BY 1 ORDER BY 1;
SELECT extract(year FROM placed), extract(month FROM placed), sum(total) FROM {s}.orders GROUP BY 1, 2 ORDER BY 1, 2;
SELECT k, date_trunc('day', ts), date_trunc('week', ts), date_trunc('month', ts), date_trunc('quarter', ts), date_trunc('year', ts) FROM {s}.dates ORDER BY k;
SELECT k, date_trunc('hour', ts), date_trunc('minute', ts), date_trunc('second', ts) FROM {s}.dates ORDER BY k;

-- case: to_char
SELECT k, to_char(d, 'YYYY-MM-DD'), to_char(d, 'DD.MM.YYYY'), to_char(d, 'YYYYMMDD'), to_char(d, 'Mon YYYY'), to_char(d, 'Dy, FMDD FMMonth YYYY'), to_char(d, 'FMDay') FROM {s}.dates WHERE k NOT IN (3, 4, 7) ORDER BY k;
SELECT k, to_char(ts, 'YYYY-MM-DD HH24:MI:SS'), to_char(ts, 'HH24MISS.US'), to_char(ts, 'YYYY-MM-DD"T"HH24:MI:SS.MS'), to_char(ts, 'FMMM/FMDD'), to_char(ts, 'yyyy_mm dd hh24:mi ss us ms') FROM {s}.dates WHERE k NOT IN (3, 4, 7, 8) ORDER BY k;
SELECT k, to_char(d, 'YYYY-MM-DD'), to_char(ts, 'YYYY') FROM {s}.dates WHERE k IN (3, 4, 6, 7) ORDER BY k;
SELECT to_char(placed, 'YYYY-MM') AS month, count(*), sum(total) FROM {s}.orders GROUP BY 1 ORDER BY 1;
SELECT to_char(placed, 'YYYY-MM') AS month, count(*), sum(total) FROM {s}.orders GROUP BY 1;
SELECT to_char(d, 'YYYY-MM'), count(*) FROM {s}.dates GROUP BY 1;
SELECT to_char(max(placed), 'YYYY-MM'), status FROM {s}.orders GROUP BY status;
SELECT upper(t), count(*) FROM {s}.texts GROUP BY t;
SELECT k, to_char(d, 'DDD'), to_char(d, 'Month YYYY'), to_char(d, 'YYYYth'), to_char(ts, 'SSSS'), to_char(d, 'q'), to_char(d, ''), to_char(d, 'DDDY'), to_char(ts, 'HH:MI AM') FROM {s}.dates ORDER BY k;
SELECT to_char(d, 'YYYY MM') || '!' FROM {s}.dates WHERE k IN (1, 2) ORDER BY 1;
SELECT k, to_char(tz, 'YYYY'), to_char(tm, 'HH24') FROM {s}.dates ORDER BY k;

-- case: float_arithmetic
SELECT k, f8 + 1, f8 - 0.5, 1 - f8, f8 + f4, f4 + 1, f4 - 0.1 FROM {s}.floats ORDER BY k;
SELECT k, f8 * 2, f8 / 3, f4 * 2, -f8, f8 * 1.1, f4 / 3 FROM {s}.floats WHERE k NOT IN (9, 10) ORDER BY k;
SELECT k, abs(f8), abs(f4), floor(f8), ceil(f8), ceiling(f8) FROM {s}.floats ORDER BY k;
SELECT k, trunc(f8), sign(f8), trunc(f8 * 0.1), sign(f4) FROM {s}.floats ORDER BY k;
SELECT k, sqrt(abs(f8)), sqrt(f8 * 0) FROM {s}.floats ORDER BY k;
SELECT k, sqrt(f8) FROM {s}.floats ORDER BY k;
SELECT k, sqrt(f8) FROM {s}.floats WHERE f8 >= 0 ORDER BY k;
SELECT k, f8 * 2 FROM {s}.floats WHERE k = 9;
SELECT k, f8 + f8 FROM {s}.floats WHERE k = 9;
SELECT k, f8 - (-f8) FROM {s}.floats WHERE k = 9;
SELECT k, f8 / 0.1 FROM {s}.floats WHERE k = 9;
SELECT k, f8 / 10 FROM {s}.floats WHERE k = 10;
SELECT k, f8 * 0.1 FROM {s}.floats WHERE k = 10;
SELECT k, f8 / f8 FROM {s}.floats WHERE k NOT IN (1, 2) ORDER BY k;
SELECT k, f8 / 0 FROM {s}.floats WHERE k = 3;
SELECT k, f8 / 0 FROM {s}.floats WHERE k = 4;
SELECT k, f8 / (f8 - f8) FROM {s}.floats WHERE k = 7;
SELECT a.k, b.k, a.f8 + b.f8, a.f8 - b.f8 FROM {s}.floats a, {s}.floats b WHERE a.k < 9 AND b.k <> 9 ORDER BY 1, 2;
SELECT a.k, b.k, a.f8 * b.f8 FROM {s}.floats a, {s}.floats b WHERE a.k NOT IN (9, 10) AND b.k NOT IN (9, 10) ORDER BY 1, 2;
SELECT a.k, b.k, a.f8 / b.f8 FROM {s}.floats a, {s}.floats b WHERE a.k > 5 AND a.k NOT IN (9, 10) AND b.k IN (3, 4, 5, 7, 8, 15) ORDER BY 1, 2;
SELECT k FROM {s}.floats WHERE f8 > 1 ORDER BY k;
SELECT k FROM {s}.floats WHERE f8 = 0.1 OR f4 = 0.1 OR f4 = 2.5 OR f4 = 0 ORDER BY k;
SELECT k FROM {s}.floats WHERE f8 BETWEEN 0 AND 2.5 ORDER BY k;
SELECT k FROM {s}.floats WHERE f4 NOT BETWEEN -1 AND 1e15 ORDER BY k;
SELECT k FROM {s}.floats WHERE f8 IN (0.1, 2.5, 1e20, 0, NULL) ORDER BY k;
SELECT k FROM {s}.floats WHERE f8 NOT IN (1, 0.1) AND f4 <> f8 ORDER BY k;
SELECT k, coalesce(f8, 0), CASE WHEN k > 7 THEN f8 ELSE 1.5 END, CASE WHEN k > 7 THEN f8 WHEN k > 6 THEN f4 ELSE k END AS x FROM {s}.floats ORDER BY k;
SELECT a.k, b.k FROM {s}.floats a, {s}.nums b WHERE a.f8 = b.n OR a.f4 > b.w ORDER BY 1, 2;
SELECT a.k, b.k FROM {s}.floats a, {s}.ints b WHERE a.f8 = b.i8 OR a.f4 = b.i4 ORDER BY 1, 2;
SELECT k, round(f8::numeric, 2), f8::numeric, round((f8 * 1.1)::numeric, 3) FROM {s}.floats WHERE k NOT IN (3, 4, 5, 9, 10) ORDER BY k;
SELECT k, f8::numeric FROM {s}.floats WHERE k IN (3, 9, 10) ORDER BY k;
SELECT k, f8::numeric FROM {s}.floats WHERE k IN (4, 5) ORDER BY k;
SELECT min(f8 + 1), max(f8 * 2), count(f8 / 2) FROM {s}.floats WHERE k NOT IN (9, 10);
SELECT min(f8), max(f8), min(f4), max(f4) FROM {s}.floats;
SELECT min(f8), max(f8), min(f4), max(f4) FROM {s}.floats WHERE k > 5;
SELECT max(f8), max(f4), min(f8) FROM {s}.floats WHERE k IN (1, 2, 16);
SELECT min(f8), min(f4) FROM {s}.floats WHERE k IN (1, 7);
SELECT k % 3, min(f8), max(f8) FILTER (WHERE k > 6), min(f8) FROM {s}.floats WHERE k > 2 GROUP BY 1 ORDER BY 1;
SELECT k, min(f8) OVER (ORDER BY k), max(f4) OVER (ORDER BY k) FROM {s}.floats WHERE k > 2 ORDER BY k;
SELECT max(f8) FROM {s}.floats WHERE k = 0;
SELECT k, nullif(f8, 0), nullif(f4, 2.5), nullif(f8, f8) FROM {s}.floats ORDER BY k;
-- params: ["1.5"]
SELECT k, f8 + $1, f8 * $1::float8 FROM {s}.floats WHERE k NOT IN (9, 10) AND f8 > $1 ORDER BY k;

-- case: text_operators
SELECT k, t || v, v || t, c || t, t || c, c || c, t || '|', '|' || c FROM {s}.texts ORDER BY k;

-- case: like
SELECT k FROM {s}.texts WHERE t LIKE 'a%' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE '_' ORDER BY k;
SELECT k FROM {s}.texts WHERE t NOT LIKE '%b%' ORDER BY k;
SELECT k FROM {s}.texts WHERE v LIKE '%_%' ORDER BY k;
SELECT k FROM {s}.texts WHERE c LIKE 'a' ORDER BY k;
SELECT k FROM {s}.texts WHERE c LIKE 'a%' ORDER BY k;
SELECT k FROM {s}.texts WHERE c LIKE '%c   ' ORDER BY k;
SELECT k FROM {s}.texts WHERE c NOT LIKE '% ' ORDER BY k;
SELECT k FROM {s}.texts WHERE c LIKE '______' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE '' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE 'a\_b' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE '%\%' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE '%\\%' OR v NOT LIKE '\a%' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE '%!%' ESCAPE '!' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE '!_z' ESCAPE '!' OR c LIKE 'a!_b%' ESCAPE '!' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE 'a\%' ESCAPE '' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE 'a\b' ESCAPE '!' ORDER BY k;
SELECT k FROM {s}.texts WHERE t NOT LIKE '%é%%' ESCAPE 'é' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE 'a!' ESCAPE '!' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE 'zz\' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE 'a%' ESCAPE 'xy' ORDER BY k;
SELECT k FROM {s}.texts WHERE t LIKE 'a\a%' ESCAPE NULL ORDER BY k;
-- params: ["a%"]
SELECT k FROM {s}.texts WHERE t LIKE $1 ORDER BY k;
-- params: ["%\\_%"]
SELECT k FROM {s}.texts WHERE t LIKE $1 OR c NOT LIKE $1 ORDER BY k;
-- params: ["a\\"]
SELECT k FROM {s}.texts WHERE t LIKE $1 ORDER BY k;
-- params: ["\\\\%"]
SELECT count(*) FROM {s}.texts WHERE v LIKE $1::text;
-- params: [null]
SELECT count(*) FROM {s}.texts WHERE v LIKE $1;
-- params: ["a%"]
SELECT h.twice(k) FROM {s}.texts WHERE t LIKE $1 ORDER BY k;
-- params: ["a\\"]
SELECT h.twice(k) FROM {s}.texts WHERE t LIKE $1 ORDER BY k;

-- case: text_functions
SELECT k, length(t), length(v), length(c), char_length(t), character_length(c), octet_length(t), octet_length(v) FROM {s}.texts ORDER BY k;
SELECT k, right(t, 2), right(c, 3), right(v, 0), right(t, 400), right(v, 1) FROM {s}.texts ORDER BY k;
SELECT k, left(t, 2), left(c, 5), left(t, 0), substr(t, 2), substr(t, 1, 3), substring(c FROM 2 FOR 3), substring(v, 4), substring(t FROM 3 FOR 0) FROM {s}.texts ORDER BY k;
SELECT k, trim(t), ltrim(t), rtrim(v), btrim(c), trim(BOTH FROM t) FROM {s}.texts ORDER BY k;
SELECT k, starts_with(t, 'a'), starts_with(t, ''), starts_with(t, v), starts_with(c, 'a') FROM {s}.texts ORDER BY k;
SELECT k, md5(t), md5(c), md5(v) FROM {s}.texts ORDER BY k;
SELECT substring(c FROM 1 FOR 1), count(*) FROM {s}.texts GROUP BY 1 ORDER BY 1;

-- case: text_search
SELECT k, strpos(t, 'b'), position('' IN t), strpos(t, v), position(v IN c), strpos(c, ' '), strpos(t, 'é'), strpos(v, NULL) FROM {s}.texts ORDER BY k;
SELECT k, replace(t, 'a', 'xy'), replace(t, '', 'x'), replace(t, v, ''), replace(c, ' ', '-'), replace(v, 'é', 'e') FROM {s}.texts ORDER BY k;
SELECT k, translate(t, 'aé ', 'zx'), translate(t, '', 'x'), translate(v, 'aa', 'xy'), translate(c, t, v) FROM {s}.texts ORDER BY k;
SELECT k, split_part(t, 'a', 1), split_part(t, 'b', 2), split_part(v, ' ', -1), split_part(t, 'ab', 3), split_part(c, 'b', 1) FROM {s}.texts ORDER BY k;
SELECT k, ascii(t), ascii(v), ascii(c) FROM {s}.texts ORDER BY k;
SELECT split_part(status, 'a', 1), count(*) FROM {s}.orders GROUP BY 1 ORDER BY 2, 1;
SELECT k, strpos(words, 'c'), replace(bytes, 'o', '0') FROM {s}.coll ORDER BY k;
SELECT count(*) FROM {s}.texts WHERE strpos(t, 'a') > 0 AND replace(t, 'a', '') <> t;
SELECT split_part(t, 'a', 0) FROM {s}.texts;

-- case: text_padding
SELECT k, lpad(t, 3), rpad(t, 3), lpad(v, 0), rpad(c, 9), lpad(t, -1), rpad(t, 1) FROM {s}.texts ORDER BY k;
SELECT k, lpad(t, 5, 'é'), rpad(t, 7, 'xy'), lpad(v, 1, 'x'), rpad(c, 4, 'xyz'), lpad(t, 300, 'ab') FROM {s}.texts ORDER BY k;

-- case: text_joined
SELECT k, concat(t, v), concat(t, NULL), concat(t, '-', v), concat('<', t, '>', NULL), concat(t, v, t, v, 'é') FROM {s}.texts ORDER BY k;
SELECT k, concat_ws('-', t, v), concat_ws(t, v, 'x', v), concat_ws('', t, NULL, v), concat_ws(NULL, t, v) FROM {s}.texts ORDER BY k;
SELECT concat(status, '/', note), count(*) FROM {s}.orders GROUP BY 1 ORDER BY 2, 1 LIMIT 5;
SELECT count(*) FROM {s}.texts WHERE concat(t, v) = 'aa' OR concat_ws('', NULL, t, v) = '';

-- case: letter_case
SELECT lower(bytes), upper(bytes) FROM {s}.coll WHERE k < 9 ORDER BY k;
SELECT lower(bytes) FROM {s}.coll ORDER BY k;
SELECT lower(t), upper(v) FROM {s}.texts WHERE k NOT BETWEEN 7 AND 12 ORDER BY k;
SELECT upper(t), count(*) FROM {s}.texts GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM {s}.coll WHERE bytes ILIKE 'CO%' AND k < 9;
SELECT k FROM {s}.texts WHERE t ILIKE 'A%' ORDER BY k;
SELECT k FROM {s}.texts WHERE t ILIKE 'A\_b' AND k NOT BETWEEN 7 AND 12 ORDER BY k;
SELECT k FROM {s}.texts WHERE v NOT ILIKE 'nu%' AND k NOT BETWEEN 7 AND 12 ORDER BY k;
SELECT k FROM {s}.texts WHERE v ILIKE 'É' ORDER BY k;
SELECT k FROM {s}.texts WHERE c ILIKE 'A' ORDER BY k;
SELECT k FROM {s}.texts WHERE c ILIKE 'A%  ' AND k NOT BETWEEN 7 AND 12 ORDER BY k;
SELECT k FROM {s}.texts WHERE c ILIKE 'ABC   ' ORDER BY k;

-- case: aggregates
SELECT count(*), count(i2), count(DISTINCT i4), min(i8), max(i2), sum(i2), sum(i4), sum(i8) FROM {s}.ints;
SELECT count(t), count(DISTINCT t), min(t), max(v), count(DISTINCT c), max(k) FROM {s}.texts;
SELECT min(d), max(ts), max(tz), count(DISTINCT d) FROM {s}.dates;
SELECT bool_and(b), bool_or(b), every(b), count(b) FROM {s}.misc;
SELECT bool_and(b), sum(k), min(t), max(n), count(n) FROM {s}.nothing;
SELECT count(*) FILTER (WHERE i4 > 0), sum(i4) FILTER (WHERE i4 < 0), min(i8) FILTER (WHERE false) FROM {s}.ints;
SELECT sum(DISTINCT i4), sum(DISTINCT i8) FROM {s}.ints;
SELECT sum(a.i8 + 0.5) FROM {s}.ints a, {s}.series;

-- case: numeric_aggregates
SELECT sum(n), sum(w), sum(z), sum(s), avg(n), avg(z), avg(s) FROM {s}.nums;
SELECT sum(n), avg(n), avg(w), avg(s) FROM {s}.nums WHERE k > 5;
SELECT avg(i2), avg(i4), avg(i8) FROM {s}.ints;
SELECT avg(k), avg(n) FROM {s}.nothing;
SELECT dept, avg(pay), avg(id), sum(pay), avg(pay) FILTER (WHERE id > 3) FROM {s}.emp GROUP BY dept ORDER BY avg(pay) DESC, dept;
SELECT dept, avg(pay) AS a FROM {s}.emp GROUP BY dept HAVING avg(pay) > 500 ORDER BY a;
SELECT avg(DISTINCT pay), sum(DISTINCT pay) FROM {s}.emp;
SELECT id FROM {s}.emp e WHERE pay > (SELECT avg(pay) FROM {s}.emp b WHERE b.dept = e.dept) ORDER BY id;
SELECT id FROM {s}.emp e WHERE pay < (SELECT 0.9 * avg(pay) FROM {s}.emp) ORDER BY id;
SELECT status, avg(qty), avg(total), sum(qty * total) FROM {s}.orders GROUP BY status ORDER BY status;
SELECT sum(CASE WHEN k > 6 THEN n ELSE 0 END), sum(CASE WHEN k > 60 THEN n ELSE 0 END), sum(CASE WHEN k > 60 THEN n END) FROM {s}.nums;
SELECT customer_id, sum(CASE WHEN status = 'paid' THEN total ELSE 0 END), sum(coalesce(total, 0)) FROM {s}.orders GROUP BY 1 ORDER BY 1;
SELECT sum(coalesce(n, 0)), sum(coalesce(n, 1.125)), sum(coalesce(NULL, n)) FROM {s}.nums;
SELECT sum(w), avg(w) FROM {s}.nums, {s}.series;

-- case: variances
SELECT stddev(i2), stddev_pop(i4), variance(i4), var_pop(i8), var_samp(i2), stddev_samp(i8) FROM {s}.ints WHERE k NOT IN (4, 5);
SELECT stddev(i2), stddev_pop(i4), variance(i4), var_pop(i8), var_samp(i2), stddev_samp(i8) FROM {s}.ints;
SELECT stddev(n), stddev_pop(s), variance(n), var_pop(z), var_samp(s), stddev_samp(z) FROM {s}.nums WHERE k NOT IN (4, 5);
SELECT stddev(n), stddev_pop(s), variance(w), var_pop(w) FROM {s}.nums;
SELECT variance(k), stddev(k), var_pop(k), stddev_pop(k) FROM {s}.nums WHERE k = 2;
SELECT variance(k), stddev(k), var_pop(k), stddev_pop(k) FROM {s}.nums WHERE k = 20;
SELECT variance(n * 0 + 1), stddev_pop(n - n) FROM {s}.nums;
SELECT dept, stddev(pay), round(stddev_pop(pay), 2), variance(pay) FILTER (WHERE id > 2) FROM {s}.emp GROUP BY dept ORDER BY dept;
SELECT id, stddev(pay) OVER (ORDER BY id), var_pop(id) OVER (PARTITION BY dept ORDER BY id) FROM {s}.emp ORDER BY id;
SELECT status, stddev(total), variance(qty), stddev_pop(id), var_pop(total * 0.001) FROM {s}.orders GROUP BY status ORDER BY status;
SELECT stddev(DISTINCT qty), variance(DISTINCT total) FROM {s}.orders;
SELECT variance(k), stddev(k * 1.5), stddev(g * 0.00001) FROM {s}.series;
SELECT stddev(r), var_pop(r) FROM {s}.exact;
SELECT stddev(coalesce(n, 0)), variance(CASE WHEN k > 7 THEN n ELSE 1.234 END) FROM {s}.nums WHERE k NOT IN (4, 5);

-- case: casts
SELECT k, i2::int, i2::bigint, i4::bigint, i8::numeric, i4::text, i8::text, i2::float8, i8::float8 FROM {s}.ints ORDER BY k;
SELECT k, i8::int, i4::smallint FROM {s}.ints WHERE k NOT IN (4, 5, 10) ORDER BY k;
SELECT i8::smallint FROM {s}.ints WHERE k = 10;
SELECT i8::int FROM {s}.ints WHERE k = 5;
SELECT k, n::int, n::bigint, s::int, z::smallint, n::text, w::text, n::float8, s::float8, w::float8 FROM {s}.nums WHERE k NOT IN (4, 5) ORDER BY k;
SELECT n::smallint FROM {s}.nums WHERE k = 4;
SELECT z::smallint FROM {s}.nums WHERE k = 5;
SELECT k, n::numeric(6,1), s::numeric(12,3), n::numeric(4), k::numeric(5,2), i8::numeric(30,4) FROM {s}.nums JOIN {s}.ints USING (k) WHERE k NOT IN (4, 5) ORDER BY k;
SELECT n::numeric(3,2) FROM {s}.nums WHERE k = 10;
SELECT k, (n / 3)::text, (n / 3)::float8, n::numeric FROM {s}.nums ORDER BY k;
SELECT k, b::text, b::int, u::text, b::boolean, u::uuid FROM {s}.misc ORDER BY k;
SELECT k, v::text, c::text, c::text || '|', t::text FROM {s}.texts ORDER BY k;
SELECT k, ts::date, d::timestamp, d::date, ts::timestamp FROM {s}.dates ORDER BY k;
SELECT k, f4::float8, f8::float8 FROM {s}.floats ORDER BY k;
SELECT NULL::int, NULL::text, NULL::date, NULL::numeric(5,2), '1.50'::numeric, '2.5'::numeric(5,2), '-0.5'::numeric FROM {s}.emp WHERE id = 1;

-- case: windows
SELECT id, row_number() OVER (ORDER BY id), rank() OVER (ORDER BY pay), dense_rank() OVER (ORDER BY pay DESC) FROM {s}.emp ORDER BY id;
SELECT id, rank() OVER (PARTITION BY dept ORDER BY pay NULLS FIRST), count(*) OVER (PARTITION BY dept) FROM {s}.emp ORDER BY id;
SELECT id, sum(pay) OVER (ORDER BY id), avg(pay) OVER (ORDER BY id), sum(id) OVER (), min(name) OVER (ORDER BY id DESC) FROM {s}.emp ORDER BY id;
SELECT id, sum(pay) OVER (ORDER BY pay), count(*) OVER (ORDER BY pay) FROM {s}.emp ORDER BY id;
SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), max(id) OVER (ORDER BY id ROWS 2 PRECEDING) FROM {s}.emp ORDER BY id;
SELECT id, sum(id) OVER (ORDER BY boss GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM {s}.emp ORDER BY id;
SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) FROM {s}.emp ORDER BY id;
SELECT id, count(*) OVER (ORDER BY pay ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING EXCLUDE TIES), count(*) OVER (ORDER BY pay RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE GROUP) FROM {s}.emp ORDER BY id;
SELECT id, lag(pay) OVER (ORDER BY id), lead(name) OVER (ORDER BY id), lag(id, 2) OVER (ORDER BY id), lead(dept, 0) OVER (ORDER BY id) FROM {s}.emp ORDER BY id;
SELECT id, first_value(name) OVER w, last_value(id) OVER w, nth_value(name, 2) OVER w FROM {s}.emp WINDOW w AS (PARTITION BY boss ORDER BY id) ORDER BY id;
SELECT id, ntile(3) OVER (ORDER BY id), percent_rank() OVER (ORDER BY pay), cume_dist() OVER (ORDER BY pay) FROM {s}.emp ORDER BY id;
SELECT dept, sum(pay), sum(sum(pay)) OVER (ORDER BY dept), rank() OVER (ORDER BY sum(pay) DESC) FROM {s}.emp GROUP BY dept ORDER BY dept;
SELECT * FROM (SELECT id, dept, row_number() OVER (PARTITION BY dept ORDER BY id) AS n FROM {s}.emp) x WHERE n = 1 ORDER BY id;
SELECT count(*) FILTER (WHERE pay > 500) OVER (ORDER BY id), sum(CASE WHEN id > 3 THEN pay ELSE 0 END) OVER (ORDER BY id) FROM {s}.emp ORDER BY id;
SELECT k, lag(n) OVER (ORDER BY k), first_value(c) OVER (ORDER BY k DESC), lag(d) OVER (ORDER BY k) FROM {s}.nums JOIN {s}.texts USING (k) JOIN {s}.dates USING (k) ORDER BY k;
SELECT id, ntile(0) OVER (ORDER BY id) FROM {s}.emp;
SELECT id, sum(id) OVER (ORDER BY boss RANGE BETWEEN 1 PRECEDING AND CURRENT ROW), count(*) OVER (ORDER BY boss DESC RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING) FROM {s}.emp ORDER BY id;
SELECT id, array_agg(k) OVER w, count(*) OVER w FROM {s}.ints JOIN {s}.emp ON id = k WINDOW w AS (ORDER BY i2 NULLS FIRST RANGE BETWEEN 7 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) ORDER BY id;
SELECT k, count(*) OVER (ORDER BY i4 RANGE 1 PRECEDING), count(*) OVER (ORDER BY i8 DESC RANGE BETWEEN 1 FOLLOWING AND 10 FOLLOWING) FROM {s}.ints WHERE k NOT IN (4, 5) ORDER BY k;
SELECT k, count(*) OVER (ORDER BY i4 RANGE 1 PRECEDING), count(*) OVER (ORDER BY i8 RANGE BETWEEN CURRENT ROW AND 10 FOLLOWING) FROM {s}.ints ORDER BY k;
SELECT id, count(*) OVER (ORDER BY placed RANGE BETWEEN interval '1 day' PRECEDING AND interval '12 hours' FOLLOWING), sum(qty) OVER (ORDER BY placed DESC RANGE interval '1 month' PRECEDING) FROM {s}.orders ORDER BY id;
SELECT id, sum(qty) OVER (ORDER BY placed DESC RANGE interval '1 week' PRECEDING), count(*) OVER (ORDER BY placed RANGE BETWEEN interval '3 days' FOLLOWING AND interval '10 days' FOLLOWING) FROM {s}.orders ORDER BY id;
SELECT k, count(*) OVER (ORDER BY d RANGE BETWEEN interval '30 days' PRECEDING AND interval '1 day' FOLLOWING), count(*) OVER (ORDER BY ts DESC RANGE interval '365 days' PRECEDING) FROM {s}.dates ORDER BY k;
SELECT k, count(*) OVER (ORDER BY d RANGE BETWEEN interval '30 days' PRECEDING AND interval '1 day' FOLLOWING), count(*) OVER (ORDER BY ts DESC RANGE interval '365 days' PRECEDING) FROM {s}.dates WHERE k NOT IN (3, 4) ORDER BY k;
SELECT k, count(*) OVER (ORDER BY d RANGE BETWEEN interval '1 month' PRECEDING AND interval '1 day' FOLLOWING), count(*) OVER (ORDER BY d DESC RANGE interval '1 year' PRECEDING) FROM {s}.dates ORDER BY k;
SELECT k, count(*) OVER (ORDER BY ts RANGE BETWEEN interval '1 month' PRECEDING AND interval '100 years' FOLLOWING) FROM {s}.dates WHERE k NOT IN (3, 4) ORDER BY k;
SELECT k, count(*) OVER (ORDER BY ts RANGE BETWEEN interval '1 day' PRECEDING AND CURRENT ROW) FROM {s}.dates ORDER BY k;
SELECT k, count(*) OVER (ORDER BY d RANGE interval '-1 day' PRECEDING), count(*) OVER (ORDER BY n RANGE 1 PRECEDING) FROM {s}.dates JOIN {s}.nums USING (k) ORDER BY k;
SELECT k, count(*) OVER (ORDER BY n RANGE 1 PRECEDING), count(*) OVER (ORDER BY i4, n RANGE UNBOUNDED PRECEDING) FROM {s}.ints JOIN {s}.nums USING (k) ORDER BY k;

-- case: ordered_aggregates
SELECT string_agg(name, ',' ORDER BY id), string_agg(dept, '' ORDER BY id DESC), string_agg(name, ', ' ORDER BY pay NULLS FIRST, id) FROM {s}.emp;
SELECT dept, string_agg(name, '; ' ORDER BY name DESC) FROM {s}.emp GROUP BY dept ORDER BY dept;
SELECT string_agg(c, '|' ORDER BY k), string_agg(t, '' ORDER BY k) FILTER (WHERE k < 5) FROM {s}.texts;
SELECT string_agg(t, ',' ORDER BY k) FROM {s}.nothing;
SELECT string_agg(DISTINCT dept, ',' ORDER BY dept), count(DISTINCT dept), min(DISTINCT pay) FROM {s}.emp;
SELECT array_agg(id ORDER BY id DESC), array_agg(name ORDER BY id), array_agg(dept ORDER BY id) FROM {s}.emp;
SELECT dept, array_agg(id ORDER BY pay NULLS FIRST, id), array_agg(boss ORDER BY id) FILTER (WHERE id > 3) FROM {s}.emp GROUP BY dept ORDER BY dept;
SELECT array_agg(k ORDER BY k), array_agg(t ORDER BY k) FROM {s}.nothing;
SELECT array_agg(t ORDER BY k), array_agg(v ORDER BY k DESC) FROM {s}.texts;
SELECT array_agg(d ORDER BY k), array_agg(ts ORDER BY k), array_agg(tz ORDER BY k) FROM {s}.dates;
SELECT array_agg(b ORDER BY k), array_agg(u ORDER BY k) FROM {s}.misc;
SELECT array_agg(f4 ORDER BY k), array_agg(f8 ORDER BY k), array_agg(f8 + 0 ORDER BY k) FROM {s}.floats;
SELECT array_agg(i2 ORDER BY k), array_agg(i8 ORDER BY k), array_agg(i4 + 0 ORDER BY k) FROM {s}.ints;
SELECT array_agg(DISTINCT dept ORDER BY dept DESC NULLS LAST) FROM {s}.emp;
SELECT array_agg(n ORDER BY k), array_agg(c ORDER BY k) FROM {s}.nums JOIN {s}.texts USING (k);
SELECT cardinality(a), a FROM (SELECT dept, array_agg(id ORDER BY id) AS a FROM {s}.emp GROUP BY dept) x ORDER BY dept;

-- case: masks
SELECT k, sluice.mask_text(t), sluice.mask_text(v), sluice.mask_text(c), sluice.mask_email(t), sluice.mask_email(v), sluice.mask_phone(t), sluice.mask_phone(c) FROM {s}.texts ORDER BY k;
SELECT k, sluice.mask_partial(t, 1, '***', 1), sluice.mask_partial(v, 0, '', 2), sluice.mask_partial(c, 2, 'é', 0), sluice.mask_partial(t, 400, '***', 400) FROM {s}.texts ORDER BY k;
SELECT k, sluice.salted_hash(t, 'salt'), sluice.salted_hash(c, 'é''\'), sluice.salted_hash(v, '') FROM {s}.texts ORDER BY k;
SELECT k, sluice.mask_month(d), sluice.mask_month(ts), sluice.mask_month(tz), sluice.mask_year(d), sluice.mask_year(ts), sluice.mask_year(tz) FROM {s}.dates ORDER BY k;
SELECT k, sluice.mask_band(i4, 10), sluice.mask_band(i8, 1000::bigint), sluice.mask_band(i4, 2147483647), sluice.mask_band(i2, 7) FROM {s}.ints ORDER BY k;
SELECT k, sluice.mask_band(n, 10), sluice.mask_band(z, 3), sluice.mask_band(s, 1::numeric), sluice.mask_band(w, 1000) FROM {s}.nums ORDER BY k;
SELECT k, sluice.mask_band(f8, 10), sluice.mask_band(f8, 3::float8), sluice.mask_band(f4, 10) FROM {s}.floats ORDER BY k;
SELECT sluice.mask_month(d), count(*) FROM {s}.dates GROUP BY 1 ORDER BY 1;
