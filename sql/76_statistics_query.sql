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

-- The counted tables of which views show each row once: a view of one table's columns and nothing else, as home keeps its query. What is
-- not found there as it must be makes a view none of these.
CREATE OR REPLACE FUNCTION sluice.counted_views(OUT view oid, OUT relation oid) RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH views AS MATERIALIZED (
        SELECT DISTINCT r.ev_class AS view, s.relation::oid AS relation, r.oid AS rule
        FROM sluice.table_statistics s
        JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.relation AND d.classid = 'pg_rewrite'::regclass
        JOIN pg_rewrite r ON r.oid = d.objid AND r.rulename = '_RETURN'
        JOIN pg_class c ON c.oid = r.ev_class AND c.relkind = 'v'),
    plain AS MATERIALIZED ( -- by searches for fixed texts, as most views are none of these
        SELECT v.view, v.relation, q.query FROM views v JOIN pg_rewrite r ON r.oid = v.rule CROSS JOIN LATERAL (SELECT r.ev_action::text AS query OFFSET 0) q
        WHERE (SELECT bool_and(strpos(q.query, ':' || f || ' ') > 0) FROM unnest('{hasAggs false,hasWindowFuncs false,hasTargetSRFs false,hasSubLinks false,hasDistinctOn false,
            cteList <>,groupClause <>,groupingSets <>,havingQual <>,distinctClause <>,limitOffset <>,limitCount <>,rowMarks <>,setOperations <>,
            "jointree {FROMEXPR :fromlist ({RANGETBLREF :rtindex","quals <>}"}'::text[]) f))
    SELECT v.view, v.relation FROM plain v
    WHERE length(replace(v.query, '{RANGETBLREF ', '{RANGETBLREF')) = length(v.query) - 1
        AND EXISTS (SELECT FROM regexp_matches(v.query, ' :relid ([0-9]+) ([^{}]*)', 'g') m
            WHERE m[1] = v.relation::text AND strpos(m[2], ':inh true ') > 0 AND strpos(m[2], ':tablesample <> ') > 0)
        AND length(replace(v.query, '{QUERY ', '{QUERY')) = length(v.query) - 1
        AND strpos(replace(v.query, '{TARGETENTRY :expr {VAR ', ''), '{TARGETENTRY ') = 0
$$;
COMMENT ON FUNCTION sluice.counted_views() IS 'views that show each row of a counted table once';

-- What the counters say of these views, to whoever may read a view, whose owner, or who reads it, may read the table.
CREATE OR REPLACE VIEW sluice.view_counts WITH (security_barrier) AS
SELECT v.oid AS view, k.row_count, k.source
FROM sluice.counted_views() c JOIN pg_catalog.pg_class v ON v.oid = c.view JOIN pg_catalog.pg_class t ON t.oid = c.relation
JOIN sluice.known_counts k ON k.relation = c.relation
WHERE pg_catalog.has_table_privilege(v.oid, 'SELECT') AND pg_catalog.has_schema_privilege(v.relnamespace, 'USAGE') AND NOT t.relrowsecurity AND pg_catalog.has_table_privilege(
    CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_options_to_table(v.reloptions) o WHERE o.option_name = 'security_invoker' AND o.option_value NOT IN ('false', 'off', 'no', '0')) THEN current_user
    ELSE pg_catalog.pg_get_userbyid(v.relowner) END, t.oid, 'SELECT');
GRANT SELECT ON sluice.view_counts TO PUBLIC;
COMMENT ON VIEW sluice.view_counts IS 'how many rows views of counted tables have';

-- The role that a statement is planned for, as home folds it into the plan.
CREATE OR REPLACE FUNCTION sluice.planning_role() RETURNS name
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN current_user;
END
$$;
COMMENT ON FUNCTION sluice.planning_role() IS 'the role that a statement is planned for';

-- How many rows a table or view has for this role and statement, NULL where its counters do not say so for sure.
CREATE OR REPLACE FUNCTION sluice.exact_count(relation regclass) RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT sluice.may_use_statistics() THEN
        RETURN NULL;
    ELSIF EXISTS (SELECT FROM pg_class c WHERE c.oid = exact_count.relation AND c.relkind = 'v') THEN
        RETURN (SELECT CASE WHEN bool_and(v.source = 'counters') THEN sum(v.row_count) END FROM sluice.view_counts v WHERE v.view = exact_count.relation);
    END IF;
    RETURN (SELECT CASE WHEN bool_and(t.source = 'counters') THEN sum(t.row_count) END FROM sluice.table_counts t WHERE t.relation = exact_count.relation);
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
GRANT EXECUTE ON FUNCTION sluice.plain_keys(oid, name[]), sluice.key_value(anyelement, text), sluice.planning_role(), sluice.counted_views(), sluice.may_use_statistics(), sluice.exact_count(regclass), sluice.exact_counts(regclass, name[]),
    sluice.is_counted(uuid, oid), sluice.table_tree(oid), sluice.count_triggers(uuid, oid), sluice.counter_name(uuid), sluice.table_count(regclass),
    sluice.must_be_counted(regclass) TO PUBLIC;
