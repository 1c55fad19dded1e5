-- Results as one document where they are small, else as a handle.
DO $do$
BEGIN
    IF to_regtype('sluice.delivery') IS NULL THEN
        CREATE TYPE sluice.delivery AS ("inline" boolean, body jsonb, handle_id uuid, row_count bigint);
    END IF;
END
$do$;
COMMENT ON TYPE sluice.delivery IS 'what sluice.document returns';

-- The arguments of a call, once home has looked at them; the parameters are those of sluice.document.
CREATE OR REPLACE FUNCTION sluice.document_arguments(query text, inline_rows integer DEFAULT NULL, inline_bytes integer DEFAULT NULL)
RETURNS text[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT ARRAY[query, coalesce(inline_rows, nullif(current_setting('sluice.inline_rows', true), '')::integer, 1000)::text,
        coalesce(inline_bytes, nullif(current_setting('sluice.inline_bytes', true), '')::integer, 1048576)::text]
$$;
COMMENT ON FUNCTION sluice.document_arguments(text, integer, integer) IS 'the arguments of a call of sluice.document';

CREATE OR REPLACE FUNCTION sluice.document(query text, inline_rows integer DEFAULT NULL, inline_bytes integer DEFAULT NULL) RETURNS sluice.delivery
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE feature_not_supported USING MESSAGE = 'sluice.document stands where it cannot be carried out',
        HINT = 'Through Sluice, write SELECT ... FROM sluice.document(...), with nothing else in FROM, and no column or subquery among the arguments.';
END
$$;
COMMENT ON FUNCTION sluice.document(text, integer, integer) IS 'the result of a query as an array of objects where it is small, else as a handle';

-- A delivery as sluice.document returns it, which Sluice puts in its place.
CREATE OR REPLACE FUNCTION sluice.delivered(body jsonb, handle_id uuid, row_count bigint) RETURNS sluice.delivery
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT handle_id IS NULL, body, handle_id, row_count $$;
COMMENT ON FUNCTION sluice.delivered(jsonb, uuid, bigint) IS 'what sluice.document returns';

-- The rows of a table in their order, as an array of objects, unless its text would be longer than a number of bytes: then NULL.
CREATE OR REPLACE FUNCTION sluice.inline_body(relation regclass, inline_bytes bigint) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    length bigint;
    body jsonb;
BEGIN
    EXECUTE format('SELECT coalesce(sum(octet_length(to_jsonb(t)::text) + 2), 2) FROM %s t', relation) INTO length; -- brackets, and what stands between
    IF length <= inline_bytes THEN
        EXECUTE format('SELECT coalesce(jsonb_agg(to_jsonb(t) ORDER BY t.ctid), ''[]'') FROM %s t', relation) INTO body;
    END IF;
    RETURN body;
END
$$;
COMMENT ON FUNCTION sluice.inline_body(regclass, bigint) IS 'the rows of a table as an array of objects, if it is short';

-- The rows of a query as objects, some of them at most. RETURN QUERY lets home compute them in parallel.
CREATE OR REPLACE FUNCTION sluice.first_objects(query text, most bigint) RETURNS SETOF jsonb
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN QUERY EXECUTE pg_catalog.concat('SELECT pg_catalog.to_jsonb(q) FROM (', query, E'\n) AS q LIMIT ', most);
END
$$;
COMMENT ON FUNCTION sluice.first_objects(text, bigint) IS 'the first rows of a query as objects';

-- The result of a query as an array of objects, and how many rows it has. Where these are too many, or the text too long, both are NULL, and
-- what the query has done is undone. It is the caller's query, under his search path.
CREATE OR REPLACE FUNCTION sluice.inline_result(query text, inline_rows bigint, inline_bytes bigint, OUT body jsonb, OUT row_count bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    object jsonb;
    objects jsonb[] := '{}';
    length bigint := 0;
BEGIN
    row_count := 0;
    FOR object IN SELECT sluice.first_objects(query, inline_rows OPERATOR(pg_catalog.+) 1) LOOP
        row_count := row_count OPERATOR(pg_catalog.+) 1;
        length := length OPERATOR(pg_catalog.+) pg_catalog.octet_length(object::pg_catalog.text) OPERATOR(pg_catalog.+) 2;
        IF row_count OPERATOR(pg_catalog.>) inline_rows OR length OPERATOR(pg_catalog.>) inline_bytes THEN
            RAISE SQLSTATE 'SLOVR';
        END IF;
        objects := pg_catalog.array_append(objects, object);
    END LOOP;
    IF inline_bytes OPERATOR(pg_catalog.<) 2 THEN -- the brackets
        RAISE SQLSTATE 'SLOVR';
    END IF;
    body := pg_catalog.to_jsonb(objects);
EXCEPTION WHEN SQLSTATE 'SLOVR' THEN
    body := NULL;
    row_count := NULL;
END
$$;
COMMENT ON FUNCTION sluice.inline_result(text, bigint, bigint) IS 'the result of a query as an array of objects, if it is short';
