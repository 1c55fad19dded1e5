-- Twins of pg_cursor and pg_prepared_statement, and of the views over them, that leave out what the proxy has made in the
-- session for itself, and show a statement as the client wrote it where home was given another.
CREATE OR REPLACE FUNCTION sluice_cat.client_text(statement text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(substring(statement FROM E'\n--sluice: (".*")$')::json #>> '{}', statement)
$$;
GRANT EXECUTE ON FUNCTION sluice_cat.client_text(text) TO PUBLIC;

DO $do$
DECLARE
    name text;
    columns text;
BEGIN
    FOREACH name IN ARRAY '{pg_cursor,pg_prepared_statement}'::text[] LOOP
        -- Versions of home differ in their columns.
        SELECT string_agg(CASE attname WHEN 'statement' THEN 'sluice_cat.client_text(statement)' ELSE quote_ident(attname) END, ', ' ORDER BY attnum)
        INTO columns FROM pg_catalog.pg_attribute WHERE attrelid = format('pg_catalog.%Is', name)::pg_catalog.regclass AND attnum > 0;
        EXECUTE format($$CREATE OR REPLACE FUNCTION sluice_cat.%1$I() RETURNS SETOF pg_catalog.%1$Is
            LANGUAGE sql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
            AS 'SELECT %2$s FROM pg_catalog.%1$Is WHERE NOT pg_catalog.starts_with(name, ''sluice_'')' $$, name, columns);
        BEGIN
            EXECUTE format('CREATE OR REPLACE VIEW sluice_cat.%1$Is AS SELECT * FROM sluice_cat.%1$I()', name);
        EXCEPTION WHEN invalid_table_definition THEN
            EXECUTE format('DROP VIEW sluice_cat.%Is', name);
            EXECUTE format('CREATE VIEW sluice_cat.%1$Is AS SELECT * FROM sluice_cat.%1$I()', name);
        END;
        EXECUTE format('GRANT EXECUTE ON FUNCTION sluice_cat.%I() TO PUBLIC', name);
        EXECUTE format('GRANT SELECT ON sluice_cat.%Is TO PUBLIC', name);
    END LOOP;
END
$do$;
