-- Who of the roles in a list of privileges is neither the owner nor a superuser; PUBLIC is all.
CREATE OR REPLACE FUNCTION sluice.grantees(privileges aclitem[], owner oid, privilege text) RETURNS text[]
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT array_agg(DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(r.rolname) END)
    FROM aclexplode(grantees.privileges) a LEFT JOIN pg_roles r ON r.oid = a.grantee
    WHERE a.privilege_type = grantees.privilege AND a.grantee <> grantees.owner AND NOT coalesce(r.rolsuper, false)
$$;
COMMENT ON FUNCTION sluice.grantees(aclitem[], oid, text) IS 'the roles that hold a privilege on what is not theirs';

-- Ways to the rows of a table of this server that need no SELECT on it, the roles that may go them, and what closes each:
-- views, rules and functions with their owners' rights, tables that it inherits from or that inherit from it, triggers and foreign
-- keys that a privilege allows, publications, and pg_read_all_data. A function counts if its text has the name of what it would read. None lead to a foreign table, which is
-- read through Sluice alone: it governs each view of it as the reader is.
CREATE OR REPLACE FUNCTION sluice.leaks(relation regclass, OUT kind text, OUT object text, OUT roles text[], OUT remedy text)
RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE kin (oid) AS ( -- tables whose rows may be the table's
        SELECT c.oid FROM pg_class c WHERE c.oid = leaks.relation AND c.relkind <> 'f'
        UNION
        SELECT CASE WHEN i.inhrelid = k.oid THEN i.inhparent ELSE i.inhrelid END
        FROM kin k JOIN pg_inherits i ON k.oid IN (i.inhrelid, i.inhparent)
    ), tree (oid) AS (
        SELECT k.oid FROM kin k
        UNION
        SELECT w.ev_class
        FROM tree t
        JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid AND d.classid = 'pg_rewrite'::regclass
        JOIN pg_rewrite w ON w.oid = d.objid AND w.ev_type = '1'
        WHERE w.ev_class NOT IN (SELECT m.view FROM sluice.masked_table m) -- which has the masks
    ), sources AS (
        SELECT c.*, c.oid::regclass::text AS named, coalesce((
            SELECT o.option_value::boolean FROM pg_options_to_table(c.reloptions) o WHERE o.option_name = 'security_invoker'), false) AS invoker
        FROM tree t JOIN pg_class c ON c.oid = t.oid
    ), found AS (
        SELECT CASE s.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'table' END AS kind, s.named AS object,
            sluice.grantees(coalesce(s.relacl, acldefault('r', s.relowner)) || ARRAY(
                SELECT unnest(a.attacl) FROM pg_attribute a WHERE a.attrelid = s.oid AND NOT a.attisdropped), s.relowner, 'SELECT') AS roles,
            format('REVOKE SELECT ON %s FROM', s.named) AS remedy
        FROM sources s WHERE s.oid <> leaks.relation AND NOT s.invoker
        UNION
        SELECT 'function', p.oid::regprocedure::text,
            sluice.grantees(coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner, 'EXECUTE'),
            format('REVOKE EXECUTE ON ROUTINE %s FROM', p.oid::regprocedure)
        FROM sources s
        JOIN pg_proc p ON p.prosecdef AND p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'sluice'::regnamespace)
            AND (strpos(lower(p.prosrc), lower(s.relname)) > 0 OR EXISTS (
                SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                    AND d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid))
        UNION
        SELECT 'privilege', format('%s on %s', p, s.named), sluice.grantees(s.relacl, s.relowner, p), format('REVOKE %s ON %s FROM', p, s.named)
        FROM sources s, unnest('{TRIGGER,REFERENCES}'::text[]) p WHERE s.relkind IN ('r', 'p')
        UNION
        SELECT 'role', 'pg_read_all_data', array_agg(quote_ident(r.rolname) ORDER BY r.rolname), 'REVOKE pg_read_all_data FROM'
        FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.member AND NOT r.rolsuper
        WHERE m.roleid = to_regrole('pg_read_all_data') AND EXISTS (SELECT FROM kin)
    )
    SELECT f.kind, f.object, f.roles, f.remedy || ' ' || array_to_string(f.roles, ', ') FROM found f WHERE f.roles IS NOT NULL
    UNION
    SELECT 'rule', format('%I ON %s', w.rulename, w.ev_class::regclass), NULL, format('DROP RULE %I ON %s', w.rulename, w.ev_class::regclass)
    FROM sources s
    JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.oid AND d.classid = 'pg_rewrite'::regclass
    JOIN pg_rewrite w ON w.oid = d.objid AND w.ev_type <> '1' AND w.ev_class <> s.oid
    UNION
    SELECT 'publication', format('%I of %s', p.pubname, s.named), NULL,
        CASE WHEN p.puballtables THEN format('DROP PUBLICATION %I', p.pubname) ELSE format('ALTER PUBLICATION %I DROP TABLE %s', p.pubname, s.named) END
    FROM sources s JOIN pg_publication p ON s.relkind IN ('r', 'p') AND s.relpersistence = 'p'
        AND (p.puballtables OR EXISTS (SELECT FROM pg_publication_rel l WHERE l.prpubid = p.oid AND l.prrelid = s.oid))
    ORDER BY 1, 2
$$;
COMMENT ON FUNCTION sluice.leaks(regclass) IS 'ways to the rows of a table that need no SELECT on it, the roles that may go them, and what closes each';
GRANT EXECUTE ON FUNCTION sluice.leaks(regclass) TO PUBLIC;

-- Warns of each of them that row security, or (masks) the masks of the table do not hold for.
CREATE OR REPLACE FUNCTION sluice.warn_of_leaks(relation regclass, masks boolean DEFAULT false) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    named name := (SELECT c.relname FROM pg_class c WHERE c.oid = warn_of_leaks.relation);
    l record;
BEGIN
    FOR l IN SELECT * FROM sluice.leaks(relation) o WHERE masks OR o.kind <> 'role' LOOP -- which row security binds
        RAISE WARNING USING MESSAGE = concat(format('%s %s gets at rows of table "%s" as they are', l.kind, l.object, named),
                ', for ' || array_to_string(l.roles, ', ')),
            HINT = l.remedy;
    END LOOP;
END
$$;
COMMENT ON FUNCTION sluice.warn_of_leaks(regclass, boolean) IS 'a warning for each way to the rows of a table that row security or masks do not close';
GRANT EXECUTE ON FUNCTION sluice.warn_of_leaks(regclass, boolean) TO PUBLIC;
