-- The statement that makes the view of a table. Its masks are text that the table's owner may have written.
CREATE OR REPLACE FUNCTION sluice.mask_view_ddl(relation regclass, view name) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('CREATE OR REPLACE VIEW sluice_masked.%I AS SELECT %s FROM %s', mask_view_ddl.view, string_agg(CASE
            WHEN m.expression IS NULL THEN format('%I.%I', c.relname, a.attname)
            ELSE format(E'(CASE WHEN (SELECT sluice.unmasked(%L::pg_catalog.regclass, %L)) THEN %I.%I ELSE CAST((%s\n) AS %s) END)%s AS %I',
                mask_view_ddl.relation, a.attname, c.relname, a.attname, m.expression, format_type(a.atttypid, a.atttypmod),
                CASE WHEN l.oid IS NOT NULL THEN format(' COLLATE %I.%I', n.nspname, l.collname) END, a.attname)
            END, ', ' ORDER BY a.attnum), mask_view_ddl.relation)
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN sluice.column_mask m ON m.relation = c.oid AND m.column_name = a.attname
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    LEFT JOIN pg_namespace n ON n.oid = l.collnamespace
    WHERE c.oid = mask_view_ddl.relation
    GROUP BY c.oid
$$;
COMMENT ON FUNCTION sluice.mask_view_ddl(regclass, name) IS 'the statement that makes the view of a table with masks';

-- Runs a statement as the owner of a table, in a function from which no role can be set: what stands in a mask may call functions of the
-- owner's as soon as it is read, in types' checks.
CREATE OR REPLACE FUNCTION sluice.run_as_owner(masked regclass, statement text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner name := (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = masked);
BEGIN
    CREATE FUNCTION sluice.run_owned(statement text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
        AS 'BEGIN EXECUTE statement; END';
    REVOKE ALL ON FUNCTION sluice.run_owned(text) FROM PUBLIC;
    EXECUTE format('ALTER FUNCTION sluice.run_owned(text) OWNER TO %I', owner);
    IF has_schema_privilege(owner, 'sluice_masked', 'CREATE') THEN
        PERFORM sluice.run_owned(statement);
    ELSE
        EXECUTE format('GRANT CREATE ON SCHEMA sluice_masked TO %I', owner);
        PERFORM sluice.run_owned(statement);
        EXECUTE format('REVOKE CREATE ON SCHEMA sluice_masked FROM %I', owner);
    END IF;
    DROP FUNCTION sluice.run_owned(text);
END
$$;
REVOKE ALL ON FUNCTION sluice.run_as_owner(regclass, text) FROM PUBLIC;
COMMENT ON FUNCTION sluice.run_as_owner(regclass, text) IS 'runs what the owner of a table has written as its owner';

-- Refuses functions in a view of masks that its readers cannot execute, or could lead astray by their search path.
CREATE OR REPLACE FUNCTION sluice.check_mask_functions(view regclass) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p record;
BEGIN
    FOR p IN SELECT f.oid::regprocedure AS named, f.* FROM pg_rewrite w
        JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_proc'::regclass
        JOIN pg_proc f ON f.oid = d.refobjid
        JOIN pg_language l ON l.oid = f.prolang
        WHERE w.ev_class = view AND (f.oid = 'sluice.mask_hash(text)'::regprocedure
            OR l.lanname NOT IN ('internal', 'c') AND f.prosqlbody IS NULL AND NOT EXISTS (SELECT FROM unnest(f.proconfig) s WHERE starts_with(s, 'search_path=')))
    LOOP
        IF p.pronamespace = 'sluice'::regnamespace THEN
            RAISE feature_not_supported USING MESSAGE = format('function %s cannot stand in a mask of a table of this server', p.named),
                HINT = 'Whoever reads the table would have to be able to execute it, and so could try values.';
        END IF;
        RAISE feature_not_supported USING MESSAGE = format('function %s in a mask must set its search_path', p.named),
            HINT = format('Readers could put functions of their own before those that it calls. Use ALTER ROUTINE %s SET search_path = pg_catalog, pg_temp.', p.named);
    END LOOP;
END
$$;
COMMENT ON FUNCTION sluice.check_mask_functions(regclass) IS 'fails if readers could learn values from the functions in a mask';

-- Who, but the owner, holds SELECT on a relation (attnum 0) or on a column of it.
CREATE OR REPLACE FUNCTION sluice.selectors(relation oid, OUT attnum smallint, OUT attname name, OUT grantee text) RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT DISTINCT x.attnum, x.attname, CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(e.grantee)) END
    FROM (SELECT 0::smallint AS attnum, ''::name AS attname, c.relacl AS acl, c.relowner AS owner FROM pg_class c WHERE c.oid = selectors.relation
          UNION ALL
          SELECT a.attnum, a.attname, a.attacl, c.relowner FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
          WHERE c.oid = selectors.relation AND NOT a.attisdropped AND a.attacl IS NOT NULL) x, aclexplode(x.acl) e
    WHERE e.privilege_type = 'SELECT' AND e.grantee <> x.owner
$$;
COMMENT ON FUNCTION sluice.selectors(oid) IS 'who may select from a relation or a column';

-- Brings the privileges on a table with masks and on its view to what they must be, whatever was granted or revoked.
CREATE OR REPLACE FUNCTION sluice.settle_masks(masked regclass, view regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owner oid := (SELECT c.relowner FROM pg_class c WHERE c.oid = masked);
    hidden name[] := ARRAY(SELECT m.column_name FROM sluice.column_mask m WHERE m.relation = masked);
    g record;
BEGIN
    IF owner <> (SELECT c.relowner FROM pg_class c WHERE c.oid = view) THEN
        EXECUTE format('ALTER VIEW %s OWNER TO %I', view, pg_get_userbyid(owner));
    END IF;
    -- SELECT on the table as it is becomes SELECT on tableoid, that on a masked column SELECT on cmin.
    FOR g IN SELECT s.grantee FROM sluice.selectors(masked) s WHERE s.attnum = 0 LOOP
        EXECUTE format('REVOKE SELECT ON %s FROM %s CASCADE', masked, g.grantee);
        EXECUTE format('GRANT SELECT (tableoid) ON %s TO %s', masked, g.grantee);
    END LOOP;
    FOR g IN SELECT s.* FROM sluice.selectors(masked) s WHERE s.attname = ANY (hidden) LOOP
        EXECUTE format('REVOKE SELECT (%I) ON %s FROM %s CASCADE', g.attname, masked, g.grantee);
        EXECUTE format('GRANT SELECT (cmin) ON %s TO %s', masked, g.grantee);
        EXECUTE format('GRANT SELECT (%I) ON %s TO %s', g.attname, view, g.grantee);
    END LOOP;
    -- Who holds that on tableoid gets the columns without a mask, and the view.
    FOR g IN SELECT a.attname, s.grantee FROM sluice.selectors(masked) s
        JOIN pg_attribute a ON a.attrelid = masked AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL (hidden)
        WHERE s.attname = 'tableoid' AND NOT EXISTS (SELECT FROM sluice.selectors(masked) o WHERE o.grantee = s.grantee AND o.attname = a.attname)
    LOOP
        EXECUTE format('GRANT SELECT (%I) ON %s TO %s', g.attname, masked, g.grantee);
    END LOOP;
    FOR g IN SELECT s.attnum, s.attname, s.grantee FROM sluice.selectors(masked) s
        WHERE (s.attname = 'tableoid' OR s.attnum > 0) AND NOT EXISTS (SELECT FROM sluice.selectors(view) o
            WHERE o.grantee = s.grantee AND (o.attnum = 0 OR o.attname = s.attname))
        ORDER BY s.attnum
    LOOP
        EXECUTE format('GRANT SELECT %s ON %s TO %s', CASE WHEN g.attnum > 0 THEN format('(%I)', g.attname) END, view, g.grantee);
    END LOOP;
    FOR g IN SELECT v.* FROM sluice.selectors(view) v -- what was revoked on the table
        WHERE NOT EXISTS (SELECT FROM sluice.selectors(masked) s WHERE s.grantee = v.grantee
            AND s.attname = CASE WHEN v.attnum = 0 THEN 'tableoid' WHEN v.attname = ANY (hidden) THEN 'cmin' ELSE v.attname END)
        ORDER BY v.attnum
    LOOP
        EXECUTE format('REVOKE SELECT %s ON %s FROM %s CASCADE', CASE WHEN g.attnum > 0 THEN format('(%I)', g.attname) END, view, g.grantee);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sluice.settle_masks(regclass, regclass) FROM PUBLIC;
COMMENT ON FUNCTION sluice.settle_masks(regclass, regclass) IS 'lets the privileges on the view of a table with masks follow those on the table';

-- Gives back on a table what was taken for its masks, and drops the view.
CREATE OR REPLACE FUNCTION sluice.unmask_home(masked regclass, view regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    g record;
BEGIN
    FOR g IN SELECT s.attname, s.grantee FROM sluice.selectors(masked) s WHERE s.attname IN ('tableoid', 'cmin') ORDER BY s.attname DESC LOOP
        IF g.attname = 'tableoid' THEN
            EXECUTE format('REVOKE SELECT ON %s FROM %s CASCADE', masked, g.grantee);
            EXECUTE format('GRANT SELECT ON %s TO %s', masked, g.grantee);
        ELSE
            EXECUTE format('REVOKE SELECT (cmin) ON %s FROM %s CASCADE', masked, g.grantee);
        END IF;
    END LOOP;
    FOR g IN SELECT v.* FROM sluice.selectors(view) v WHERE v.attnum > 0
        AND NOT EXISTS (SELECT FROM sluice.selectors(masked) s WHERE s.grantee = v.grantee AND s.attname IN ('', v.attname))
    LOOP
        EXECUTE format('GRANT SELECT (%I) ON %s TO %s', g.attname, masked, g.grantee);
    END LOOP;
    EXECUTE format('DROP VIEW %s', view);
    DELETE FROM sluice.masked_table t WHERE t.relation = masked;
END
$$;
REVOKE ALL ON FUNCTION sluice.unmask_home(regclass, regclass) FROM PUBLIC;
COMMENT ON FUNCTION sluice.unmask_home(regclass, regclass) IS 'gives back what was taken for the masks of a table';

-- Makes what a table of this server needs for the masks that it has in sluice.column_mask, or undoes it where it has none. The mask of
-- a column given has just been dropped.
CREATE OR REPLACE FUNCTION sluice.mask_home(masked regclass, dropped name DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    stands regclass := (SELECT t.view FROM sluice.masked_table t JOIN pg_class c ON c.oid = t.view WHERE t.relation = masked);
    named name := (SELECT c.relname FROM pg_class c WHERE c.oid = stands);
    g record;
BEGIN
    PERFORM pg_advisory_xact_lock('sluice.masked_table'::regclass::bigint); -- see on_masked_ddl
    PERFORM sluice.bump_catalog_version();
    IF NOT EXISTS (SELECT FROM sluice.column_mask m WHERE m.relation = masked) THEN
        IF stands IS NOT NULL THEN
            PERFORM sluice.unmask_home(masked, stands);
        END IF;
        RETURN;
    END IF;
    IF named IS NULL THEN
        SELECT c.relname INTO named FROM pg_class c WHERE c.oid = masked;
        IF to_regclass(format('sluice_masked.%I', named)) IS NOT NULL THEN
            named := 'masked_' || masked::oid;
        END IF;
    END IF;
    PERFORM sluice.replace_mask_view(masked, named, stands);
    stands := format('sluice_masked.%I', named);
    PERFORM sluice.check_mask_functions(stands);
    INSERT INTO sluice.masked_table VALUES (masked, stands) ON CONFLICT ON CONSTRAINT masked_table_pkey DO UPDATE SET view = EXCLUDED.view;
    FOR g IN SELECT v.* FROM sluice.selectors(stands) v WHERE v.attname = dropped
        AND NOT EXISTS (SELECT FROM sluice.column_mask m WHERE m.relation = masked AND m.column_name = dropped)
    LOOP
        EXECUTE format('GRANT SELECT (%I) ON %s TO %s', g.attname, masked, g.grantee);
    END LOOP;
    PERFORM sluice.settle_masks(masked, stands);
END
$$;
REVOKE ALL ON FUNCTION sluice.mask_home(regclass, name) FROM PUBLIC;
COMMENT ON FUNCTION sluice.mask_home(regclass, name) IS 'makes what the masks of a table of this server need';

-- Follows changes of sluice.column_mask, which the owners of tables alone can make.
CREATE OR REPLACE FUNCTION sluice.on_mask() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT c.oid::regclass AS relation, c.relname, c.relrowsecurity, CASE WHEN c.oid = OLD.relation THEN OLD.column_name END AS dropped
        FROM pg_class c WHERE c.oid IN (OLD.relation, NEW.relation) AND c.relkind IN ('r', 'p') AND c.relpersistence <> 't'
    LOOP
        IF t.relrowsecurity AND tg_op <> 'DELETE' THEN
            RAISE feature_not_supported USING MESSAGE = format('table "%s" has row security and cannot have masks as well', t.relname),
                HINT = 'Masks are read in a view, for which row security would not hold.';
        END IF;
        PERFORM sluice.mask_home(t.relation, t.dropped);
    END LOOP;
    RETURN NULL;
END
$$;
DROP TRIGGER IF EXISTS sluice_mask ON sluice.column_mask;
CREATE TRIGGER sluice_mask AFTER INSERT OR UPDATE OR DELETE ON sluice.column_mask FOR EACH ROW EXECUTE FUNCTION sluice.on_mask();

-- Makes the view of a table anew, with the privileges that there are on one that stands.
CREATE OR REPLACE FUNCTION sluice.replace_mask_view(masked regclass, named name, stands regclass) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    held text[] := ARRAY(SELECT format('GRANT SELECT (%I) ON %s TO %s', v.attname, stands, v.grantee) FROM sluice.selectors(stands) v
        JOIN pg_attribute a ON a.attrelid = masked AND a.attname = v.attname AND NOT a.attisdropped WHERE v.attnum > 0);
    g text;
BEGIN
    PERFORM sluice.run_as_owner(masked, sluice.mask_view_ddl(masked, named));
EXCEPTION WHEN invalid_table_definition THEN -- columns are others
    EXECUTE format('DROP VIEW %s', stands);
    PERFORM sluice.run_as_owner(masked, sluice.mask_view_ddl(masked, named));
    FOREACH g IN ARRAY held LOOP
        EXECUTE g;
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sluice.replace_mask_view(regclass, name, regclass) FROM PUBLIC;
COMMENT ON FUNCTION sluice.replace_mask_view(regclass, name, regclass) IS 'makes the view of a table with masks anew';
