-- The last page of a session is noted in a setting, so that it is taken back with its transaction and ends with the session: how many
-- rows it has, how many it might have, whether there are more, and what the token of its last row is made of.

-- Notes a page by the keys of its rows and of the one behind it. What it returns is a number of rows to skip: none.
CREATE OR REPLACE FUNCTION sluice.note_page(seal bytea, keys text[], size bigint, tied boolean) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_rows constant bigint := coalesce(cardinality(keys), 0);
BEGIN
    PERFORM set_config('sluice.last_page', json_build_object('role', encode(substr(seal, 9, 4), 'hex'), 'rows', least(found_rows, size), 'size', size,
        'more', found_rows > size, 'seal', encode(seal, 'hex'), 'keys', CASE WHEN found_rows > size THEN keys[size] END, 'tied', tied)::text, false);
    RETURN 0;
END
$$;
COMMENT ON FUNCTION sluice.note_page(bytea, text[], bigint, boolean) IS 'notes a page for sluice.page_info';

-- No row for a session that has read no page, or has read the last one as another role.
CREATE OR REPLACE FUNCTION sluice.page_info(OUT has_more boolean, OUT page_token text, OUT row_count bigint, OUT page_size bigint) RETURNS SETOF record
LANGUAGE plpgsql STABLE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    noted constant text := nullif(current_setting('sluice.last_page', true), '');
    page jsonb;
BEGIN
    IF noted IS NULL THEN
        RETURN;
    END IF;
    BEGIN
        page := noted;
        has_more := page ->> 'more';
        page_token := page ->> 'token';
        row_count := page ->> 'rows';
        page_size := page ->> 'size';
    EXCEPTION WHEN data_exception THEN
        RAISE invalid_parameter_value USING MESSAGE = 'invalid value for parameter "sluice.last_page"',
            HINT = 'Sluice sets it: RESET sluice.last_page, and read a page again.';
    END;
    IF page ->> 'role' IS DISTINCT FROM encode(int4send(sluice.page_role()::int), 'hex') THEN
        RETURN;
    ELSIF has_more AND page_token IS NULL THEN
        page_token := (sluice.page_tokens(decode(page ->> 'seal', 'hex'), ARRAY[page ->> 'keys', NULL], (page ->> 'tied')::boolean))[1];
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION sluice.page_info() IS 'what the page that this session has read last was';
