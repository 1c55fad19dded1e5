-- What governed statements have done: a row for each, in partitions by day (UTC), which are made as they are needed. The
-- proxies add rows, by sluice.write_audit; nobody else does, and nobody changes them. It is made anew where a dump has left it
-- out, as that of a user does who may not read it.
CREATE TABLE IF NOT EXISTS sluice.audit (
    at               timestamptz NOT NULL, -- when the statement ended
    duration         interval    NOT NULL,
    session_role     text        NOT NULL,
    role             text        NOT NULL,
    application_name text,
    client           inet,
    door             text        NOT NULL, -- simple, extended, copy, cursor
    fingerprint      text,
    text             text,
    relations        oid[]       NOT NULL,
    relation_names   text[]      NOT NULL,
    masked           text[]      NOT NULL,
    route            text,
    servers          text[]      NOT NULL,
    rows             bigint      NOT NULL,
    bytes            bigint      NOT NULL,
    outcome          text        NOT NULL, -- ok, partial, denied, failed, cancelled, gone
    sqlstate         text        NOT NULL
) PARTITION BY RANGE (at);
COMMENT ON TABLE sluice.audit IS 'what governed statements have done';

CREATE OR REPLACE FUNCTION sluice.keep_audit() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    callers text;
BEGIN
    GET DIAGNOSTICS callers = PG_CONTEXT;
    IF TG_OP = 'INSERT' AND callers ~ 'function sluice[.]write_audit[(]json[)]' THEN
        RETURN NEW;
    END IF;
    RAISE insufficient_privilege USING MESSAGE = format('cannot execute %s on table "%s": the audit is kept as it was written', TG_OP, TG_TABLE_NAME),
        HINT = 'sluice.drop_audit_before(date) drops whole days.';
END
$$;
COMMENT ON FUNCTION sluice.keep_audit() IS 'refuses to change the audit';
DROP TRIGGER IF EXISTS sluice_keep ON sluice.audit;
CREATE TRIGGER sluice_keep BEFORE INSERT OR UPDATE OR DELETE ON sluice.audit FOR EACH ROW EXECUTE FUNCTION sluice.keep_audit();
DROP TRIGGER IF EXISTS sluice_keep_all ON sluice.audit;
CREATE TRIGGER sluice_keep_all BEFORE UPDATE OR DELETE OR TRUNCATE ON sluice.audit FOR EACH STATEMENT EXECUTE FUNCTION sluice.keep_audit();

-- The partition of sluice.audit for a day (UTC). It is made aside and attached, which waits for no reader of the audit.
CREATE OR REPLACE FUNCTION sluice.make_audit_day(day date) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    partition constant name := to_char(day, '"audit_"YYYYMMDD');
BEGIN
    IF to_regclass(format('sluice.%I', partition)) IS NOT NULL THEN
        RETURN;
    END IF;
    LOCK TABLE sluice.audit IN SHARE UPDATE EXCLUSIVE MODE; -- another proxy may be at it; no user can take this lock
    IF to_regclass(format('sluice.%I', partition)) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE sluice.%I (LIKE sluice.audit)', partition);
    EXECUTE format('CREATE INDEX ON sluice.%I (at)', partition);
    EXECUTE format('CREATE TRIGGER sluice_keep_all BEFORE UPDATE OR DELETE OR TRUNCATE ON sluice.%I FOR EACH STATEMENT EXECUTE FUNCTION sluice.keep_audit()', partition);
    EXECUTE format('ALTER TABLE sluice.audit ATTACH PARTITION sluice.%I FOR VALUES FROM (%L) TO (%L)',
        partition, day::timestamp AT TIME ZONE 'UTC', (day + 1)::timestamp AT TIME ZONE 'UTC');
END
$$;
REVOKE ALL ON FUNCTION sluice.make_audit_day(date) FROM PUBLIC;
COMMENT ON FUNCTION sluice.make_audit_day(date) IS 'makes the partition of the audit for a day';

-- Adds rows to the audit: for the proxy's own account only. None are good to see whether it can be written.
CREATE OR REPLACE FUNCTION sluice.write_audit(rows json) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    day date;
BEGIN
    FOR day IN
        SELECT (now() AT TIME ZONE 'UTC')::date
        UNION SELECT ((r ->> 'at')::timestamptz AT TIME ZONE 'UTC')::date FROM json_array_elements(rows) r
    LOOP
        PERFORM sluice.make_audit_day(day);
    END LOOP;
    INSERT INTO sluice.audit
    SELECT r.at, make_interval(secs => r.seconds), r.session_role, coalesce((SELECT a.rolname FROM pg_roles a WHERE a.oid = r.role), r.role::text),
        r.application_name, r.client, r.door, r.fingerprint, r.text, r.relations, r.relation_names, r.masked, r.route, r.servers,
        r.rows, r.bytes, r.outcome, r.sqlstate
    FROM json_to_recordset(rows) AS r (at timestamptz, seconds float8, session_role text, role oid, application_name text, client inet,
        door text, fingerprint text, text text, relations oid[], relation_names text[], masked text[], route text, servers text[],
        rows bigint, bytes bigint, outcome text, sqlstate text);
END
$$;
REVOKE ALL ON FUNCTION sluice.write_audit(json) FROM PUBLIC;
COMMENT ON FUNCTION sluice.write_audit(json) IS 'adds rows to the audit, for proxies';

-- Drops the days of the audit before the one given, and says what it has dropped.
CREATE OR REPLACE FUNCTION sluice.drop_audit_before(before date, OUT day date, OUT rows bigint) RETURNS SETOF record
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    partition regclass;
BEGIN
    FOR partition, day IN
        SELECT i.inhrelid::regclass, substr(c.relname, 7)::date FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'sluice.audit'::regclass AND c.relname ~ '^audit_[0-9]{8}$' AND substr(c.relname, 7)::date < before ORDER BY c.relname
    LOOP
        EXECUTE format('SELECT count(*) FROM %s', partition) INTO rows;
        EXECUTE format('DROP TABLE %s', partition);
        RETURN NEXT;
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sluice.drop_audit_before(date) FROM PUBLIC;
COMMENT ON FUNCTION sluice.drop_audit_before(date) IS 'drops the days of the audit before a day, and returns them';
