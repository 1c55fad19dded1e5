-- Writes of roles that row security or masks hold for. The rows stand at home in temporary tables: prefix || 't' in the place of the
-- foreign table and, for UPDATE and DELETE, one that inherits from it and has what the engine sent. Before anything that the
-- statement names can run, seal_rows takes them from the role and gives them the policies, so that Postgres itself enforces
-- those, and nothing the statement calls sees or changes more than it may. Only who has the key, whose SHA-256 it is given, gets
-- any further: home hears that when the statement has run.

-- Whether a temporary table was sealed with this key. Nobody but the owner of these functions can comment on it.
CREATE OR REPLACE FUNCTION sluice.holds_key(staged regclass, key text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pg_class c WHERE c.oid = staged AND c.relowner = (SELECT oid FROM pg_roles WHERE rolname = current_user) AND c.relnamespace = pg_my_temp_schema()
        AND obj_description(c.oid, 'pg_class') = encode(sha256(convert_to(key, 'UTF8')), 'hex'))
$$;
COMMENT ON FUNCTION sluice.holds_key(regclass, text) IS 'whether a table of seal_rows has this key';
GRANT EXECUTE ON FUNCTION sluice.holds_key(regclass, text) TO PUBLIC;

-- A function that computes a policy's expression over a row of a sealed table, with the reader's own privileges. The
-- text is one that the foreign table's owner may have written: it never stands in a statement of this function's owner.
CREATE OR REPLACE FUNCTION sluice.policy_call(staged regclass, relation oid, policy name, call name, expression text) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    named name := (SELECT relname FROM pg_class WHERE oid = policy_call.relation);
    short name := (SELECT relname FROM pg_class WHERE oid = staged);
BEGIN
    IF expression IS NULL THEN
        RETURN NULL;
    END IF;
    EXECUTE format('CREATE FUNCTION pg_temp.%I(pg_temp.%I) RETURNS boolean LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS %L',
        call, short, format(E'SELECT (%s\n) FROM (SELECT ($1).*) AS %I', expression, named));
    EXECUTE format('GRANT EXECUTE ON FUNCTION pg_temp.%I(pg_temp.%I) TO PUBLIC', call, short);
    RETURN format('pg_temp.%I(%I)', call, short);
EXCEPTION WHEN syntax_error_or_access_rule_violation OR feature_not_supported OR undefined_object THEN
    RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = format('cannot follow policy "%s" of foreign table "%s": %s', policy, named, SQLERRM),
        HINT = 'The table''s owner must change the policy, or what it depends on.';
END
$$;
COMMENT ON FUNCTION sluice.policy_call(regclass, oid, name, name, text) IS 'a function for the expression of a policy';

CREATE OR REPLACE FUNCTION sluice.seal_rows(
    relation oid, command text, prefix text, child text, role oid, secured boolean, masked name[], digest text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    staged regclass := format('pg_temp.%I', prefix || 't')::regclass;
    tables text[] := ARRAY[prefix || 't'] || CASE WHEN child <> '' THEN ARRAY[child] ELSE '{}' END;
    shown text := (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
        WHERE attrelid = staged AND attnum > 0 AND NOT attisdropped AND attname <> ALL (masked));
    p record;
BEGIN
    IF prefix !~ '^sluice_[0-9]+_$' OR command NOT IN ('INSERT', 'UPDATE', 'DELETE') OR EXISTS (
        SELECT FROM unnest(tables) AS t (name) LEFT JOIN pg_class c ON c.relname = t.name AND c.relnamespace = pg_my_temp_schema()
        WHERE c.relkind IS DISTINCT FROM 'r' OR c.relowner <> seal_rows.role OR c.relhastriggers OR c.relhasrules OR c.relhasindex OR c.relrowsecurity
           OR starts_with(t.name, prefix) IS NOT TRUE OR obj_description(c.oid, 'pg_class') IS NOT NULL
           OR EXISTS ( -- whose triggers would run with these rights, or whose owner would see the rows
               SELECT FROM pg_inherits i JOIN pg_class a ON a.oid = i.inhparent JOIN pg_class b ON b.oid = i.inhrelid
               WHERE c.oid IN (a.oid, b.oid) AND NOT (a.oid = staged AND b.relname = child AND b.relnamespace = pg_my_temp_schema())))
    THEN
        RAISE insufficient_privilege USING MESSAGE = 'these are no rows to seal';
    END IF;
    FOR i IN 1 .. cardinality(tables) LOOP
        EXECUTE format('ALTER TABLE pg_temp.%I OWNER TO CURRENT_USER', tables[i]);
        EXECUTE format('REVOKE ALL ON pg_temp.%I FROM PUBLIC', tables[i]);
        EXECUTE format('COMMENT ON TABLE pg_temp.%I IS %L', tables[i], digest);
    END LOOP;
    IF child <> '' THEN
        EXECUTE format('CREATE TEMPORARY TABLE %I ON COMMIT DROP AS SELECT sluice_rowid, ctid AS place FROM ONLY pg_temp.%I', prefix || 'k', child);
    END IF;
    FOR p IN
        SELECT o.*, row_number() OVER (ORDER BY o.name) AS n FROM sluice.policy o
        WHERE secured AND o.relation = seal_rows.relation AND o.command IN ('ALL', 'SELECT', seal_rows.command)
          AND EXISTS (SELECT FROM unnest(o.roles) r WHERE r = 0 OR pg_has_role(seal_rows.role, r, 'USAGE'))
        ORDER BY o.name
    LOOP
        EXECUTE sluice.policy_ddl(p.name, format('pg_temp.%I', prefix || 't'), p.permissive, p.command, 'PUBLIC',
            sluice.policy_call(staged, relation, p.name, format('%su%s', prefix, p.n), p.qual),
            sluice.policy_call(staged, relation, p.name, format('%sc%s', prefix, p.n), p.with_check));
    END LOOP;
    IF secured THEN
        EXECUTE format('ALTER TABLE pg_temp.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', prefix || 't');
    END IF;
    EXECUTE format('GRANT %s ON pg_temp.%I TO PUBLIC', command, prefix || 't');
    IF shown IS NOT NULL THEN
        EXECUTE format('GRANT SELECT (%s) ON pg_temp.%I TO PUBLIC', shown, prefix || 't');
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.seal_rows(oid, text, text, text, oid, boolean, name[], text) IS 'takes the temporary tables of a write from its role';
GRANT EXECUTE ON FUNCTION sluice.seal_rows(oid, text, text, text, oid, boolean, name[], text) TO PUBLIC;

-- Lets the rows be read as they are, and no more be changed, once the statement has run.
CREATE OR REPLACE FUNCTION sluice.open_rows(prefix text, child text, key text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    staged text := format('pg_temp.%I', prefix || 't');
BEGIN
    IF sluice.holds_key(staged::regclass, key) IS NOT TRUE OR child <> '' AND sluice.holds_key(format('pg_temp.%I', child)::regclass, key) IS NOT TRUE THEN
        RAISE insufficient_privilege USING MESSAGE = 'the rows were sealed with another key';
    END IF;
    EXECUTE 'ALTER TABLE ' || staged || ' DISABLE ROW LEVEL SECURITY';
    EXECUTE 'REVOKE ALL ON ' || staged || ' FROM PUBLIC';
    EXECUTE 'GRANT SELECT ON ' || staged || CASE WHEN child <> '' THEN format(', pg_temp.%I, pg_temp.%I', child, prefix || 'k') ELSE '' END || ' TO PUBLIC';
END
$$;
COMMENT ON FUNCTION sluice.open_rows(text, text, text) IS 'gives away what seal_rows took';
GRANT EXECUTE ON FUNCTION sluice.open_rows(text, text, text) TO PUBLIC;

-- Ends the seal once the engine has the rows: they are gone, and the role has its own table back. What it returns may be of
-- that table's row type.
CREATE OR REPLACE FUNCTION sluice.unseal(prefix text, child text, role oid, key text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    staged text := format('pg_temp.%I', prefix || 't');
    call regprocedure;
BEGIN
    IF sluice.holds_key(staged::regclass, key) IS NOT TRUE OR child <> '' AND sluice.holds_key(format('pg_temp.%I', child)::regclass, key) IS NOT TRUE THEN
        RAISE insufficient_privilege USING MESSAGE = 'the rows were sealed with another key';
    ELSIF NOT pg_has_role(session_user, unseal.role, 'MEMBER') THEN
        RAISE insufficient_privilege USING MESSAGE = format('must be able to SET ROLE %s', unseal.role::regrole);
    END IF;
    IF child <> '' THEN
        EXECUTE format('DROP TABLE pg_temp.%I, pg_temp.%I', child, prefix || 'k');
    END IF;
    EXECUTE 'TRUNCATE ONLY ' || staged;
    FOR call IN
        SELECT p.oid FROM pg_proc p JOIN pg_class c ON c.reltype = p.proargtypes[0]
        WHERE c.oid = staged::regclass AND p.pronamespace = pg_my_temp_schema() AND p.proowner = c.relowner
    LOOP
        EXECUTE format('DROP FUNCTION %s CASCADE', call);
    END LOOP;
    EXECUTE format('ALTER TABLE %s OWNER TO %s', staged, unseal.role::regrole);
END
$$;
COMMENT ON FUNCTION sluice.unseal(text, text, oid, text) IS 'ends what seal_rows began';
GRANT EXECUTE ON FUNCTION sluice.unseal(text, text, oid, text) TO PUBLIC;
