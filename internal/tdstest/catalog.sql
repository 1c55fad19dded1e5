-- The part of a SQL Server's catalog that is asked for, over that of the database.
CREATE SCHEMA IF NOT EXISTS dbo;
CREATE SCHEMA sys;
-- Collations that take blanks for nothing, as all of the server's do at the end of a text, and one of them letters of other cases for equal.
CREATE COLLATION dbo.folding (provider = icu, locale = 'und-u-ks-level1-ka-shifted', deterministic = false);
CREATE COLLATION dbo.code_points (provider = icu, locale = 'und-u-ks-level3-ka-shifted', deterministic = false);
CREATE DOMAIN dbo.tinyint AS smallint CHECK (VALUE BETWEEN 0 AND 255);
CREATE DOMAIN dbo.money AS numeric(19,4);
CREATE DOMAIN dbo.datetime AS timestamp(3);

CREATE VIEW sys.schemas AS SELECT nspname AS name, oid::int AS schema_id FROM pg_catalog.pg_namespace;
CREATE VIEW sys.objects AS SELECT relname AS name, oid::int AS object_id, relnamespace::int AS schema_id, CASE relkind WHEN 'r' THEN 'U' ELSE 'V' END AS type,
    (relnamespace = 'sys'::regnamespace)::int AS is_ms_shipped
FROM pg_catalog.pg_class WHERE relkind IN ('r', 'v');
CREATE VIEW sys.types AS SELECT t.name, t.id AS user_type_id, t.id AS system_type_id, 0 AS is_user_defined, 0 AS is_assembly_type
FROM (VALUES ('bit', 16), ('smallint', 21), ('int', 23), ('bigint', 20), ('real', 700), ('float', 701), ('decimal', 1700), ('varbinary', 17), ('uniqueidentifier', 2950),
    ('date', 1082), ('time', 1083), ('datetime2', 1114), ('datetimeoffset', 1184), ('nvarchar', 25), ('varchar', 1043), ('nchar', 1042),
    ('tinyint', 'dbo.tinyint'::regtype::int), ('money', 'dbo.money'::regtype::int), ('datetime', 'dbo.datetime'::regtype::int), ('cursor', 2249)) AS t (name, id);
CREATE VIEW sys.columns AS SELECT a.attrelid::int AS object_id, a.attnum AS column_id, a.attname AS name, coalesce(t.user_type_id, 2249) AS user_type_id,
    CASE a.atttypid WHEN 1042 THEN 2 * (a.atttypmod - 4) WHEN 1043 THEN a.atttypmod - 4 ELSE -1 END AS max_length,
    CASE WHEN a.atttypid = 1700 THEN ((a.atttypmod - 4) >> 16) ELSE 0 END AS precision,
    CASE WHEN a.atttypid = 1700 THEN ((a.atttypmod - 4) & 2047) WHEN a.atttypid IN (1083, 1114, 1184) THEN coalesce(nullif(a.atttypmod, -1), 6) ELSE 0 END AS scale,
    (NOT a.attnotnull)::int AS is_nullable
FROM pg_catalog.pg_attribute a LEFT JOIN sys.types t ON t.user_type_id = a.atttypid::int WHERE a.attnum > 0 AND NOT a.attisdropped;
CREATE VIEW sys.extended_properties AS SELECT 1 AS class, objoid::int AS major_id, objsubid AS minor_id, 'MS_Description'::text AS name, description AS value
FROM pg_catalog.pg_description WHERE classoid = 'pg_class'::regclass;
CREATE VIEW sys.partitions AS SELECT oid::int AS object_id, 1 AS index_id, reltuples::bigint AS rows FROM pg_catalog.pg_class;
CREATE FUNCTION dbo.serverproperty(text) RETURNS text LANGUAGE sql AS $$ SELECT '16.0.1000.6'::text WHERE $1 = 'ProductVersion' $$;
