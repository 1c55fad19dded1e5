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
