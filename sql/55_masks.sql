-- Functions for masks. Each is one expression, which Postgres writes into the query, and which engines are sent in a form
-- of their own: parser/dialect has those of DuckDB, another Postgres gets the expression itself. NULL stays NULL.
CREATE OR REPLACE FUNCTION sluice.mask_text(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN value IS NOT NULL THEN '***' END;
COMMENT ON FUNCTION sluice.mask_text(text) IS 'three stars';

CREATE OR REPLACE FUNCTION sluice.mask_partial(value text, prefix integer, padding text, suffix integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN value IS NULL THEN NULL
    WHEN char_length(left(value, greatest(prefix, 0)) || right(value, greatest(suffix, 0))) < char_length(value)
        THEN left(value, greatest(prefix, 0)) || padding || right(value, greatest(suffix, 0))
    ELSE padding END;
COMMENT ON FUNCTION sluice.mask_partial(text, integer, text, integer) IS 'the first and last characters of a text that has more, the padding between them';

CREATE OR REPLACE FUNCTION sluice.mask_email(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN value LIKE '%@%' THEN left(value, 1) || '***@' || split_part(value, '@', 2)
    WHEN value IS NOT NULL THEN '***' END;
COMMENT ON FUNCTION sluice.mask_email(text) IS 'the first character and the domain of an e-mail address';

CREATE OR REPLACE FUNCTION sluice.mask_phone(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN char_length(value) > 4 THEN '********' || right(value, 2)
    WHEN value IS NOT NULL THEN '********' END;
COMMENT ON FUNCTION sluice.mask_phone(text) IS 'the last two characters of a telephone number';

CREATE OR REPLACE FUNCTION sluice.mask_month(value date) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN isfinite(value) THEN value - (extract(day FROM value)::integer - 1) ELSE value END;
COMMENT ON FUNCTION sluice.mask_month(date) IS 'the first day of the month';

CREATE OR REPLACE FUNCTION sluice.mask_month(value timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_trunc('month', value);
COMMENT ON FUNCTION sluice.mask_month(timestamp) IS 'the beginning of the month';

CREATE OR REPLACE FUNCTION sluice.mask_month(value timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN timezone('UTC', date_trunc('month', timezone('UTC', value)));
COMMENT ON FUNCTION sluice.mask_month(timestamptz) IS 'the beginning of the month, in UTC';

CREATE OR REPLACE FUNCTION sluice.mask_year(value date) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN isfinite(value) THEN value - (extract(doy FROM value)::integer - 1) ELSE value END;
COMMENT ON FUNCTION sluice.mask_year(date) IS 'the first day of the year';

CREATE OR REPLACE FUNCTION sluice.mask_year(value timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_trunc('year', value);
COMMENT ON FUNCTION sluice.mask_year(timestamp) IS 'the beginning of the year';

CREATE OR REPLACE FUNCTION sluice.mask_year(value timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN timezone('UTC', date_trunc('year', timezone('UTC', value)));
COMMENT ON FUNCTION sluice.mask_year(timestamptz) IS 'the beginning of the year, in UTC';

-- Bands are counted from zero to either side, so that none of them reaches beyond what the type holds.
CREATE OR REPLACE FUNCTION sluice.mask_band(value integer, width integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN value - value % width;
COMMENT ON FUNCTION sluice.mask_band(integer, integer) IS 'the multiple of the width next to the value, towards zero';

CREATE OR REPLACE FUNCTION sluice.mask_band(value bigint, width bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN value - value % width;
COMMENT ON FUNCTION sluice.mask_band(bigint, bigint) IS 'the multiple of the width next to the value, towards zero';

CREATE OR REPLACE FUNCTION sluice.mask_band(value numeric, width numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN value - value % width;
COMMENT ON FUNCTION sluice.mask_band(numeric, numeric) IS 'the multiple of the width next to the value, towards zero';

CREATE OR REPLACE FUNCTION sluice.mask_band(value double precision, width double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN trunc(value / width) * width;
COMMENT ON FUNCTION sluice.mask_band(double precision, double precision) IS 'the multiple of the width next to the value, towards zero';

-- The salt of hashes, which is nobody's to see but superusers'. Whoever has it, or may execute mask_hash, can try values until
-- one yields a hash that he has seen. It is no table, so that a dump need not hold it, which others than superusers make too.
CREATE MATERIALIZED VIEW IF NOT EXISTS sluice.mask_salt AS SELECT gen_random_uuid()::text || gen_random_uuid() AS salt WITH NO DATA;
REVOKE ALL ON sluice.mask_salt FROM PUBLIC;
COMMENT ON MATERIALIZED VIEW sluice.mask_salt IS 'the secret salt of sluice.mask_hash';

CREATE OR REPLACE FUNCTION sluice.new_salt() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    REFRESH MATERIALIZED VIEW sluice.mask_salt;
    PERFORM sluice.bump_catalog_version();
END
$$;
REVOKE ALL ON FUNCTION sluice.new_salt() FROM PUBLIC;
COMMENT ON FUNCTION sluice.new_salt() IS 'makes a new salt for sluice.mask_hash, and so other hashes';
SELECT sluice.new_salt() WHERE NOT (SELECT relispopulated FROM pg_class WHERE oid = 'sluice.mask_salt'::regclass);

CREATE OR REPLACE FUNCTION sluice.salted_hash(value text, salt text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN left(encode(sha256(convert_to(salt || value, 'UTF8')), 'hex'), 32);
COMMENT ON FUNCTION sluice.salted_hash(text, text) IS 'the first half of the SHA-256 of a value behind a salt';

-- What a mask names. The proxy puts salted_hash in its place where the salt is safe, at engines, so that readers of foreign
-- tables need not be able to execute it.
CREATE OR REPLACE FUNCTION sluice.mask_hash(value text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT sluice.salted_hash(value, (SELECT salt FROM sluice.mask_salt))
$$;
REVOKE ALL ON FUNCTION sluice.mask_hash(text) FROM PUBLIC;
COMMENT ON FUNCTION sluice.mask_hash(text) IS 'the hash of a value behind a secret salt: equal values have equal hashes';
