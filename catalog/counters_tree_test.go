package catalog_test

import "testing"

// TestCountersFollowPartitions writes to a partitioned table by way of each of its tables, and changes the tree.
func TestCountersFollowPartitions(t *testing.T) {
	s, _ := installed(t)
	s.do(`CREATE TABLE p (k int, v int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1); CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2, 3) PARTITION BY LIST (k);
CREATE TABLE p2a PARTITION OF p2 FOR VALUES IN (2); INSERT INTO p VALUES (1, 1), (2, 2), (2, 3);
CREATE TABLE u (k int, v int) PARTITION BY LIST (k); CREATE TABLE u1 PARTITION OF u FOR VALUES IN (1); CREATE TABLE u2 PARTITION OF u FOR VALUES IN (2);
CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER never BEFORE INSERT ON u2 FOR EACH ROW EXECUTE FUNCTION never();
SELECT sluice.track_statistics('p', '{v}'), sluice.track_statistics('u')`)
	for _, sql := range []string{
		"INSERT INTO p1 VALUES (1, 9)", "INSERT INTO p2 VALUES (2, 2)", "INSERT INTO p2a VALUES (2, 2)", "UPDATE p SET k = 2 WHERE v = 9", "UPDATE p2a SET v = v + 1", "UPDATE p2 SET v = v + 1",
		"CREATE UNIQUE INDEX ON u (k, v); INSERT INTO u VALUES (1, 50), (1, 51); INSERT INTO u VALUES (1, 50), (1, 52) ON CONFLICT (k, v) DO UPDATE SET v = 60", "DELETE FROM u",
		"DELETE FROM p2 WHERE v = 3", "DELETE FROM p1", "INSERT INTO u SELECT 1, i FROM generate_series(1, 5) i", "UPDATE u SET k = 2 WHERE v = 1", // lost
		"MERGE INTO p USING (VALUES (4), (11)) n (v) ON n.v = p.v WHEN MATCHED THEN UPDATE SET v = p.v + 1 WHEN NOT MATCHED THEN INSERT VALUES (1, n.v)",
		"CREATE TABLE p3 (k int, v int); INSERT INTO p3 SELECT 5, i % 4 FROM generate_series(1, 50) i; ALTER TABLE p ATTACH PARTITION p3 FOR VALUES IN (5)",
		"INSERT INTO p3 VALUES (5, 0)", "TRUNCATE p1", "TRUNCATE p3", "INSERT INTO p VALUES (5, 0), (1, 1)", "TRUNCATE p1, p3", "INSERT INTO p VALUES (5, 0), (1, 1), (2, 2)",
		"BEGIN; TRUNCATE p3; ROLLBACK", "ALTER TABLE p DETACH PARTITION p3", "INSERT INTO p3 VALUES (5, 7)", "BEGIN; ALTER TABLE p ATTACH PARTITION p3 FOR VALUES IN (5); ROLLBACK",
		"ALTER TABLE p ATTACH PARTITION p3 FOR VALUES IN (5)", "ALTER TABLE p DETACH PARTITION p2 CONCURRENTLY", "INSERT INTO p2a VALUES (2, 2)",
		"ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN (2, 3)", "CREATE TABLE p4 PARTITION OF p DEFAULT; INSERT INTO p4 VALUES (7, 7); INSERT INTO p VALUES (8, 8)",
		"CREATE TABLE p2b PARTITION OF p2 FOR VALUES IN (3); INSERT INTO p2b VALUES (3, 3)", "DELETE FROM p4; INSERT INTO p VALUES (2, 1)", "TRUNCATE p1, p", "INSERT INTO p VALUES (1, 1), (2, 2), (3, 3), (8, 8)", "TRUNCATE p2",
		"BEGIN; TRUNCATE p; INSERT INTO p1 VALUES (1, 1); COMMIT",
	} {
		s.do(sql)
		s.counted("p", "v")
		s.counted("u")
		if t.Failed() {
			t.Fatalf("behind %s", sql)
		}
	}
	s.do("INSERT INTO p2b VALUES (3, 3), (3, 4)")
	for _, move := range []string{ // which Postgres' transition tables have but half of
		"MERGE INTO p USING (VALUES (3), (90)) n (v) ON n.v = p.v WHEN MATCHED THEN UPDATE SET k = 1 WHEN NOT MATCHED THEN INSERT VALUES (1, n.v)",
		"PREPARE m AS MERGE INTO p USING (VALUES (3), (4)) n (v) ON n.v = p.v WHEN MATCHED AND p.v = 3 THEN UPDATE SET k = 4 - k, v = 70 WHEN MATCHED THEN DELETE; EXECUTE m",
		`CREATE FUNCTION merge_sql() RETURNS void LANGUAGE sql AS 'MERGE INTO p USING (VALUES (3), (70)) n (v) ON n.v = p.v WHEN MATCHED THEN UPDATE SET k = 4 - k, v = 75'; SELECT merge_sql()`,
		`DO 'BEGIN MERGE INTO p USING (VALUES (75)) n (v) ON n.v = p.v WHEN MATCHED THEN UPDATE SET k = 4 - k, v = 76; END'`,
	} {
		s.do(move)
		if got := s.value("SELECT string_agg(DISTINCT source, ' ') FROM sluice.table_counts WHERE relation = 'p'::regclass"); got != "pending" {
			t.Errorf("%s: %s", move, got)
		}
		s.do("SELECT sluice.fill_statistics()")
		s.counted("p", "v")
	}
	s.do("CREATE FUNCTION move() RETURNS void LANGUAGE plpgsql AS 'BEGIN UPDATE p SET k = 4 - k, v = 77 WHERE k IN (1, 3); END'; SELECT move(); UPDATE p SET k = 4 - k WHERE k IN (1, 3)")
	s.counted("p", "v")
	s.do("INSERT INTO p4 VALUES (9, 9); DROP TABLE p4") // when it is gone nobody knows what was in it
	if got := s.value("SELECT source || coalesce(row_count::text, '?') FROM sluice.table_counts WHERE relation = 'p'::regclass"); got != "pending?" {
		t.Errorf("a partition is dropped: %s", got)
	}
	s.do("SELECT sluice.fill_statistics()")
	s.counted("p", "v")
	for sql, want := range map[string]string{
		"SELECT sluice.track_statistics('p1')": "0A000", "SELECT sluice.track_statistics('p')": "42710", "SELECT sluice.untrack_statistics('p1')": "42704",
		"CREATE TABLE q (k int, v int); SELECT sluice.track_statistics('q'); ALTER TABLE p ATTACH PARTITION q FOR VALUES IN (70)":     "55006",
		"CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE FOREIGN TABLE q PARTITION OF p FOR VALUES IN (70) SERVER lake": "0A000",
	} {
		if err := s.try(sql); code(err) != want {
			t.Errorf("%s: %v", sql, err)
		}
	}
	s.do("SELECT sluice.untrack_statistics('p'), sluice.untrack_statistics('u')")
	if left := s.value("SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'sluice\\_count%'") + s.value("SELECT count(*) FROM pg_proc WHERE proname LIKE 'count\\_%' AND prorettype = 'trigger'::regtype") +
		s.value("SELECT count(*) + sluice.fold_statistics() FROM sluice.table_statistics_member") + s.value("SELECT count(*) FROM sluice.table_statistics_delta"); left != "0000" {
		t.Errorf("triggers, functions, members, deltas left: %s", left)
	}
}

// TestCountersFollowChildren is that for inheritance, where the topmost table has rows of its own.
func TestCountersFollowChildren(t *testing.T) {
	s, _ := installed(t)
	s.do("CREATE TABLE i (a int); INSERT INTO i VALUES (1), (2); SELECT sluice.track_statistics('i', '{a}')")
	for _, sql := range []string{
		"CREATE TABLE c (b int) INHERITS (i)", "INSERT INTO c VALUES (1, 1), (7, 7)", "DELETE FROM i WHERE a = 1", "UPDATE i SET a = a + 1", "UPDATE ONLY i SET a = 0", "UPDATE c SET a = 3",
		"INSERT INTO i VALUES (4)", "TRUNCATE ONLY i", "INSERT INTO i VALUES (4)", "TRUNCATE c", "INSERT INTO c VALUES (5, 5)", "TRUNCATE i", "INSERT INTO i VALUES (6)",
		"CREATE TABLE d (a int); INSERT INTO d VALUES (1), (2); CREATE TABLE e () INHERITS (d); INSERT INTO e VALUES (3); ALTER TABLE d INHERIT i", "INSERT INTO e VALUES (8)", "DELETE FROM d WHERE a > 2",
		"INSERT INTO e VALUES (8)", "ALTER TABLE d NO INHERIT i", "INSERT INTO d VALUES (1)", "ALTER TABLE c NO INHERIT i", "TRUNCATE i", "INSERT INTO i VALUES (6)",
		"CREATE TABLE f () INHERITS (i); INSERT INTO f VALUES (1); DELETE FROM f; SELECT 1",
	} {
		s.do(sql)
		s.counted("i", "a")
		if t.Failed() {
			t.Fatalf("behind %s", sql)
		}
	}
	s.do("DROP TABLE f; SELECT sluice.fill_statistics(); INSERT INTO i VALUES (9)")
	s.counted("i", "a")
	for sql, want := range map[string]string{
		"ALTER TABLE i SET UNLOGGED": "0A000", "CREATE TEMPORARY TABLE x () INHERITS (i)": "0A000", "CREATE TABLE x () INHERITS (i, c)": "0A000",
		"CREATE TABLE x () INHERITS (i); SELECT sluice.track_statistics('x')": "0A000", "ALTER TABLE i RENAME a TO b": "2BP01", "ALTER TABLE i DROP a": "2BP01",
	} {
		if err := s.try(sql); code(err) != want {
			t.Errorf("%s: %v", sql, err)
		}
	}
	s.do("ALTER TABLE i ALTER a TYPE text; SELECT sluice.fill_statistics(); INSERT INTO i VALUES ('x')")
	s.counted("i", "a")
}

// TestCountersUnverified looks at what triggers cannot see, which the counters must say, and at its repair.
func TestCountersUnverified(t *testing.T) {
	s, _ := installed(t)
	s.do("CREATE TABLE t (a int); SELECT sluice.track_statistics('t')")
	source := func(want string) {
		t.Helper()
		if got := s.value("SELECT source FROM sluice.table_counts"); got != want {
			t.Errorf("source is %q, not %q", got, want)
		}
		if known := s.value("SELECT sluice.table_count('t') IS NOT NULL"); (known == "t") != (want == "counters") {
			t.Errorf("the count of a table that is %s is known: %s", want, known)
		}
	}
	repair := func() {
		t.Helper()
		s.do("SELECT sluice.verify_statistics('t', true)")
		source("counters")
		s.counted("t")
	}
	source("counters")
	for _, off := range []string{"USER", "ALL", "sluice_count_insert"} {
		s.do("ALTER TABLE t DISABLE TRIGGER " + off + "; INSERT INTO t VALUES (1)")
		source("unverified")
		s.do("SELECT sluice.verify_statistics('t', true)") // rows that come now are missed all the same
		source("unverified")
		s.do("INSERT INTO t VALUES (1); ALTER TABLE t ENABLE TRIGGER " + off)
		source("unverified")
		if got := s.value("SELECT stored || ' ' || actual || ' ' || repaired FROM sluice.verify_statistics('t') v"); got == "" {
			t.Error("no report")
		}
		source("unverified")
		repair()
	}
	s.do("SET session_replication_role = replica; INSERT INTO t VALUES (1); RESET session_replication_role") // enabled as they were
	s.counted("t")
	s.do("CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1 port=1' PUBLICATION p WITH (connect = false, slot_name = NONE)")
	s.do("SET allow_system_table_mods = on; INSERT INTO pg_subscription_rel SELECT oid, 't'::regclass, 'r' FROM pg_subscription WHERE subname = 's'; RESET allow_system_table_mods")
	source("unverified")
	s.do("SELECT sluice.verify_statistics('t', true)")
	source("unverified")
	s.do("DROP SUBSCRIPTION s")
	source("unverified")
	repair()
	s.do("DROP TRIGGER sluice_count_delete ON t; DELETE FROM t")
	source("unverified")
	s.do("SELECT sluice.untrack_statistics('t'); SELECT sluice.track_statistics('t')")
	source("counters")
	s.counted("t")
	s.do("DELETE FROM sluice.table_statistics_delta; INSERT INTO t VALUES (1), (2)") // as behind a restore without them
	source("pending")
	s.do("SELECT sluice.fill_statistics()")
	source("counters")
	s.counted("t")
	s.do("ALTER TRIGGER sluice_count_delete ON t RENAME TO mine")
	source("unverified")
}
