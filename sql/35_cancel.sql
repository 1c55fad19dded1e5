-- A twin of pg_cancel_backend that also reaches statements which an engine runs for a session whose backend waits
-- meanwhile: what home itself let through is announced to the proxies, on a channel whose name they alone know, so that
-- nobody else can announce anything.

-- A materialized view, because pg_dump neither locks nor copies one: owners of the database may dump it, and a restored
-- one has a name of its own.
CREATE MATERIALIZED VIEW IF NOT EXISTS sluice.cancel_key AS
SELECT 'sluice_cancel_' || pg_catalog.gen_random_uuid()::text AS channel;
COMMENT ON MATERIALIZED VIEW sluice.cancel_key IS 'the channel on which cancelled backends are announced; a secret';

-- The channel, where there is one: a dump without data leaves none.
CREATE OR REPLACE FUNCTION sluice.cancel_channel() RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (SELECT relispopulated FROM pg_class WHERE oid = 'sluice.cancel_key'::regclass) THEN
        RETURN (SELECT channel FROM sluice.cancel_key);
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION sluice.cancel_channel() FROM PUBLIC;
COMMENT ON FUNCTION sluice.cancel_channel() IS 'for the account of the proxy: the channel on which cancelled backends are announced';

-- Runs as the caller, so that home judges what he may do. The time is home's: only what ran then is meant.
CREATE OR REPLACE FUNCTION sluice.cancel_one(announcements text[], pid integer) RETURNS text[]
LANGUAGE plpgsql VOLATILE STRICT PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    called constant timestamptz := clock_timestamp();
BEGIN
    IF pg_catalog.pg_cancel_backend(pid) THEN
        RETURN announcements || (pid || ' ' || (extract(epoch FROM called) * 1000000)::bigint);
    END IF;
    RETURN announcements;
END
$$;

-- A standby announces nothing, as it has no NOTIFY.
CREATE OR REPLACE FUNCTION sluice.announce_cancels(announcements text[]) RETURNS boolean
LANGUAGE plpgsql VOLATILE STRICT PARALLEL RESTRICTED SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    channel constant text := CASE WHEN NOT pg_is_in_recovery() THEN sluice.cancel_channel() END;
BEGIN
    IF channel IS NOT NULL THEN
        PERFORM pg_notify(channel, a) FROM unnest(announcements) a;
    END IF;
    RETURN announcements <> '{}';
END
$$;

-- An aggregate, because its final function is run by the right of the aggregate's owner: nobody can run it but by way of
-- cancel_one, which announces nothing that home has refused to the caller.
CREATE OR REPLACE AGGREGATE sluice.cancel_backend(integer) (
    SFUNC = sluice.cancel_one, STYPE = text[], INITCOND = '{}', FINALFUNC = sluice.announce_cancels,
    PARALLEL = RESTRICTED
);

CREATE OR REPLACE FUNCTION sluice_cat.pg_cancel_backend(pid integer) RETURNS boolean
LANGUAGE sql VOLATILE STRICT PARALLEL RESTRICTED AS $$ SELECT sluice.cancel_backend(pid) $$;

GRANT EXECUTE ON FUNCTION sluice.cancel_one(text[], integer), sluice.cancel_backend(integer),
    sluice_cat.pg_cancel_backend(integer) TO PUBLIC;

-- Nobody else's, whatever default privileges say; filled, where a dump has left it empty.
DO $do$
DECLARE
    grantee regrole;
BEGIN
    REVOKE ALL ON FUNCTION sluice.announce_cancels(text[]) FROM PUBLIC;
    REVOKE ALL ON sluice.cancel_key FROM PUBLIC;
    FOR grantee IN
        SELECT a.grantee FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
        WHERE c.oid = 'sluice.cancel_key'::pg_catalog.regclass AND a.grantee NOT IN (0, c.relowner)
        UNION
        SELECT a.grantee FROM pg_catalog.pg_proc p, pg_catalog.aclexplode(p.proacl) a
        WHERE p.oid = 'sluice.announce_cancels(text[])'::pg_catalog.regprocedure AND a.grantee NOT IN (0, p.proowner)
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON sluice.cancel_key FROM %s', grantee);
        EXECUTE pg_catalog.format('REVOKE ALL ON FUNCTION sluice.announce_cancels(text[]) FROM %s', grantee);
    END LOOP;
    IF NOT (SELECT relispopulated FROM pg_catalog.pg_class WHERE oid = 'sluice.cancel_key'::pg_catalog.regclass) THEN
        REFRESH MATERIALIZED VIEW sluice.cancel_key;
    END IF;
END
$do$;
