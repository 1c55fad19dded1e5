-- Twins of pg_relation_is_updatable and pg_column_is_updatable that answer for foreign tables without a handler, where
-- the originals fail, and leave everything else to the originals. In a schema of their own, where they and the views of
-- information_schema keep their bare names.
CREATE SCHEMA IF NOT EXISTS sluice_cat;
COMMENT ON SCHEMA sluice_cat IS 'Sluice: what stands in for information_schema where that fails on foreign tables';
GRANT USAGE ON SCHEMA sluice_cat TO PUBLIC;

-- Events (bit 2 UPDATE, 3 INSERT, 4 DELETE) that a foreign table without a handler takes: those of ours all, where
-- neither it nor its server says otherwise.
CREATE OR REPLACE FUNCTION sluice_cat.foreign_events(relation oid) RETURNS integer
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN NOT starts_with(w.fdwname, 'sluice_') THEN 0
        WHEN EXISTS (SELECT FROM pg_options_to_table(s.srvoptions) WHERE option_name = 'directory') THEN 0
        WHEN coalesce(
            -- The table's word counts before the server's. A value that is no Boolean must not fail here.
            (SELECT (option_name = 'updatable') = (lower(option_value) IN ('true', 't', 'on', 'yes', 'y', '1'))
             FROM (SELECT 1 AS rank, o.* FROM pg_options_to_table(ft.ftoptions) o
                   UNION ALL SELECT 2, o.* FROM pg_options_to_table(s.srvoptions) o) o
             WHERE option_name IN ('updatable', 'read_only') ORDER BY rank LIMIT 1),
            w.fdwname = 'sluice_postgres') THEN 28
        ELSE 0 END
    FROM pg_foreign_table ft
    JOIN pg_foreign_server s ON s.oid = ft.ftserver
    JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
    WHERE ft.ftrelid = relation
$$;

-- Events that a view takes by INSTEAD OF triggers and unconditional INSTEAD rules.
CREATE OR REPLACE FUNCTION sluice_cat.instead_events(relation oid, include_triggers boolean) RETURNS integer
LANGUAGE sql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((
        SELECT bit_or(1 << (ev_type::text)::integer) & 28 FROM pg_rewrite
        WHERE ev_class = relation AND is_instead AND ev_type IN ('2', '3', '4') AND ev_qual::text = '<>'), 0)
    | CASE WHEN include_triggers THEN coalesce((
        SELECT bit_or((tgtype & 4) << 1 | (tgtype & 16) >> 2 | (tgtype & 8) << 1) FROM pg_trigger
        WHERE tgrelid = relation AND tgtype & 64 <> 0 AND NOT tgisinternal), 0) ELSE 0 END
$$;

-- Whether a view, at any depth, reads a foreign table without a handler.
CREATE OR REPLACE FUNCTION sluice_cat.reads_handlerless(relation oid) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_foreign_table ft JOIN pg_foreign_server s ON s.oid = ft.ftserver
                   JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw WHERE w.fdwhandler = 0) THEN
        RETURN false;
    END IF;
    RETURN EXISTS (
        WITH RECURSIVE tree (oid) AS (
            SELECT relation
            UNION
            SELECT d.refobjid
            FROM tree t
            JOIN pg_rewrite r ON r.ev_class = t.oid AND r.ev_type = '1'
            JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                AND d.refclassid = 'pg_class'::regclass
        )
        SELECT FROM tree t JOIN pg_foreign_table ft ON ft.ftrelid = t.oid
        JOIN pg_foreign_server s ON s.oid = ft.ftserver
        JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw WHERE w.fdwhandler = 0);
END
$$;

CREATE OR REPLACE FUNCTION sluice_cat.pg_relation_is_updatable(relation regclass, include_triggers boolean)
RETURNS integer LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kind "char";
BEGIN
    IF relation::oid >= 16384 THEN -- what initdb made reads no foreign table
        SELECT relkind INTO kind FROM pg_class WHERE oid = relation;
        IF kind = 'f' AND EXISTS (
            SELECT FROM pg_foreign_table ft JOIN pg_foreign_server s ON s.oid = ft.ftserver
            JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw WHERE ft.ftrelid = relation AND w.fdwhandler = 0)
        THEN
            RETURN sluice_cat.foreign_events(relation);
        ELSIF kind = 'v' AND sluice_cat.reads_handlerless(relation) THEN
            RETURN sluice_cat.instead_events(relation, include_triggers);
        END IF;
    END IF;
    RETURN pg_relation_is_updatable(relation, include_triggers);
END
$$;

CREATE OR REPLACE FUNCTION sluice_cat.pg_column_is_updatable(
    relation regclass, attnum smallint, include_triggers boolean)
RETURNS boolean LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kind "char";
BEGIN
    IF relation::oid >= 16384 AND attnum > 0 THEN
        SELECT relkind INTO kind FROM pg_class WHERE oid = relation;
        IF kind = 'f' AND EXISTS (
            SELECT FROM pg_foreign_table ft JOIN pg_foreign_server s ON s.oid = ft.ftserver
            JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw WHERE ft.ftrelid = relation AND w.fdwhandler = 0)
        THEN
            RETURN sluice_cat.foreign_events(relation) & 20 = 20;
        ELSIF kind = 'v' AND sluice_cat.reads_handlerless(relation) THEN
            RETURN sluice_cat.instead_events(relation, include_triggers) & 20 = 20;
        END IF;
    END IF;
    RETURN pg_column_is_updatable(relation, attnum, include_triggers);
END
$$;

-- Said aloud, as default privileges may have been taken from PUBLIC.
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA sluice_cat TO PUBLIC;
