-- Sums up deltas of coverage, for fold_statistics, which holds the lock: those sums alone are touched that change.
CREATE OR REPLACE FUNCTION sluice.fold_coverage() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counter uuid;
    covers name[];
    before bigint;
    folded bigint := 0;
BEGIN
    DELETE FROM sluice.table_coverage_delta d WHERE NOT EXISTS (SELECT FROM sluice.table_statistics s WHERE s.cover = d.id);
    IF FOUND THEN
        DELETE FROM sluice.table_coverage d WHERE NOT EXISTS (SELECT FROM sluice.table_statistics s WHERE s.cover = d.id);
        DELETE FROM sluice.table_coverage_sum d WHERE NOT EXISTS (SELECT FROM sluice.table_statistics s WHERE s.cover = d.id);
    END IF;
    FOR counter, covers IN
        SELECT s.cover, s.covers FROM sluice.table_coverage_delta d JOIN sluice.table_statistics s ON s.cover = d.id
        GROUP BY s.cover, s.covers HAVING count(*) >= 64
    LOOP
        WITH gone AS (
            DELETE FROM sluice.table_coverage_delta d WHERE d.id = counter RETURNING coalesce(d.as_of, d.seq) AS step, d.as_of, d."group", d.rows, d.void
        ), ends AS (
            SELECT max(step) FILTER (WHERE void) AS void, coalesce(bool_or(void AND as_of IS NULL), false) AS fresh, count(*) AS rows FROM gone
        ), net AS (
            SELECT g."group", sum(g.rows)::bigint AS rows FROM gone g CROSS JOIN ends e WHERE NOT g.void AND g.step >= e.void GROUP BY g."group" HAVING sum(g.rows) <> 0
        ), voided AS (
            DELETE FROM sluice.table_coverage f USING ends e WHERE f.id = counter AND e.fresh
        ), taken AS (
            DELETE FROM sluice.table_coverage f USING net n CROSS JOIN ends e WHERE f.id = counter AND f."group" = n."group" AND NOT e.fresh RETURNING f."group", f.rows
        ), changed AS (
            SELECT n."group", coalesce(t.rows, 0) AS before, coalesce(t.rows, 0) + n.rows AS rows FROM net n LEFT JOIN taken t ON t."group" = n."group"
        ), given AS (
            INSERT INTO sluice.table_coverage (id, "group", rows) SELECT counter, c."group", c.rows FROM changed c WHERE c.rows <> 0
        ), unsummed AS (
            DELETE FROM sluice.table_coverage_sum t WHERE t.id = counter RETURNING t."group", t.covered
        ), summed AS (
            INSERT INTO sluice.table_coverage_sum (id, "group", covered)
            SELECT counter, u."group", sum(u.covered) FROM (
                SELECT t."group", t.covered FROM unsummed t CROSS JOIN ends e WHERE NOT e.fresh
                UNION ALL
                SELECT c."group" - covers::text[], (c.rows > 0)::int - (c.before > 0)::int FROM changed c) AS u
            GROUP BY u."group" HAVING sum(u.covered) <> 0
        ), marked AS (
            INSERT INTO sluice.table_coverage_delta (id, as_of, rows, void) SELECT counter, e.void, 0, true FROM ends e
        )
        SELECT e.rows - 1 INTO before FROM ends e;
        folded := folded + before;
    END LOOP;
    RETURN folded;
END
$$;
COMMENT ON FUNCTION sluice.fold_coverage() IS 'sums up what was counted for coverage';
