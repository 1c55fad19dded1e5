-- Counters of tables of home. Statement triggers append what each statement has added or taken to table_statistics_delta, in
-- the writer's own transaction, so that writers wait for nobody and what is rolled back was never counted. The count is the sum.

-- The tables that are counted. A counter is known by an id that no other database has, as triggers are dumped with their table.
CREATE TABLE IF NOT EXISTS sluice.table_statistics (
    id        uuid        NOT NULL PRIMARY KEY DEFAULT gen_random_uuid(),
    relation  regclass    NOT NULL UNIQUE,
    keys      name[]      NOT NULL, -- the columns by which rows are counted in groups
    key_types regtype[]   NOT NULL,
    repaired  timestamptz           -- when it was last; repairs wait for each other at this row
);
ALTER TABLE sluice.table_statistics ADD COLUMN IF NOT EXISTS covers name[] NOT NULL DEFAULT '{}'; -- columns whose distinct values are counted
ALTER TABLE sluice.table_statistics ADD COLUMN IF NOT EXISTS cover_types regtype[] NOT NULL DEFAULT '{}';
ALTER TABLE sluice.table_statistics ADD COLUMN IF NOT EXISTS cover uuid; -- under which their rows are counted; NULL for no such columns
COMMENT ON TABLE sluice.table_statistics IS 'tables whose rows are counted';
GRANT SELECT ON sluice.table_statistics TO PUBLIC;

-- Where the triggers are: the table, and all that are its partitions or inherit from it.
CREATE TABLE IF NOT EXISTS sluice.table_statistics_member (
    relation regclass NOT NULL PRIMARY KEY,
    id       uuid     NOT NULL
);
COMMENT ON TABLE sluice.table_statistics_member IS 'tables that are counted, their partitions and children';

-- What the count consists of. A row stands for what has happened up to as_of, or its own seq where that is NULL. A void row says
-- that the table was empty then: nothing before it counts. Writers draw seq under their lock on the table, so its order is that
-- of a TRUNCATE and of writes, whatever snapshot the TRUNCATE sees. Each counter has one void row at least.
CREATE TABLE IF NOT EXISTS sluice.table_statistics_delta (
    id      uuid        NOT NULL,
    seq     bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    as_of   bigint,
    "group" jsonb, -- NULL without keys
    rows    bigint      NOT NULL,
    void    boolean     NOT NULL DEFAULT false,
    at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (id, seq) INCLUDE (as_of)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
CREATE INDEX IF NOT EXISTS table_statistics_void ON sluice.table_statistics_delta (id) WHERE void;
COMMENT ON TABLE sluice.table_statistics_delta IS 'rows that statements have added to tables, or taken from them';

-- The same for coverage, by keys and what is covered. These are many: so the sums stand in a table of their own, once they are folded,
-- with the number of those that have rows by keys alone. They are void where a mark in the deltas has no as_of.
CREATE TABLE IF NOT EXISTS sluice.table_coverage_delta (LIKE sluice.table_statistics_delta INCLUDING ALL)
WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
COMMENT ON TABLE sluice.table_coverage_delta IS 'rows that statements have added to tables, or taken from them, by what is covered';
CREATE TABLE IF NOT EXISTS sluice.table_coverage (
    id      uuid   NOT NULL,
    "group" jsonb  NOT NULL,
    rows    bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS table_coverage_group ON sluice.table_coverage USING hash ("group");
COMMENT ON TABLE sluice.table_coverage IS 'how many rows tables have by what is covered, up to the deltas';
CREATE TABLE IF NOT EXISTS sluice.table_coverage_sum (
    id      uuid   NOT NULL,
    "group" jsonb  NOT NULL, -- {} without keys
    covered bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS table_coverage_sum_id ON sluice.table_coverage_sum (id);
COMMENT ON TABLE sluice.table_coverage_sum IS 'how much of what is covered has rows, up to the deltas';

-- Why a count may be wrong, until it is repaired. What is to be filled the proxy counts by itself.
CREATE TABLE IF NOT EXISTS sluice.table_statistics_doubt (
    id     uuid        NOT NULL,
    number bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    fill   boolean     NOT NULL,
    reason text        NOT NULL,
    at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (id, number)
);
COMMENT ON TABLE sluice.table_statistics_doubt IS 'why counts of tables may be wrong';

CREATE OR REPLACE FUNCTION sluice.doubt_count(counter uuid, fill boolean, reason text) RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO sluice.table_statistics_doubt (id, fill, reason) SELECT counter, doubt_count.fill, doubt_count.reason
    WHERE NOT EXISTS (SELECT FROM sluice.table_statistics_doubt d WHERE d.id = counter AND d.fill = doubt_count.fill AND d.reason = doubt_count.reason)
$$;
COMMENT ON FUNCTION sluice.doubt_count(uuid, boolean, text) IS 'notes that a count may be wrong';

CREATE OR REPLACE FUNCTION sluice.counter_name(counter uuid) RETURNS name
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$ SELECT ('count_' || replace(counter::text, '-', ''))::name $$;
COMMENT ON FUNCTION sluice.counter_name(uuid) IS 'the function of the triggers that count';

-- A table with all that are its partitions or inherit from it, and the parents of each of them. Without a search_path of its own
-- it becomes a part of its callers' queries, which have one.
CREATE OR REPLACE FUNCTION sluice.table_tree(relation oid, OUT member oid, OUT parents oid[]) RETURNS SETOF record
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE tree (oid) AS (
        SELECT relation
        UNION
        SELECT i.inhrelid FROM tree JOIN pg_inherits i ON i.inhparent = tree.oid
    )
    SELECT t.oid, ARRAY(SELECT i.inhparent FROM pg_inherits i WHERE i.inhrelid = t.oid) FROM tree t ORDER BY t.oid
$$;
COMMENT ON FUNCTION sluice.table_tree(oid) IS 'a table, its partitions and children';

-- Refuses what triggers cannot count. What a statement does to a member of a tree is told to the triggers of the table that it
-- names: so one counter has the whole tree.
CREATE OR REPLACE FUNCTION sluice.check_countable(relation regclass) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    root constant text := (SELECT c.relname FROM pg_class c WHERE c.oid = check_countable.relation);
    other regclass;
    m record;
BEGIN
    FOR m IN
        SELECT t.member::regclass, t.parents, c.* FROM sluice.table_tree(check_countable.relation) t JOIN pg_class c ON c.oid = t.member
        ORDER BY t.member <> check_countable.relation, c.relname
    LOOP
        other := (SELECT p FROM unnest(m.parents) p WHERE p NOT IN (SELECT t.member FROM sluice.table_tree(check_countable.relation) t) OR m.member = check_countable.relation LIMIT 1);
        IF m.relkind NOT IN ('r', 'p') THEN
            RAISE EXCEPTION USING ERRCODE = CASE WHEN m.member = check_countable.relation THEN '42809' ELSE '0A000' END,
                MESSAGE = format('cannot count rows of "%s": "%s" is not a table', root, m.relname), HINT = 'Tables and partitioned tables can be counted.';
        ELSIF m.relpersistence <> 'p' THEN
            RAISE feature_not_supported USING MESSAGE = format('cannot count rows of "%s": "%s" is temporary or unlogged', root, m.relname),
                HINT = 'Its rows can vanish without a statement that takes them.';
        ELSIF m.oid < 16384 OR m.relnamespace IN ('sluice'::regnamespace, 'sluice_cat'::regnamespace) THEN
            RAISE insufficient_privilege USING MESSAGE = format('permission denied: "%s" is a system catalog', m.relname);
        ELSIF other IS NOT NULL THEN
            RAISE feature_not_supported USING MESSAGE = format('cannot count rows of "%s": "%s" is a partition or child of %s', root, m.relname, other),
                HINT = format('Statements on %s write to it. Call sluice.track_statistics for the topmost table.', other);
        END IF;
        SELECT s.relation INTO other FROM sluice.table_statistics_member o JOIN sluice.table_statistics s USING (id)
        WHERE o.relation = m.member AND s.relation <> check_countable.relation;
        IF FOUND THEN
            RAISE object_in_use USING MESSAGE = format('cannot count rows of "%s": those of "%s" are counted for %s', root, m.relname, other),
                HINT = format('Call sluice.untrack_statistics(%L) first.', other);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION sluice.check_countable(regclass) IS 'fails for tables that cannot be counted';

-- The types of the columns by which rows are to be counted. Values stand for groups as JSON, and that is computed with this
-- function's owner's rights: so no type may bring code of a user's, nor text that changes with names.
CREATE OR REPLACE FUNCTION sluice.key_types(relation regclass, keys name[]) RETURNS regtype[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    named constant text := (SELECT c.relname FROM pg_class c WHERE c.oid = key_types.relation);
    types regtype[] := '{}';
    key name;
    a record;
BEGIN
    FOREACH key IN ARRAY keys LOOP
        SELECT t.oid, t.typtype, coalesce(to_jsonb(c) ->> 'attgenerated', '') AS generated INTO a
        FROM pg_attribute c JOIN pg_type t ON t.oid = c.atttypid WHERE c.attrelid = key_types.relation AND c.attname = key AND c.attnum > 0 AND NOT c.attisdropped;
        IF NOT FOUND THEN
            RAISE undefined_column USING MESSAGE = format('column "%s" of relation "%s" does not exist', key, named);
        ELSIF a.generated = 'v' OR a.typtype <> 'e' AND a.oid <> ALL ('{bool,int2,int4,int8,oid,numeric,float4,float8,text,varchar,bpchar,name,date,time,timetz,
            timestamp,timestamptz,interval,uuid,inet,cidr,macaddr,bytea,bit,varbit,jsonb}'::regtype[]) THEN
            RAISE feature_not_supported USING MESSAGE = format('cannot count rows by column "%s" of type %s', key, a.oid::regtype),
                HINT = 'Columns of built-in scalar types and of enums can be used, but no virtual ones.';
        END IF;
        types := types || a.oid::regtype;
    END LOOP;
    IF cardinality(keys) <> (SELECT count(DISTINCT k) FROM unnest(keys) k) THEN
        RAISE duplicate_column USING MESSAGE = 'a column is named twice';
    END IF;
    RETURN types;
END
$$;
COMMENT ON FUNCTION sluice.key_types(regclass, name[]) IS 'the types of columns by which rows are counted';

-- The expression for a row's group. It reads the same under the settings of each function that computes it.
CREATE OR REPLACE FUNCTION sluice.group_expression(keys name[], types regtype[]) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce('jsonb_build_object(' || string_agg(format(CASE WHEN t.typtype = 'e' THEN '%L, textin(enum_out(%I))' ELSE '%L, to_jsonb(%I)' END, k.key, k.key), ', '
        ORDER BY k.n) || ')', 'NULL::jsonb')
    FROM ROWS FROM (unnest(keys), unnest(types)) WITH ORDINALITY AS k (key, type, n) JOIN pg_type t ON t.oid = k.type
$$;
COMMENT ON FUNCTION sluice.group_expression(name[], regtype[]) IS 'the expression for the group of a row';

-- A query for the groups of a FROM item, and how many rows each has. Values that are the same in JSON where they are equal are grouped
-- first, text by its bytes, and become JSON once a group; of others each row does.
CREATE OR REPLACE FUNCTION sluice.group_query(keys name[], types regtype[], source text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE
        WHEN keys = '{}' THEN format('SELECT NULL::jsonb AS "group", count(*) AS rows FROM %s', source)
        WHEN bool_and(t.typtype = 'e' OR t.oid = ANY ('{bool,int2,int4,int8,oid,text,varchar,name,date,time,timestamp,timestamptz,uuid}'::regtype[])) THEN
            format('SELECT %s AS "group", "sluice rows" AS rows FROM (SELECT %s, count(*) AS "sluice rows" FROM %s GROUP BY %s) AS g', sluice.group_expression(keys, types),
                string_agg(format('%I', k.key) || c.bytes || format(' AS %I', k.key), ', '), source, string_agg(format('%I', k.key) || c.bytes, ', '))
        ELSE format('SELECT %s AS "group", count(*) AS rows FROM %s GROUP BY 1', sluice.group_expression(keys, types), source) END
    FROM ROWS FROM (unnest(keys), unnest(types)) AS k (key, type) JOIN pg_type t ON t.oid = k.type
    CROSS JOIN LATERAL (SELECT CASE WHEN t.typcollation <> 0 THEN ' COLLATE "C"' ELSE '' END AS bytes) AS c
$$;
COMMENT ON FUNCTION sluice.group_query(name[], regtype[], text) IS 'the query for the groups of rows';

-- What a counter counts, and where: rows by its keys, and for coverage rows by these and the columns that are covered, where none of
-- those is NULL.
CREATE OR REPLACE FUNCTION sluice.count_scopes(counter uuid, OUT id uuid, OUT deltas text, OUT keys name[], OUT types regtype[], OUT condition text) RETURNS SETOF record
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.id, 'sluice.table_statistics_delta', s.keys, s.key_types, '' FROM sluice.table_statistics s WHERE s.id = counter
    UNION ALL
    SELECT s.cover, 'sluice.table_coverage_delta', s.keys || s.covers, s.key_types || s.cover_types, ' WHERE ' || (SELECT string_agg(format('%I IS NOT NULL', c), ' AND ') FROM unnest(s.covers) c)
    FROM sluice.table_statistics s WHERE s.id = counter AND s.cover IS NOT NULL
$$;
COMMENT ON FUNCTION sluice.count_scopes(uuid) IS 'what a counter counts';

-- What counts all rows of a transition table. To move a cursor over them costs less than count(*), which computes something for each. It has a
-- name that no other has, so that such statements may run within others.
CREATE OR REPLACE FUNCTION sluice.count_moved(source text, deltas text, id uuid, sign text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('OPEN "sluice run" FOR SELECT FROM %s; MOVE FORWARD ALL FROM "sluice run"; GET DIAGNOSTICS "sluice passed" = ROW_COUNT; CLOSE "sluice run"; '
        'IF "sluice passed" > 0 THEN INSERT INTO %s (id, rows) VALUES (%L, %s"sluice passed"); END IF; ', source, deltas, id, sign)
$$;
COMMENT ON FUNCTION sluice.count_moved(text, text, uuid, text) IS 'counts all rows of a transition table';

-- Makes the function of a counter's triggers. Transition tables hold what a statement has done to all that it reaches
-- from the table it names; each writer runs this with its owner's rights, as nobody may write to the counters.
CREATE OR REPLACE FUNCTION sluice.write_counter(counter uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $body$
DECLARE
    scope record;
    added text;
    removed text;
    plus text := '';
    minus text := '';
    moved text := '';
    void text := '';
    settings text := '';
BEGIN
    FOR scope IN SELECT * FROM sluice.count_scopes(counter) LOOP
        added := sluice.group_query(scope.keys, scope.types, 'added' || scope.condition);
        removed := sluice.group_query(scope.keys, scope.types, 'removed' || scope.condition);
        IF scope.keys = '{}' THEN
            plus := plus || sluice.count_moved('added', scope.deltas, scope.id, '');
            minus := minus || sluice.count_moved('removed', scope.deltas, scope.id, '-');
        ELSE
            plus := plus || format('INSERT INTO %s (id, "group", rows) SELECT %L, n."group", n.rows FROM (%s) AS n WHERE n.rows > 0; ', scope.deltas, scope.id, added);
            minus := minus || format('INSERT INTO %s (id, "group", rows) SELECT %L, o."group", -o.rows FROM (%s) AS o WHERE o.rows > 0; ', scope.deltas, scope.id, removed);
        END IF;
        moved := moved || format('INSERT INTO %s (id, "group", rows) SELECT %L, m."group", sum(m.rows)
            FROM (%s UNION ALL SELECT o."group", -o.rows FROM (%s) AS o) AS m GROUP BY 2 HAVING sum(m.rows) <> 0; ', scope.deltas, scope.id, added, removed);
        void := void || format('INSERT INTO %s (id, rows, void) VALUES (%L, 0, true); ', scope.deltas, scope.id);
        IF scope.types && '{float4,float8,timetz,timestamptz,interval,bytea}'::regtype[] THEN
            settings := $$SET timezone = 'UTC' SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1 SET bytea_output = 'hex'$$;
        END IF;
    END LOOP;
    EXECUTE format($ddl$CREATE OR REPLACE FUNCTION sluice.%1$I() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp %2$s AS $count$
        DECLARE
            "sluice run" refcursor;
            "sluice passed" bigint;
        BEGIN
            IF TG_OP = 'INSERT' THEN
                %4$s
            ELSIF TG_OP = 'DELETE' THEN
                %5$s
            ELSIF TG_OP = 'UPDATE' AND TG_LEVEL = 'STATEMENT' THEN
                %6$s
            ELSIF TG_OP = 'UPDATE' THEN
                IF sluice.may_be_merge() THEN
                    PERFORM sluice.doubt_count(%3$L, true, 'MERGE may have moved rows between partitions');
                END IF;
                RETURN NEW;
            ELSIF TG_WHEN = 'AFTER' THEN
                %7$s
            ELSE
                PERFORM sluice.count_member(%3$L, TG_RELID, -1);
            END IF;
            RETURN NULL;
        END
        $count$ $ddl$, sluice.counter_name(counter), settings, counter, plus, minus, moved, void);
    EXECUTE format('REVOKE ALL ON FUNCTION sluice.%I() FROM PUBLIC', sluice.counter_name(counter));
    EXECUTE format('COMMENT ON FUNCTION sluice.%I() IS %L', sluice.counter_name(counter), 'counts rows');
END
$body$;
COMMENT ON FUNCTION sluice.write_counter(uuid) IS 'makes the function of the triggers that count';

-- Adds the rows that stand in one table of a tree, or takes them away. Its caller holds a lock that keeps writers off. A snapshot
-- older than that lock would miss rows: then the whole is counted anew later.
CREATE OR REPLACE FUNCTION sluice.count_member(counter uuid, member oid, sign int) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO' SET intervalstyle = 'postgres'
SET extra_float_digits = 1 SET bytea_output = 'hex' AS $$
DECLARE
    scope record;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM sluice.doubt_count(counter, true, 'partitions or children have changed');
        RETURN;
    END IF;
    FOR scope IN SELECT * FROM sluice.count_scopes(counter) LOOP
        EXECUTE format('INSERT INTO %s (id, "group", rows) SELECT $1, g."group", $2 * g.rows FROM (%s) AS g WHERE g.rows > 0', scope.deltas,
            sluice.group_query(scope.keys, scope.types, 'ONLY ' || member::regclass || scope.condition)) USING scope.id, sign;
    END LOOP;
END
$$;
COMMENT ON FUNCTION sluice.count_member(uuid, oid, int) IS 'counts the rows of one table of a tree';

-- The triggers that a member of a counter's tree must have. TRUNCATE of a table with all of its tree voids the count; of a part, its rows are counted
-- before they go. Rows move by UPDATE from group to group, and between partitions, where a trigger may stop them. The name that begins
-- with ~ is for a trigger that runs last. The search_path is the callers', as that of table_tree.
CREATE OR REPLACE FUNCTION sluice.count_triggers(counter uuid, member oid, OUT name name, OUT event text, OUT tables text) RETURNS SETOF record
LANGUAGE sql STABLE AS $$
    SELECT e.name, e.event, e.tables
    FROM sluice.table_statistics s JOIN pg_class c ON c.oid = member
    CROSS JOIN LATERAL (VALUES
        ('sluice_count_insert'::name, 'AFTER INSERT', 'REFERENCING NEW TABLE AS added', true),
        ('sluice_count_delete', 'AFTER DELETE', 'REFERENCING OLD TABLE AS removed', true),
        ('sluice_count_update', 'AFTER UPDATE', 'REFERENCING OLD TABLE AS removed NEW TABLE AS added', s.keys || s.covers <> '{}' OR c.relkind = 'p'),
        ('sluice_count_truncate', CASE WHEN s.relation = member AND (c.relkind = 'p' OR NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = member))
            THEN 'AFTER' ELSE 'BEFORE' END || ' TRUNCATE', '', true),
        ('~sluice_count_move', 'BEFORE UPDATE', '', c.relkind = 'r' AND c.relispartition)) AS e (name, event, tables, needed)
    WHERE s.id = counter AND e.needed
$$;
COMMENT ON FUNCTION sluice.count_triggers(uuid, oid) IS 'the triggers that count the rows of a table';

-- Under which condition an UPDATE may move a row of a partition to another one: a value has changed by which rows are spread.
CREATE OR REPLACE FUNCTION sluice.move_condition(member oid) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH RECURSIVE up (oid) AS (
        SELECT i.inhparent FROM pg_inherits i WHERE i.inhrelid = member
        UNION ALL
        SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.oid
    )
    SELECT CASE WHEN bool_or(0 = ANY (p.partattrs)) THEN ''
        ELSE format(' WHEN (ROW(%s)::record OPERATOR(pg_catalog.*<>) ROW(%s)::record)', string_agg(format('OLD.%I', a.attname), ', '), string_agg(format('NEW.%I', a.attname), ', ')) END
    FROM up JOIN pg_partitioned_table p ON p.partrelid = up.oid LEFT JOIN pg_attribute a ON a.attrelid = up.oid AND a.attnum = ANY (p.partattrs)
$$;
COMMENT ON FUNCTION sluice.move_condition(oid) IS 'when an UPDATE may move a row to another partition';

-- Whether a trigger may run within a MERGE. One that moves a row between partitions has either its old or its new version in
-- no transition table, or in another command's, and no trigger is told which command it runs for. So that is what the texts of all that
-- runs are asked, and where one is not to be had the answer is yes.
CREATE OR REPLACE FUNCTION sluice.may_be_merge() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    callers text;
BEGIN
    GET DIAGNOSTICS callers = PG_CONTEXT;
    RETURN coalesce(current_query() || callers ~* '[[:<:]](merge|execute)[[:>:]]|SQL function "', true);
END
$$;
COMMENT ON FUNCTION sluice.may_be_merge() IS 'whether a trigger may run within a MERGE';

-- Makes those triggers, or one of them. They fire for replicas too, so that sessions with session_replication_role = replica are counted.
CREATE OR REPLACE FUNCTION sluice.make_count_triggers(counter uuid, member oid, only_one name DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT * FROM sluice.count_triggers(counter, member) c WHERE only_one IS NULL OR c.name = only_one LOOP
        EXECUTE format('CREATE OR REPLACE TRIGGER %I %s ON %s %s FOR EACH %s EXECUTE FUNCTION sluice.%I()', t.name, t.event, member::regclass, t.tables,
            CASE t.name WHEN '~sluice_count_move' THEN 'ROW' || sluice.move_condition(member) ELSE 'STATEMENT' END, sluice.counter_name(counter));
        EXECUTE format('ALTER TABLE ONLY %s ENABLE ALWAYS TRIGGER %I', member::regclass, t.name);
    END LOOP;
END
$$;
COMMENT ON FUNCTION sluice.make_count_triggers(uuid, oid, name) IS 'makes the triggers that count the rows of a table';

-- Whether all that happens to a table and its tree is counted: each has its triggers, none is being detached, and none is
-- written to by logical replication, which fires no statement triggers.
CREATE OR REPLACE FUNCTION sluice.is_counted(counter uuid, relation oid) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN NOT EXISTS (
        SELECT FROM sluice.table_tree(relation) t CROSS JOIN LATERAL sluice.count_triggers(counter, t.member) e
        LEFT JOIN pg_trigger g ON g.tgrelid = t.member AND g.tgname = e.name AND g.tgenabled = 'A'
            AND (g.tgtype & 2 <> 0 OR e.event NOT LIKE 'BEFORE%')
            AND g.tgfoid = (SELECT p.oid FROM pg_proc p WHERE p.proname = sluice.counter_name(counter) AND p.pronamespace = 'sluice'::regnamespace)
        WHERE g.oid IS NULL
           OR EXISTS (SELECT FROM pg_subscription_rel r WHERE r.srrelid = t.member)
           OR EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = t.member AND i.inhdetachpending));
END
$$;
COMMENT ON FUNCTION sluice.is_counted(uuid, oid) IS 'whether triggers see all that happens to a table';
