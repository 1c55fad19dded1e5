-- What the oracle asks about: schema plain is copied to the engines, schema h stays at home in every case.
CREATE SCHEMA plain;
CREATE SCHEMA h;
CREATE SCHEMA fx;
CREATE SCHEMA fp;
CREATE SCHEMA fo;
CREATE SCHEMA fh;
SET search_path = plain;

CREATE TABLE customers (id int NOT NULL, name text NOT NULL, city text, credit numeric(12,2), since date, vip boolean);
INSERT INTO customers VALUES
 (1, 'Ann', 'Amsterdam', 1000.00, '2019-05-01', true),
 (2, 'Bob', 'Berlin', 0.00, '2020-02-29', false),
 (3, 'Čeněk', 'Čáslav', -12.50, '2021-12-31', NULL),
 (4, 'Dora', NULL, NULL, NULL, false),
 (5, 'eve', 'amsterdam', 99999999.99, '2000-01-01', true),
 (6, '', '', 0.01, '1999-12-31', NULL);

CREATE TABLE orders (id bigint NOT NULL, customer_id int, total numeric(10,2), qty smallint, placed timestamp, zoned timestamptz, note varchar(40), status char(4));
INSERT INTO orders
SELECT g, CASE WHEN g % 11 = 0 THEN NULL ELSE g % 7 END, CASE WHEN g % 13 <> 0 THEN (g * 37 % 1000) / 4.0 END, (g % 5)::smallint,
    timestamp '2024-01-01 00:00' + g * interval '7 hours 13 minutes', timestamptz '2024-03-09 00:00+00' + g * interval '1 hour 1 second',
    CASE g % 4 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'note ' || g ELSE 'Note ' || g || ' ' END,
    (ARRAY['new', 'paid', 'sent', 'x'])[1 + g % 4]
FROM generate_series(1, 200) g;

CREATE TABLE ints (k int NOT NULL, i2 smallint, i4 integer, i8 bigint);
INSERT INTO ints VALUES (1, 0, 0, 0), (2, 1, 1, 1), (3, -1, -1, -1), (4, 32767, 2147483647, 9223372036854775807),
 (5, -32768, -2147483648, -9223372036854775808), (6, NULL, NULL, NULL), (7, 7, 7, 7), (8, -7, -7, -7), (9, 2, 2, 2), (10, 100, 100000, 10000000000);

CREATE TABLE nums (k int NOT NULL, n numeric(10,2), w numeric(38,10), z numeric(5,0), s numeric(18,6));
INSERT INTO nums VALUES (1, 0, 0, 0, 0), (2, 1.50, 1.5, 12, 0.000001), (3, -1.50, -1.5, -12, -0.000001), (4, 99999999.99, 9999999999999999999999999999.9999999999, 99999, 999999999999.999999),
 (5, -99999999.99, -9999999999999999999999999999.9999999999, -99999, -999999999999.999999), (6, NULL, NULL, NULL, NULL),
 (7, 0.01, 0.0000000001, 1, 1.234567), (8, 2.50, 2.5, 2, 2.5), (9, 3.50, 3.5, 3, 3.5), (10, 10.00, 10, 10, 10);

CREATE TABLE floats (k int NOT NULL, f4 real, f8 double precision);
INSERT INTO floats VALUES (1, 0, 0), (2, '-0', '-0'), (3, 'NaN', 'NaN'), (4, 'Infinity', 'Infinity'), (5, '-Infinity', '-Infinity'), (6, NULL, NULL),
 (7, 0.1, 0.1), (8, 1e20, 1e20), (9, 3.4028235e38, 1.7976931348623157e308), (10, 1e-45, 5e-324), (11, 1e15, 1e15), (12, 123456.7, 999999999999999.9),
 (13, 0.0001, 0.0001), (14, 1e-5, 1e-5), (15, 2.5, 2.5), (16, -2.5, -2.5), (17, 1.5, 1.5), (18, 16777216, 9007199254740992);

CREATE TABLE texts (k int NOT NULL, t text, v varchar(10), c char(6));
INSERT INTO texts VALUES (1, 'a', 'a', 'a'), (2, 'A', 'A', 'A'), (3, '', '', ''), (4, ' ', ' ', ' '), (5, 'a ', 'a ', 'a '), (6, NULL, NULL, NULL),
 (7, 'é', 'é', 'é'), (8, U&'e\0301', U&'e\0301', U&'e\0301'), (9, 'ß', 'ß', 'ß'), (10, 'İ', 'İ', 'İ'), (11, '日本語', '日本語', '日本語'), (12, '😀x', '😀x', '😀x'),
 (13, E'tab\tnl\n', E't\tn\n', E't\tn\n'), (14, 'it''s "q"', 'it''s', 'it''s'), (15, 'a\b', 'a\b', 'a\b'), (16, '10%', '10%', '10%'), (17, 'a_b', 'a_b', 'a_b'),
 (18, 'abc', 'abc', 'abc'), (19, 'ABC', 'ABC', 'ABC'), (20, 'foo bar', 'foo bar', 'foo'), (21, '_z', '_z', '_z'), (22, '/api/x', '/api/x', '/api/x'), (23, '9', '9', '9'), (24, '10', '10', '10'),
 (25, 'z-1', 'z-1', 'z-1'), (26, 'null', 'null', 'null'), (27, 'NULL', 'NULL', 'NULL'), (28, ' lead', ' lead', ' lead'), (29, repeat('x', 300), repeat('y', 10), 'zzzzzz');

CREATE TABLE dates (k int NOT NULL, d date, ts timestamp, tz timestamptz, tm time);
INSERT INTO dates VALUES (1, '1970-01-01', '1970-01-01 00:00:00', '1970-01-01 00:00:00+00', '00:00'), (2, '2024-02-29', '2024-02-29 12:34:56.789', '2024-02-29 12:34:56.789+00', '12:34:56.789'),
 (3, 'infinity', 'infinity', 'infinity', '23:59:59.999999'), (4, '-infinity', '-infinity', '-infinity', '00:00:00.000001'), (5, '0001-01-01', '0001-01-01 00:00:00', '0001-01-01 00:00:00+00', '01:02:03'),
 (6, NULL, NULL, NULL, NULL), (7, '0044-03-15 BC', '0044-03-15 12:00:00 BC', '0044-03-15 12:00:00+00 BC', '12:00'), (8, '9999-12-31', '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59.999999+00', '12:00:00.5'),
 (9, '2024-03-10', '2024-03-10 02:30:00', '2024-03-10 07:30:00+00', '02:30'), (10, '2024-11-03', '2024-11-03 01:30:00', '2024-11-03 05:30:00+00', '01:30'), (11, '2024-11-03', '2024-11-03 01:30:00', '2024-11-03 06:30:00+00', '01:30'),
 (12, '1582-10-10', '1582-10-10 10:10:10', '1800-01-01 00:00:00+00', '10:10:10'), (13, '2024-01-31', '2024-01-31 23:59:59.999999', '2024-01-31 23:59:59.999999+00', '23:59'), (14, '1969-12-31', '1969-12-31 23:59:59.999999', '1969-12-31 23:59:59.999999+00', '08:00');

CREATE TABLE spans (k int NOT NULL, v interval);
INSERT INTO spans VALUES (1, '0'), (2, '1 year 2 mons 3 days 04:05:06.789'), (3, '-10 year 22 months'), (4, '30 days'), (5, '1 mon'), (6, NULL), (7, '720 hours'), (8, '-1 day +00:00:01'), (9, '00:00:00.000001'), (10, '-00:00:00.000001'), (11, '100 years');

CREATE TABLE misc (k int NOT NULL, b boolean, u uuid, y bytea, j json, ai int[], at text[]);
INSERT INTO misc VALUES (1, true, '00112233-4455-6677-8899-aabbccddeeff', '\xdeadbeef', '{"a":1,"a":2, "b" : [1, 2]}', '{1,2,3}', '{a,"b c",NULL,""}'),
 (2, false, 'ffffffff-ffff-ffff-ffff-ffffffffffff', '', '1.10', '{}', '{}'), (3, NULL, '80000000-0000-0000-0000-000000000000', '\x00', '{"a":null}', '{NULL}', '{"q\"x","NULL"}'),
 (4, true, NULL, NULL, NULL, NULL, NULL), (5, false, '00000000-0000-0000-0000-000000000000', '\xff00fe', '[1,2,3]', '{-2147483648,2147483647}', '{"{}","a,b"}'),
 (6, NULL, '7fffffff-ffff-ffff-ffff-ffffffffffff', '\x616263', '"x"', '{5,NULL,6}', '{é}');

CREATE TABLE nothing (k int, t text, n numeric(10,2), f double precision, d date, b boolean);

CREATE TABLE emp (id int NOT NULL, boss int, name text NOT NULL, dept text, pay numeric(10,2));
INSERT INTO emp VALUES (1, NULL, 'root', 'board', 1000), (2, 1, 'ann', 'eng', 700), (3, 1, 'bob', 'ops', 650), (4, 2, 'cyd', 'eng', 500), (5, 2, 'dan', 'eng', 500), (6, 3, 'eli', 'ops', NULL), (7, 6, 'flo', NULL, 100);

CREATE TABLE "Odd Names" ("Id" int NOT NULL, "order" text, "a b" int, "quote""d" int, "日本" text);
INSERT INTO "Odd Names" VALUES (1, 'x', 2, 3, 'y'), (2, NULL, NULL, NULL, NULL);

-- Text whose order and equality differ from bytes, where this build of Postgres has ICU.
CREATE TABLE coll (k int NOT NULL, bytes text COLLATE "C", words text);
INSERT INTO coll SELECT row_number() OVER (), v, v FROM unnest(ARRAY['a', 'B', 'A', 'b', '_z', 'z-1', '10', '9', 'é', '/api/x', 'e', 'Á', 'á', 'co-op', 'coop', 'CO-OP', NULL, '', ' ', 'a b', 'ab']) v;
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_collation WHERE collname = 'en-x-icu') THEN
        ALTER TABLE coll ALTER words TYPE text COLLATE "en-x-icu";
        CREATE COLLATION h.caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        ALTER TABLE coll ADD loose text COLLATE h.caseless;
    ELSE
        ALTER TABLE coll ADD loose text;
    END IF;
    UPDATE coll SET loose = words;
END $$;

CREATE TABLE series (k int NOT NULL, g int, t text);
INSERT INTO series SELECT g, g % 10, 'row ' || g FROM generate_series(1, 3000) g;

CREATE TABLE h.cities AS SELECT * FROM (VALUES ('Amsterdam', 'NL', 0.9), ('Berlin', 'DE', 3.6), ('Čáslav', 'CZ', 0.01), ('Paris', 'FR', 2.1), (NULL, NULL, NULL)) v(city, country, millions);
CREATE TABLE h.marks (k int PRIMARY KEY, mark text, n numeric, f float8, i8 bigint);
INSERT INTO h.marks VALUES (1, 'one', 1, 1, 1), (2, 'two', 1.5, 1.5, 2), (3, NULL, 0.1, 0.1, 3), (4, 'four', NULL, NULL, NULL), (7, 'seven', 0.01, 0.01, 7), (99, 'none', 99, 99, 99);
CREATE FUNCTION h.twice(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
CREATE FUNCTION h.shout(text) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN upper($1) || '!'; END $$;
CREATE FUNCTION h.span(int) RETURNS TABLE (a int, b text) LANGUAGE sql AS 'SELECT g, ''s'' || g FROM generate_series(1, $1) g';
CREATE TYPE h.mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN h.positive AS int CHECK (VALUE > 0);
CREATE TYPE h.pair AS (a int, b text, m int[]);

-- Types that an engine has no counterpart of, or holds less of.
CREATE TABLE plain.exact (k int NOT NULL, u numeric, m numeric(5,-2), g numeric(38,0), b numeric(50,20), r numeric(38,38));
INSERT INTO plain.exact VALUES (1, 0, 0, 0, 0, 0), (2, 1.10, 1200, 12345678901234567890123456789012345678, 123456789012345678901234567890.12345678901234567890, 0.00000000000000000000000000000000000001),
 (3, 'NaN', -12300, -99999999999999999999999999999999999999, 'NaN', -0.99999999999999999999999999999999999999), (4, 'Infinity', 100, 1, 1, 0.5), (5, '-Infinity', -100, -1, -1, -0.5), (6, NULL, NULL, NULL, NULL, NULL),
 (7, 123456789012345678901234567890123456789012345678901234567890.000000000000000000000000000000000000000001, 9999900, 99999999999999999999999999999999999999, 0.00000000000000000001, 0.1), (8, 1.1, 0, 10, 10, 0.25);
CREATE TABLE plain.kinds (k int NOT NULL, jb jsonb, e h.mood, p h.pair, da date[], na numeric(10,2)[], ba boolean[], ia int[]);
INSERT INTO plain.kinds VALUES (1, '{"a": 1, "b": [1, {"c": null}]}', 'sad', '(1,a,)', '{2024-02-29,infinity}', '{1.50,NULL,0}', '{t,f,NULL}', '{1,2}'), (2, '[]', 'happy', '(,"x y","{{1,2},{3,4}}")', '{}', '{}', '{}', '{}'),
 (3, '1.10', 'ok', '(2147483647,"q""(),",{})', '{NULL}', '{-99999999.99}', '{f}', '{0,NULL,-1}'), (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (5, '"é"', 'ok', '(-1,,"{NULL,7}")', '{"0044-03-15 BC"}', '{0.01,0.01}', '{NULL}', '{2147483647}'),
 (6, 'null', 'sad', '(,,)', '{1970-01-01,9999-12-31}', '{10}', '{t,t}', '{5}'), (7, '{"a": "7", "b": null}', 'happy', '(1,a,)', '{-infinity}', '{NULL}', '{f,t}', '{1,2,3}');
CREATE TABLE plain.clocks (k int NOT NULL, ttz timetz, tm time, v interval);
INSERT INTO plain.clocks VALUES (1, '00:00+00', '00:00', '0'), (2, '12:34:56.789-08', '12:34:56.789', '1 mon -1 day +00:00:01'), (3, '23:59:59.999999+14', '23:59:59.999999', '-1 mon +30 days'), (4, NULL, NULL, NULL),
 (5, '02:30+05:30', '02:30', '-1 year -2 mons +3 days -04:05:06.789'), (6, '12:00-12', '12:00:00.5', '24:00'), (7, '20:00+00', '00:00:00.000001', '1 day'), (8, '12:00-08', '20:00', '2562047:47:16.854775');
RESET search_path;
