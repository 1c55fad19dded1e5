package catalog_test

import (
	"strconv"
	"testing"
	"time"
)

// TestVerifyBetweenWriters has a writer commit in the verifier's window: its row is counted in what the verifier compares, or
// not, and survives a repair in any case. Before its statement the verifier is held up by its lock, and within it by a trigger.
func TestVerifyBetweenWriters(t *testing.T) {
	s, url := installed(t)
	writer, holder := connect(t, url), connect(t, url)
	s.do(`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NEW; END';
CREATE TRIGGER hold BEFORE INSERT ON sluice.table_statistics_delta FOR EACH ROW WHEN (NEW.as_of IS NOT NULL) EXECUTE FUNCTION hold()`)
	for _, isolation := range []string{"READ COMMITTED", "REPEATABLE READ"} {
		for _, repair := range []string{"false", "true"} {
			for _, hold := range []string{"SELECT sluice.lock_counter(id) FROM sluice.table_statistics", "SELECT pg_advisory_xact_lock(42)"} {
				if repair == "false" && hold == "SELECT pg_advisory_xact_lock(42)" {
					continue // it writes nothing
				}
				s.do(`CREATE TABLE t (a int); INSERT INTO t SELECT generate_series(1, 10); SELECT sluice.track_statistics('t');
INSERT INTO sluice.table_statistics_delta (id, rows) SELECT id, 5 FROM sluice.table_statistics`)
				verifier := connect(t, url)
				verifier.do("BEGIN ISOLATION LEVEL " + isolation + "; SELECT 1 FROM t")
				writer.do("BEGIN; INSERT INTO t VALUES (11)")
				holder.do("BEGIN; " + hold)
				answer := make(chan string)
				go func() {
					rows, err := verifier.Query(t.Context(), "SELECT stored - actual, repaired FROM sluice.verify_statistics('t', "+repair+")")
					if err != nil || len(rows) != 1 {
						answer <- code(err)
						return
					}
					answer <- *rows[0][0] + *rows[0][1]
				}()
				s.waits(verifier)
				writer.do("COMMIT; INSERT INTO t VALUES (12)")
				holder.do("ROLLBACK")
				if got := <-answer; got != "5"+repair[:1] {
					t.Errorf("%s, repair %s, %s: %s", isolation, repair, hold, got)
				}
				verifier.do("COMMIT")
				drift := map[string]string{"false": "17", "true": "12"}[repair]
				if got := s.value("SELECT sluice.table_count('t') || ' ' || count(*) FROM t"); got != drift+" 12" {
					t.Errorf("%s, repair %s, %s: %s", isolation, repair, hold, got)
				}
				s.do("DROP TABLE t")
			}
		}
	}
}

// waits waits until another session waits for a lock.
func (s *session) waits(other *session) {
	s.t.Helper()
	for s.value("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = "+strconv.Itoa(int(other.conn.PID()))) == "0" {
		select {
		case <-s.t.Context().Done():
			s.t.Fatal("the session does not wait")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestVerifiersWaitForEachOther has two repair the same drift at once.
func TestVerifiersWaitForEachOther(t *testing.T) {
	s, url := installed(t)
	s.do(`CREATE TABLE t (a int); INSERT INTO t VALUES (1); SELECT sluice.track_statistics('t')`)
	for isolation, want := range map[string]string{"READ COMMITTED": "", "REPEATABLE READ": "40001"} {
		s.do("INSERT INTO sluice.table_statistics_delta (id, rows) SELECT id, 5 FROM sluice.table_statistics")
		first, second := connect(t, url), connect(t, url)
		for _, v := range []*session{first, second} {
			v.do("BEGIN ISOLATION LEVEL " + isolation + "; SELECT 1 FROM t")
		}
		first.do("SELECT sluice.verify_statistics('t', true)")
		failed := make(chan string)
		go func() { failed <- code(second.try("SELECT sluice.verify_statistics('t', true)")) }()
		s.waits(second)
		first.do("COMMIT")
		if got := <-failed; got != want {
			t.Errorf("%s: %q", isolation, got)
		}
		second.do("COMMIT")
		s.counted("t")
	}
}

// TestCountersPrivileges tries what roles may see of counters, and do.
func TestCountersPrivileges(t *testing.T) {
	s, _ := installed(t)
	s.do(`DROP ROLE IF EXISTS counter_reader, counter_owner, counter_ops; CREATE ROLE counter_reader; CREATE ROLE counter_owner; CREATE ROLE counter_ops;
CREATE TABLE t (a int, secret text); INSERT INTO t VALUES (1, 'x'); CREATE TABLE u (a int); CREATE TABLE governed (a int); ALTER TABLE governed ENABLE ROW LEVEL SECURITY;
ALTER TABLE t OWNER TO counter_owner; GRANT SELECT ON t, governed TO counter_reader; GRANT INSERT, DELETE ON t TO counter_reader; CREATE SCHEMA hidden; CREATE TABLE hidden.h (a int); GRANT SELECT ON hidden.h TO counter_reader;
GRANT EXECUTE ON FUNCTION sluice.track_statistics, sluice.untrack_statistics, sluice.verify_statistics TO counter_ops;
SELECT sluice.track_statistics('t', '{secret}'), sluice.track_statistics('governed'), sluice.track_statistics('hidden.h')`)
	t.Cleanup(func() {
		s.do("RESET ROLE; DROP OWNED BY counter_reader, counter_owner, counter_ops CASCADE; DROP ROLE counter_reader, counter_owner, counter_ops")
	})
	hidden := s.value("SELECT 'hidden.h'::regclass::oid")
	for _, step := range []struct{ role, sql, want string }{
		{"counter_reader", "SELECT string_agg(relation || row_count::text || source, ' ') FROM sluice.table_counts", "t1counters"},
		{"counter_reader", "SELECT sluice.table_count('t')", "1"}, {"counter_reader", "SELECT sluice.table_count('u')", "42501"},
		{"counter_reader", "SELECT sluice.table_count('governed')", "42501"}, {"counter_reader", "SELECT sluice.table_count(" + hidden + ")", "42501"}, {"counter_reader", "SELECT sluice.table_count(NULL)", ""},
		{"counter_reader", "SELECT sluice.table_count('no_such')", "42P01"}, {"counter_reader", "SELECT sluice.table_count(1)", "42704"},
		{"counter_reader", "INSERT INTO t VALUES (2, 'y') RETURNING a", "2"}, {"counter_reader", "SELECT sluice.table_count('t')", "2"},
		{"counter_reader", "SELECT sluice.track_statistics('t')", "42501"}, {"counter_owner", "SELECT sluice.untrack_statistics('t')", "42501"},
		{"counter_owner", "SELECT sluice.verify_statistics('t', true)", "42501"}, {"counter_reader", "SELECT sluice.fold_statistics()", "42501"}, {"counter_reader", "SELECT sluice.fill_statistics()", "42501"},
		{"counter_reader", "SELECT rows FROM sluice.table_statistics_delta", "42501"}, {"counter_owner", "INSERT INTO sluice.table_statistics_delta (id, rows) SELECT id, 5 FROM sluice.table_statistics", "42501"},
		{"counter_reader", "DELETE FROM sluice.table_statistics", "42501"}, {"counter_reader", "SELECT sluice.doubt_count(id, true, 'x') FROM sluice.table_statistics", "42501"},
		{"counter_reader", "SELECT sluice.compare_counts(id, true) FROM sluice.table_statistics", "42501"}, {"counter_reader", "SELECT id FROM sluice.table_statistics_member", "42501"},
		{"counter_owner", "CREATE TRIGGER more AFTER INSERT ON t REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sluice." + s.value("SELECT tgfoid::regproc::text FROM pg_trigger WHERE tgname = 'sluice_count_insert' AND tgrelid = 't'::regclass")[len("sluice."):] + "()", "42501"},
		{"counter_ops", "SELECT stored FROM sluice.verify_statistics('t') LIMIT 1", "1"}, {"counter_ops", "SELECT sluice.table_count('t')", "42501"},
		{"counter_ops", "SELECT sluice.track_statistics('u')", ""}, {"counter_ops", "SELECT sluice.untrack_statistics('u')", ""},
	} {
		s.do("SET ROLE " + step.role)
		rows, err := s.Query(t.Context(), step.sql)
		got := code(err)
		if err == nil && len(rows) > 0 && rows[0][0] != nil {
			got = *rows[0][0]
		}
		if got != step.want {
			t.Errorf("%s as %s: %q, not %q (%v)", step.sql, step.role, got, step.want, err)
		}
		s.do("RESET ROLE")
	}
	s.do("CREATE TEMPORARY TABLE temp (a int); CREATE UNLOGGED TABLE unlogged (a int); CREATE VIEW v AS SELECT 1; CREATE DOMAIN mine AS int; CREATE TABLE odd (m mine, j json)")
	s.do("CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb; CREATE FOREIGN TABLE ft (a int) SERVER lake; CREATE FOREIGN DATA WRAPPER other; CREATE SERVER others FOREIGN DATA WRAPPER other; CREATE FOREIGN TABLE alien (a int) SERVER others")
	for sql, want := range map[string]string{
		"SELECT sluice.track_statistics('temp')": "0A000", "SELECT sluice.track_statistics('unlogged')": "0A000", "SELECT sluice.track_statistics('v')": "42809",
		"SELECT sluice.track_statistics('pg_class')": "42501", "SELECT sluice.track_statistics('sluice.audit')": "42501", "SELECT sluice.track_statistics(NULL)": "22004",
		"SELECT sluice.track_statistics('odd', '{m}')": "0A000", "SELECT sluice.track_statistics('odd', '{j}')": "0A000", "SELECT sluice.track_statistics('odd', '{none}')": "42703",
		"SELECT sluice.track_statistics('u', '{a,a}')": "42701", "SELECT sluice.verify_statistics('u')": "42704", "SELECT sluice.untrack_statistics('u')": "42704", "SELECT sluice.table_count('u')": "42704",
		"SELECT sluice.track_statistics('alien')": "42809", "SELECT sluice.track_statistics('ft', '{a}')": "0A000", "SELECT sluice.track_statistics('ft', coverage => '{a}')": "0A000", "SELECT sluice.table_count('ft')": "42704",
		"SELECT sluice.track_statistics('ft'); SELECT sluice.track_statistics('ft')": "42710", "SELECT sluice.track_statistics('ft'); SELECT sluice.verify_statistics('ft')": "55000",
		"SELECT sluice.track_statistics('ft'), sluice.foreign_counted('ft'::regclass, false, NULL); SELECT sluice.verify_statistics('ft')": "0A000",
		"SELECT sluice.track_statistics('ft'); SELECT sluice.untrack_statistics('ft'); SELECT sluice.table_count('ft')":                    "42704",
	} {
		if err := s.try(sql); code(err) != want {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestCountersOutliveUpdate updates the extension, and drops it.
func TestCountersOutliveUpdate(t *testing.T) {
	s, _ := installed(t)
	s.do("CREATE TABLE t (a int); INSERT INTO t VALUES (1); SELECT sluice.track_statistics('t', '{a}')")
	if _, _, err := s.run("ALTER EXTENSION sluice UPDATE"); err != nil {
		t.Fatal(err)
	}
	s.do("INSERT INTO t VALUES (2)")
	s.counted("t", "a")
	if _, _, err := s.run("DROP EXTENSION sluice"); code(err) != "2BP01" {
		t.Errorf("triggers of tables need it: %v", err)
	}
	if _, _, err := s.run("DROP EXTENSION sluice CASCADE"); err != nil {
		t.Fatal(err)
	}
	s.do("INSERT INTO t VALUES (3)")
}

// TestCountersUnderOldSnapshots has transactions that do not see what others have committed meanwhile, but do away with it.
func TestCountersUnderOldSnapshots(t *testing.T) {
	s, url := installed(t)
	old := connect(t, url)
	s.do(`CREATE TABLE t (a int); INSERT INTO t SELECT generate_series(1, 10); SELECT sluice.track_statistics('t');
CREATE TABLE p (k int) PARTITION BY LIST (k); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1); CREATE TABLE p2 (k int); SELECT sluice.track_statistics('p')`)
	for _, step := range []struct{ meanwhile, sql, source string }{
		{"TRUNCATE t; INSERT INTO t VALUES (1), (2)", "SELECT sluice.verify_statistics('t', true)", "counters"},
		{"INSERT INTO t VALUES (3)", "TRUNCATE t", "counters"}, {"INSERT INTO t VALUES (3)", "TRUNCATE t; INSERT INTO t VALUES (4), (5)", "counters"},
		{"INSERT INTO p VALUES (1)", "TRUNCATE p", "pending"}, {"INSERT INTO p VALUES (1), (1)", "TRUNCATE p1", "pending"},
		{"INSERT INTO p2 VALUES (2)", "ALTER TABLE p ATTACH PARTITION p2 FOR VALUES IN (2)", "pending"}, {"INSERT INTO p2 VALUES (2)", "ALTER TABLE p DETACH PARTITION p2", "pending"},
	} {
		old.do("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
		s.do(step.meanwhile)
		old.do(step.sql + "; COMMIT")
		if got := s.value("SELECT max(source) FROM sluice.table_counts"); got != step.source {
			t.Errorf("%s: %s", step.sql, got)
		}
		s.do("SELECT sluice.fold_statistics(), sluice.fill_statistics()")
		s.counted("t")
		s.counted("p")
	}
}
