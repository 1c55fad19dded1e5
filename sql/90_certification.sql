-- What certification has found of servers. It holds for a server as it was defined then: another host is another server.
CREATE TABLE IF NOT EXISTS sluice.certification (
    server       name        NOT NULL,
    terminal     text        NOT NULL CHECK (terminal IN ('row', 'arrow')),
    capability   text        NOT NULL,
    certified    boolean     NOT NULL,
    certified_at timestamptz NOT NULL DEFAULT now(),
    version      text        NOT NULL,
    detail       text        NOT NULL,
    definition   text        NOT NULL,
    PRIMARY KEY (server, terminal, capability)
);
COMMENT ON TABLE sluice.certification IS 'what certification has found of servers, and of what definition of them';

-- The definition of a server but for options that are not the engine's.
CREATE OR REPLACE FUNCTION sluice.server_definition(server name) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT md5(concat_ws(' ', s.oid, s.srvfdw, array(SELECT o FROM unnest(s.srvoptions) o WHERE o !~ '^(stream|max_sessions|queue_timeout|max_failures)=' ORDER BY o)))
    FROM pg_foreign_server s WHERE s.srvname = server
$$;
COMMENT ON FUNCTION sluice.server_definition(name) IS 'changes with the definition of a server';

CREATE OR REPLACE VIEW sluice.engine_capabilities AS
SELECT c.server, c.terminal, c.capability, CASE WHEN c.certified THEN c.certified_at END AS certified_at, c.version, c.detail
FROM sluice.certification c
WHERE c.definition = sluice.server_definition(c.server);
GRANT SELECT ON sluice.engine_capabilities TO PUBLIC;
COMMENT ON VIEW sluice.engine_capabilities IS 'what servers are certified for, by terminal; certified_at is NULL where a check has failed';

-- Refuses what only the owner of a server may, so that home judges it.
CREATE OR REPLACE FUNCTION sluice.certify_arguments(server name) RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s pg_foreign_server;
BEGIN
    SELECT * INTO s FROM pg_foreign_server f WHERE f.srvname = server;
    IF NOT FOUND THEN
        RAISE undefined_object USING MESSAGE = format('server "%s" does not exist', server);
    ELSIF NOT pg_has_role(s.srvowner, 'USAGE') THEN
        RAISE insufficient_privilege USING MESSAGE = format('must be owner of foreign server %s', server);
    END IF;
    RETURN ARRAY[server::text];
END
$$;
COMMENT ON FUNCTION sluice.certify_arguments(name) IS 'the arguments of a call of sluice.certify, by who may make it';

-- Who owns a server may note what he has found of it. Row security would keep others from dumping the database.
CREATE OR REPLACE FUNCTION sluice.keep_certification() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF TG_OP = 'INSERT' OR EXISTS (SELECT FROM pg_foreign_server s WHERE s.srvname = OLD.server) THEN -- nobody owns what is gone
        PERFORM sluice.certify_arguments(CASE TG_OP WHEN 'DELETE' THEN OLD.server ELSE NEW.server END);
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END
$$;
COMMENT ON FUNCTION sluice.keep_certification() IS 'lets owners of servers alone note what they are certified for';
DROP TRIGGER IF EXISTS sluice_keep ON sluice.certification;
CREATE TRIGGER sluice_keep BEFORE INSERT OR DELETE ON sluice.certification FOR EACH ROW EXECUTE FUNCTION sluice.keep_certification();
GRANT SELECT, INSERT, DELETE ON sluice.certification TO PUBLIC;

CREATE OR REPLACE FUNCTION sluice.note_certification(server name, results jsonb) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM sluice.certify_arguments(server);
    DELETE FROM sluice.certification c WHERE c.server = note_certification.server;
    INSERT INTO sluice.certification (server, terminal, capability, certified, version, detail, definition)
    SELECT note_certification.server, f.terminal, f.capability, f.certified, f.version, f.detail, sluice.server_definition(note_certification.server)
    FROM jsonb_to_recordset(results) AS f (terminal text, capability text, certified boolean, version text, detail text);
END
$$;
COMMENT ON FUNCTION sluice.note_certification(name, jsonb) IS 'notes what certification has found of a server';

-- What was found of a server, which Sluice puts in the place of a call of sluice.certify.
CREATE OR REPLACE FUNCTION sluice.certified(server name) RETURNS SETOF sluice.engine_capabilities
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT * FROM sluice.engine_capabilities c WHERE c.server = certified.server ORDER BY c.terminal DESC, c.capability = 'stream' DESC, c.capability
$$;
COMMENT ON FUNCTION sluice.certified(name) IS 'what a server is certified for';

CREATE OR REPLACE FUNCTION sluice.certify(server name) RETURNS SETOF sluice.engine_capabilities
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE feature_not_supported USING MESSAGE = 'sluice.certify stands where it cannot be carried out',
        HINT = 'Through Sluice, write SELECT ... FROM sluice.certify(...), with nothing else in FROM, and no column or subquery among the arguments.';
END
$$;
COMMENT ON FUNCTION sluice.certify(name) IS 'looks at whether a server does what its engine promises';
