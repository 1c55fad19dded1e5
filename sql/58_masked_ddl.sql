-- Whether a view of masks has other columns than its table.
CREATE OR REPLACE FUNCTION sluice.mask_view_differs(masked regclass, view regclass) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(ROW(a.attname, a.atttypid, a.atttypmod, a.attcollation) ORDER BY a.attnum) FILTER (WHERE a.attrelid = masked)
        IS DISTINCT FROM array_agg(ROW(a.attname, a.atttypid, a.atttypmod, a.attcollation) ORDER BY a.attnum) FILTER (WHERE a.attrelid = view)
    FROM pg_attribute a WHERE a.attrelid IN (masked, view) AND a.attnum > 0 AND NOT a.attisdropped
$$;
COMMENT ON FUNCTION sluice.mask_view_differs(regclass, regclass) IS 'whether the view of a table with masks must be made anew';

-- Keeps masks of tables of this server in force behind GRANT, REVOKE and changes of the tables, by whomever and from wherever.
CREATE OR REPLACE FUNCTION sluice.on_masked_ddl() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    stack text;
    t record;
    lost name;
BEGIN
    IF tg_tag IN ('GRANT', 'REVOKE') AND NOT EXISTS (SELECT FROM pg_event_trigger_ddl_commands() c WHERE c.object_type = 'TABLE') THEN
        RETURN;
    END IF;
    IF tg_tag = 'GRANT' THEN -- one that a mask under way elsewhere would not see waits for it
        PERFORM pg_advisory_xact_lock_shared('sluice.masked_table'::regclass::bigint);
    END IF;
    IF NOT EXISTS (SELECT FROM sluice.masked_table) THEN
        RETURN;
    END IF;
    GET DIAGNOSTICS stack = PG_CONTEXT;
    IF stack ~ 'function sluice[.]mask_home[(]' THEN -- which does all of it
        RETURN;
    END IF;
    FOR t IN SELECT m.relation, v.oid::regclass AS view, c.relname, c.relrowsecurity FROM sluice.masked_table m
        JOIN pg_class c ON c.oid = m.relation LEFT JOIN pg_class v ON v.oid = m.view
    LOOP
        IF t.relrowsecurity THEN
            RAISE feature_not_supported USING MESSAGE = format('table "%s" has masks and cannot have row security as well', t.relname),
                HINT = 'Masks are read in a view, for which row security would not hold. Drop the masks first.';
        END IF;
        SELECT m.column_name INTO lost FROM sluice.column_mask m WHERE m.relation = t.relation
            AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = m.relation AND a.attname = m.column_name AND NOT a.attisdropped);
        IF FOUND THEN
            RAISE dependent_objects_still_exist USING MESSAGE = format('cannot rename or drop column "%s" of table "%s", which has a mask', lost, t.relname),
                HINT = format('SELECT sluice.drop_column_mask(%L, %L) first.', t.relation, lost);
        END IF;
        IF t.view IS NULL OR tg_tag = 'ALTER TABLE' AND sluice.mask_view_differs(t.relation, t.view) THEN
            PERFORM sluice.mask_home(t.relation);
        ELSE
            PERFORM sluice.settle_masks(t.relation, t.view);
        END IF;
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION sluice.on_masked_drop() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM sluice.masked_table t WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.relation)) THEN
        DELETE FROM sluice.column_mask m WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = m.relation);
        DELETE FROM sluice.masked_table t WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = t.relation);
        PERFORM sluice.bump_catalog_version();
    END IF;
END
$$;

DROP EVENT TRIGGER IF EXISTS sluice_masked_ddl;
CREATE EVENT TRIGGER sluice_masked_ddl ON ddl_command_end
    WHEN TAG IN ('GRANT', 'REVOKE', 'ALTER TABLE', 'DROP OWNED') EXECUTE FUNCTION sluice.on_masked_ddl();
ALTER EVENT TRIGGER sluice_masked_ddl ENABLE ALWAYS;
DROP EVENT TRIGGER IF EXISTS sluice_masked_drop;
CREATE EVENT TRIGGER sluice_masked_drop ON sql_drop EXECUTE FUNCTION sluice.on_masked_drop();
ALTER EVENT TRIGGER sluice_masked_drop ENABLE ALWAYS;

-- Drops the view of a table with masks before an ALTER TABLE that the view would be in the way of, which makes it anew, or before
-- a DROP TABLE. Nothing happens for who does not own the table: Postgres says so then.
CREATE OR REPLACE FUNCTION sluice.drop_mask_view(masked regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    stands regclass := (SELECT v.oid FROM sluice.masked_table t JOIN pg_class v ON v.oid = t.view WHERE t.relation = masked AND pg_has_role(v.relowner, 'USAGE'));
BEGIN
    IF stands IS NOT NULL THEN
        EXECUTE format('DROP VIEW %s', stands);
    END IF;
EXCEPTION WHEN dependent_objects_still_exist THEN
    NULL; -- views of the user's over it are in the way
END
$$;
COMMENT ON FUNCTION sluice.drop_mask_view(regclass) IS 'drops the view of a table with masks, for a change of the table';
