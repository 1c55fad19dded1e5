-- The catalog of Sluice in one database of home. Run in one transaction by CREATE EXTENSION sluice, as a superuser.
CREATE SCHEMA IF NOT EXISTS sluice;
COMMENT ON SCHEMA sluice IS 'Sluice: foreign tables through a proxy';
GRANT USAGE ON SCHEMA sluice TO PUBLIC;

-- Wrappers without handler and validator: home stores what is declared with them and can read none of it, so that the
-- proxy is the only way to the rows.
CREATE FOREIGN DATA WRAPPER sluice_postgres;
CREATE FOREIGN DATA WRAPPER sluice_duckdb;
CREATE FOREIGN DATA WRAPPER sluice_clickhouse;
CREATE FOREIGN DATA WRAPPER sluice_bigquery;
CREATE FOREIGN DATA WRAPPER sluice_snowflake;
CREATE FOREIGN DATA WRAPPER sluice_databricks;
CREATE FOREIGN DATA WRAPPER sluice_trino;
CREATE FOREIGN DATA WRAPPER sluice_mssql;
CREATE FOREIGN DATA WRAPPER sluice_sql;

-- Changes of what the proxies hold, the first from the time of installation in microseconds, so that no version is used
-- again after the extension was dropped and created anew. Each transaction adds rows of its own: DDL of one waits for
-- none of another, just as without Sluice.
CREATE TABLE sluice.catalog_change (
    step       bigint NOT NULL DEFAULT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint,
    changed_by xid8   NOT NULL DEFAULT pg_catalog.pg_current_xact_id()
);
INSERT INTO sluice.catalog_change DEFAULT VALUES;
GRANT SELECT ON sluice.catalog_change TO PUBLIC;
CREATE SEQUENCE sluice.catalog_step;
GRANT SELECT ON sluice.catalog_step TO PUBLIC; -- or nobody but superusers could dump the database
COMMENT ON TABLE sluice.catalog_change IS 'changes of what the proxies hold of this catalog';

-- The version is the sum of the changes that a transaction sees: it rises with each. "uncommitted" tells the transaction
-- that made one of them that what it sees must not be shared with others.
CREATE VIEW sluice.catalog_version AS
SELECT pg_catalog.sum(step)::bigint AS version,
       pg_catalog.bool_or(changed_by IS NOT DISTINCT FROM pg_catalog.pg_current_xact_id_if_assigned()) AS uncommitted
FROM sluice.catalog_change
HAVING pg_catalog.count(*) > 0;
GRANT SELECT ON sluice.catalog_version TO PUBLIC;
COMMENT ON VIEW sluice.catalog_version IS 'one row: the version of what the proxies hold of this catalog';

-- Options of servers beyond those of CREATE SERVER. Never a secret: everybody may read it.
CREATE TABLE sluice.server_option (
    server name NOT NULL,
    option text NOT NULL,
    value  text NOT NULL,
    PRIMARY KEY (server, option)
);
GRANT SELECT ON sluice.server_option TO PUBLIC;
COMMENT ON TABLE sluice.server_option IS 'options of servers beyond those of CREATE SERVER; override these';

-- Row filters and masks of foreign tables. Relations and roles stand by their types, so that a dump names them.
CREATE TABLE sluice.row_security (
    relation regclass NOT NULL PRIMARY KEY,
    enabled  boolean  NOT NULL DEFAULT false,
    forced   boolean  NOT NULL DEFAULT false
);
COMMENT ON TABLE sluice.row_security IS 'whether row security is enabled, and forced upon the owner, for foreign tables';

CREATE TABLE sluice.policy (
    relation   regclass  NOT NULL,
    name       name      NOT NULL,
    permissive boolean   NOT NULL DEFAULT true,
    command    text      NOT NULL DEFAULT 'ALL' CHECK (command IN ('ALL', 'SELECT', 'INSERT', 'UPDATE', 'DELETE')),
    roles      regrole[] NOT NULL DEFAULT '{-}', -- "-" is PUBLIC
    qual       text,
    with_check text,
    PRIMARY KEY (relation, name)
);
COMMENT ON TABLE sluice.policy IS 'row security policies of foreign tables, as pg_policy has those of tables';

CREATE TABLE sluice.column_mask (
    relation       regclass  NOT NULL,
    column_name    name      NOT NULL,
    expression     text      NOT NULL,
    unmasked_roles regrole[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (relation, column_name)
);
COMMENT ON TABLE sluice.column_mask IS 'what stands in place of a column for all but superusers, owners and unmasked roles';

-- Anybody may read how tables are governed, as in pg_policy; their owners alone decide it.
GRANT SELECT, INSERT, UPDATE, DELETE ON sluice.row_security, sluice.policy, sluice.column_mask TO PUBLIC;

-- Foreign tables of ours, and views and materialized views of any depth over them.
CREATE VIEW sluice.relations AS
WITH RECURSIVE tree (oid) AS (
    SELECT ft.ftrelid
    FROM pg_catalog.pg_foreign_table ft
    JOIN pg_catalog.pg_foreign_server s ON s.oid = ft.ftserver
    JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw
    WHERE starts_with(w.fdwname, 'sluice_') AND w.fdwhandler = 0
    UNION
    SELECT r.ev_class
    FROM tree t
    JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = t.oid
        AND d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
    JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid AND r.ev_type = '1'
    JOIN pg_catalog.pg_class c ON c.oid = r.ev_class AND c.relkind IN ('v', 'm')
)
SELECT t.oid, t.oid::pg_catalog.regclass AS relation FROM tree t;
GRANT SELECT ON sluice.relations TO PUBLIC;
COMMENT ON VIEW sluice.relations IS 'foreign tables of Sluice and the views over them';

-- Functions and operators that a statement over built-in types may mean in place of pg_catalog's of the same name,
-- depending on the search path. The proxy computes nothing by such a name.
CREATE VIEW sluice.shadows AS
SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass::oid AS class, p.oid AS object, p.proname AS name
FROM pg_catalog.pg_proc p
WHERE p.pronamespace <> 'pg_catalog'::pg_catalog.regnamespace
  AND NOT EXISTS (SELECT FROM pg_catalog.unnest(p.proargtypes::oid[]) AS a (type) WHERE a.type >= 16384)
  AND EXISTS (SELECT FROM pg_catalog.pg_proc b
              WHERE b.proname = p.proname AND b.pronamespace = 'pg_catalog'::pg_catalog.regnamespace)
UNION ALL
SELECT 'pg_catalog.pg_operator'::pg_catalog.regclass::oid, o.oid, o.oprname
FROM pg_catalog.pg_operator o
WHERE o.oprnamespace <> 'pg_catalog'::pg_catalog.regnamespace AND o.oprleft < 16384 AND o.oprright < 16384
  AND EXISTS (SELECT FROM pg_catalog.pg_operator b
              WHERE b.oprname = o.oprname AND b.oprnamespace = 'pg_catalog'::pg_catalog.regnamespace);
GRANT SELECT ON sluice.shadows TO PUBLIC;
COMMENT ON VIEW sluice.shadows IS 'functions and operators that may stand before those of pg_catalog';

CREATE FUNCTION sluice.public_options(options text[]) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(jsonb_object_agg(option_name, CASE
        WHEN option_name ~* 'passw|secret|token|private_?key|access_?key|api_?key|credential|service_?account'
             AND option_name NOT IN ('password_required', 'token_kind') AND option_value !~ '^(env|file):' THEN '********'
        ELSE option_value END), '{}')
    FROM pg_options_to_table(options)
$$;
GRANT EXECUTE ON FUNCTION sluice.public_options(text[]) TO PUBLIC;
COMMENT ON FUNCTION sluice.public_options(text[]) IS 'options as an object, secrets in clear blotted out';

-- The verifier of a role that may log in through the proxy: for the proxy's own account only.
CREATE FUNCTION sluice.get_auth(role_name text) RETURNS text
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT rolpassword FROM pg_authid
    WHERE rolname = role_name AND rolcanlogin AND NOT rolsuper
      AND (rolvaliduntil IS NULL OR rolvaliduntil > now())
$$;
REVOKE ALL ON FUNCTION sluice.get_auth(text) FROM PUBLIC;
COMMENT ON FUNCTION sluice.get_auth(text) IS 'password verifier of a role; none for superusers, NOLOGIN and expired roles';

-- Makes a new version and tells the proxies. Now and then one transaction, whose rows for others change nothing in the
-- sum, puts one row in the place of many.
CREATE FUNCTION sluice.bump_catalog_version() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- No step is made twice: a change must not come to the version of one that was rolled back.
    INSERT INTO sluice.catalog_change (step) VALUES (nextval('sluice.catalog_step'));
    IF (SELECT count(*) FROM sluice.catalog_change) > 32 AND current_setting('transaction_isolation') = 'read committed'
       AND pg_try_advisory_xact_lock('sluice.catalog_change'::regclass::bigint) THEN
        WITH folded AS (DELETE FROM sluice.catalog_change RETURNING step)
        INSERT INTO sluice.catalog_change (step) SELECT sum(step) FROM folded;
    END IF;
    NOTIFY sluice_catalog;
END
$$;
REVOKE ALL ON FUNCTION sluice.bump_catalog_version() FROM PUBLIC;
COMMENT ON FUNCTION sluice.bump_catalog_version() IS 'makes every proxy read the catalog anew';

CREATE FUNCTION sluice.on_option() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM sluice.bump_catalog_version();
    RETURN NULL;
END
$$;
CREATE FUNCTION sluice.check_owner() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    relation name;
BEGIN
    SELECT c.relname INTO relation FROM pg_class c
    WHERE c.oid IN (OLD.relation, NEW.relation) AND NOT pg_has_role(c.relowner, 'USAGE') LIMIT 1;
    IF FOUND THEN
        RAISE insufficient_privilege USING MESSAGE = format('must be owner of foreign table %s', relation);
    END IF;
    RETURN coalesce(NEW, OLD);
END
$$;
CREATE TRIGGER sluice_owner BEFORE INSERT OR UPDATE OR DELETE ON sluice.row_security FOR EACH ROW EXECUTE FUNCTION sluice.check_owner();
CREATE TRIGGER sluice_owner BEFORE INSERT OR UPDATE OR DELETE ON sluice.policy FOR EACH ROW EXECUTE FUNCTION sluice.check_owner();
CREATE TRIGGER sluice_owner BEFORE INSERT OR UPDATE OR DELETE ON sluice.column_mask FOR EACH ROW EXECUTE FUNCTION sluice.check_owner();
CREATE TRIGGER sluice_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON sluice.row_security
    FOR EACH STATEMENT EXECUTE FUNCTION sluice.on_option();
CREATE TRIGGER sluice_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON sluice.policy
    FOR EACH STATEMENT EXECUTE FUNCTION sluice.on_option();
CREATE TRIGGER sluice_change AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON sluice.column_mask
    FOR EACH STATEMENT EXECUTE FUNCTION sluice.on_option();

CREATE TRIGGER sluice_option AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON sluice.server_option
    FOR EACH STATEMENT EXECUTE FUNCTION sluice.on_option();

-- Whether a change of an object changes what a proxy holds. Most DDL does not.
CREATE FUNCTION sluice.concerns(class oid, object oid, tag text) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    CASE class
    WHEN 'pg_foreign_data_wrapper'::regclass THEN
        RETURN EXISTS (SELECT FROM pg_foreign_data_wrapper WHERE oid = object AND starts_with(fdwname, 'sluice_'));
    WHEN 'pg_foreign_server'::regclass THEN
        RETURN EXISTS (SELECT FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
                       WHERE s.oid = object AND starts_with(w.fdwname, 'sluice_'));
    WHEN 'pg_user_mapping'::regclass THEN
        RETURN EXISTS (SELECT FROM pg_user_mappings m JOIN pg_foreign_server s ON s.oid = m.srvid
                       JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
                       WHERE m.umid = object AND starts_with(w.fdwname, 'sluice_'));
    WHEN 'pg_namespace'::regclass THEN
        RETURN tag <> 'CREATE SCHEMA'; -- renamed: view definitions name it
    WHEN 'pg_rewrite'::regclass THEN
        RETURN EXISTS (SELECT FROM pg_rewrite r JOIN sluice.relations o ON o.oid = r.ev_class WHERE r.oid = object);
    ELSE
        IF EXISTS (SELECT FROM sluice.shadows s WHERE s.class = concerns.class AND s.object = concerns.object) THEN
            RETURN true;
        END IF;
    END CASE;
    -- CREATE OR REPLACE VIEW may have taken a view out of the set: its row type is older than this transaction then.
    IF class = 'pg_class'::regclass AND tag = 'CREATE VIEW'
       AND EXISTS (SELECT FROM pg_type t WHERE t.typrelid = object AND age(t.xmin) > 0) THEN
        RETURN true;
    END IF;
    -- One of ours, or something that the definition, a type or a default of one of ours names.
    RETURN class = 'pg_class'::regclass AND EXISTS (SELECT FROM sluice.relations o WHERE o.oid = object)
        OR EXISTS (
            SELECT FROM pg_depend d
            LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
            LEFT JOIN pg_attrdef a ON d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid
            JOIN sluice.relations o ON o.oid = CASE d.classid
                WHEN 'pg_rewrite'::regclass THEN r.ev_class
                WHEN 'pg_attrdef'::regclass THEN a.adrelid
                WHEN 'pg_class'::regclass THEN d.objid END
            WHERE d.refclassid = class AND d.refobjid = object);
END
$$;
REVOKE ALL ON FUNCTION sluice.concerns(oid, oid, text) FROM PUBLIC;

CREATE FUNCTION sluice.on_ddl() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_event_trigger_ddl_commands() c
        WHERE c.object_identity !~ '^pg_temp[.]sluice_[0-9]+_' -- made by a proxy for one statement
          AND sluice.concerns(c.classid, c.objid, c.command_tag))
    THEN
        PERFORM sluice.bump_catalog_version();
    END IF;
END
$$;

CREATE FUNCTION sluice.on_drop() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    kinds text[];
BEGIN
    SELECT array_agg(DISTINCT object_type) INTO kinds FROM pg_event_trigger_dropped_objects()
    WHERE NOT is_temporary AND object_type IN ('foreign table', 'server', 'user mapping', 'foreign-data wrapper',
        'foreign table column', 'default value', 'view', 'materialized view');
    IF kinds IS NULL THEN
        RETURN;
    END IF;
    IF kinds && '{server}' THEN
        DELETE FROM sluice.server_option WHERE server IN (
            SELECT object_name FROM pg_event_trigger_dropped_objects() WHERE object_type = 'server');
    END IF;
    IF kinds && '{foreign table}' THEN
        DELETE FROM sluice.row_security r WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = r.relation);
        DELETE FROM sluice.policy r WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = r.relation);
        DELETE FROM sluice.column_mask r WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = r.relation);
    END IF;
    -- Whether a view was one of ours nobody knows any more.
    IF kinds && '{foreign table,server,user mapping,foreign-data wrapper,foreign table column,view,materialized view}' OR EXISTS (
        SELECT FROM pg_event_trigger_dropped_objects() d
        JOIN pg_namespace n ON n.nspname = d.address_names[1]
        JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = d.address_names[2]
        JOIN sluice.relations o ON o.oid = c.oid
        WHERE d.object_type = 'default value')
    THEN
        PERFORM sluice.bump_catalog_version();
    END IF;
END
$$;

CREATE EVENT TRIGGER sluice_ddl ON ddl_command_end
    WHEN TAG IN ('ALTER AGGREGATE', 'ALTER COLLATION', 'ALTER DOMAIN', 'ALTER EXTENSION', 'ALTER FOREIGN DATA WRAPPER',
        'ALTER FOREIGN TABLE', 'ALTER FUNCTION', 'ALTER MATERIALIZED VIEW', 'ALTER OPERATOR', 'ALTER PROCEDURE',
        'ALTER ROUTINE', 'ALTER RULE', 'ALTER SCHEMA', 'ALTER SERVER', 'ALTER TABLE', 'ALTER TYPE', 'ALTER USER MAPPING',
        'ALTER VIEW', 'CREATE AGGREGATE', 'CREATE EXTENSION', 'CREATE FOREIGN DATA WRAPPER', 'CREATE FOREIGN TABLE',
        'CREATE FUNCTION', 'CREATE MATERIALIZED VIEW', 'CREATE OPERATOR', 'CREATE RULE', 'CREATE SCHEMA',
        'CREATE SERVER', 'CREATE USER MAPPING', 'CREATE VIEW', 'IMPORT FOREIGN SCHEMA')
    EXECUTE FUNCTION sluice.on_ddl();
CREATE EVENT TRIGGER sluice_drop ON sql_drop EXECUTE FUNCTION sluice.on_drop();
ALTER EVENT TRIGGER sluice_ddl ENABLE ALWAYS;
ALTER EVENT TRIGGER sluice_drop ENABLE ALWAYS;
