-- Times that hang on when the transaction began, and on no row.
SELECT k, ts < now(), tz < now(), d < current_date, ts > LOCALTIMESTAMP, tz >= current_timestamp, d <> now()::date FROM {s}.dates ORDER BY k;
SELECT k FROM {s}.dates WHERE tz < now() - interval '7 days' AND ts < now() AND d < current_date - 30 ORDER BY k;
SELECT k FROM {s}.dates WHERE ts BETWEEN LOCALTIMESTAMP - interval '100 years' AND date_trunc('month', now()) ORDER BY k;
SELECT k FROM {s}.dates WHERE tz >= current_date - interval '90 years' AND d < now() AND d < LOCALTIMESTAMP ORDER BY k;
SELECT k, now() - interval '1 day' < now(), current_date - 1 < current_date, now() IS NULL, d > current_date OR d IS NULL FROM {s}.dates ORDER BY k;
SELECT count(*), max(now()) = now(), min(current_date) = current_date FROM {s}.dates WHERE tz < now();
SELECT count(*) FROM {s}.dates GROUP BY d < current_date ORDER BY 1;
SELECT k FROM {s}.dates WHERE ts > now() AT TIME ZONE 'Asia/Kolkata' OR tz > LOCALTIMESTAMP AT TIME ZONE 'Asia/Kolkata' ORDER BY k;
SELECT k FROM {s}.dates WHERE d < current_date + interval '9000 years' ORDER BY k;
SELECT k FROM {s}.dates WHERE d > current_date - interval '5000 years' ORDER BY k;
SELECT k FROM {s}.dates WHERE tz > now() - interval '300000 years' ORDER BY k;
SELECT a.k, b.k FROM {s}.dates a JOIN {s}.dates b ON a.d = b.d AND b.ts < now() - interval '1 hour' ORDER BY 1, 2;
SELECT k, (SELECT count(*) FROM {s}.orders o WHERE o.placed < now() AND o.id = d.k) FROM {s}.dates d ORDER BY k;
SELECT k FROM {s}.dates WHERE tz < clock_timestamp() ORDER BY k;
-- params: ["3"]
SELECT k FROM {s}.dates WHERE k > $1 AND tz < now() AND d < current_date ORDER BY k;
SET TimeZone = 'America/New_York';
SELECT k, ts < now(), tz < now(), d < now(), d < current_date, tz < current_date, tz < LOCALTIMESTAMP FROM {s}.dates ORDER BY k;
SET DateStyle = 'German, DMY';
SELECT k, ts < now(), tz < now(), d < now(), d < current_date FROM {s}.dates ORDER BY k;
RESET DateStyle;
RESET TimeZone;
-- Arrays, written out and as parameters.
SELECT k FROM {s}.texts WHERE t = ANY ('{a,ab,é}') ORDER BY k;
SELECT k, t = ANY ('{a,b}'), t <> ALL ('{a,b}'), v = ANY ('{a,NULL}'), c = ANY ('{a,"b c"}') FROM {s}.texts ORDER BY k;
SELECT k, t = ANY ('{}'), t <> ALL ('{}'), k = ANY ('{1,2}'), k <> ALL ('{1,2}') FROM {s}.texts ORDER BY k;
-- params: ["{1,3,5,2147483647}"]
SELECT k, k = ANY ($1), k <> ALL ($1) FROM {s}.ints ORDER BY k;
-- params: ["{1,3,5,9223372036854775807}"]
SELECT k, i2 = ANY ($1::bigint[]), i4 = ANY ($1), i8 <> ALL ($1) FROM {s}.ints ORDER BY k;
-- params: ["{a,\"a b\",\"\\\"\",é,\"\"}"]
SELECT k, t = ANY ($1), v <> ALL ($1::text[]), c = ANY ($1) FROM {s}.texts ORDER BY k;
-- params: ["{a,NULL}"]
SELECT k, t = ANY ($1), t <> ALL ($1) FROM {s}.texts ORDER BY k;
-- params: ["{}"]
SELECT k, t = ANY ($1), t <> ALL ($1) FROM {s}.texts ORDER BY k;
-- params: [null]
SELECT k, t = ANY ($1), t <> ALL ($1) FROM {s}.texts ORDER BY k;
-- params: ["{{1,2},{3,4}}"]
SELECT count(*) FROM {s}.ints WHERE k = ANY ($1::int[]);
-- params: ["{1,x}"]
SELECT count(*) FROM {s}.ints WHERE k = ANY ($1::int[]);
-- params: ["{paid,open}", "2"]
SELECT status, count(*) FROM {s}.orders WHERE status = ANY ($1) AND qty > $2 GROUP BY status ORDER BY 1;
-- params: ["{1,2}"]
SELECT u, count(*) FROM {s}.misc WHERE k = ANY ($1) GROUP BY u ORDER BY u;
-- params: ["{a,b}"]
SELECT words FROM {s}.coll WHERE words = ANY ($1) ORDER BY k;
-- params: ["{1,2,3}"]
SELECT a.k, b.k FROM {s}.ints a LEFT JOIN {s}.texts b ON a.k = b.k AND b.k = ANY ($1) ORDER BY 1, 2;
-- params: ["{1,2.5}"]
SELECT k FROM {s}.nums WHERE n = ANY ($1) ORDER BY k;
-- params: ["7 days"]
SELECT k FROM {s}.dates WHERE tz < now() - $1::interval ORDER BY k;
