-- Foreign tables whose rows their servers count. A proxy has a server begin and end that, soon after the commit, and asks it for counts:
-- what is known here is which tables are meant.
CREATE TABLE IF NOT EXISTS sluice.table_statistics_foreign (
    relation regclass NOT NULL PRIMARY KEY,
    made     boolean  NOT NULL DEFAULT false, -- the server counts it
    dropped  boolean  NOT NULL DEFAULT false, -- it is to end that
    error    text -- why it does not
);
COMMENT ON TABLE sluice.table_statistics_foreign IS 'foreign tables whose rows their servers count';
GRANT SELECT ON sluice.table_statistics_foreign TO PUBLIC;

-- What servers have said, as a proxy sets it for the transaction of a statement that names a count.
CREATE OR REPLACE FUNCTION sluice.server_counts(OUT relation oid, OUT rows bigint, OUT sure boolean, OUT asked timestamptz) RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$
    SELECT * FROM pg_catalog.jsonb_to_recordset(coalesce(nullif(pg_catalog.current_setting('sluice.server_counts', true), ''), '[]')::pg_catalog.jsonb)
        AS c (relation pg_catalog.oid, rows bigint, sure boolean, asked timestamptz)
$$;
COMMENT ON FUNCTION sluice.server_counts() IS 'how many rows foreign tables have, as a proxy was told';
GRANT EXECUTE ON FUNCTION sluice.server_counts() TO PUBLIC;

-- Whether a role that may read a foreign table sees all of its rows.
CREATE OR REPLACE FUNCTION sluice.sees_all(relation oid) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT pg_catalog.has_table_privilege(c.oid, 'SELECT') AND pg_catalog.has_schema_privilege(c.relnamespace, 'USAGE') AND NOT EXISTS (
        SELECT FROM sluice.row_security s WHERE s.relation = c.oid AND s.enabled AND (s.forced OR NOT pg_catalog.pg_has_role(c.relowner, 'USAGE'))
            AND NOT EXISTS (SELECT FROM pg_catalog.pg_roles o WHERE o.rolname = current_user AND (o.rolsuper OR o.rolbypassrls)))
    FROM pg_catalog.pg_class c WHERE c.oid = sees_all.relation
$$;
COMMENT ON FUNCTION sluice.sees_all(oid) IS 'whether the current role sees all rows of a foreign table';
GRANT EXECUTE ON FUNCTION sluice.sees_all(oid) TO PUBLIC;

-- Notes that a server is to count a foreign table; false for what is no foreign table of ours.
CREATE OR REPLACE FUNCTION sluice.track_foreign(relation regclass, group_by text[], coverage text[]) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    named constant name := (SELECT c.relname FROM pg_class c JOIN sluice.relations r ON r.oid = c.oid WHERE c.oid = track_foreign.relation AND c.relkind = 'f');
BEGIN
    IF named IS NULL THEN
        RETURN false;
    ELSIF cardinality(group_by) > 0 OR cardinality(coverage) > 0 THEN
        RAISE feature_not_supported USING MESSAGE = format('rows of foreign table "%s" cannot be counted in groups or by what they cover', named),
            HINT = 'Leave group_by and coverage out.';
    END IF;
    INSERT INTO sluice.table_statistics_foreign AS f (relation) VALUES (track_foreign.relation)
    ON CONFLICT ON CONSTRAINT table_statistics_foreign_pkey DO UPDATE SET made = false, dropped = false, error = NULL WHERE f.dropped;
    IF NOT FOUND THEN
        RAISE duplicate_object USING MESSAGE = format('rows of "%s" are counted already', named);
    END IF;
    PERFORM sluice.bump_catalog_version();
    RETURN true;
END
$$;
COMMENT ON FUNCTION sluice.track_foreign(regclass, text[], text[]) IS 'notes that a server is to count a foreign table';

-- What a proxy is to have servers do, or to look after: a document. It says by each table whether that has been done before.
CREATE OR REPLACE FUNCTION sluice.foreign_counters() RETURNS json
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT json_agg(json_build_object('relation', c.oid::bigint, 'owner', c.relowner::bigint, 'made', f.made, 'dropped', f.dropped, 'error', coalesce(f.error, '')))
    FROM sluice.table_statistics_foreign f JOIN pg_class c ON c.oid = f.relation
$$;
REVOKE ALL ON FUNCTION sluice.foreign_counters() FROM PUBLIC;
COMMENT ON FUNCTION sluice.foreign_counters() IS 'what servers are to count, for proxies';

-- Notes what has become of it.
CREATE OR REPLACE FUNCTION sluice.foreign_counted(relation oid, ended boolean, reason text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF ended AND reason IS NULL THEN
        DELETE FROM sluice.table_statistics_foreign f WHERE f.relation = foreign_counted.relation AND f.dropped;
    ELSE
        UPDATE sluice.table_statistics_foreign f SET made = NOT ended AND reason IS NULL, error = reason
        WHERE f.relation = foreign_counted.relation AND f.dropped = ended AND (f.made, f.error) IS DISTINCT FROM (NOT ended AND reason IS NULL, reason);
    END IF;
    IF FOUND THEN
        PERFORM sluice.bump_catalog_version();
    END IF;
END
$$;
REVOKE ALL ON FUNCTION sluice.foreign_counted(oid, boolean, text) FROM PUBLIC;
COMMENT ON FUNCTION sluice.foreign_counted(oid, boolean, text) IS 'notes that a server counts a foreign table, for proxies';
