-- What a role may read in this database, in one document. It is made from the catalog, from counters and from what home has measured
-- anyway: no row of a user's table is read, servers are asked for what they keep count of alone, and nothing waits for a lock that others hold on a table.

-- The tables that a table's rows stand in: itself, its partitions and the tables that inherit from it.
CREATE OR REPLACE VIEW sluice.table_parts AS
WITH RECURSIVE tree (root, part) AS (
    SELECT c.oid, c.oid FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p', 'm') AND c.relnamespace <> 'pg_catalog'::pg_catalog.regnamespace
    UNION
    SELECT t.root, i.inhrelid FROM tree t JOIN pg_catalog.pg_inherits i ON i.inhparent = t.part
)
SELECT root, part FROM tree;
GRANT SELECT ON sluice.table_parts TO PUBLIC;
COMMENT ON VIEW sluice.table_parts IS 'tables, each with those that hold its rows';

-- The columns that the current role may read. Of a table of home's with masks, those of the view that stands in for it.
CREATE OR REPLACE VIEW sluice.readable_columns AS
SELECT a.attrelid AS relation, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull,
       EXISTS (SELECT FROM sluice.column_mask k WHERE k.relation = a.attrelid AND k.column_name = a.attname) AND NOT sluice.unmasked(a.attrelid, a.attname) AS masked
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN sluice.masked_table m ON m.relation = c.oid
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE')
    AND (pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT') OR pg_catalog.has_column_privilege(m.view, a.attname, 'SELECT'));
GRANT SELECT ON sluice.readable_columns TO PUBLIC;
COMMENT ON VIEW sluice.readable_columns IS 'columns that the current role may read';

-- One statement, planned once in a session: each function that it would call for a relation were planned for each.
CREATE OR REPLACE FUNCTION sluice.manifest(schema name DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    wanted constant name := manifest.schema;
    -- No row security holds for these.
    bypasses constant boolean := (SELECT r.rolsuper OR r.rolbypassrls FROM pg_roles r WHERE r.rolname = current_user);
    block_size constant bigint := current_setting('block_size');
    document jsonb;
BEGIN
    IF wanted IS NOT NULL AND NOT EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = wanted) THEN
        RAISE invalid_schema_name USING MESSAGE = format('schema "%s" does not exist', wanted);
    ELSIF wanted IS NOT NULL AND NOT has_schema_privilege(wanted, 'USAGE') THEN
        RAISE insufficient_privilege USING MESSAGE = format('permission denied for schema %s', wanted);
    END IF;
    WITH columns AS MATERIALIZED (
        SELECT r.relation, array_agg(r.attnum) AS numbers, bool_or(r.masked) AS masked, jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
            'name', r.attname, 'type', r.type, 'nullable', NOT r.attnotnull, 'masked', CASE WHEN r.masked THEN true END, 'comment', d.description)) ORDER BY r.attnum) AS list
        FROM sluice.readable_columns r JOIN pg_class c ON c.oid = r.relation JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = r.relation AND d.objsubid = r.attnum
        WHERE NOT c.relispartition AND c.relpersistence <> 't' AND CASE
            WHEN wanted IS NOT NULL THEN n.nspname = wanted
            ELSE n.nspname NOT IN ('information_schema', 'sluice', 'sluice_cat', 'sluice_masked', 'sluice_handle') AND NOT starts_with(n.nspname, 'pg_') END
        GROUP BY r.relation
    ), key_columns AS ( -- the columns of each key, and those that it refers to, where all may be read
        SELECT k.oid, jsonb_agg(a.attname ORDER BY u.n) AS names, jsonb_agg(f.attname ORDER BY u.n) AS refers
        FROM pg_constraint k JOIN columns c ON c.relation = k.conrelid AND c.numbers @> k.conkey
        CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS u (num, refers, n)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.num
        LEFT JOIN columns o ON o.relation = k.confrelid AND o.numbers @> k.confkey
        LEFT JOIN pg_attribute f ON f.attrelid = o.relation AND f.attnum = u.refers
        WHERE k.contype = 'p' OR k.contype = 'u' OR k.contype = 'f' AND o.relation IS NOT NULL
        GROUP BY k.oid
    ), keys AS (
        SELECT k.conrelid, jsonb_agg(c.names) FILTER (WHERE k.contype = 'p') -> 0 AS primary_key, jsonb_agg(c.names ORDER BY k.conname) FILTER (WHERE k.contype = 'u') AS uniques,
            jsonb_agg(jsonb_build_object('columns', c.names, 'schema', n.nspname, 'relation', f.relname, 'references', c.refers) ORDER BY k.conname)
                FILTER (WHERE k.contype = 'f') AS foreign_keys
        FROM key_columns c JOIN pg_constraint k ON k.oid = c.oid LEFT JOIN pg_class f ON f.oid = k.confrelid LEFT JOIN pg_namespace n ON n.oid = f.relnamespace
        GROUP BY k.conrelid
    ), locked AS MATERIALIZED ( -- tables that somebody has for himself, which may be for long: nobody looks at these
        SELECT coalesce(i.indrelid, t.oid, l.relation) AS oid FROM pg_locks l LEFT JOIN pg_index i ON i.indexrelid = l.relation LEFT JOIN pg_class t ON t.reltoastrelid = l.relation
        WHERE l.locktype = 'relation' AND l.mode = 'AccessExclusiveLock' AND l.pid <> pg_backend_pid()
            AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
    ), parts AS MATERIALIZED (
        SELECT p.root, c.oid, c.reltuples::float8, c.relpages::bigint, pg_stat_get_live_tuples(c.oid) AS live, EXISTS (SELECT FROM locked l WHERE l.oid = c.oid) AS locked
        FROM columns JOIN sluice.table_parts p ON p.root = columns.relation JOIN pg_class c ON c.oid = p.part WHERE c.relkind <> 'p'
    ), sizes AS MATERIALIZED (
        SELECT root, oid, reltuples, relpages, live, CASE WHEN locked THEN relpages ELSE pg_relation_size(oid) / block_size END AS pages,
            CASE WHEN NOT locked THEN pg_total_relation_size(oid) END AS bytes
        FROM parts
    ), measured AS (
        SELECT root, CASE WHEN bool_and(reltuples >= 0 OR live > 0 OR pages = 0) THEN sum(CASE
                WHEN pages = 0 THEN 0 WHEN reltuples < 0 THEN live WHEN relpages > 0 THEN reltuples / relpages * pages ELSE reltuples END)::bigint END AS rows,
            CASE WHEN bool_and(bytes IS NOT NULL) THEN sum(bytes)::bigint END AS bytes,
            max(greatest(pg_stat_get_last_analyze_time(oid), pg_stat_get_last_autoanalyze_time(oid))) AS analyzed, sum(pg_stat_get_mod_since_analyze(oid))::bigint AS changed
        FROM sizes GROUP BY root
    ), counts AS (
        SELECT t.relation, min(t.source) AS source, sum(t.row_count)::bigint AS rows, max(t.updated_at) AS updated_at FROM sluice.table_counts t GROUP BY t.relation
    ), relations AS MATERIALIZED (
        SELECT n.nspname, c.relname, c.oid, c.relkind, columns.list, columns.masked, keys, counts, measured, CASE
            WHEN c.relkind IN ('r', 'p') THEN row_security_active(c.oid)
            ELSE EXISTS (SELECT FROM sluice.row_security s WHERE s.relation = c.oid AND s.enabled AND NOT bypasses AND (s.forced OR NOT pg_has_role(c.relowner, 'USAGE'))) END AS filtered
        FROM columns JOIN pg_class c ON c.oid = columns.relation JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN keys ON keys.conrelid = c.oid LEFT JOIN counts ON counts.relation = c.oid
        LEFT JOIN measured ON measured.root = c.oid
    )
    SELECT jsonb_build_object('database', current_database(), 'role', current_user, 'at', now(), 'relations', coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'schema', r.nspname, 'name', r.relname, 'comment', d.description, 'server', s.srvname, 'columns', r.list,
        'kind', CASE r.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'foreign table' END,
        'primary_key', (r.keys).primary_key, 'unique', (r.keys).uniques, 'foreign_keys', (r.keys).foreign_keys,
        'row_security', CASE WHEN r.filtered THEN true END,
        'rows', CASE WHEN NOT r.filtered THEN coalesce((r.counts).rows, (r.measured).rows) END,
        'rows_source', CASE
            WHEN r.filtered THEN 'hidden'
            WHEN (r.counts).rows IS NOT NULL THEN (r.counts).source
            WHEN (r.measured).rows IS NOT NULL THEN 'estimate'
            ELSE 'unknown' END,
        'bytes', (r.measured).bytes, 'changed_at', CASE WHEN NOT r.filtered AND (r.counts).source <> 'engine' THEN (r.counts).updated_at END,
        'analyzed_at', (r.measured).analyzed, 'changes_since', CASE WHEN NOT r.filtered THEN (r.measured).changed END)) ORDER BY r.nspname, r.relname), '[]'))
    INTO document
    FROM relations r LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass AND d.objoid = r.oid AND d.objsubid = 0
    LEFT JOIN pg_foreign_table ft ON ft.ftrelid = r.oid LEFT JOIN pg_foreign_server s ON s.oid = ft.ftserver;
    RETURN document;
END
$$;
GRANT EXECUTE ON FUNCTION sluice.manifest(name) TO PUBLIC;
COMMENT ON FUNCTION sluice.manifest(name) IS 'what the current role may read here: relations, columns, keys, comments, counts, sizes';

-- A text within a line, or a table's cell, of Markdown.
CREATE OR REPLACE FUNCTION sluice.markdown_text(text text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT replace(btrim(regexp_replace(text, '[[:space:]]+', ' ', 'g')), '|', E'\\|')
$$;
COMMENT ON FUNCTION sluice.markdown_text(text) IS 'a text as it stands within a line of Markdown';

CREATE OR REPLACE FUNCTION sluice.markdown_names(names jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(quote_ident(n.name), ', ' ORDER BY n.at) FROM jsonb_array_elements_text(names) WITH ORDINALITY AS n (name, at)
$$;
COMMENT ON FUNCTION sluice.markdown_names(jsonb) IS 'a list of names';

-- One relation of a manifest.
CREATE OR REPLACE FUNCTION sluice.describe_relation(r jsonb) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT concat_ws(E'\n', format(E'## %I.%I\n', r ->> 'schema', r ->> 'name'),
        concat_ws(', ', concat(initcap(left(r ->> 'kind', 1)), substr(r ->> 'kind', 2), ' of server ' || quote_ident(r ->> 'server')),
            CASE WHEN r ->> 'rows_source' = 'hidden' THEN 'of whose rows you see your own' WHEN r -> 'rows' IS NULL THEN NULL
                WHEN r ->> 'rows_source' IN ('counters', 'engine') THEN to_char((r -> 'rows')::bigint, 'FM999,999,999,999,999') || ' rows'
                ELSE 'about ' || to_char((r -> 'rows')::bigint, 'FM999,999,999,999,999') || ' rows' END,
            pg_size_pretty((r -> 'bytes')::bigint)) || '.' || coalesce(' ' || sluice.markdown_text(r ->> 'comment'), ''),
        '- Primary key: ' || sluice.markdown_names(r -> 'primary_key'),
        (SELECT string_agg('- Unique: ' || sluice.markdown_names(u.columns), E'\n' ORDER BY u.at) FROM jsonb_array_elements(r -> 'unique') WITH ORDINALITY AS u (columns, at)),
        (SELECT string_agg(format('- %s refers to %I.%I (%s)', sluice.markdown_names(f.key -> 'columns'), f.key ->> 'schema', f.key ->> 'relation', sluice.markdown_names(f.key -> 'references')),
            E'\n' ORDER BY f.at) FROM jsonb_array_elements(r -> 'foreign_keys') WITH ORDINALITY AS f (key, at)),
        E'\n| column | type | |\n|---|---|---|',
        (SELECT string_agg(format('| %s | %s | %s |', sluice.markdown_text(quote_ident(c.of ->> 'name')), sluice.markdown_text(c.of ->> 'type'),
            concat_ws('; ', CASE WHEN (c.of -> 'nullable')::boolean THEN NULL ELSE 'never NULL' END, CASE WHEN (c.of -> 'masked')::boolean THEN 'masked' END,
                sluice.markdown_text(c.of ->> 'comment'))), E'\n' ORDER BY c.at) FROM jsonb_array_elements(r -> 'columns') WITH ORDINALITY AS c (of, at)))
$$;
COMMENT ON FUNCTION sluice.describe_relation(jsonb) IS 'one relation of a manifest in Markdown';

-- The manifest as a text for those who are to ask questions of the database. It speaks of what is there alone.
CREATE OR REPLACE FUNCTION sluice.describe_for_agents(schema name DEFAULT NULL) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    m constant jsonb := sluice.manifest(describe_for_agents.schema);
BEGIN
    RETURN concat_ws(E'\n', '---', 'name: ' || to_json(m ->> 'database'),
        'description: ' || to_json(format('Query the PostgreSQL database %s: its tables, their columns and keys, and how large they are.', m ->> 'database')), '---', '',
        format(E'# Database %s\n', sluice.markdown_text(quote_ident(m ->> 'database'))),
        format('What role %s may read. Connect with any PostgreSQL client; statements are PostgreSQL''s SQL. Foreign tables are read like the others, by connections through Sluice.',
            sluice.markdown_text(quote_ident(m ->> 'role'))), '',
        '- Numbers of rows that are said to be "about" are estimates. Do not count large tables. The others are exact: `SELECT sluice.table_count(''schema.table'')` has them at once.',
        '- Ask for few rows: name the columns, and use WHERE and LIMIT, with ORDER BY a key.',
        CASE WHEN to_regprocedure('sluice.page(text,integer,text)') IS NOT NULL THEN
            '- `SELECT * FROM sluice.page(''SELECT … ORDER BY …'', 50)` has 50 rows of a query, however many there are; the `page_token` of the last one as third argument has the next 50.' END,
        CASE WHEN to_regprocedure('sluice.document(text,integer,integer)') IS NOT NULL THEN
            '- `SELECT * FROM sluice.document(''SELECT …'', 200, 65536)` has a result as JSON up to 200 rows and 64 kB, and keeps a larger one as a table that it names.' END,
        '- Columns that are masked do not show their values. Where you see your own rows alone, so do counts and sums.',
        E'\n' || (SELECT string_agg(sluice.describe_relation(r.of), E'\n\n' ORDER BY r.at) FROM jsonb_array_elements(m -> 'relations') WITH ORDINALITY AS r (of, at))) || E'\n';
END
$$;
GRANT EXECUTE ON FUNCTION sluice.describe_for_agents(name) TO PUBLIC;
COMMENT ON FUNCTION sluice.describe_for_agents(name) IS 'what the current role may read here, in Markdown';
