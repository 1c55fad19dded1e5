-- What catalog.Load reads: everything that a proxy holds of this database, in one document. The search path is fixed, so
-- that types come out with their schemas whatever the caller's path is. Nothing here may lock a relation or look behind the
-- statement's own snapshot, as pg_get_viewdef does: another transaction may hold, or have dropped, any of them.
CREATE OR REPLACE FUNCTION sluice.snapshot() RETURNS json
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
    bytewise constant text[] := '{C,POSIX,C.UTF-8,C.UTF8,C.utf8,ucs_basic}';
    -- Does the database's default collation compare bytes? Through jsonb, as columns differ between versions.
    default_bytewise constant boolean := (
        SELECT CASE coalesce(to_jsonb(d) ->> 'datlocprovider', 'c')
            WHEN 'c' THEN d.datcollate = ANY (bytewise) WHEN 'b' THEN true ELSE false END
        FROM pg_database d WHERE d.datname = current_database());
    -- pg_dump forbids its session all views but Postgres' own. There is no such setting before the minors of August 2024.
    restricted constant text := coalesce(current_setting('restrict_nonsystem_relation_kind', true), '');
    document json;
BEGIN
    IF restricted <> '' THEN
        PERFORM set_config('restrict_nonsystem_relation_kind', '', true);
    END IF;
    document := (
        WITH ours AS MATERIALIZED (
            SELECT c.oid, c.relname, c.relnamespace, CASE WHEN c.relkind = 'p' THEN 'r' ELSE c.relkind END AS relkind, c.relowner, c.reloptions, v.relname AS view
            FROM sluice.relations o JOIN pg_class c ON c.oid = o.oid
            LEFT JOIN sluice.masked_table m ON m.relation = o.oid LEFT JOIN pg_class v ON v.oid = m.view
            WHERE c.relkind NOT IN ('r', 'p') OR v.oid IS NOT NULL
        ), columns AS (
            SELECT a.attrelid, json_agg(json_build_object(
                'num', a.attnum, 'name', a.attname, 'type', a.atttypid::bigint, 'typmod', a.atttypmod,
                'typename', format_type(a.atttypid, a.atttypmod), 'notnull', a.attnotnull,
                'collation', a.attcollation::bigint,
                'collate', CASE WHEN a.attcollation <> t.typcollation THEN
                    (SELECT format('%I.%I', n.nspname, l.collname) FROM pg_namespace n WHERE n.oid = l.collnamespace) END,
                'bytewise', CASE
                    WHEN l.collprovider = 'd' THEN default_bytewise
                    WHEN l.collprovider = 'b' THEN true
                    WHEN l.collprovider = 'c' THEN l.collcollate = ANY (bytewise)
                    ELSE false END,
                'generated', a.attgenerated <> '',
                'options', a.attfdwoptions) ORDER BY a.attnum) AS list
            FROM ours JOIN pg_attribute a ON a.attrelid = ours.oid AND a.attnum > 0 AND NOT a.attisdropped
            JOIN pg_type t ON t.oid = a.atttypid
            LEFT JOIN pg_collation l ON l.oid = a.attcollation
            GROUP BY a.attrelid
        )
        SELECT json_build_object(
            'version', v.version,
            'uncommitted', v.uncommitted,
            'shadows', (SELECT json_agg(DISTINCT s.name) FROM sluice.shadows s),
            'twins', (
                SELECT json_object_agg(t.oid::bigint, o.oid::bigint) FROM pg_class t
                JOIN pg_class o ON o.relname = t.relname
                    AND o.relnamespace IN ('information_schema'::regnamespace, 'pg_catalog'::regnamespace)
                WHERE t.relnamespace = to_regnamespace('sluice_cat')),
            'counted', (
                SELECT json_agg(json_build_object('schema', n.nspname, 'name', c.relname, 'keys', (
                    SELECT json_agg(json_build_object('name', k.name, 'type', k.type) ORDER BY k.n) FROM sluice.plain_keys(s.relation, s.keys) k)))
                FROM (SELECT relation, keys FROM sluice.table_statistics UNION ALL SELECT view, '{}' FROM sluice.counted_views()) s
                JOIN pg_class c ON c.oid = s.relation JOIN pg_namespace n ON n.oid = c.relnamespace),
            'remotely', (SELECT json_agg(f.relation::oid::bigint) FROM sluice.table_statistics_foreign f WHERE f.made AND NOT f.dropped),
            'servers', (
                SELECT json_agg(json_build_object('oid', s.oid::bigint, 'name', s.srvname, 'wrapper', w.fdwname,
                    'options', s.srvoptions, 'more', (
                        SELECT array_agg(o.option || '=' || o.value) FROM sluice.server_option o
                        WHERE o.server = s.srvname)))
                FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
                WHERE starts_with(w.fdwname, 'sluice_') AND w.fdwhandler = 0),
            'relations', (
                SELECT json_agg(json_build_object('oid', o.oid::bigint, 'schema', n.nspname, 'name', o.relname,
                    'kind', o.relkind, 'owner', o.relowner::bigint, 'view', o.view,
                    'governed', EXISTS (SELECT FROM sluice.row_security s WHERE s.relation = o.oid AND s.enabled)
                        OR EXISTS (SELECT FROM sluice.column_mask m WHERE m.relation = o.oid),
                    'server', ft.ftserver::bigint, 'options', ft.ftoptions,
                    'invoker', coalesce((
                        SELECT option_value::boolean FROM pg_options_to_table(o.reloptions)
                        WHERE option_name = 'security_invoker'), false),
                    'columns', columns.list))
                FROM ours o JOIN pg_namespace n ON n.oid = o.relnamespace
                LEFT JOIN pg_foreign_table ft ON ft.ftrelid = o.oid
                LEFT JOIN columns ON columns.attrelid = o.oid))
        FROM sluice.catalog_version v);
    IF restricted <> '' THEN
        PERFORM set_config('restrict_nonsystem_relation_kind', restricted, true);
    END IF;
    RETURN document;
END
$$;
COMMENT ON FUNCTION sluice.snapshot() IS 'what a proxy holds of this database';
GRANT EXECUTE ON FUNCTION sluice.snapshot() TO PUBLIC;

-- The query of a view, NULL where it is dropped meanwhile, and the version read after it: where that is still the
-- snapshot's, so is the definition. It waits for who changes the view, as reading it would.
CREATE OR REPLACE FUNCTION sluice.view_definition(view oid, OUT definition text, OUT version bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    BEGIN
        definition := pg_get_viewdef(view);
    EXCEPTION WHEN internal_error THEN
        definition := NULL;
    END;
    version := (SELECT sum(step) FROM sluice.catalog_change);
END
$$;
COMMENT ON FUNCTION sluice.view_definition(oid) IS 'the query of a view, for proxies';
GRANT EXECUTE ON FUNCTION sluice.view_definition(oid) TO PUBLIC;
