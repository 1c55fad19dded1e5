-- Which tables are counted, and what becomes of their counters when tables change.

-- Counts the rows of a table from now on, in groups by columns of it where some are given, and the distinct values of other columns.
-- Writers wait until this transaction ends: so a large table is counted later, by a proxy or sluice.verify_statistics, while they go on.
DROP FUNCTION IF EXISTS sluice.track_statistics(regclass, text[]);
CREATE OR REPLACE FUNCTION sluice.track_statistics(relation regclass, group_by text[] DEFAULT NULL, coverage text[] DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    keys constant name[] := coalesce(group_by, '{}');
    covers constant name[] := coalesce(coverage, '{}');
    types regtype[];
    counter uuid;
    scope record;
    member oid;
BEGIN
    IF track_statistics.relation IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE = 'the relation must not be NULL';
    END IF;
    IF sluice.track_foreign(track_statistics.relation, group_by, coverage) THEN
        RETURN;
    END IF;
    PERFORM sluice.check_countable(track_statistics.relation);
    EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', track_statistics.relation);
    PERFORM sluice.check_countable(track_statistics.relation); -- what has become of it meanwhile
    IF EXISTS (SELECT FROM sluice.table_statistics s WHERE s.relation = track_statistics.relation) THEN
        RAISE duplicate_object USING MESSAGE = format('rows of "%s" are counted already', (SELECT c.relname FROM pg_class c WHERE c.oid = track_statistics.relation)),
            HINT = format('To count them in other groups, call sluice.untrack_statistics(%L) first.', track_statistics.relation);
    END IF;
    types := sluice.key_types(track_statistics.relation, keys || covers);
    INSERT INTO sluice.table_statistics AS s (relation, keys, key_types, covers, cover_types, cover)
    VALUES (track_statistics.relation, keys, types[:cardinality(keys)], covers, types[cardinality(keys) + 1:], CASE WHEN covers <> '{}' THEN gen_random_uuid() END)
    RETURNING s.id INTO counter;
    FOR scope IN SELECT * FROM sluice.count_scopes(counter) LOOP
        EXECUTE format('INSERT INTO %s (id, rows, void) VALUES ($1, 0, true)', scope.deltas) USING scope.id;
    END LOOP;
    PERFORM sluice.write_counter(counter);
    FOR member IN SELECT t.member FROM sluice.table_tree(track_statistics.relation) t LOOP
        PERFORM sluice.make_count_triggers(counter, member);
        INSERT INTO sluice.table_statistics_member VALUES (member, counter);
    END LOOP;
    IF current_setting('transaction_isolation') = 'read committed'
        AND (SELECT sum(pg_relation_size(t.member)) FROM sluice.table_tree(track_statistics.relation) t) <= 16 << 20 THEN
        PERFORM sluice.compare_counts(counter, true);
    ELSE
        PERFORM sluice.doubt_count(counter, true, 'not counted yet');
    END IF;
    PERFORM sluice.bump_catalog_version();
END
$$;
REVOKE ALL ON FUNCTION sluice.track_statistics(regclass, text[], text[]) FROM PUBLIC;
COMMENT ON FUNCTION sluice.track_statistics(regclass, text[], text[]) IS 'has the rows of a table counted';

CREATE OR REPLACE FUNCTION sluice.untrack_statistics(relation regclass) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    counter uuid;
BEGIN
    PERFORM sluice.must_be_counted(untrack_statistics.relation);
    UPDATE sluice.table_statistics_foreign f SET dropped = true, made = false, error = NULL WHERE f.relation = untrack_statistics.relation;
    IF FOUND THEN
        PERFORM sluice.bump_catalog_version();
        RETURN;
    END IF;
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', untrack_statistics.relation);
    SELECT s.id INTO counter FROM sluice.table_statistics s WHERE s.relation = untrack_statistics.relation;
    PERFORM sluice.forget_counter(counter);
    PERFORM sluice.bump_catalog_version();
END
$$;
REVOKE ALL ON FUNCTION sluice.untrack_statistics(regclass) FROM PUBLIC;
COMMENT ON FUNCTION sluice.untrack_statistics(regclass) IS 'has the rows of a table no more counted';

CREATE OR REPLACE FUNCTION sluice.forget_counter(counter uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
BEGIN
    DELETE FROM sluice.table_statistics s WHERE s.id = counter;
    DELETE FROM sluice.table_statistics_member s WHERE s.id = counter;
    DELETE FROM sluice.table_statistics_doubt s WHERE s.id = counter;
    EXECUTE format('DROP FUNCTION IF EXISTS sluice.%I() CASCADE', sluice.counter_name(counter)); -- its deltas fold_statistics deletes
END
$$;
COMMENT ON FUNCTION sluice.forget_counter(uuid) IS 'drops a counter with its triggers';

-- Has a counter follow its table after DDL: its columns, its tree, its triggers.
CREATE OR REPLACE FUNCTION sluice.follow_table(counter uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET client_min_messages = warning AS $$
DECLARE
    s sluice.table_statistics := (SELECT t FROM sluice.table_statistics t WHERE t.id = counter);
    types regtype[];
    m record;
BEGIN
    PERFORM sluice.check_countable(s.relation);
    PERFORM sluice.check_keys(counter);
    types := sluice.key_types(s.relation, s.keys || s.covers);
    IF types <> s.key_types || s.cover_types THEN
        UPDATE sluice.table_statistics t SET key_types = types[:cardinality(s.keys)], cover_types = types[cardinality(s.keys) + 1:] WHERE t.id = counter;
        PERFORM sluice.write_counter(counter);
        PERFORM sluice.doubt_count(counter, true, 'columns have changed');
    END IF;
    FOR m IN
        SELECT coalesce(t.member, o.relation) AS relation, t.member IS NOT NULL AS stays, o.relation IS NOT NULL AS known
        FROM sluice.table_tree(s.relation) t FULL JOIN (SELECT * FROM sluice.table_statistics_member WHERE id = counter) o ON o.relation = t.member
    LOOP
        IF m.stays AND m.known THEN
            PERFORM sluice.follow_triggers(counter, m.relation);
            CONTINUE;
        END IF;
        PERFORM sluice.lock_counter(counter);
        IF m.stays THEN
            PERFORM sluice.make_count_triggers(counter, m.relation);
            INSERT INTO sluice.table_statistics_member VALUES (m.relation, counter);
        ELSE
            DELETE FROM sluice.table_statistics_member o WHERE o.relation = m.relation;
            PERFORM sluice.drop_count_triggers(counter, m.relation);
        END IF;
        PERFORM sluice.count_member(counter, m.relation, CASE WHEN m.stays THEN 1 ELSE -1 END);
    END LOOP;
END
$$;
COMMENT ON FUNCTION sluice.follow_table(uuid) IS 'has a counter follow its table after DDL';

CREATE OR REPLACE FUNCTION sluice.drop_count_triggers(counter uuid, member oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t record;
BEGIN
    FOR t IN
        SELECT g.tgname FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
        WHERE g.tgrelid = member AND p.pronamespace = 'sluice'::regnamespace AND p.proname = sluice.counter_name(counter)
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', t.tgname, member::regclass);
    END LOOP;
END
$$;
COMMENT ON FUNCTION sluice.drop_count_triggers(uuid, oid) IS 'drops the triggers that count the rows of a table';

-- Looks after the triggers of a table that stays in its tree. While one is off nobody counts, and after that nobody knows.
-- ENABLE TRIGGER makes those of replicas plain ones, and the first child makes a TRUNCATE one of a part.
CREATE OR REPLACE FUNCTION sluice.follow_triggers(counter uuid, member oid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    t record;
BEGIN
    FOR t IN
        SELECT e.name, g.tgname, g.tgenabled, (g.tgtype & 2 <> 0) <> (e.event LIKE 'BEFORE%') AS moved
        FROM sluice.count_triggers(counter, member) e LEFT JOIN pg_trigger g ON g.tgrelid = member AND g.tgname = e.name
        WHERE g.tgenabled IS DISTINCT FROM 'A' OR (g.tgtype & 2 <> 0) <> (e.event LIKE 'BEFORE%')
    LOOP
        IF t.tgenabled IS DISTINCT FROM 'A' THEN
            PERFORM sluice.doubt_count(counter, false, format('triggers of %s were disabled or dropped', member::regclass));
        END IF;
        IF t.moved AND t.tgenabled = 'A' THEN
            PERFORM sluice.make_count_triggers(counter, member, t.name);
        ELSIF t.tgenabled = 'O' THEN
            EXECUTE format('ALTER TABLE ONLY %s ENABLE ALWAYS TRIGGER %I', member::regclass, t.name);
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION sluice.follow_triggers(uuid, oid) IS 'looks after the triggers that count the rows of a table';

-- Refuses to take away or rename a column by which rows are counted: the groups are known by its name.
CREATE OR REPLACE FUNCTION sluice.check_keys(counter uuid) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s sluice.table_statistics := (SELECT t FROM sluice.table_statistics t WHERE t.id = counter);
    gone constant name := (SELECT k FROM unnest(s.keys || s.covers) k WHERE NOT EXISTS (
        SELECT FROM pg_attribute a WHERE a.attrelid = s.relation AND a.attname = k AND a.attnum > 0 AND NOT a.attisdropped) LIMIT 1);
BEGIN
    IF gone IS NOT NULL THEN
        RAISE dependent_objects_still_exist USING MESSAGE = format('cannot drop or rename column "%s" of table %s: rows are counted by it', gone, s.relation),
            HINT = format('Call sluice.untrack_statistics(%L) first.', s.relation);
    END IF;
END
$$;
COMMENT ON FUNCTION sluice.check_keys(uuid) IS 'fails where a column is gone by which rows are counted';

CREATE OR REPLACE FUNCTION sluice.on_counted_ddl() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counter uuid;
    callers text;
BEGIN
    GET DIAGNOSTICS callers = PG_CONTEXT;
    IF NOT EXISTS (SELECT FROM sluice.table_statistics) OR callers ~ 'function sluice[.](make_count_triggers|follow_triggers)[(]' THEN
        RETURN;
    END IF;
    FOR counter IN
        WITH RECURSIVE up (oid) AS (
            SELECT c.objid FROM pg_event_trigger_ddl_commands() c WHERE c.classid = 'pg_class'::regclass
            UNION
            SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.oid
        )
        SELECT DISTINCT m.id FROM up JOIN sluice.table_statistics_member m ON m.relation = up.oid ORDER BY m.id
    LOOP
        PERFORM sluice.follow_table(counter);
    END LOOP;
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() c WHERE c.classid = 'pg_class'::regclass
        AND (EXISTS (SELECT FROM sluice.table_statistics s WHERE s.relation = c.objid) OR EXISTS (SELECT FROM sluice.counted_views() v WHERE v.view = c.objid))) THEN
        PERFORM sluice.bump_catalog_version(); -- proxies know names and types
    END IF;
END
$$;
REVOKE ALL ON FUNCTION sluice.on_counted_ddl() FROM PUBLIC;
COMMENT ON FUNCTION sluice.on_counted_ddl() IS 'has counters follow their tables';

CREATE OR REPLACE FUNCTION sluice.on_counted_drop() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    d record;
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() o WHERE o.object_type = 'foreign table') THEN -- else nothing is written
        DELETE FROM sluice.table_statistics_foreign f USING pg_event_trigger_dropped_objects() o WHERE o.objid = f.relation AND o.object_type = 'foreign table';
    END IF;
    IF NOT EXISTS (SELECT FROM sluice.table_statistics) THEN
        RETURN;
    END IF;
    FOR d IN SELECT s.id FROM sluice.table_statistics s JOIN pg_event_trigger_dropped_objects() o ON o.objid = s.relation AND o.object_type = 'table' LOOP
        PERFORM sluice.forget_counter(d.id);
        PERFORM sluice.bump_catalog_version();
    END LOOP;
    IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() o WHERE o.object_type = 'view') THEN
        PERFORM sluice.bump_catalog_version(); -- nobody knows any more what it was of
    END IF;
    FOR d IN
        DELETE FROM sluice.table_statistics_member m USING pg_event_trigger_dropped_objects() o
        WHERE o.objid = m.relation AND o.object_type = 'table' RETURNING m.id
    LOOP
        PERFORM sluice.doubt_count(d.id, true, 'partitions or children were dropped');
    END LOOP;
    FOR d IN SELECT DISTINCT s.id FROM sluice.table_statistics s JOIN pg_event_trigger_dropped_objects() o ON o.objid = s.relation AND o.object_type = 'table column' LOOP
        PERFORM sluice.check_keys(d.id);
    END LOOP;
    FOR d IN
        SELECT DISTINCT m.id, m.relation FROM pg_event_trigger_dropped_objects() o
        JOIN pg_namespace n ON n.nspname = o.address_names[1]
        JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = o.address_names[2]
        JOIN sluice.table_statistics_member m ON m.relation = c.oid
        WHERE o.object_type = 'trigger' AND o.address_names[3] ~ '^~?sluice_count_'
    LOOP
        PERFORM sluice.follow_triggers(d.id, d.relation);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sluice.on_counted_drop() FROM PUBLIC;
COMMENT ON FUNCTION sluice.on_counted_drop() IS 'has counters follow their tables when something is dropped';

-- What may change the groups of rows without a statement on them: a table that is written anew, by an expression for a column
-- maybe, and labels of enums, which wait here for writers that know the old ones.
CREATE OR REPLACE FUNCTION sluice.on_counted_rewrite() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    counter uuid;
BEGIN
    FOR counter IN
        SELECT s.id FROM sluice.table_statistics s JOIN sluice.table_statistics_member m USING (id)
        WHERE m.relation = pg_event_trigger_table_rewrite_oid() AND s.keys || s.covers <> '{}'
    LOOP
        PERFORM sluice.doubt_count(counter, true, 'columns have changed');
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sluice.on_counted_rewrite() FROM PUBLIC;
COMMENT ON FUNCTION sluice.on_counted_rewrite() IS 'has tables counted anew that are written anew';

CREATE OR REPLACE FUNCTION sluice.on_counted_type() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s record;
BEGIN
    FOR s IN
        SELECT t.id, t.relation FROM sluice.table_statistics t
        WHERE EXISTS (SELECT FROM pg_event_trigger_ddl_commands() c WHERE c.classid = 'pg_type'::regclass AND c.objid = ANY ((t.key_types || t.cover_types)::oid[])) ORDER BY t.relation
    LOOP
        EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', s.relation);
        PERFORM sluice.doubt_count(s.id, true, 'a type has changed');
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sluice.on_counted_type() FROM PUBLIC;
COMMENT ON FUNCTION sluice.on_counted_type() IS 'has tables counted anew where labels of enums may have changed';

-- Before a subscription ends or changes, notes what it may have written to.
CREATE OR REPLACE FUNCTION sluice.on_subscription() RETURNS event_trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    m record;
BEGIN
    FOR m IN SELECT o.id FROM sluice.table_statistics_member o JOIN pg_subscription_rel r ON r.srrelid = o.relation LOOP
        PERFORM sluice.doubt_count(m.id, false, 'logical replication has written rows');
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION sluice.on_subscription() FROM PUBLIC;
COMMENT ON FUNCTION sluice.on_subscription() IS 'notes what logical replication has written to';

DROP EVENT TRIGGER IF EXISTS sluice_counted_ddl;
CREATE EVENT TRIGGER sluice_counted_ddl ON ddl_command_end
    WHEN TAG IN ('ALTER TABLE', 'ALTER VIEW', 'CREATE FOREIGN TABLE', 'CREATE SCHEMA', 'CREATE TABLE', 'CREATE VIEW') EXECUTE FUNCTION sluice.on_counted_ddl();
ALTER EVENT TRIGGER sluice_counted_ddl ENABLE ALWAYS;
DROP EVENT TRIGGER IF EXISTS sluice_counted_drop;
CREATE EVENT TRIGGER sluice_counted_drop ON sql_drop EXECUTE FUNCTION sluice.on_counted_drop();
ALTER EVENT TRIGGER sluice_counted_drop ENABLE ALWAYS;
DROP EVENT TRIGGER IF EXISTS sluice_counted_rewrite;
CREATE EVENT TRIGGER sluice_counted_rewrite ON table_rewrite EXECUTE FUNCTION sluice.on_counted_rewrite();
ALTER EVENT TRIGGER sluice_counted_rewrite ENABLE ALWAYS;
DROP EVENT TRIGGER IF EXISTS sluice_counted_type;
CREATE EVENT TRIGGER sluice_counted_type ON ddl_command_end WHEN TAG IN ('ALTER TYPE') EXECUTE FUNCTION sluice.on_counted_type();
ALTER EVENT TRIGGER sluice_counted_type ENABLE ALWAYS;
DROP EVENT TRIGGER IF EXISTS sluice_subscription;
CREATE EVENT TRIGGER sluice_subscription ON ddl_command_start WHEN TAG IN ('ALTER SUBSCRIPTION', 'DROP SUBSCRIPTION') EXECUTE FUNCTION sluice.on_subscription();
ALTER EVENT TRIGGER sluice_subscription ENABLE ALWAYS;

-- Counters that are there have the functions of this version. Those of counters that a dump has left out go, with their triggers.
DO $do$
DECLARE
    orphan regprocedure;
BEGIN
    PERFORM sluice.write_counter(s.id) FROM sluice.table_statistics s;
    FOR orphan IN
        SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'sluice'::regnamespace AND p.proname ~ '^count_[0-9a-f]{32}$'
        AND NOT EXISTS (SELECT FROM sluice.table_statistics s WHERE sluice.counter_name(s.id) = p.proname)
    LOOP
        EXECUTE format('DROP FUNCTION %s CASCADE', orphan);
    END LOOP;
END
$do$;
