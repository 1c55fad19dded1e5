-- What generated statements are asked about by a governed role: the fixture's tables, with rows that leak_reader may not see,
-- and what decides about them, in h. Whatever says "hush" or 77 and five digits is nobody's to see.
CREATE TABLE h.entitled (who name, k int, word text);
INSERT INTO h.entitled SELECT 'leak_reader', k, NULL FROM unnest(ARRAY[2, 3, 5, 7, NULL]) k;
INSERT INTO h.entitled SELECT 'leak_other', k, 'hush-' || k FROM generate_series(0, 1000) k;
INSERT INTO h.entitled SELECT 'leak_reader', NULL, t FROM plain.texts WHERE k NOT IN (3, 13, 23, 24, 26);
CREATE TABLE h.until (d date);
INSERT INTO h.until VALUES ('2024-11-01');
ALTER TABLE plain.texts ADD m text;
ALTER TABLE plain.nums ADD owner text;
UPDATE plain.nums SET owner = CASE WHEN k NOT IN (1, 4, 5) THEN 'leak_reader' ELSE 'hush' END;

INSERT INTO plain.ints VALUES (901, NULL, 7700001, 7700001), (902, 0, 0, 7700002), (903, -32768, -2147483648, 7700003);
INSERT INTO plain.nums VALUES (901, 7700001, 7700001, 0, 7700001.5, 'hush'), (902, 0, 0, 0, 0, NULL), (903, -7700003, -7700003, 99999, 0, 'hush');
INSERT INTO plain.floats VALUES (901, 0, 0), (902, 7700002, 7700002), (903, 'NaN', 'NaN'), (904, NULL, 7700004);
INSERT INTO plain.texts VALUES (901, 'hush-1', 'hush-1', 'hush-1'), (902, '12hush', '12hush', '12hush'), (903, '{hush', '{hush', '{hush'), (904, '2024-hush', '', 'hush'), (905, 'hush\', '\hush', 'hush');
INSERT INTO plain.dates VALUES (901, '2077-01-01', '2077-01-01 07:07:07', '2077-01-01 07:07:07+00', '07:07:07'), (902, 'infinity', '-infinity', '-infinity', '24:00'), (903, NULL, '2077-01-03', NULL, NULL);
INSERT INTO plain.spans VALUES (901, '77 years'), (902, NULL), (903, '0');
INSERT INTO plain.misc VALUES (901, false, 'deadbeef-0000-0000-0000-000000000001', '\x68757368', '{"hush": 1}', '{7700001,0}', '{hush}'), (902, false, NULL, NULL, 'null', '{}', '{hush,NULL}');
INSERT INTO plain.coll VALUES (901, 'hush', 'hush', 'hush'), (902, '0hush', NULL, 'hush'), (903, NULL, 'hush', 'HUSH');
INSERT INTO plain.kinds VALUES (901, '{"a": "hush"}', 'happy', '(7700001,hush,)', '{2077-01-01}', '{7700001}', '{t}', '{7700001}'), (902, '"hush"', 'sad', NULL, '{}', '{}', '{}', '{0}');
UPDATE plain.texts SET m = t;

-- What may be seen here raises an error nearly nowhere, and what is hidden, or behind masks, nearly everywhere.
CREATE TABLE plain.tame (k int NOT NULL, i int, s smallint, b bigint, n numeric(10,2), f double precision, t text, d date, ts timestamp);
INSERT INTO plain.tame SELECT k, 1 + k % 3, 1 + k % 2, 2 + k % 2, 1 + k / 4.0, 1 + k / 8.0, (k % 2)::text, date '2024-01-01' + k, timestamp '2024-01-01 01:00' + k * interval '1 hour' FROM generate_series(1, 8) k;
CREATE TABLE plain.mild AS TABLE plain.tame;
ALTER TABLE plain.mild ALTER k SET NOT NULL;
UPDATE plain.mild SET i = 0, s = 0, n = -n, t = 'hush-' || k;
INSERT INTO plain.tame VALUES (901, 0, 0, 0, 0, 0, 'hush', 'infinity', 'infinity'), (902, -2147483648, -32768, -9223372036854775808, -99999999.99, -1e308, '{hush', '-infinity', '-infinity'),
    (903, 2147483647, 32767, 9223372036854775807, 99999999.99, 1e308, '\\hush', '9999-12-31', '9999-12-31 23:59:59'), (904, -1, -1, -1, -1, 'NaN', 'hush%', '0044-03-15 BC', '0044-03-15 12:00:00 BC');
INSERT INTO plain.mild SELECT * FROM plain.tame WHERE k > 900;

-- Home's own row security, which Postgres enforces.
ALTER TABLE h.marks ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON h.marks FOR SELECT USING (k < 50);
