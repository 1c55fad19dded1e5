-- Handles: results that were kept as tables in schema sluice_handle, for a time. A handle belongs to the role that made it, who may
-- grant it, read or drop it as any table of his; nobody writes to it, so that its number of rows stays what it was.
DO $do$
BEGIN
    IF to_regnamespace('sluice_handle') IS NULL THEN -- else who may make handles was decided before
        CREATE SCHEMA sluice_handle;
        GRANT USAGE, CREATE ON SCHEMA sluice_handle TO PUBLIC;
    END IF;
    IF to_regtype('sluice.handle') IS NULL THEN
        CREATE TYPE sluice.handle AS (handle_id uuid, relation text, server name, row_count bigint, bytes bigint, expires_at timestamptz);
    END IF;
END
$do$;
ALTER SCHEMA sluice_handle OWNER TO CURRENT_USER;
COMMENT ON SCHEMA sluice_handle IS 'results that were kept as tables: who may create in it may make handles';
COMMENT ON TYPE sluice.handle IS 'what sluice.materialize returns';

CREATE TABLE IF NOT EXISTS sluice.ctas_handle (
    handle_id  uuid        NOT NULL PRIMARY KEY,
    relation   regclass    NOT NULL UNIQUE,
    server     name,                          -- that has the rows; NULL for home
    query_hash text        NOT NULL,          -- the text itself may hold what is not for others
    row_count  bigint      NOT NULL,
    bytes      bigint,                        -- NULL where another server has the rows
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
COMMENT ON TABLE sluice.ctas_handle IS 'results that were kept as tables';
CREATE INDEX IF NOT EXISTS ctas_handle_expires_at ON sluice.ctas_handle (expires_at);

-- The handles whose rows the role may read, or which are its own to drop. Who may change the rows sluice.keep_handle_row says.
CREATE OR REPLACE VIEW sluice.ctas_handles WITH (security_barrier) AS
SELECT h.handle_id, h.relation, (SELECT c.relowner::pg_catalog.regrole FROM pg_catalog.pg_class c WHERE c.oid = h.relation) AS owner,
       h.server, h.row_count, h.bytes, h.query_hash, h.created_at, h.expires_at
FROM sluice.ctas_handle h
WHERE EXISTS (
    SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = h.relation AND n.nspname = 'sluice_handle'
      AND (pg_catalog.pg_has_role(c.relowner, 'USAGE') OR pg_catalog.has_table_privilege(c.oid, 'SELECT')));
GRANT SELECT, INSERT (handle_id, relation, server, query_hash, row_count, bytes, expires_at), UPDATE (expires_at) ON sluice.ctas_handles TO PUBLIC;
COMMENT ON VIEW sluice.ctas_handles IS 'results that were kept as tables, and when they expire';

-- Runs as the caller, so that home judges what he may do.
CREATE OR REPLACE FUNCTION sluice.keep_handle_row() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    c record;
BEGIN
    SELECT r.relname, r.relkind, pg_has_role(r.relowner, 'USAGE') AS owned, n.nspname INTO c
    FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace WHERE r.oid = NEW.relation;
    IF NOT FOUND OR c.nspname <> 'sluice_handle' OR c.relkind NOT IN ('r', 'f') THEN
        RAISE invalid_parameter_value USING MESSAGE = format('%s is no table of schema sluice_handle', NEW.relation);
    ELSIF NOT c.owned THEN
        RAISE insufficient_privilege USING MESSAGE = format('must be owner of handle %s', c.relname);
    ELSIF NOT isfinite(NEW.expires_at) OR NEW.expires_at <= now() THEN
        RAISE invalid_parameter_value USING MESSAGE = 'the time to live of a handle must be positive', HINT = 'Give an interval, for instance ''1 hour''.';
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION sluice.keep_handle_row() IS 'lets owners alone note handles and extend them';
DROP TRIGGER IF EXISTS sluice_keep ON sluice.ctas_handle;
CREATE TRIGGER sluice_keep BEFORE INSERT OR UPDATE ON sluice.ctas_handle FOR EACH ROW EXECUTE FUNCTION sluice.keep_handle_row();

-- Notes a table of schema sluice_handle as a handle, and takes from its owner what would change the rows.
CREATE OR REPLACE FUNCTION sluice.note_handle(relation regclass, ttl interval, server name, query_hash text, row_count bigint) RETURNS uuid
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    id constant uuid := gen_random_uuid();
    owner constant regrole := (SELECT c.relowner FROM pg_class c WHERE c.oid = note_handle.relation);
BEGIN
    EXECUTE format('REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON %s FROM %s', relation, owner);
    INSERT INTO sluice.ctas_handles (handle_id, relation, server, query_hash, row_count, bytes, expires_at)
    VALUES (id, relation, server, query_hash, row_count, CASE WHEN server IS NULL THEN pg_total_relation_size(relation) END, clock_timestamp() + ttl);
    RETURN id;
END
$$;
COMMENT ON FUNCTION sluice.note_handle(regclass, interval, name, text, bigint) IS 'notes a table as a handle';

-- What the names of tables begin with which keep the rows of handles at a server: no other database has the same. Until the end of the
-- transaction nobody looks there for tables without handles.
CREATE OR REPLACE FUNCTION sluice.handle_prefix(server name) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(sluice.handles_lock(server));
    RETURN sluice.handles_here();
END
$$;
COMMENT ON FUNCTION sluice.handle_prefix(name) IS 'what the names of tables begin with that keep the rows of handles';

CREATE OR REPLACE FUNCTION sluice.handles_lock(server name) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$ SELECT hashtextextended('sluice handles at ' || server, 0) $$;
COMMENT ON FUNCTION sluice.handles_lock(name) IS 'the advisory lock of who makes handles at a server';

CREATE OR REPLACE FUNCTION sluice.handles_here() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT 'sluice_handle_' || substr(md5(c.system_identifier || ' ' || d.oid), 1, 16) || '_'
    FROM pg_control_system() c, pg_database d WHERE d.datname = current_database()
$$;
COMMENT ON FUNCTION sluice.handles_here() IS 'what tells the handles of this database from those of others';

-- A handle as sluice.materialize returns it, which Sluice puts in its place.
CREATE OR REPLACE FUNCTION sluice.made_handle(id uuid) RETURNS sluice.handle
LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT h.handle_id, h.relation::text, h.server, h.row_count, h.bytes, h.expires_at FROM sluice.ctas_handles h WHERE h.handle_id = id
$$;
COMMENT ON FUNCTION sluice.made_handle(uuid) IS 'a handle as sluice.materialize returns it';

-- The arguments of a call, once home has looked at them; the parameters are those of sluice.materialize.
CREATE OR REPLACE FUNCTION sluice.materialize_arguments(query text, ttl interval DEFAULT '1 hour', server name DEFAULT NULL, name text DEFAULT NULL)
RETURNS text[] LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp SET intervalstyle = 'postgres' AS $$
    SELECT ARRAY[query, ttl::text, server::text, name]
$$;
COMMENT ON FUNCTION sluice.materialize_arguments(text, interval, name, text) IS 'the arguments of a call of sluice.materialize';

CREATE OR REPLACE FUNCTION sluice.materialize(query text, ttl interval DEFAULT '1 hour', server name DEFAULT NULL, name text DEFAULT NULL)
RETURNS sluice.handle LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE feature_not_supported USING MESSAGE = 'sluice.materialize stands where it cannot be carried out',
        HINT = 'Through Sluice, write SELECT ... FROM sluice.materialize(...), with nothing else in FROM, and no column or subquery among the arguments.';
END
$$;
COMMENT ON FUNCTION sluice.materialize(text, interval, name, text) IS 'keeps the result of a query as a table, for a time';

CREATE OR REPLACE FUNCTION sluice.handle_of(id uuid) RETURNS sluice.handle
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    h sluice.handle := sluice.made_handle(id);
BEGIN
    IF h.handle_id IS NULL THEN
        RAISE undefined_object USING MESSAGE = format('handle "%s" does not exist', id), HINT = 'The view sluice.ctas_handles has those that are yours to read.';
    END IF;
    RETURN h;
END
$$;
COMMENT ON FUNCTION sluice.handle_of(uuid) IS 'a handle by its identity';

CREATE OR REPLACE FUNCTION sluice.drop_handle(handle_id uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    h constant sluice.handle := sluice.handle_of(handle_id);
BEGIN
    EXECUTE format('DROP %s %s', CASE WHEN h.server IS NULL THEN 'TABLE' ELSE 'FOREIGN TABLE' END, h.relation);
END
$$;
COMMENT ON FUNCTION sluice.drop_handle(uuid) IS 'drops a handle and its rows';

-- From now on, so that it may end sooner as well.
CREATE OR REPLACE FUNCTION sluice.extend_handle(handle_id uuid, ttl interval DEFAULT '1 hour') RETURNS timestamptz
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    h sluice.handle := sluice.handle_of(handle_id);
BEGIN
    IF ttl IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'the time to live of a handle must not be null';
    END IF;
    UPDATE sluice.ctas_handles v SET expires_at = clock_timestamp() + ttl WHERE v.handle_id = h.handle_id RETURNING v.expires_at INTO h.expires_at;
    RETURN h.expires_at;
END
$$;
COMMENT ON FUNCTION sluice.extend_handle(uuid, interval) IS 'lets a handle live for a time from now on';

-- Drops one handle that has expired, for the account of the proxy, and says whether there may be more. One that somebody reads is left
-- for another time. Of several proxies one at a time is let.
CREATE OR REPLACE FUNCTION sluice.reap_handle() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '10ms' AS $$
DECLARE
    h record;
BEGIN
    IF NOT pg_try_advisory_xact_lock('sluice.ctas_handle'::regclass::bigint) THEN
        RETURN false;
    END IF;
    FOR h IN
        SELECT e.relation, c.relkind, n.nspname = 'sluice_handle' AS ours FROM sluice.ctas_handle e
        LEFT JOIN pg_class c ON c.oid = e.relation LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE e.expires_at <= now() ORDER BY e.expires_at
    LOOP
        BEGIN
            IF h.ours THEN
                EXECUTE format('DROP %s %s CASCADE', CASE h.relkind WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, h.relation);
            ELSE -- moved elsewhere by who owns it, and kept
                DELETE FROM sluice.ctas_handle e WHERE e.relation = h.relation;
            END IF;
            RETURN true;
        EXCEPTION WHEN lock_not_available THEN
            NULL;
        END;
    END LOOP;
    RETURN false;
END
$$;
REVOKE ALL ON FUNCTION sluice.reap_handle() FROM PUBLIC;
COMMENT ON FUNCTION sluice.reap_handle() IS 'drops a handle that has expired, for proxies';

-- Of tables at a server, those that no foreign table names: their handles were dropped, or never came to be. NULL while handles are
-- being made there, whose tables may not be known yet.
CREATE OR REPLACE FUNCTION sluice.orphaned_handles(server name, tables json) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(sluice.handles_lock(server)) THEN
        RETURN NULL;
    END IF;
    RETURN (SELECT coalesce(json_agg(t.name), '[]') FROM json_array_elements_text(tables) AS t (name)
        WHERE NOT EXISTS (SELECT FROM pg_foreign_table f, pg_options_to_table(f.ftoptions) o WHERE o.option_name = 'table_name' AND o.option_value = t.name));
END
$$;
REVOKE ALL ON FUNCTION sluice.orphaned_handles(name, json) FROM PUBLIC;
COMMENT ON FUNCTION sluice.orphaned_handles(name, json) IS 'tables without handles, for proxies';

CREATE OR REPLACE FUNCTION sluice.on_handle_drop() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() o WHERE o.schema_name = 'sluice_handle') THEN -- else nothing is written
        DELETE FROM sluice.ctas_handle h USING pg_event_trigger_dropped_objects() o
        WHERE o.schema_name = 'sluice_handle' AND o.object_type IN ('table', 'foreign table') AND h.relation = o.objid;
    END IF;
END
$$;
REVOKE ALL ON FUNCTION sluice.on_handle_drop() FROM PUBLIC;
COMMENT ON FUNCTION sluice.on_handle_drop() IS 'forgets handles whose tables were dropped';
DROP EVENT TRIGGER IF EXISTS sluice_handle_drop;
CREATE EVENT TRIGGER sluice_handle_drop ON sql_drop WHEN TAG IN ('DROP TABLE', 'DROP FOREIGN TABLE', 'DROP SCHEMA', 'DROP OWNED', 'DROP SERVER',
    'DROP EXTENSION') EXECUTE FUNCTION sluice.on_handle_drop();
ALTER EVENT TRIGGER sluice_handle_drop ENABLE ALWAYS;
