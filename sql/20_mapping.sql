-- The options of the user mapping in force for a role: its own, else that for PUBLIC. For the proxy's own account only:
-- to users pg_user_mappings shows no more than is theirs.
CREATE OR REPLACE FUNCTION sluice.user_mapping(server oid, role oid) RETURNS text[]
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT m.umoptions FROM pg_user_mapping m
    JOIN pg_foreign_server s ON s.oid = m.umserver
    JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw
    WHERE m.umserver = server AND m.umuser IN (role, 0) AND starts_with(w.fdwname, 'sluice_') AND w.fdwhandler = 0
    ORDER BY m.umuser = 0 LIMIT 1
$$;
REVOKE ALL ON FUNCTION sluice.user_mapping(oid, oid) FROM PUBLIC;
COMMENT ON FUNCTION sluice.user_mapping(oid, oid) IS 'options of the user mapping in force for a role';
