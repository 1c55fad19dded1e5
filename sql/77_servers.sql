-- Servers, and how they are. That is in the memory of a proxy, which sets it as JSON for the transaction of a statement that names the
-- view, of those servers alone that the statement's role may use; elsewhere nothing is known of it.
CREATE OR REPLACE VIEW sluice.servers AS
SELECT s.srvname AS name, w.fdwname AS wrapper,
       sluice.public_options(s.srvoptions) || coalesce(
           (SELECT pg_catalog.jsonb_object_agg(o.option, o.value) FROM sluice.server_option o WHERE o.server = s.srvname),
           '{}') AS options,
       pg_catalog.pg_get_userbyid(s.srvowner) AS owner,
       h.state, h.running, h.queued, h.idle, h.last_error, h.last_error_at, h.remedy, h.retry_at
FROM pg_catalog.pg_foreign_server s
JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw
LEFT JOIN pg_catalog.jsonb_to_recordset(coalesce(nullif(pg_catalog.current_setting('sluice.servers', true), ''), '[]')::pg_catalog.jsonb)
    AS h (server oid, state text, running integer, queued integer, idle integer, last_error text, last_error_at timestamptz, remedy text, retry_at timestamptz)
    ON h.server = s.oid
WHERE pg_catalog.starts_with(w.fdwname, 'sluice_') AND w.fdwhandler = 0;
GRANT SELECT ON sluice.servers TO PUBLIC;
COMMENT ON VIEW sluice.servers IS 'foreign servers of Sluice, without secrets, and how they are for the proxy that is asked';
