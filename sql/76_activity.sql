-- What a proxy does and has done. Its rows are in the proxy's memory: it sets them, as JSON, for the transaction of a statement
-- that names one of these views, those alone that the statement's role may see.
CREATE OR REPLACE FUNCTION sluice.activity(view_name text) RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    document constant text := current_setting('sluice.' || view_name, true);
BEGIN
    IF coalesce(document, '') = '' THEN
        RAISE feature_not_supported USING MESSAGE = format('sluice.%s has no rows here: they are in the memory of a proxy', view_name),
            HINT = format('Connect through Sluice, and name sluice.%s in the statement itself, not in a view or function of your own.', view_name);
    END IF;
    RETURN document;
END
$$;
COMMENT ON FUNCTION sluice.activity(text) IS 'the rows of a view of activity, as the proxy has set them';

CREATE OR REPLACE VIEW sluice.stat_activity AS
SELECT pid, role, database, application_name, client_addr, backend_start, state, route, query, rows, bytes, query_start, id
FROM pg_catalog.jsonb_to_recordset(sluice.activity('stat_activity')) AS s (pid integer, role name, database name, application_name text, client_addr inet,
    backend_start timestamptz, state text, route text, query text, rows bigint, bytes bigint, query_start timestamptz, id text);
GRANT SELECT ON sluice.stat_activity TO PUBLIC;
COMMENT ON VIEW sluice.stat_activity IS 'sessions of the proxy';

CREATE OR REPLACE VIEW sluice.stat_statements AS
SELECT database, pg_catalog.pg_get_userbyid(role) AS role, fingerprint, query, route, calls, failed, rows, nullif(bytes, 0) AS bytes,
       first_row_ms, total_ms, mean_ms, max_ms, servers, since, last_call
FROM pg_catalog.jsonb_to_recordset(sluice.activity('stat_statements')) AS s (database name, role oid, fingerprint text, query text, route text, calls bigint,
    failed bigint, rows bigint, bytes bigint, first_row_ms double precision, total_ms double precision, mean_ms double precision,
    max_ms double precision, servers jsonb, since timestamptz, last_call timestamptz);
GRANT SELECT ON sluice.stat_statements TO PUBLIC;
COMMENT ON VIEW sluice.stat_statements IS 'statements over foreign tables that the proxy has run';

CREATE OR REPLACE VIEW sluice.stat_streams AS
SELECT pid, database, pg_catalog.pg_get_userbyid(role) AS role, server, relations, rows, bytes, started, pg_catalog.clock_timestamp() - started AS age
FROM pg_catalog.jsonb_to_recordset(sluice.activity('stat_streams')) AS s (pid integer, database name, role oid, server name, relations text[],
    rows bigint, bytes bigint, started timestamptz);
GRANT SELECT ON sluice.stat_streams TO PUBLIC;
COMMENT ON VIEW sluice.stat_streams IS 'what the proxy reads of foreign servers at this moment';

CREATE OR REPLACE VIEW sluice.stat_progress AS
SELECT nullif(pid, 0) AS pid, database, "user" AS role, what, relation, done, total, rate, pg_catalog.make_interval(secs => eta) AS eta, started
FROM pg_catalog.jsonb_to_recordset(sluice.activity('stat_progress')) AS s (pid integer, database name, "user" name, what text, relation text,
    done bigint, total bigint, rate double precision, eta double precision, started timestamptz);
GRANT SELECT ON sluice.stat_progress TO PUBLIC;
COMMENT ON VIEW sluice.stat_progress IS 'how far long work of the proxy has come';

CREATE OR REPLACE FUNCTION sluice.stat_reset() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF coalesce(current_setting('sluice.stat_reset', true), '') <> 'on' THEN
        RAISE feature_not_supported USING MESSAGE = 'sluice.stat_reset() must be a statement by itself, and go through a proxy',
            HINT = 'Connect through Sluice and say: SELECT sluice.stat_reset()';
    END IF;
END
$$;
REVOKE ALL ON FUNCTION sluice.stat_reset() FROM PUBLIC;
COMMENT ON FUNCTION sluice.stat_reset() IS 'empties sluice.stat_statements of the proxy';
