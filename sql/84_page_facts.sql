-- What the proxy must know of the tables and functions that a query of sluice.page names, to page it. Of tables with children by
-- inheritance nothing is said: constraints and indexes of one of them are not those of all. Functions without
-- a search path of their own have all names qualified. Each table is asked for by itself, as a session plans that once.
CREATE OR REPLACE FUNCTION sluice.page_facts(relations oid[], functions text[]) RETURNS json
LANGUAGE plpgsql STABLE AS $$
DECLARE
    list json[];
BEGIN
    FOR i IN 1..pg_catalog.cardinality(relations) LOOP
        list[i] := sluice.page_relation(relations[i]);
    END LOOP;
    RETURN pg_catalog.json_build_object(
        'max', pg_catalog.current_setting('sluice.max_page_size', true),
        'unindexed', pg_catalog.current_setting('sluice.on_unindexed_page', true),
        'path', pg_catalog.current_schemas(true),
        'writes', pg_catalog.current_setting('transaction_read_only') OPERATOR(pg_catalog.=) 'off'
            AND pg_catalog.current_setting('transaction_isolation') OPERATOR(pg_catalog.=) 'read committed',
        'functions', CASE WHEN pg_catalog.cardinality(functions) OPERATOR(pg_catalog.>) 0 THEN sluice.page_functions(functions) END,
        'relations', pg_catalog.array_to_json(list));
END
$$;
COMMENT ON FUNCTION sluice.page_facts(oid[], text[]) IS 'what the proxy must know of tables to page a query';

-- Of functions by their bare names: whether one of the name is volatile, and whether one yields several rows for one, or one for several.
CREATE OR REPLACE FUNCTION sluice.page_functions(functions text[]) RETURNS json
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (SELECT json_agg(json_build_object('name', f.name, 'volatile', EXISTS (SELECT FROM pg_proc p WHERE p.proname = f.name::name AND p.provolatile = 'v'),
        'set', EXISTS (SELECT FROM pg_proc p WHERE p.proname = f.name::name AND (p.proretset OR p.prokind = 'a'))) ORDER BY f.name)
        FROM unnest(functions) AS f (name));
END
$$;
COMMENT ON FUNCTION sluice.page_functions(text[]) IS 'what the proxy must know of functions to page a query';

-- Of one table; NULL where there is none. Expressions of indexes are printed as the client's search path has them.
CREATE OR REPLACE FUNCTION sluice.page_relation(relation oid) RETURNS json
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT pg_catalog.json_build_object(
        'oid', c.oid::pg_catalog.int8, 'kind', c.relkind, 'schema', n.nspname, 'name', c.relname,
        'wrapper', (SELECT w.fdwname FROM pg_catalog.pg_foreign_table t JOIN pg_catalog.pg_foreign_server s ON s.oid OPERATOR(pg_catalog.=) t.ftserver
                    JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid OPERATOR(pg_catalog.=) s.srvfdw WHERE t.ftrelid OPERATOR(pg_catalog.=) c.oid),
        'plain', NOT (c.relkind OPERATOR(pg_catalog.=) 'r' AND c.relhassubclass),
        'columns', (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('name', a.attname, 'num', a.attnum, 'notnull', a.attnotnull, 'type', a.atttypid::pg_catalog.int8,
                'masked', EXISTS (SELECT FROM sluice.column_mask m WHERE m.relation OPERATOR(pg_catalog.=) c.oid AND m.column_name OPERATOR(pg_catalog.=) a.attname),
                'key', EXISTS (SELECT FROM pg_catalog.unnest(a.attfdwoptions) AS o (o) WHERE o.o OPERATOR(pg_catalog.~*) '^key=(t|tr|tru|true|y|ye|yes|on|1)$'), 'collation', a.attcollation::pg_catalog.int8) ORDER BY a.attnum)
            FROM pg_catalog.pg_attribute a WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped),
        'indexes', (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('oid', i.indexrelid::pg_catalog.int8, 'name', x.relname,
                'unique', i.indisunique AND i.indimmediate, 'primary', i.indisprimary, 'partial', i.indpred IS NOT NULL,
                'btree', m.amname OPERATOR(pg_catalog.=) 'btree', 'keys', k.keys) ORDER BY i.indisprimary DESC, i.indexrelid)
            FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid OPERATOR(pg_catalog.=) i.indexrelid
            JOIN pg_catalog.pg_am m ON m.oid OPERATOR(pg_catalog.=) x.relam
            CROSS JOIN LATERAL (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('num', i.indkey[p],
                'expression', CASE WHEN i.indkey[p] OPERATOR(pg_catalog.=) 0 THEN pg_catalog.pg_get_indexdef(i.indexrelid, p OPERATOR(pg_catalog.+) 1, true) END,
                'collation', i.indcollation[p]::pg_catalog.int8,
                'desc', (i.indoption[p] OPERATOR(pg_catalog.&) 1::pg_catalog.int2) OPERATOR(pg_catalog.=) 1,
                'first', (i.indoption[p] OPERATOR(pg_catalog.&) 2::pg_catalog.int2) OPERATOR(pg_catalog.=) 2) ORDER BY p) AS keys
                FROM pg_catalog.generate_series(0, i.indnkeyatts OPERATOR(pg_catalog.-) 1) AS g (p)) k
            WHERE i.indrelid OPERATOR(pg_catalog.=) c.oid AND i.indisvalid))
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace WHERE c.oid OPERATOR(pg_catalog.=) relation);
END
$$;
COMMENT ON FUNCTION sluice.page_relation(oid) IS 'what the proxy must know of a table to page a query';

-- Indexes that pages would have been served by.
CREATE TABLE IF NOT EXISTS sluice.index_advised (
    relation regclass    NOT NULL,
    keys     text[]      NOT NULL,
    made_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (relation, keys)
);
COMMENT ON TABLE sluice.index_advised IS 'indexes that pages would have been served by';

-- Notes one, for who may read the table. Nobody waits for that: it is left out while another transaction notes one.
CREATE OR REPLACE FUNCTION sluice.advise_index(relation oid, keys text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM sluice.index_advised a WHERE a.relation = advise_index.relation AND a.keys = advise_index.keys)
       OR NOT coalesce(has_table_privilege(sluice.page_role(), advise_index.relation, 'SELECT') OR has_any_column_privilege(sluice.page_role(), advise_index.relation, 'SELECT'), false)
       OR EXISTS (SELECT FROM pg_class c WHERE c.oid = advise_index.relation AND c.relpersistence = 't') -- which goes with its session
       OR NOT pg_try_advisory_xact_lock('sluice.index_advised'::regclass::bigint)
       OR (SELECT count(*) FROM sluice.index_advised) >= 1000
       -- Whoever copies it into a statement gets columns, and nothing else.
       OR EXISTS (SELECT FROM unnest(keys) k WHERE k IS NULL OR k !~ '^("([^"]|"")+"|[a-z_][a-z0-9_]*)( DESC)?( NULLS (FIRST|LAST))?$')
    THEN
        RETURN;
    END IF;
    INSERT INTO sluice.index_advised (relation, keys) VALUES (advise_index.relation, advise_index.keys) ON CONFLICT DO NOTHING;
END
$$;
COMMENT ON FUNCTION sluice.advise_index(oid, text[]) IS 'notes an index that a page would have been served by';

CREATE OR REPLACE FUNCTION sluice.on_advised_drop() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM sluice.index_advised a JOIN pg_event_trigger_dropped_objects() o ON o.objid = a.relation WHERE o.classid = 'pg_class'::regclass) THEN
        -- Else nothing is written: a transaction that drops temporary tables may have written to a server.
        DELETE FROM sluice.index_advised a USING pg_event_trigger_dropped_objects() o
        WHERE o.classid = 'pg_class'::regclass AND o.object_type IN ('table', 'materialized view', 'table column') AND a.relation = o.objid;
    END IF;
END
$$;
REVOKE ALL ON FUNCTION sluice.on_advised_drop() FROM PUBLIC;
COMMENT ON FUNCTION sluice.on_advised_drop() IS 'forgets what was noted of tables that were dropped, or have lost columns';
DROP EVENT TRIGGER IF EXISTS sluice_advised_drop;
CREATE EVENT TRIGGER sluice_advised_drop ON sql_drop
    WHEN TAG IN ('ALTER TABLE', 'DROP EXTENSION', 'DROP MATERIALIZED VIEW', 'DROP OWNED', 'DROP SCHEMA', 'DROP TABLE') EXECUTE FUNCTION sluice.on_advised_drop();
ALTER EVENT TRIGGER sluice_advised_drop ENABLE ALWAYS;

-- What was noted, for who may read the tables, with the statements that make the indexes.
CREATE OR REPLACE VIEW sluice.index_advice WITH (security_barrier) AS
SELECT a.relation, a.keys, a.made_at, 'CREATE INDEX CONCURRENTLY ON ' || pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
    || ' (' || pg_catalog.array_to_string(a.keys, ', ') || ');' AS statement
FROM sluice.index_advised a JOIN pg_catalog.pg_class c ON c.oid = a.relation JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE pg_catalog.has_any_column_privilege(a.relation, 'SELECT');
GRANT SELECT ON sluice.index_advice TO PUBLIC;
COMMENT ON VIEW sluice.index_advice IS 'indexes that pages would have been served by';
