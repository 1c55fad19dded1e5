-- What governs the current role's reading of a relation: a row without column_name that has the row filter, where there is
-- one, and a row for each mask. Whoever a table's row security does not bind, as in Postgres, gets no filter.
CREATE OR REPLACE FUNCTION sluice.governance(governed oid, OUT column_name name, OUT expression text) RETURNS SETOF record
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    owned boolean;
    trusted boolean;
    named text;
    at_home boolean;
    security sluice.row_security;
BEGIN
    SELECT pg_has_role(c.relowner, 'USAGE'), c.relname, c.relkind <> 'f' INTO owned, named, at_home FROM pg_class c WHERE c.oid = governed;
    owned := coalesce(owned, false); -- it is dropped
    SELECT rolsuper OR rolbypassrls INTO trusted FROM pg_roles WHERE rolname = current_user;
    SELECT * INTO security FROM sluice.row_security s WHERE s.relation = governed AND s.enabled;
    IF FOUND AND NOT trusted AND (security.forced OR NOT owned) THEN
        IF NOT current_setting('row_security')::boolean THEN
            RAISE insufficient_privilege USING MESSAGE = format('query would be affected by row-level security policy for table "%s"', named);
        END IF;
        column_name := NULL;
        SELECT concat_ws(' AND ', '(' || coalesce(string_agg('(' || coalesce(qual, 'true') || ')', ' OR ' ORDER BY name) FILTER (WHERE permissive), 'false') || ')',
                         string_agg('(' || coalesce(qual, 'true') || ')', ' AND ' ORDER BY name) FILTER (WHERE NOT permissive)) INTO expression
        FROM sluice.policy p
        WHERE p.relation = governed AND p.command IN ('ALL', 'SELECT')
          AND EXISTS (SELECT FROM unnest(p.roles) r WHERE r = 0 OR pg_has_role(r, 'USAGE'));
        RETURN NEXT;
    END IF;
    -- A table of this server is read through its view by all but its owner, with columns in it that are as they are.
    IF NOT owned AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        RETURN QUERY SELECT m.column_name, CASE WHEN t.trusted THEN quote_ident(m.column_name) ELSE m.expression END
            FROM sluice.column_mask m, LATERAL (SELECT EXISTS (SELECT FROM unnest(m.unmasked_roles) r WHERE pg_has_role(r, 'USAGE')) AS trusted) t
            WHERE m.relation = governed AND (at_home OR NOT t.trusted) ORDER BY m.column_name;
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.governance(oid) IS 'the row filter and masks that hold for the current role';
GRANT EXECUTE ON FUNCTION sluice.governance(oid) TO PUBLIC;

-- The value of an expression of a rule that names no column of its relation, and its type. Rules are kept as they read
-- under this search path, so that nobody's path gives them another meaning, and values are written and read under settings of
-- ours, so that nobody's round a number or turn a date.
CREATE OR REPLACE FUNCTION sluice.evaluate(expression text, OUT value text, OUT type text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1
SET bytea_output = 'hex' SET standard_conforming_strings = on SET transform_null_equals = off SET array_nulls = on AS $$
BEGIN
    EXECUTE 'SELECT x::text, format_type(pg_typeof(x), NULL) FROM (SELECT (' || expression || ') AS x) AS q' INTO value, type;
    IF octet_length(value) > 1 << 24 THEN -- the proxy holds it
        RAISE program_limit_exceeded USING MESSAGE = 'a value of more than 16 MB is not supported';
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.evaluate(text) IS 'the value of a part of a row filter or mask';
GRANT EXECUTE ON FUNCTION sluice.evaluate(text) TO PUBLIC;

-- All that a proxy needs to know to read a relation for the current role, of one moment: the rules, their version, and, where
-- that is the one that the proxy has taken parts from which depend on the session alone, the values of these. So parts of no
-- other rules are ever evaluated. A JSON document in base64, whatever the client's encoding is; errors stand in it, as the
-- proxy may have asked for what the statement does not need.
CREATE OR REPLACE FUNCTION sluice.rules(governed oid, known bigint DEFAULT NULL, parts text[] DEFAULT '{}') RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    rules text;
    version bigint;
    results json[] := '{}';
    part text;
    code text;
    message text;
    document json;
BEGIN
    BEGIN
        SELECT json_agg(json_build_object('column', g.column_name, 'expression', g.expression)) INTO rules FROM sluice.governance(governed) g;
        version := hashtextextended(rules, 0);
        IF version = known THEN
            FOREACH part IN ARRAY parts LOOP
                BEGIN
                    results := results || (SELECT json_build_object('value', e.value, 'type', e.type) FROM sluice.evaluate(part) e);
                EXCEPTION WHEN OTHERS THEN
                    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
                    results := results || json_build_object('code', code, 'message', message);
                END;
            END LOOP;
        END IF;
        document := json_build_object('rules', rules::json, 'version', version, 'values', array_to_json(results));
    EXCEPTION WHEN insufficient_privilege THEN
        GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
        document := json_build_object('denied', message);
    END;
    RETURN encode(convert_to(document::text, 'UTF8'), 'base64');
END
$$;
COMMENT ON FUNCTION sluice.rules(oid, bigint, text[]) IS 'the row filter and masks that hold for the current role, and the values of parts of them';
GRANT EXECUTE ON FUNCTION sluice.rules(oid, bigint, text[]) TO PUBLIC;

-- The policies of a foreign table as Postgres itself keeps them: they are declared anew on a temporary table with its
-- columns, the statement given (none: '') runs there, and what it leaves is read back, all of which is undone. So errors,
-- notices and the printed form are Postgres' own. A policy that is not valid any more stays as it was.
CREATE OR REPLACE FUNCTION sluice.rehearse_policies(relation regclass, statement text) RETURNS SETOF sluice.policy
LANGUAGE plpgsql AS $$
DECLARE
    named pg_catalog.name := (SELECT c.relname FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) rehearse_policies.relation);
    left_over sluice.policy[];
    broken pg_catalog.name[] := '{}';
    away pg_catalog.regclass;
    p record;
BEGIN
    BEGIN
        PERFORM pg_catalog.set_config('client_min_messages', 'error', true);
        EXECUTE pg_catalog.format('DROP TABLE IF EXISTS pg_temp.%I CASCADE', named);
        EXECUTE pg_catalog.format('CREATE TEMPORARY TABLE %I (LIKE %s)', named, relation);
        PERFORM pg_catalog.set_config('client_min_messages', 'notice', true);
        FOR p IN
            SELECT o.*, (SELECT pg_catalog.string_agg(coalesce(pg_catalog.quote_ident(a.rolname), 'PUBLIC'), ', ')
                         FROM pg_catalog.unnest(o.roles) AS r LEFT JOIN pg_catalog.pg_roles a ON a.oid OPERATOR(pg_catalog.=) r
                         WHERE r OPERATOR(pg_catalog.=) 0::pg_catalog.oid OR a.oid IS NOT NULL) AS grantees
            FROM sluice.policy o WHERE o.relation OPERATOR(pg_catalog.=) rehearse_policies.relation
        LOOP
            CONTINUE WHEN p.grantees IS NULL;
            BEGIN
                EXECUTE sluice.policy_ddl(p.name, pg_catalog.format('pg_temp.%I', named), p.permissive, p.command, p.grantees, p.qual, p.with_check);
            EXCEPTION WHEN syntax_error_or_access_rule_violation THEN
                EXECUTE sluice.policy_ddl(p.name, pg_catalog.format('pg_temp.%I', named), p.permissive, p.command, p.grantees,
                    CASE WHEN p.qual IS NOT NULL THEN 'false' END, CASE WHEN p.with_check IS NOT NULL THEN 'false' END);
                broken := broken OPERATOR(pg_catalog.||) p.name;
            END;
        END LOOP;
        IF statement OPERATOR(pg_catalog.<>) '' THEN
            EXECUTE statement;
        END IF;
        away := (SELECT d.refobjid FROM pg_catalog.pg_policy n
            JOIN pg_catalog.pg_depend d ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_policy'::pg_catalog.regclass AND d.objid OPERATOR(pg_catalog.=) n.oid
            JOIN sluice.relations r ON r.oid OPERATOR(pg_catalog.=) d.refobjid
            WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
              AND n.polrelid OPERATOR(pg_catalog.=) pg_catalog.format('pg_temp.%I', named)::pg_catalog.regclass LIMIT 1);
        IF away IS NOT NULL THEN
            RAISE feature_not_supported USING MESSAGE = pg_catalog.format('a rule of foreign table "%s" cannot read foreign table "%s"', relation, away),
                HINT = 'Sub-selects in rules are evaluated at home: let it read a table of this server.';
        END IF;
        PERFORM pg_catalog.set_config(name, value, true) FROM (VALUES ('search_path', 'pg_catalog'), ('datestyle', 'ISO'), ('intervalstyle', 'postgres'),
            ('extra_float_digits', '1'), ('bytea_output', 'hex'), ('standard_conforming_strings', 'on'), ('quote_all_identifiers', 'off')) AS s (name, value);
        left_over := ARRAY(
            SELECT ROW(rehearse_policies.relation, n.polname, n.polpermissive,
                CASE n.polcmd WHEN '*' THEN 'ALL' WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' ELSE 'DELETE' END,
                n.polroles::regrole[],
                CASE WHEN n.polname = ANY (broken) AND pg_get_expr(n.polqual, n.polrelid) = 'false' THEN o.qual
                     ELSE pg_get_expr(n.polqual, n.polrelid) END,
                CASE WHEN n.polname = ANY (broken) AND pg_get_expr(n.polwithcheck, n.polrelid) = 'false' THEN o.with_check
                     ELSE pg_get_expr(n.polwithcheck, n.polrelid) END)::sluice.policy
            FROM pg_policy n LEFT JOIN sluice.policy o ON o.relation = rehearse_policies.relation AND o.name = n.polname
            WHERE n.polrelid = format('pg_temp.%I', named)::regclass);
        RAISE EXCEPTION USING ERRCODE = 'SLU01';
    EXCEPTION WHEN SQLSTATE 'SLU01' THEN
        RETURN QUERY SELECT * FROM pg_catalog.unnest(left_over);
    END;
END
$$;
COMMENT ON FUNCTION sluice.rehearse_policies(regclass, text) IS 'the policies of a foreign table behind a statement on them';

CREATE OR REPLACE FUNCTION sluice.policy_ddl(
    name name, relation text, permissive boolean, command text, grantees text, qual text, with_check text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', name, relation,
            CASE WHEN permissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END, command, grantees)
        || coalesce(' USING (' || qual || ')', '') || coalesce(' WITH CHECK (' || with_check || ')', '')
$$;
COMMENT ON FUNCTION sluice.policy_ddl(name, text, boolean, text, text, text, text) IS 'the CREATE POLICY of a policy';

-- Carries out a statement on the policies of a foreign table, in which pg_temp stands for the table's schema.
CREATE OR REPLACE FUNCTION sluice.change_policies(relation regclass, statement text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    now sluice.policy[];
BEGIN
    PERFORM sluice.must_own(relation);
    now := ARRAY(SELECT p FROM sluice.rehearse_policies(relation, statement) p);
    DELETE FROM sluice.policy o WHERE o.relation OPERATOR(pg_catalog.=) change_policies.relation;
    INSERT INTO sluice.policy SELECT * FROM pg_catalog.unnest(now);
END
$$;
COMMENT ON FUNCTION sluice.change_policies(regclass, text) IS 'carries out CREATE, ALTER or DROP POLICY for a foreign table';

-- Refuses who does not own a foreign table of ours.
CREATE OR REPLACE FUNCTION sluice.must_own(relation regclass) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    c pg_class;
BEGIN
    SELECT * INTO c FROM pg_class o WHERE o.oid = must_own.relation;
    IF c.relkind IS DISTINCT FROM 'f' OR NOT EXISTS (SELECT FROM sluice.relations r WHERE r.oid = c.oid) THEN
        RAISE wrong_object_type USING MESSAGE = format('"%s" is not a foreign table of Sluice', coalesce(c.relname, relation::text)),
            HINT = 'Tables of this server have row security of their own: ALTER TABLE … ENABLE ROW LEVEL SECURITY, CREATE POLICY.';
    END IF;
    IF NOT pg_has_role(c.relowner, 'USAGE') THEN
        RAISE insufficient_privilege USING MESSAGE = format('must be owner of foreign table %s', c.relname);
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.must_own(regclass) IS 'fails for all but the owner of a foreign table of Sluice';

-- ALTER TABLE … ENABLE, DISABLE, FORCE and NO FORCE ROW LEVEL SECURITY; NULL leaves a switch as it is.
CREATE OR REPLACE FUNCTION sluice.set_row_security(relation regclass, enabled boolean, forced boolean) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM sluice.must_own(relation);
    INSERT INTO sluice.row_security AS s VALUES (set_row_security.relation, coalesce(set_row_security.enabled, false), coalesce(set_row_security.forced, false))
    ON CONFLICT ON CONSTRAINT row_security_pkey DO UPDATE
        SET enabled = coalesce(set_row_security.enabled, s.enabled), forced = coalesce(set_row_security.forced, s.forced);
END
$$;
COMMENT ON FUNCTION sluice.set_row_security(regclass, boolean, boolean) IS 'switches row security of a foreign table';

-- The policy that is a role's row filter; "public" filters all.
CREATE OR REPLACE FUNCTION sluice.set_row_filter(relation regclass, role name, expression text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    policy pg_catalog.name := pg_catalog.concat('filter_', role);
    named pg_catalog.name := (SELECT c.relname FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) set_row_filter.relation);
BEGIN
    PERFORM sluice.change_policies(relation, pg_catalog.concat(
        (SELECT pg_catalog.format('DROP POLICY %I ON pg_temp.%I; ', policy, named) FROM sluice.policy p
         WHERE p.relation OPERATOR(pg_catalog.=) set_row_filter.relation AND p.name OPERATOR(pg_catalog.=) policy),
        sluice.policy_ddl(policy, pg_catalog.format('pg_temp.%I', named), true, 'SELECT',
            CASE WHEN role OPERATOR(pg_catalog.=) 'public' THEN 'PUBLIC' ELSE pg_catalog.quote_ident(role) END, expression, NULL)));
    PERFORM sluice.set_row_security(relation, true, NULL);
END
$$;
COMMENT ON FUNCTION sluice.set_row_filter(regclass, name, text) IS 'lets a role see the rows alone for which the expression is true';

CREATE OR REPLACE FUNCTION sluice.drop_row_filter(relation regclass, role name) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM sluice.change_policies(relation, pg_catalog.format('DROP POLICY %I ON pg_temp.%I', pg_catalog.concat('filter_', role),
        (SELECT c.relname FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) drop_row_filter.relation)));
END
$$;
COMMENT ON FUNCTION sluice.drop_row_filter(regclass, name) IS 'takes away a role''s row filter; row security stays enabled';

-- Whether masks of a relation are home's to enforce, after a check that the current role may declare them.
CREATE OR REPLACE FUNCTION sluice.masks_at_home(relation regclass) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_class c WHERE c.oid = masks_at_home.relation AND c.relkind = 'f') THEN
        PERFORM sluice.must_own(relation);
        RETURN false;
    END IF;
    PERFORM sluice.must_own_maskable(relation);
    RETURN true;
END
$$;
COMMENT ON FUNCTION sluice.masks_at_home(regclass) IS 'whether a table that the current role may mask is one of this server';

-- Masks a column for all but superusers, the table's owner and members of the roles given. The expression is read back as
-- Postgres prints it, by way of a policy.
CREATE OR REPLACE FUNCTION sluice.set_column_mask(
    relation regclass, column_name name, expression text, unmasked_roles name[] DEFAULT '{}') RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    named pg_catalog.name := (SELECT c.relname FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) set_column_mask.relation);
    type pg_catalog.text := (SELECT pg_catalog.format_type(a.atttypid, a.atttypmod) FROM pg_catalog.pg_attribute a
        WHERE a.attrelid OPERATOR(pg_catalog.=) set_column_mask.relation AND a.attname OPERATOR(pg_catalog.=) set_column_mask.column_name
          AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped);
    at_home pg_catalog.bool := sluice.masks_at_home(relation);
    printed pg_catalog.text;
BEGIN
    IF type IS NULL THEN
        RAISE undefined_column USING MESSAGE = pg_catalog.format('column "%s" of relation "%s" does not exist', column_name, named);
    END IF;
    SELECT p.qual INTO printed FROM sluice.rehearse_policies(relation, pg_catalog.format(
        'CREATE POLICY "sluice mask" ON pg_temp.%I USING ((CASE WHEN true THEN NULL::%s ELSE (%s) END) IS NULL)', named, type, expression)) p
    WHERE p.name OPERATOR(pg_catalog.=) 'sluice mask';
    printed := pg_catalog.substring(printed, E'WHEN true THEN [^\n]*\n\\s*ELSE\\s+(.*)\nEND IS NULL[)]$');
    IF printed IS NULL THEN
        RAISE syntax_error USING MESSAGE = 'the mask is not one expression';
    END IF;
    INSERT INTO sluice.column_mask VALUES (set_column_mask.relation, set_column_mask.column_name, printed, set_column_mask.unmasked_roles::pg_catalog.regrole[])
    ON CONFLICT ON CONSTRAINT column_mask_pkey DO UPDATE SET expression = EXCLUDED.expression, unmasked_roles = EXCLUDED.unmasked_roles;
    IF at_home THEN
        PERFORM sluice.warn_of_leaks(relation, true);
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.set_column_mask(regclass, name, text, name[]) IS 'masks a column of a foreign table, or of a table of this server';

CREATE OR REPLACE FUNCTION sluice.drop_column_mask(relation regclass, column_name name) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    at_home boolean := sluice.masks_at_home(relation);
BEGIN
    DELETE FROM sluice.column_mask m WHERE m.relation = drop_column_mask.relation AND m.column_name = drop_column_mask.column_name;
    IF NOT FOUND THEN
        RAISE undefined_object USING MESSAGE = format('column "%s" of %stable "%s" has no mask', column_name, CASE WHEN NOT at_home THEN 'foreign ' END, relation);
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.drop_column_mask(regclass, name) IS 'takes away the mask of a column';

-- The statements that make what governs foreign tables, those of one table behind another.
CREATE OR REPLACE FUNCTION sluice.dump_policies() RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.ddl || ';' FROM (
        SELECT relation::text, 1 AS part, '' AS name, format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', relation) AS ddl
        FROM sluice.row_security WHERE enabled
        UNION ALL
        SELECT relation::text, 2, '', format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', relation) FROM sluice.row_security WHERE forced
        UNION ALL
        SELECT p.relation::text, 3, p.name, sluice.policy_ddl(p.name, p.relation::text, p.permissive, p.command,
            (SELECT string_agg(CASE WHEN r = 0 THEN 'PUBLIC' ELSE r::text END, ', ') FROM unnest(p.roles) r), p.qual, p.with_check)
        FROM sluice.policy p
        UNION ALL
        SELECT relation::text, 4, column_name, format('SELECT sluice.set_column_mask(%L, %L, %L, %L)', relation, column_name, expression,
            unmasked_roles::text[]::text)
        FROM sluice.column_mask) s
    ORDER BY s.relation, s.part, s.name
$$;
COMMENT ON FUNCTION sluice.dump_policies() IS 'the statements that make the row filters and masks of foreign tables';
