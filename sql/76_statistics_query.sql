-- Counts for statements that count rows: what a proxy puts in the place of count(*).

DO $do$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_proc WHERE oid = pg_catalog.to_regprocedure('sluice.plain_keys(oid, name[])') AND 'definition' = ANY (proargnames)) THEN
        DROP FUNCTION sluice.plain_keys(oid, name[]);
    END IF;
END
$do$;

-- The columns by which rows are counted and whose values come back from JSON as they were.
CREATE OR REPLACE FUNCTION sluice.plain_keys(relation oid, keys name[], OUT n bigint, OUT name name, OUT type text) RETURNS SETOF record
LANGUAGE sql STABLE AS $$
    SELECT k.n, a.attname, format_type(a.atttypid, a.atttypmod)
    FROM unnest(keys) WITH ORDINALITY AS k (key, n) JOIN pg_attribute a ON a.attrelid = relation AND a.attname = k.key
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE t.typtype = 'e' OR t.oid = ANY ('{bool,int2,int4,int8,text,varchar,bpchar,name,date,time,timestamp,timestamptz,uuid}'::regtype[])
$$;
COMMENT ON FUNCTION sluice.plain_keys(oid, name[]) IS 'columns by which rows are counted, as queries see them';

-- A value of a key, in the type and collation of a sample: what the column has that home finds when the statement runs.
CREATE OR REPLACE FUNCTION sluice.key_value(sample anyelement, value text) RETURNS anyelement
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN value;
END
$$;
COMMENT ON FUNCTION sluice.key_value(anyelement, text) IS 'a value of a column by which rows are counted';

-- Whether statements of this transaction may be answered from counters. Later than READ COMMITTED they may not: a TRUNCATE, ATTACH or
-- DETACH that came after the snapshot shows in the rows, and not in what is counted.
CREATE OR REPLACE FUNCTION sluice.may_use_statistics() RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    setting constant text := lower(coalesce(nullif(current_setting('sluice.use_statistics', true), ''), 'on'));
BEGIN
    IF setting NOT IN ('on', 'true', 'yes', '1', 'off', 'false', 'no', '0') THEN
        RAISE invalid_parameter_value USING MESSAGE = 'parameter "sluice.use_statistics" requires a Boolean value', HINT = 'Set it to on or off.';
    END IF;
    RETURN setting IN ('on', 'true', 'yes', '1') AND current_setting('transaction_isolation') IN ('read committed', 'read uncommitted');
END
$$;
COMMENT ON FUNCTION sluice.may_use_statistics() IS 'whether counters may answer statements';

-- The role that a statement is planned for, as home folds it into the plan.
CREATE OR REPLACE FUNCTION sluice.planning_role() RETURNS name
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN current_user;
END
$$;
COMMENT ON FUNCTION sluice.planning_role() IS 'the role that a statement is planned for';

-- How many rows a table has for this role and statement, NULL where its counters do not say so for sure.
CREATE OR REPLACE FUNCTION sluice.exact_count(relation regclass) RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF sluice.may_use_statistics() THEN
        RETURN (SELECT CASE WHEN bool_and(t.source = 'counters') THEN sum(t.row_count) END FROM sluice.table_counts t WHERE t.relation = exact_count.relation);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION sluice.exact_count(regclass) IS 'how many rows a table has, for statements that count them';

-- The same by groups, where the columns named are among those by which rows are counted: each group, and a row without one that says
-- that these are all.
DROP FUNCTION IF EXISTS sluice.exact_counts(regclass, text);
CREATE OR REPLACE FUNCTION sluice.exact_counts(relation regclass, keys name[], OUT "group" jsonb, OUT rows bigint) RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 100 SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT sluice.may_use_statistics() OR NOT keys <@ ARRAY(
        SELECT k.name FROM sluice.table_statistics s CROSS JOIN LATERAL sluice.plain_keys(s.relation, s.keys) k WHERE s.relation = exact_counts.relation)
    THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT t."group", t.row_count FROM sluice.table_counts t WHERE t.relation = exact_counts.relation AND t.source = 'counters';
    IF FOUND THEN
        RETURN QUERY SELECT NULL::jsonb, 0::bigint;
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.exact_counts(regclass, name[]) IS 'how many rows the groups of a table have, for statements that count them';

-- Whatever the default privileges are of who installs the extension.
GRANT EXECUTE ON FUNCTION sluice.plain_keys(oid, name[]), sluice.key_value(anyelement, text), sluice.planning_role(), sluice.may_use_statistics(), sluice.exact_count(regclass), sluice.exact_counts(regclass, name[]),
    sluice.is_counted(uuid, oid), sluice.table_tree(oid), sluice.count_triggers(uuid, oid), sluice.counter_name(uuid), sluice.table_count(regclass),
    sluice.must_be_counted(regclass) TO PUBLIC;
