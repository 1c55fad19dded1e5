-- What the proxy must know of the tables and functions that a query of sluice.page names, to page it. Of tables with children by
-- inheritance nothing is said: constraints and indexes of one of them are not those of all.
CREATE OR REPLACE FUNCTION sluice.page_facts(relations oid[], functions text[]) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.json_build_object(
        'max', pg_catalog.current_setting('sluice.max_page_size', true),
        'unindexed', pg_catalog.current_setting('sluice.on_unindexed_page', true),
        'volatile', (SELECT pg_catalog.json_agg(DISTINCT p.proname::pg_catalog.text) FROM pg_catalog.pg_proc p
                     WHERE p.proname OPERATOR(pg_catalog.=) ANY (functions::pg_catalog.name[]) AND p.provolatile OPERATOR(pg_catalog.=) 'v'),
        'sets', (SELECT pg_catalog.json_agg(DISTINCT p.proname::pg_catalog.text) FROM pg_catalog.pg_proc p
                 WHERE p.proname OPERATOR(pg_catalog.=) ANY (functions::pg_catalog.name[]) AND (p.proretset OR p.prokind OPERATOR(pg_catalog.=) 'a')),
        'relations', (SELECT pg_catalog.json_agg(CASE WHEN c.oid IS NOT NULL THEN pg_catalog.json_build_object(
            'oid', c.oid::pg_catalog.int8, 'kind', c.relkind, 'schema', n.nspname, 'name', c.relname,
            'plain', NOT (c.relkind OPERATOR(pg_catalog.=) 'r' AND c.relhassubclass),
            'columns', (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('name', a.attname, 'num', a.attnum, 'notnull', a.attnotnull,
                    'masked', EXISTS (SELECT FROM sluice.column_mask m WHERE m.relation OPERATOR(pg_catalog.=) c.oid AND m.column_name OPERATOR(pg_catalog.=) a.attname),
                    'key', EXISTS (SELECT FROM pg_catalog.unnest(a.attfdwoptions) AS o (o) WHERE o.o OPERATOR(pg_catalog.~*) '^key=(t|tr|tru|true|y|ye|yes|on|1)$'), 'collation', a.attcollation::pg_catalog.int8) ORDER BY a.attnum)
                FROM pg_catalog.pg_attribute a WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped),
            'indexes', (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('oid', i.indexrelid::pg_catalog.int8,
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
                WHERE i.indrelid OPERATOR(pg_catalog.=) c.oid AND i.indisvalid)) END ORDER BY r.i)
            FROM pg_catalog.unnest(relations) WITH ORDINALITY AS r (oid, i)
            LEFT JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.oid
            LEFT JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace))
$$;
COMMENT ON FUNCTION sluice.page_facts(oid[], text[]) IS 'what the proxy must know of tables to page a query';
