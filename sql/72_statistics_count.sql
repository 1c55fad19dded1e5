-- The counts, and what keeps them short and right.

-- What is known of each group of a counted table, or of a table without groups.
CREATE OR REPLACE VIEW sluice.known_counts AS
SELECT s.relation, c."group", CASE WHEN state.source <> 'pending' THEN coalesce(c.row_count, 0) END AS row_count,
    CASE WHEN state.source <> 'pending' AND s.cover IS NOT NULL THEN coalesce(v.covered, 0) END AS covered_count, state.source, c.updated_at
FROM sluice.table_statistics s
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN EXISTS (SELECT FROM sluice.table_statistics_doubt d WHERE d.id = s.id AND d.fill)
            OR NOT EXISTS (SELECT FROM sluice.table_statistics_delta d WHERE d.id = s.id AND d.void) THEN 'pending' -- the latter where a dump has left deltas out
        WHEN EXISTS (SELECT FROM sluice.table_statistics_doubt d WHERE d.id = s.id) OR NOT sluice.is_counted(s.id, s.relation) THEN 'unverified'
        ELSE 'counters' END AS source
    OFFSET 0) AS state
LEFT JOIN LATERAL (
    SELECT d."group", sum(d.rows)::bigint AS row_count, max(d.at) AS updated_at FROM sluice.table_statistics_delta d
    WHERE d.id = s.id AND coalesce(d.as_of, d.seq) >= (SELECT max(coalesce(v.as_of, v.seq)) FROM sluice.table_statistics_delta v WHERE v.id = s.id AND v.void)
    GROUP BY d."group"
    HAVING s.keys = '{}' OR d."group" IS NOT NULL AND sum(d.rows) <> 0) AS c ON state.source <> 'pending'
LEFT JOIN LATERAL ( -- what was summed up, and what the deltas behind that change; not looked at where nobody asks for covered_count
    WITH ends AS (
        SELECT max(coalesce(d.as_of, d.seq)) AS void, bool_or(d.as_of IS NULL) AS fresh FROM sluice.table_coverage_delta d WHERE d.id = s.cover AND d.void
    ), net AS (
        SELECT d."group", sum(d.rows) AS rows FROM sluice.table_coverage_delta d CROSS JOIN ends e
        WHERE d.id = s.cover AND NOT d.void AND coalesce(d.as_of, d.seq) >= e.void GROUP BY d."group"
    )
    SELECT p."group", sum(p.covered)::bigint AS covered FROM (
        SELECT t."group", t.covered FROM sluice.table_coverage_sum t CROSS JOIN ends e WHERE t.id = s.cover AND NOT e.fresh
        UNION ALL
        SELECT n."group" - s.covers::text[], (coalesce(f.rows, 0) + n.rows > 0)::int - (coalesce(f.rows, 0) > 0)::int
        FROM net n CROSS JOIN ends e LEFT JOIN sluice.table_coverage f ON f."group" = n."group" AND f.id = s.cover AND NOT e.fresh) AS p
    GROUP BY p."group") AS v ON v."group" = coalesce(c."group", '{}');
COMMENT ON VIEW sluice.known_counts IS 'how many rows tables of home have, for those who may know';

-- The same for whoever may read all rows of a table.
DO $do$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_attribute WHERE attrelid = pg_catalog.to_regclass('sluice.table_counts') AND attname = 'covered_count') THEN
        DROP VIEW IF EXISTS sluice.table_counts;
    END IF;
END
$do$;
CREATE OR REPLACE VIEW sluice.table_counts WITH (security_barrier) AS
SELECT s.relation, s."group", s.row_count, s.covered_count, s.source, s.updated_at
FROM sluice.known_counts s JOIN pg_catalog.pg_class r ON r.oid = s.relation
WHERE pg_catalog.has_table_privilege(s.relation, 'SELECT') AND pg_catalog.has_schema_privilege(r.relnamespace, 'USAGE') AND NOT pg_catalog.row_security_active(s.relation)
UNION ALL -- what servers count; their words are as of when they were asked
SELECT f.relation, NULL, c.rows, NULL, CASE WHEN c.rows IS NULL THEN 'pending' WHEN c.sure THEN 'engine' ELSE 'unverified' END, c.asked
FROM sluice.table_statistics_foreign f LEFT JOIN sluice.server_counts() c ON c.relation = f.relation
WHERE NOT f.dropped AND sluice.sees_all(f.relation);
GRANT SELECT ON sluice.table_counts TO PUBLIC;
COMMENT ON VIEW sluice.table_counts IS 'how many rows tables have';

-- The rows of a counted table; NULL while that is not known for sure.
CREATE OR REPLACE FUNCTION sluice.table_count(relation regclass) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    result bigint;
    reason text;
    named constant text := coalesce((SELECT c.relname FROM pg_class c WHERE c.oid = table_count.relation), table_count.relation::text);
BEGIN
    SELECT CASE WHEN bool_and(t.source IN ('counters', 'engine')) THEN sum(t.row_count) END INTO result
    FROM sluice.table_counts t WHERE t.relation = table_count.relation HAVING count(*) > 0;
    IF FOUND THEN
        reason := (SELECT f.error FROM sluice.table_statistics_foreign f WHERE f.relation = table_count.relation AND NOT f.dropped);
        IF reason IS NOT NULL THEN
            RAISE object_not_in_prerequisite_state USING MESSAGE = format('the server of foreign table "%s" does not count its rows: %s', named, reason),
                HINT = format('It is asked again and again; SELECT sluice.untrack_statistics(%L) ends that.', table_count.relation);
        END IF;
        RETURN result;
    ELSIF NOT coalesce(has_table_privilege(table_count.relation, 'SELECT'), true) THEN
        RAISE insufficient_privilege USING MESSAGE = format('permission denied for table %s', named);
    END IF;
    PERFORM sluice.must_be_counted(table_count.relation);
    RAISE insufficient_privilege USING MESSAGE = format('permission denied for the count of table %s', named),
        HINT = 'Its schema or its row security hides rows from this role.';
END
$$;
COMMENT ON FUNCTION sluice.table_count(regclass) IS 'how many rows a table has, from its counters';

-- Compares counts with the rows, in one statement: its snapshot has a writer's rows and its deltas, or neither. A repair appends the
-- difference, as of the last delta seen, so that it loses no write and does not outlive a TRUNCATE that the snapshot does not see. Locks on
-- the tables come first, as who changes the tree holds those when it waits for the counter.
CREATE OR REPLACE FUNCTION sluice.compare_counts(counter uuid, repair boolean, OUT "group" jsonb, OUT stored bigint, OUT actual bigint) RETURNS SETOF record
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO' SET intervalstyle = 'postgres'
SET extra_float_digits = 1 SET bytea_output = 'hex' AS $$
DECLARE
    s sluice.table_statistics;
    scope record;
    doubts bigint[];
BEGIN
    SELECT * INTO s FROM sluice.table_statistics t WHERE t.id = counter;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    EXECUTE format('LOCK TABLE %s IN ACCESS SHARE MODE', s.relation);
    PERFORM sluice.lock_counter(counter);
    IF repair THEN -- under REPEATABLE READ, one of two repairs that see the same difference fails here
        UPDATE sluice.table_statistics t SET repaired = now() WHERE t.id = counter RETURNING * INTO s;
        FOR scope IN SELECT * FROM sluice.count_scopes(counter) LOOP
            EXECUTE format('INSERT INTO %1$s (id, as_of, rows, void) SELECT $1, 0, 0, true WHERE NOT EXISTS (SELECT FROM %1$s d WHERE d.id = $1 AND d.void)', scope.deltas) USING scope.id;
        END LOOP;
        doubts := ARRAY(SELECT d.number FROM sluice.table_statistics_doubt d WHERE d.id = counter);
    END IF;
    FOR scope IN SELECT * FROM sluice.count_scopes(counter) LOOP
        RETURN QUERY EXECUTE format($q$
            WITH deltas AS MATERIALIZED (
                SELECT coalesce(as_of, seq) AS step, "group", rows, void FROM %4$s WHERE id = $1 %5$s
            ), counts AS MATERIALIZED (
                SELECT "group", sum(stored)::bigint AS stored, sum(actual)::bigint AS actual FROM (
                    SELECT "group", rows AS stored, 0 AS actual FROM deltas WHERE NOT void AND (step IS NULL OR step >= (SELECT max(step) FROM deltas WHERE void))
                    UNION ALL
                    SELECT g."group", 0, g.rows FROM (%1$s) AS g) AS u
                GROUP BY "group"
            )%2$s
            SELECT "group", stored, actual FROM counts WHERE %3$s ORDER BY "group"$q$,
            sluice.group_query(scope.keys, scope.types, s.relation || scope.condition),
            CASE WHEN repair THEN format($r$, repaired AS (
                INSERT INTO %s (id, as_of, "group", rows)
                SELECT $1, (SELECT max(step) FROM deltas), "group", actual - stored FROM counts WHERE actual <> stored
            )$r$, scope.deltas) ELSE '' END,
            CASE scope.id WHEN counter THEN $w$stored <> 0 OR actual <> 0 OR "group" IS NULL$w$ ELSE 'stored <> actual' END, scope.deltas,
            CASE scope.id WHEN s.cover THEN $w$UNION ALL SELECT NULL, "group", rows, false FROM sluice.table_coverage f WHERE f.id = $1
                AND NOT EXISTS (SELECT FROM sluice.table_coverage_delta d WHERE d.id = $1 AND d.void AND d.as_of IS NULL)$w$ ELSE '' END) USING scope.id;
    END LOOP;
    IF repair THEN -- what came later may be of what was not seen
        DELETE FROM sluice.table_statistics_doubt d WHERE d.id = counter AND d.number = ANY (doubts);
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.compare_counts(uuid, boolean) IS 'compares a count with the rows';

CREATE OR REPLACE FUNCTION sluice.lock_counter(counter uuid) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT pg_advisory_xact_lock(hashtextextended('sluice counter ' || counter, 0)) $$;
COMMENT ON FUNCTION sluice.lock_counter(uuid) IS 'waits for who compares a count with the rows, or changes the tree that is counted';

-- Compares the counts of a table, or of all, with their rows, and puts them right where asked to.
CREATE OR REPLACE FUNCTION sluice.verify_statistics(INOUT relation regclass DEFAULT NULL, repair boolean DEFAULT false,
    OUT "group" jsonb, OUT stored bigint, OUT actual bigint, OUT repaired boolean) RETURNS SETOF record
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted constant regclass := verify_statistics.relation;
    told constant text := nullif(current_setting('sluice.server_verified', true), '');
    s record;
BEGIN
    PERFORM set_config('sluice.server_verified', '', true); -- it is of this call
    FOR s IN SELECT t.id, t.relation FROM sluice.table_statistics t WHERE wanted IS NULL OR t.relation = wanted ORDER BY t.relation LOOP
        RETURN QUERY SELECT s.relation, c."group", c.stored, c.actual, verify_statistics.repair AND c.stored <> c.actual
            FROM sluice.compare_counts(s.id, verify_statistics.repair) c;
    END LOOP;
    IF wanted IS NOT NULL AND s.id IS NULL THEN
        PERFORM sluice.must_be_counted(wanted);
    END IF;
    FOR s IN SELECT f.relation, c.* FROM sluice.foreign_to_verify(wanted) AS f (relation) LEFT JOIN jsonb_to_recordset(told::jsonb) AS c (relation oid, stored bigint, actual bigint, repaired boolean)
        ON c.relation = f.relation
    LOOP
        IF s.actual IS NULL AND wanted IS NULL THEN
            RAISE WARNING USING MESSAGE = format('foreign table %s is left out: nobody has asked its server', s.relation);
            CONTINUE;
        ELSIF s.actual IS NULL THEN
            RAISE feature_not_supported USING MESSAGE = format('rows of foreign table %s are counted by its server, which nobody has asked', s.relation),
                HINT = 'Through Sluice, write SELECT ... FROM sluice.verify_statistics(...), with nothing else in FROM, and no column or subquery among the arguments.';
        END IF;
        RETURN QUERY SELECT s.relation, NULL::jsonb, s.stored, s.actual, s.repaired;
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sluice.verify_statistics(regclass, boolean) FROM PUBLIC;
COMMENT ON FUNCTION sluice.verify_statistics(regclass, boolean) IS 'compares counts with the rows of their tables, and repairs them';

-- The foreign tables that a call is for; one whose server is yet to begin to count fails where it is meant.
CREATE OR REPLACE FUNCTION sluice.foreign_to_verify(wanted regclass) RETURNS SETOF regclass
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT t.relation, t.made FROM sluice.table_statistics_foreign t WHERE NOT t.dropped AND (wanted IS NULL OR t.relation = wanted) ORDER BY t.relation LOOP
        IF f.made THEN
            RETURN NEXT f.relation;
        ELSIF wanted IS NOT NULL THEN
            RAISE object_not_in_prerequisite_state USING MESSAGE = format('rows of foreign table %s are not counted yet', f.relation),
                HINT = 'Its server is asked to within seconds; sluice.table_count says where it has refused.';
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION sluice.foreign_to_verify(regclass) IS 'foreign tables whose counts are to be compared with their rows';

-- The arguments of a call, what servers are to do for it, and how long that may take, for who may make it.
CREATE OR REPLACE FUNCTION sluice.verify_arguments(relation regclass DEFAULT NULL, repair boolean DEFAULT false) RETURNS text[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT has_function_privilege('sluice.verify_statistics(regclass, boolean)', 'EXECUTE') THEN
        RAISE insufficient_privilege USING MESSAGE = 'permission denied for function verify_statistics';
    ELSIF repair AND current_setting('transaction_read_only')::boolean THEN
        RAISE read_only_sql_transaction USING MESSAGE = 'cannot execute sluice.verify_statistics in a read-only transaction';
    END IF;
    RETURN ARRAY[relation::oid::text, coalesce(repair, false)::text, (
        SELECT coalesce(json_agg(json_build_object('relation', c.oid::bigint, 'owner', c.relowner::bigint) ORDER BY c.oid), '[]')::text
        FROM sluice.foreign_to_verify(relation) f (relation) JOIN pg_class c ON c.oid = f.relation),
        (SELECT g.setting FROM pg_settings g WHERE g.name = 'statement_timeout')];
END
$$;
GRANT EXECUTE ON FUNCTION sluice.verify_arguments(regclass, boolean), sluice.foreign_to_verify(regclass) TO PUBLIC;
COMMENT ON FUNCTION sluice.verify_arguments(regclass, boolean) IS 'the arguments of a call of sluice.verify_statistics, by who may make it';

CREATE OR REPLACE FUNCTION sluice.must_be_counted(relation regclass) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM sluice.table_statistics s WHERE s.relation = must_be_counted.relation)
        AND NOT EXISTS (SELECT FROM sluice.table_statistics_foreign f WHERE f.relation = must_be_counted.relation AND NOT f.dropped) THEN
        RAISE undefined_object USING MESSAGE = format('rows of "%s" are not counted', coalesce((SELECT c.relname FROM pg_class c WHERE c.oid = must_be_counted.relation), relation::text)),
            HINT = format('A superuser can have them counted: SELECT sluice.track_statistics(%L).', must_be_counted.relation);
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.must_be_counted(regclass) IS 'fails for tables that are not counted';

-- Puts sums in the place of deltas where there are many, and returns how many rows are gone. The lock comes first and the snapshot
-- after it, so that each row is summed once. What a TRUNCATE voids stays void: its mark stays.
CREATE OR REPLACE FUNCTION sluice.fold_statistics() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counter uuid;
    before bigint;
    folded bigint := 0;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('sluice fold', 0)) THEN
        RETURN 0;
    END IF;
    DELETE FROM sluice.table_statistics_delta d USING (SELECT DISTINCT o.id FROM sluice.table_statistics_delta o) o
    WHERE d.id = o.id AND NOT EXISTS (SELECT FROM sluice.table_statistics s WHERE s.id = o.id);
    FOR counter IN
        SELECT d.id FROM sluice.table_statistics_delta d GROUP BY d.id
        HAVING count(*) FILTER (WHERE d.as_of IS NULL) >= 64 + count(d.as_of) / 4
    LOOP
        WITH gone AS (
            DELETE FROM sluice.table_statistics_delta d WHERE d.id = counter
            RETURNING coalesce(d.as_of, d.seq) AS step, d."group", d.rows, d.void, d.at
        ), ends AS (
            SELECT max(step) FILTER (WHERE void) AS void, max(step) AS last, max(at) FILTER (WHERE void) AS at, count(*) AS rows FROM gone
        ), sums AS (
            INSERT INTO sluice.table_statistics_delta (id, as_of, "group", rows, void, at)
            SELECT counter, e.void, NULL, 0, true, e.at FROM ends e
            UNION ALL
            SELECT counter, e.last, g."group", sum(g.rows), false, max(g.at) FROM gone g CROSS JOIN ends e
            WHERE NOT g.void AND g.step >= e.void GROUP BY e.last, g."group" HAVING sum(g.rows) <> 0
            RETURNING 1
        )
        SELECT e.rows - (SELECT count(*) FROM sums) INTO before FROM ends e;
        folded := folded + before;
    END LOOP;
    RETURN folded + sluice.fold_coverage();
END
$$;
REVOKE ALL ON FUNCTION sluice.fold_statistics() FROM PUBLIC;
COMMENT ON FUNCTION sluice.fold_statistics() IS 'sums up what was counted, for proxies';

-- The tables that are yet to be counted, each with about how many rows it has.
CREATE OR REPLACE FUNCTION sluice.pending_statistics(OUT id uuid, OUT relation regclass, OUT rows bigint) RETURNS SETOF record
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.id, s.relation, greatest(c.reltuples, 0)::bigint FROM sluice.table_statistics s LEFT JOIN pg_class c ON c.oid = s.relation
    WHERE EXISTS (SELECT FROM sluice.table_statistics_doubt d WHERE d.id = s.id AND d.fill)
       OR NOT EXISTS (SELECT FROM sluice.table_statistics_delta d WHERE d.id = s.id AND d.void) ORDER BY s.relation
$$;
REVOKE ALL ON FUNCTION sluice.pending_statistics() FROM PUBLIC;
COMMENT ON FUNCTION sluice.pending_statistics() IS 'tables whose count is pending, for proxies';

-- Counts the rows of one table that is yet to be counted, while writers go on, and says whether there was one. Nobody else does so meanwhile.
CREATE OR REPLACE FUNCTION sluice.fill_statistics() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counter uuid;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('sluice fill', 0)) THEN
        RETURN false;
    END IF;
    SELECT p.id INTO counter FROM sluice.pending_statistics() p LIMIT 1;
    PERFORM sluice.compare_counts(counter, true);
    RETURN counter IS NOT NULL;
END
$$;
REVOKE ALL ON FUNCTION sluice.fill_statistics() FROM PUBLIC;
COMMENT ON FUNCTION sluice.fill_statistics() IS 'counts a table whose count is pending, for proxies';
