-- What the leak corpus asks about. Schema raw has all rows; bare has what leak_alice may see of them, and other raw values
-- behind its masks; sl_tw has the masked values themselves. Whatever says "hush" is nobody's to see.
CREATE SCHEMA raw;
CREATE SCHEMA bare;
CREATE SCHEMA sl_tw;

CREATE TABLE raw.docs (id int, owner text, region text, secret int, code text, note text, big bigint, born date);
INSERT INTO raw.docs VALUES
 (1, 'leak_alice', 'eu', 10, '1', 'first', 1, '2001-01-01'), (2, 'leak_carol', 'eu', 20, '2', 'second', 2, '2002-02-02'),
 (3, 'leak_alice', 'us', 30, '3', NULL, 3, NULL), (4, 'leak_carol', 'eu', 20, '4', 'fourth', 4, '2004-04-04'), (5, NULL, 'eu', 50, '5', 'Fifth', NULL, '2005-05-05');
INSERT INTO raw.docs VALUES (6, 'leak_carol', 'eu', 11, '6', 'hush-é', 6, '2001-01-01'), (7, 'leak_carol', 'eu', 11, '7', 'hush-ü', 7, '2001-01-01'),
 (8, 'leak_carol', 'eu', 11, '8', 'hush-late', 8, '2005-05-20');
INSERT INTO raw.docs SELECT 1000 + g, 'leak_bob', 'us', CASE WHEN g % 10 = 0 THEN 0 ELSE 7700000 + g END, 'hush-code', 'hush-note-' || g,
    9223372036854775800 + g % 7, date '1955-05-05' + g % 20 FROM generate_series(1, 4001) g;
CREATE TABLE bare.docs AS SELECT * FROM raw.docs WHERE id < 6;
CREATE TABLE sl_tw.docs AS TABLE bare.docs;

-- The mask of pay reads owner, those of email and ssn their own columns, and that of born nothing.
CREATE TABLE raw.people (id int, doc int, owner text, region text, email text, ssn varchar(11), pay numeric(10,2), born date);
INSERT INTO raw.people VALUES
 (1, 1, 'leak_alice', 'eu', 'ahush@x.io', '987-65-1111', 100.50, '1955-01-01'), (2, 2, 'leak_carol', 'eu', 'bhush@x.io', '987-65-2222', 8675309.02, '1955-02-02'),
 (3, 2, 'leak_carol', 'eu', NULL, '987-65-3333', 8675309.03, NULL), (4, 9, NULL, 'eu', 'ahush2@x.io', NULL, 8675309.04, '1955-04-04');
INSERT INTO raw.people SELECT 100 + g, g, 'leak_bob', 'us', 'hush' || g || '@x.io', '987-65-' || 2000 + g, 8675000 + g, '1955-06-06' FROM generate_series(1, 3917) g;
CREATE TABLE bare.people AS SELECT id, doc, owner, region, (left(email, 1) || 'other')::text AS email, ('111-11-' || right(ssn, 4))::varchar(11) AS ssn,
    CASE WHEN owner = 'leak_alice' THEN pay ELSE -id END::numeric(10,2) AS pay, CASE WHEN id < 3 THEN date '1999-09-09' END AS born FROM raw.people WHERE region = 'eu';
CREATE TABLE sl_tw.people AS SELECT id, doc, owner, region, (left(email, 1) || '***')::text AS email, ('XXX-XX-' || right(ssn, 4))::varchar(11) AS ssn,
    CASE WHEN owner = 'leak_alice' THEN pay END::numeric(10,2) AS pay, NULL::date AS born FROM raw.people WHERE region = 'eu';

-- Masks and no row filter.
CREATE TABLE raw.cards (id int, number text, pin int, label text);
INSERT INTO raw.cards VALUES (1, 'hush-4001', 0, 'one'), (2, 'hush-4002', 7712345, 'two'), (3, NULL, 7754321, 'three');
CREATE TABLE bare.cards AS SELECT id, 'other-400' || id AS number, 3 AS pin, label FROM raw.cards;
UPDATE bare.cards SET number = NULL WHERE id = 3;
CREATE TABLE sl_tw.cards AS SELECT id, ('****' || right(number, 1))::text AS number, 1 AS pin, label FROM raw.cards;

-- Columns and tables without privileges, and one that hides nothing.
CREATE TABLE raw.emp (id int, name text, salary int);
INSERT INTO raw.emp VALUES (1, 'x', 7766601), (2, 'y', 7766602);
CREATE TABLE bare.emp AS SELECT id, name, -id AS salary FROM raw.emp;
CREATE TABLE sl_tw.emp AS TABLE bare.emp;
CREATE TABLE raw.vault (id int, word text);
INSERT INTO raw.vault VALUES (1, 'hush-vault');
CREATE TABLE bare.vault AS SELECT 1 AS id, 'other'::text AS word;
CREATE TABLE sl_tw.vault AS TABLE bare.vault;
CREATE TABLE raw.open AS SELECT g AS id, 'label ' || g AS label FROM generate_series(1, 1002) g WHERE g < 9 OR g > 1000;
CREATE TABLE bare.open AS TABLE raw.open;
CREATE TABLE sl_tw.open AS TABLE raw.open;

CREATE TABLE entitled (who name, region text);
INSERT INTO entitled VALUES ('leak_alice', 'eu'), ('leak_alice', NULL), ('leak_bob', 'us'), ('leak_bob', 'hush-region');
CREATE TABLE limits (word text, until date);
INSERT INTO limits VALUES ('hush-ü', '2005-05-06');
GRANT SELECT ON entitled, limits TO PUBLIC;
GRANT CREATE ON SCHEMA public TO leak_alice;
CREATE SCHEMA mine AUTHORIZATION leak_alice;
GRANT ALL ON SCHEMA mine TO leak_trusted;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO leak_alice, leak_trusted', current_database()); END $$;
CREATE FUNCTION public.told(int) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE 'told %', $1; RETURN true; END $$;
CREATE FUNCTION public.told(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE 'told %', $1; RETURN true; END $$;
