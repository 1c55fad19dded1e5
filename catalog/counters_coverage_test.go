package catalog_test

import "testing"

// covered compares counts of rows, and of the orders that have some, with what is so.
func (s *session) covered() {
	s.t.Helper()
	for _, c := range []struct{ counted, truth string }{
		{`SELECT string_agg(concat_ws(' ', "group" ->> 'kind', row_count, covered_count, source), ', ' ORDER BY "group") FROM sluice.table_counts WHERE relation = 'line'::regclass AND row_count <> 0`,
			`SELECT string_agg(concat_ws(' ', kind, n, d, 'counters'), ', ' ORDER BY jsonb_build_object('kind', kind)) FROM (SELECT kind, count(*) n, count(DISTINCT ("order", part)) FILTER (WHERE "order" IS NOT NULL AND part IS NOT NULL) d FROM line GROUP BY kind) t`},
		{`SELECT row_count || ' ' || covered_count || source FROM sluice.table_counts WHERE relation = 'note'::regclass`, `SELECT count(*) || ' ' || count(DISTINCT "order") || 'counters' FROM note`},
		{"SELECT count(*) FROM sluice.verify_statistics() WHERE stored <> actual", "SELECT 0"},
	} {
		if got, want := s.value(c.counted), s.value(c.truth); got != want {
			s.t.Errorf("counters %q, rows %q", got, want)
		}
	}
}

// TestCountersOfCoverage compares counts of parents that have a row with the rows behind each statement.
func TestCountersOfCoverage(t *testing.T) {
	s, url := installed(t)
	other := connect(t, url)
	s.do(`CREATE TABLE "order" (id int PRIMARY KEY); INSERT INTO "order" SELECT generate_series(1, 20);
		CREATE TABLE line (id int, "order" int REFERENCES "order" ON DELETE CASCADE, part text, kind text) PARTITION BY HASH (id);
		CREATE TABLE line0 PARTITION OF line FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE line1 PARTITION OF line FOR VALUES WITH (MODULUS 2, REMAINDER 1);
		CREATE TABLE note (id int, "order" int REFERENCES "order" ON DELETE CASCADE);
		INSERT INTO line SELECT i, 1 + i % 7, CASE i % 3 WHEN 0 THEN NULL ELSE 'p' || i % 2 END, (ARRAY['a', 'b', NULL])[1 + i % 3] FROM generate_series(1, 60) i; INSERT INTO note SELECT i, i % 4 + 1 FROM generate_series(1, 9) i;
		SELECT sluice.track_statistics('line', '{kind}', '{order,part}'), sluice.track_statistics('note', coverage => '{order}')`)
	for _, sql := range []string{
		"SELECT 1", "DELETE FROM line WHERE id < 5", `INSERT INTO line VALUES (100, 15, 'x', 'a'), (101, 15, 'x', 'a'), (102, NULL, 'x', 'a')`, "DELETE FROM line WHERE id = 100", "DELETE FROM line WHERE id = 101",
		`UPDATE line SET "order" = 9 WHERE id % 5 = 0`, "UPDATE line SET kind = 'b' WHERE id % 4 = 0", "UPDATE line SET part = NULL WHERE id % 9 = 0", "UPDATE line SET id = id + 1",
		`DELETE FROM "order" WHERE id IN (2, 3)`, `BEGIN; DELETE FROM "order"; SAVEPOINT a; ROLLBACK TO a; ROLLBACK`, `UPDATE note SET "order" = 7`, `UPDATE note SET "order" = NULL WHERE id = 5`,
		"TRUNCATE line0", "BEGIN; TRUNCATE line, note; ROLLBACK", "ALTER TABLE line DETACH PARTITION line1", "ALTER TABLE line ATTACH PARTITION line1 FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
		"SELECT sluice.fold_statistics()", `INSERT INTO note SELECT i, i % 20 + 1 FROM generate_series(1, 300) i ON CONFLICT DO NOTHING`, "SELECT sluice.fold_statistics()", "DELETE FROM note WHERE id % 20 < 12",
		"ALTER TABLE note DISABLE TRIGGER USER; INSERT INTO note VALUES (1, 3), (1, 13); ALTER TABLE note ENABLE TRIGGER USER; SELECT sluice.verify_statistics('note', true)",
		`ALTER TABLE line ALTER part TYPE varchar(9); SELECT sluice.fill_statistics()`, "TRUNCATE line, note", "INSERT INTO note VALUES (1, 4)",
	} {
		if sql == `INSERT INTO note SELECT i, i % 20 + 1 FROM generate_series(1, 300) i ON CONFLICT DO NOTHING` {
			s.do(`INSERT INTO "order" VALUES (2), (3) ON CONFLICT DO NOTHING`)
		}
		s.do(sql)
		s.covered()
		other.covered()
		if t.Failed() {
			t.Fatalf("behind %s", sql)
		}
	}
	role(t, s, url, "counter_reader")
	s.do("GRANT SELECT ON note TO counter_reader; SET ROLE counter_reader")
	if got := s.value("SELECT string_agg(relation || ' ' || covered_count, ', ') FROM sluice.table_counts"); got != "note 1" {
		t.Errorf("a reader sees %s", got)
	}
	if err := s.try("SELECT FROM sluice.table_coverage"); code(err) != "42501" {
		t.Errorf("a reader sees what is covered: %v", err)
	}
	s.do("RESET ROLE")
	if got := s.value("SELECT actual FROM sluice.verify_statistics('note')"); got != "1" {
		t.Errorf("verify_statistics tells of %s", got)
	}
	if err := s.try(`ALTER TABLE note DROP COLUMN "order"`); code(err) != "2BP01" {
		t.Errorf("a column that is covered can go: %v", err)
	}
	if err := s.try("SELECT sluice.untrack_statistics('note'); SELECT sluice.track_statistics('note', '{order}', '{order}')"); code(err) != "42701" {
		t.Errorf("a column is a key and covered: %v", err)
	}
	s.do("SELECT sluice.untrack_statistics('line'), sluice.untrack_statistics('note'); SELECT sluice.fold_statistics()")
	if left := s.value("SELECT (SELECT count(*) FROM sluice.table_statistics_delta) + (SELECT count(*) FROM sluice.table_coverage_delta)"); left != "0" {
		t.Errorf("%s deltas are left", left)
	}
}
