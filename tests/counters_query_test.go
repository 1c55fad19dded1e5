package tests

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// countedTables are tables of home whose rows are counted, by columns of each type whose values come back as they were. An
// amount is one of those that do not.
var countedTables = []string{
	"CREATE EXTENSION sluice", "CREATE TYPE colour AS ENUM ('red', 'green')",
	`CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
	`CREATE TABLE item (id int, "Key" int, word text, blind text COLLATE blind, c char(3), v varchar(5), at timestamptz, local timestamp, short timestamp(0), d date, t time, u uuid, b bool,
		big bigint, small smallint, colour colour, amount numeric, "group" "char", note text)`,
	`INSERT INTO item SELECT i, i % 3, CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'w''' || i % 4 END, CASE i % 2 WHEN 0 THEN 'a' ELSE 'A' END, 'c' || i % 2, 'v',
		CASE i % 5 WHEN 0 THEN 'infinity' WHEN 1 THEN '0044-03-15 12:00:00.123456+00 BC' WHEN 2 THEN '20000-01-01 00:00+00' ELSE '2024-02-29 23:59:59.5+05' END::timestamptz,
		'2024-02-29 01:02:03', '2024-02-29 01:02:03', CASE i % 2 WHEN 0 THEN '-infinity' ELSE '0001-01-01 BC' END::date, '24:00', ('00000000-0000-0000-0000-00000000000' || i % 2)::uuid, i % 3 = 0,
		9223372036854775807 - i % 2, -i % 2, (ARRAY['red', 'green', NULL])[1 + i % 3]::colour, 1.0 + i % 2, 'x', 'n' FROM generate_series(1, 240) i`,
	`SELECT sluice.track_statistics('item', '{Key,word,blind,c,v,at,local,short,d,t,u,b,big,small,colour,amount}')`,
	"CREATE TABLE bare (id int PRIMARY KEY)", "INSERT INTO bare SELECT generate_series(1, 50)", "SELECT sluice.track_statistics('bare')",
	"CREATE TABLE empty (k int, m text)", "SELECT sluice.track_statistics('empty', '{k}')",
	"CREATE TABLE mixed (k text COLLATE blind, d date)", "SELECT sluice.track_statistics('mixed', '{k,d}')", "INSERT INTO mixed VALUES ('a', NULL), ('A', NULL), ('a', 'today')",
	"CREATE TABLE sums (n bigint, m text)",
	"CREATE VIEW each AS SELECT id, id AS again FROM bare", "CREATE VIEW every AS TABLE item",
	"CREATE VIEW few AS SELECT id FROM bare WHERE id > 7", "CREATE VIEW ten AS SELECT id FROM bare LIMIT 10", "CREATE VIEW distinct_words AS SELECT DISTINCT word FROM item", "CREATE VIEW words AS SELECT word FROM item GROUP BY word",
	"CREATE VIEW twice AS SELECT b.id FROM bare b, generate_series(1, 2)", "CREATE VIEW pairs AS SELECT b.id FROM bare b JOIN bare c USING (id) JOIN item i ON i.id = b.id", "CREATE VIEW series AS SELECT generate_series(1, 2) FROM bare",
	"CREATE VIEW whole AS SELECT count(*) FROM bare", "CREATE VIEW only_bare AS SELECT id FROM ONLY bare", "CREATE VIEW sampled AS SELECT id FROM bare TABLESAMPLE SYSTEM (100)", "CREATE VIEW united AS SELECT id FROM bare UNION ALL SELECT id FROM bare",
	"CREATE VIEW second AS SELECT id FROM each", "CREATE VIEW computed AS SELECT id + 1 FROM bare", "CREATE VIEW sub AS SELECT id, (SELECT count(*) FROM item) FROM bare", "CREATE VIEW nothing AS SELECT id FROM bare WHERE false",
	"CREATE VIEW with_one AS WITH w AS (SELECT 1) SELECT id FROM bare", "CREATE VIEW offset_one AS SELECT id FROM bare OFFSET 1", "CREATE VIEW having_one AS SELECT 1 FROM bare HAVING true", "CREATE VIEW ranked AS SELECT row_number() OVER () FROM bare",
	"CREATE SCHEMA other", "CREATE TABLE other.item (word text)", "CREATE TABLE other.mixed (k int, d boolean)", "INSERT INTO other.mixed VALUES (5, true), (6, true)", "INSERT INTO other.item VALUES ('one')",
}

// fromCounters are statements that counters answer.
var fromCounters = []string{
	"SELECT count(*) FROM item", "SELECT count(*) AS n FROM public.item", "select Count(1) from item i", "SELECT COUNT(*) FROM bare LIMIT 1", "SELECT count(*) FROM empty",
	"SELECT count(*)::int, count(*)::numeric(10,2), 'x', -count(*) + 1, count(*) > 3 AND true, pg_catalog.count(*) FROM bare", "SELECT count(*) FROM bare OFFSET 1",
	"SELECT (SELECT count(*) FROM bare), x FROM generate_series(1, 2) x", "SELECT * FROM (SELECT count(*) FROM bare) s, (SELECT count(*) FROM item WHERE b) t",
	"SELECT count(*) FROM bare UNION ALL SELECT count(*) FROM item", "WITH c AS (SELECT count(*) FROM item) SELECT * FROM c", "SELECT 1 WHERE (SELECT count(*) FROM item) > 500",
	"SELECT count(*) FROM item WHERE word = 'w''2'", "SELECT count(*) FROM item i WHERE i.word IN ('', 'w''3', NULL)", `SELECT count(*) FROM item WHERE "Key" = 1 AND NOT (word <> '' OR word IS NULL)`,
	"SELECT count(*) FROM item WHERE word IS NULL", "SELECT count(*) FROM item WHERE blind = 'a'", "SELECT count(*) FROM item WHERE c = 'c1'", "SELECT count(*) FROM item WHERE c = 'c1   '::char(7)",
	"SELECT count(*) FROM item WHERE at = 'infinity'", "SELECT count(*) FROM item WHERE at = '0044-03-15 12:00:00.123456+00 BC'", "SELECT count(*) FROM item WHERE at > '2024-02-29 18:59:59.5+00'",
	"SELECT count(*) FROM item WHERE d = '0001-01-01 BC' AND t = '24:00' AND local BETWEEN '2024-02-29' AND '2024-03-01'", "SELECT count(*) FROM item WHERE u = '00000000-0000-0000-0000-000000000001'",
	"SELECT count(*) FROM item WHERE b", "SELECT count(*) FROM item WHERE b IS NOT TRUE", "SELECT count(*) FROM item WHERE big = 9223372036854775807 AND small >= 0", "SELECT count(*) FROM item WHERE colour = 'green'",
	"SELECT count(*) FROM item WHERE colour >= 'green' AND item.v = ANY ('{v,w}')", `SELECT count(*) FROM item WHERE "Key" = ANY (ARRAY[1, 2])`, `SELECT count(*) FROM item WHERE "Key" < ALL ('{2,9}'::int[])`,
	`SELECT "Key", count(*) FROM item GROUP BY "Key" ORDER BY 1`, `SELECT count(*), i."Key" AS k FROM item i WHERE word IS NOT NULL GROUP BY 2 ORDER BY count(*) DESC, k LIMIT 2`,
	"SELECT word, count(*) FROM item GROUP BY word HAVING count(*) >= 60 AND word <> 'x' ORDER BY word NULLS FIRST", "SELECT count(*) FROM item GROUP BY blind", "SELECT upper_.word, count(*) FROM item upper_ GROUP BY upper_.word ORDER BY word",
	"SELECT word, at, local, d, t, u, b, big, small, colour, count(*) AS count FROM item GROUP BY word, at, local, d, t, u, b, big, small, colour ORDER BY 1, 2, 4, 6, 7, 8, 9, 10",
	"SELECT count(*) FROM mixed WHERE k = 'a'", "SELECT count(*) FROM mixed WHERE k = 'A' AND d IS NULL GROUP BY k",
	"SELECT word, word, count(*) + 1, 7 FROM item GROUP BY word, item.word ORDER BY word", "SELECT b FROM item GROUP BY b HAVING count(*) > 200",
	"SELECT count(*) FROM each", "SELECT count(*) AS n FROM public.every v", "BEGIN; DELETE FROM bare WHERE id < 4; SELECT count(*) FROM each; ROLLBACK",
	"SELECT 1; SELECT count(*) FROM bare; SELECT count(*) FROM item WHERE b", "SELECT count(*) FROM bare; SELECT nosuch FROM bare", "BEGIN; SELECT count(*) FROM bare; SELECT 1; COMMIT",
	"BEGIN; INSERT INTO sums SELECT count(*), 'x' FROM bare RETURNING *; ROLLBACK", "BEGIN; INSERT INTO bare SELECT count(*) + 1 FROM bare ON CONFLICT DO NOTHING RETURNING id; SELECT count(*) FROM bare; ROLLBACK",
	"BEGIN; INSERT INTO sums (m, n) SELECT word, count(*) FROM item GROUP BY word; SELECT * FROM sums ORDER BY 1, 2; ROLLBACK", "BEGIN; INSERT INTO sums VALUES ((SELECT count(*) FROM bare), 'a') RETURNING n; ROLLBACK",
	"BEGIN; INSERT INTO sums VALUES (1, 'a'); UPDATE sums SET n = (SELECT count(*) FROM bare) RETURNING n; ROLLBACK", "BEGIN; DELETE FROM bare WHERE id + 1000 > (SELECT count(*) FROM bare) RETURNING id; ROLLBACK",
	"BEGIN; WITH w AS (DELETE FROM bare RETURNING 1) SELECT n FROM (SELECT count(*) AS n FROM bare) s; SELECT count(*) FROM bare; ROLLBACK",
	"BEGIN; MERGE INTO sums USING (SELECT count(*) AS n FROM bare) b ON sums.n = b.n WHEN NOT MATCHED THEN INSERT VALUES (b.n, 'x'); TABLE sums; ROLLBACK",
	"BEGIN; CREATE TABLE made AS SELECT count(*), 'x' AS x FROM bare; TABLE made; ROLLBACK", "BEGIN; SELECT count(*) AS n INTO TEMP made FROM bare; TABLE made; ROLLBACK",
	`BEGIN; CREATE TABLE made AS SELECT word, blind, "Key", colour, count(*) AS n FROM item GROUP BY word, blind, "Key", colour; TABLE made ORDER BY 1, 2, 3, 4;
		SELECT attname, atttypid::regtype, atttypmod, attcollation FROM pg_attribute WHERE attrelid = 'made'::regclass AND attnum > 0 ORDER BY attnum; ROLLBACK`,
	"BEGIN; CREATE TABLE made (n) WITH (fillfactor = 50) AS SELECT count(*) FROM bare WITH NO DATA; INSERT INTO made SELECT count(*) FROM bare RETURNING n; ROLLBACK",
	"BEGIN; DECLARE c CURSOR FOR SELECT count(*) FROM bare; SELECT name, statement, is_scrollable FROM pg_cursors; FETCH c; FETCH BACKWARD c; ROLLBACK",
	"BEGIN; DECLARE c CURSOR FOR SELECT count(*) FROM bare; DELETE FROM bare WHERE id < 10; FETCH ALL c; SELECT count(*) FROM bare; ROLLBACK",
	"BEGIN; DECLARE c SCROLL CURSOR FOR SELECT word, count(*) FROM item GROUP BY word ORDER BY word; SELECT is_scrollable FROM pg_cursors; FETCH ALL c; FETCH BACKWARD 2 FROM c; ROLLBACK",
	"BEGIN; DECLARE c CURSOR FOR SELECT x, (SELECT count(*) FROM bare) FROM generate_series(1, 3) x; SELECT is_scrollable FROM pg_cursors; FETCH 2 FROM c; FETCH BACKWARD c; ROLLBACK",
	"BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT count(*) FROM item WHERE b; COMMIT; FETCH ALL c; CLOSE c", "PREPARE p AS SELECT count(*) FROM bare; EXECUTE p; SELECT name, statement FROM pg_prepared_statements; DEALLOCATE p",
	"PREPARE p (text) AS SELECT count(*) FROM item WHERE word = $1; EXECUTE p ('w''2'); EXECUTE p (NULL); DEALLOCATE p", "PREPARE p AS INSERT INTO sums SELECT count(*) FROM bare RETURNING n; BEGIN; EXECUTE p; ROLLBACK; DEALLOCATE p",
}

// fromRows are statements that they do not answer.
var fromRows = []string{
	"SELECT c, count(*) FROM item GROUP BY c ORDER BY c", "SELECT v, short, count(*) FROM item GROUP BY v, short", "BEGIN; SET LOCAL search_path = other; SELECT count(*) FROM mixed WHERE k = 5; SELECT k, count(*) FROM mixed GROUP BY k; SELECT count(*) FROM mixed WHERE d; ROLLBACK",
	"SELECT count(id) FROM bare", "SELECT count(*) FILTER (WHERE id > 3) FROM bare", "SELECT count(DISTINCT 1) FROM bare", "SELECT count(*) OVER () FROM bare", "SELECT count(NULL) FROM bare",
	"SELECT count(*) FROM bare WHERE id > 3", "SELECT count(*), max(id) FROM bare", "SELECT count(*) FROM ONLY bare", "SELECT count(*) FROM bare TABLESAMPLE SYSTEM (100)", "SELECT count(*) FROM bare, item",
	"SELECT count(*) FROM item WHERE amount = 1.0", "SELECT amount, count(*) FROM item GROUP BY amount ORDER BY 1", "SELECT count(*) FROM item WHERE word LIKE 'w%'", "SELECT count(*) FROM item WHERE length(word) = 2",
	"SELECT count(*) FROM item WHERE note = 'n'", `SELECT "Key", b, count(*) FROM item GROUP BY CUBE ("Key", b) ORDER BY 1, 2`, "SELECT DISTINCT count(*) FROM item GROUP BY b", "SELECT count(*) FROM item i (word)",
	"WITH bare AS (SELECT 1) SELECT count(*) FROM bare", "SELECT count(*) FROM (SELECT 1 FROM bare LIMIT 3) bare", "SELECT count(*) FROM other.item", "SELECT count(*) FROM item GROUP BY word || 'x' ORDER BY 1",
	"SELECT x, (SELECT count(*) FROM bare WHERE bare.id = x) FROM generate_series(1, 2) x", `SELECT x, (SELECT count(*) FROM item WHERE "Key" = x) FROM generate_series(1, 2) x`,
	"SELECT count(*) FROM few", "SELECT count(*) FROM ten", "SELECT count(*) FROM distinct_words", "SELECT count(*) FROM words", "SELECT count(*) FROM twice", "SELECT count(*) FROM pairs", "SELECT count(*) FROM series",
	"SELECT count(*) FROM whole", "SELECT count(*) FROM only_bare", "SELECT count(*) FROM sampled", "SELECT count(*) FROM united", "SELECT count(*) FROM second", "SELECT count(*) FROM computed", "SELECT count(*) FROM sub",
	"SELECT count(*) FROM nothing", "SELECT count(*) FROM with_one", "SELECT count(*) FROM offset_one", "SELECT count(*) FROM having_one", "SELECT count(*) FROM ranked", "SELECT count(*) FROM each WHERE id > 3",
	"BEGIN; CREATE OR REPLACE VIEW each AS SELECT id, id AS again FROM bare WHERE id > 7; SELECT count(*) FROM each; ROLLBACK",
	"SELECT count(*) FROM generate_series(1, 3) bare", "BEGIN; WITH w AS (INSERT INTO sums VALUES (1)) SELECT count(*) FROM bare; ROLLBACK", "BEGIN; DECLARE c CURSOR FOR SELECT word, count(*) FROM item GROUP BY word ORDER BY word; FETCH ALL c; ROLLBACK",
	"BEGIN; DECLARE c CURSOR FOR SELECT * FROM (SELECT count(*) FROM bare) s; FETCH ALL c; ROLLBACK", "BEGIN; CREATE MATERIALIZED VIEW made AS SELECT count(*) FROM bare; TABLE made; ROLLBACK",
	"BEGIN; CREATE VIEW made AS SELECT count(*) FROM bare; TABLE made; SELECT pg_get_viewdef('made'::regclass); ROLLBACK", "BEGIN; CREATE TABLE made AS SELECT count(*) FROM bare FOR UPDATE; ROLLBACK",
	"BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM bare; COMMIT", "BEGIN; SET LOCAL sluice.use_statistics = off; SELECT count(*) FROM bare; COMMIT", "BEGIN; CREATE TEMP TABLE bare (); SELECT count(*) FROM bare; ROLLBACK",
	"BEGIN; SET LOCAL search_path = other; SELECT count(*) FROM item; SELECT count(*) FROM item WHERE word = 'one'; SELECT word, count(*) FROM item GROUP BY word; ROLLBACK",
	"SELECT count(*) FROM missing", "SELECT count(*) FROM item WHERE word", "SELECT count(*), word FROM item", "SELECT count(*) FROM bare GROUP BY 4", "SELECT count(*) FROM bare FOR UPDATE",
}

// TestCountersAnswer asks through the proxy and at home. Then counters are made wrong, behind their back: statements that they
// answer are told from others by that.
func TestCountersAnswer(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	exec(t, through, countedTables...)
	plain, counted := connect(t, direct), connect(t, through)
	for _, conn := range []*pgx.Conn{plain, counted} {
		exec1(t, conn, "SET TIME ZONE 'Asia/Tokyo'; SET DateStyle = 'German'")
	}
	check := func(statements []string, differ bool) {
		t.Helper()
		for _, sql := range statements {
			if differ && (strings.Contains(sql, "empty") || strings.Contains(sql, "OFFSET")) {
				continue // which yield nothing that could be wrong
			}
			want, got := answer(t, plain, sql), answer(t, counted, sql)
			if want == got == differ {
				t.Errorf("%s\nthrough: %s\n  plain: %s", sql, got, want)
			}
			for _, conn := range []*pgx.Conn{plain, counted} {
				if conn.PgConn().TxStatus() != 'I' {
					exec1(t, conn, "ROLLBACK")
				}
			}
		}
	}
	check(fromCounters, false)
	check(fromRows, false)
	want(t, plain, `SELECT string_agg(k || n, ' ' ORDER BY k COLLATE "C") FROM (SELECT "group" ->> 'k' AS k, sum(row_count) AS n FROM sluice.table_counts
		WHERE relation = 'mixed'::regclass GROUP BY 1) g`, "A1 a2")
	exec(t, direct, `INSERT INTO sluice.table_statistics_delta (id, "group", rows) SELECT id, "group", 1000 FROM sluice.table_statistics_delta WHERE "group" IS NOT NULL
		UNION ALL SELECT id, NULL, 1000 FROM sluice.table_statistics WHERE relation = 'bare'::regclass`)
	check(fromCounters, true)
	check(fromRows, false)
}

// TestCountersAnswerPrepared binds prepared statements again and again, while the table becomes another one.
func TestCountersAnswerPrepared(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	exec(t, through, "CREATE EXTENSION sluice", "CREATE TABLE t (k text, n int)", "INSERT INTO t SELECT 'k' || i % 3, i FROM generate_series(1, 30) i", "SELECT sluice.track_statistics('t', '{k}')")
	conn, admin := connect(t, through), connect(t, direct)
	until(t, "answered by counters", func() (bool, string) { // what is prepared before the proxy has heard of them reads rows
		got := rows(t, conn, "EXPLAIN SELECT count(*) FROM t")
		return strings.Contains(got, "exact_count"), got
	})
	statements := []string{"SELECT count(*) FROM t", "SELECT count(*) FROM t WHERE k = $1", "SELECT count(*) FROM t WHERE k = ANY ($1)", "SELECT count(*) FROM t WHERE k = $1 GROUP BY k"}
	for _, sql := range statements {
		if _, err := conn.PgConn().Prepare(timed(t), sql, sql, nil); err != nil {
			t.Fatal(err)
		}
	}
	check := func(all, one string) {
		t.Helper()
		for _, sql := range statements {
			args, want := [][]byte{[]byte("k1")}, one
			switch {
			case !strings.Contains(sql, "$1"):
				args, want = nil, all
			case strings.Contains(sql, "ANY"):
				args = [][]byte{[]byte("{k1,k1,x}")}
			}
			r := conn.PgConn().ExecPrepared(timed(t), sql, args, nil, nil).Read()
			got := "none"
			if len(r.Rows) == 1 {
				got = string(r.Rows[0][len(r.Rows[0])-1])
			}
			if r.Err != nil || got != want {
				t.Errorf("%s: %s, not %s: %v", sql, got, want, r.Err)
			}
		}
	}
	check("30", "10")
	for _, step := range []struct{ sql, all, one string }{
		{`INSERT INTO sluice.table_statistics_delta (id, "group", rows) SELECT id, '{"k": "k1"}', 5 FROM sluice.table_statistics`, "35", "15"},
		{"ALTER TABLE t DISABLE TRIGGER ALL", "30", "10"}, {"ALTER TABLE t ENABLE TRIGGER ALL", "30", "10"},
		{"SELECT sluice.verify_statistics('t', true)", "30", "10"},
		{"ALTER TABLE t ALTER k TYPE varchar(7)", "30", "10"},
		{"SELECT sluice.untrack_statistics('t'); INSERT INTO t VALUES ('k1')", "31", "11"},
		{"SELECT sluice.track_statistics('t'); INSERT INTO t VALUES ('k1')", "32", "12"},
		{"DROP TABLE t; CREATE TABLE t (k text); INSERT INTO t VALUES ('k1'), ('k2'); SELECT sluice.track_statistics('t', '{k}'); INSERT INTO t VALUES ('k1')", "3", "2"},
	} {
		exec1(t, admin, step.sql)
		check(step.all, step.one)
	}
}

// TestCountersAnswerRoles has roles count that may see a part of a table, or nothing of it, or one column.
func TestCountersAnswerRoles(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	exec(t, through, "DROP ROLE IF EXISTS sluice_counting", "CREATE ROLE sluice_counting", "CREATE EXTENSION sluice", "CREATE TABLE t (k text, n int)", "INSERT INTO t SELECT 'k' || i % 3, i FROM generate_series(1, 30) i",
		"SELECT sluice.track_statistics('t', '{k}')")
	t.Cleanup(func() { exec(t, direct, "DROP OWNED BY sluice_counting", "DROP ROLE sluice_counting") })
	conn := connect(t, through)
	exec1(t, conn, "SET ROLE sluice_counting")
	for _, step := range []struct{ sql, count, groups string }{
		{"SELECT 1", "42501", "42501"},
		{"GRANT SELECT (n) ON t TO sluice_counting", "30", "42501"},
		{"GRANT SELECT ON t TO sluice_counting", "30", "k0|10\nk1|10\nk2|10"},
		{"ALTER TABLE t ENABLE ROW LEVEL SECURITY", "0", "SELECT 0"},
		{"CREATE POLICY p ON t USING (n > 25)", "5", "k0|2\nk1|1\nk2|2"},
		{"ALTER TABLE t DISABLE ROW LEVEL SECURITY", "30", "k0|10\nk1|10\nk2|10"},
		{"REVOKE SELECT ON t FROM sluice_counting", "42501", "42501"},
		{"GRANT SELECT ON t TO sluice_counting; SELECT sluice.set_column_mask('t', 'k', $$'***'$$)", "30", "***|30"},
	} {
		exec(t, direct, step.sql)
		for sql, answer := range map[string]string{"SELECT count(*) FROM t": step.count, "SELECT k, count(*) FROM t GROUP BY k ORDER BY k": step.groups} {
			if got := rows(t, conn, sql); got != answer {
				t.Errorf("after %s: %s: %s, not %s", step.sql, sql, got, answer)
			}
		}
		if step.count != "42501" { // what is fetched under another role is of the rows that the first could see
			want(t, conn, "BEGIN; DECLARE c CURSOR FOR SELECT count(*) FROM t; RESET ROLE; FETCH c; ROLLBACK",
				"BEGIN\nDECLARE CURSOR\nRESET\n"+step.count+"\nROLLBACK")
		}
	}
}

// TestCountersAnswerCopy copies out counts, and explains each statement that is answered by counters.
func TestCountersAnswerCopy(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	exec(t, through, countedTables...)
	plain, counted := connect(t, direct), connect(t, through)
	for _, sql := range []string{"COPY (SELECT count(*) AS n, 'x' AS x FROM bare) TO STDOUT (FORMAT csv, HEADER)", "COPY (SELECT word, count(*) FROM item GROUP BY word ORDER BY word) TO STDOUT",
		"COPY (INSERT INTO sums SELECT count(*) FROM bare RETURNING n) TO STDOUT"} {
		var want, got strings.Builder
		for conn, to := range map[*pgx.Conn]*strings.Builder{plain: &want, counted: &got} {
			tag, err := conn.PgConn().CopyTo(timed(t), to, sql)
			to.WriteString(tag.String() + fault(err))
		}
		if got.String() != want.String() {
			t.Errorf("%s\nthrough: %s\n  plain: %s", sql, got.String(), want.String())
		}
	}
	exec1(t, counted, "PREPARE p AS SELECT count(*) FROM bare")
	for _, sql := range []string{"EXECUTE p", "DECLARE c CURSOR FOR SELECT count(*) FROM bare", "CREATE TABLE made AS SELECT count(*) FROM bare", "INSERT INTO sums SELECT count(*) FROM bare",
		"SELECT count(*) FROM item WHERE word = ''", "MERGE INTO sums USING (SELECT count(*) AS n FROM bare) b ON false WHEN NOT MATCHED THEN INSERT VALUES (b.n)"} {
		if plan := rows(t, counted, "EXPLAIN (COSTS OFF) "+sql); !strings.Contains(plan, `Function Scan on exact_count`) {
			t.Errorf("%s: %s", sql, plan)
		}
	}
	exec1(t, plain, `INSERT INTO sluice.table_statistics_delta (id, rows) SELECT id, 1000 FROM sluice.table_statistics WHERE relation = 'bare'::regclass`)
	var got strings.Builder
	if _, err := counted.PgConn().CopyTo(timed(t), &got, "COPY (SELECT count(*) FROM bare) TO STDOUT"); err != nil || got.String() != "1050\n" {
		t.Errorf("COPY yields %q: %v", got.String(), err)
	}
}

// TestCountersAnswerViews counts the rows of views as roles that may read a view and not its table, while the view and what its
// owner may see change.
func TestCountersAnswerViews(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	exec(t, through, "DROP ROLE IF EXISTS sluice_viewing", "DROP ROLE IF EXISTS sluice_view_owner", "CREATE ROLE sluice_viewing", "CREATE ROLE sluice_view_owner", "CREATE EXTENSION sluice", "CREATE TABLE t (k text, n int)",
		"INSERT INTO t SELECT 'k' || i % 3, i FROM generate_series(1, 30) i", "CREATE VIEW v AS SELECT n FROM t", "GRANT SELECT ON v TO sluice_viewing", "SELECT sluice.track_statistics('t')")
	t.Cleanup(func() {
		exec(t, direct, "DROP OWNED BY sluice_viewing, sluice_view_owner CASCADE", "DROP ROLE sluice_viewing, sluice_view_owner")
	})
	conn := connect(t, through)
	exec1(t, conn, "SET ROLE sluice_viewing")
	for _, step := range []struct{ sql, rows, counters string }{ // what counting them gives, and what counters give that are wrong by 1000
		{"SELECT 1", "30", "1030"},
		{"ALTER VIEW v OWNER TO sluice_view_owner", "42501", "42501"}, {"GRANT SELECT (n) ON t TO sluice_view_owner", "30", "30"}, {"GRANT SELECT ON t TO sluice_view_owner", "30", "1030"},
		{"ALTER TABLE t ENABLE ROW LEVEL SECURITY", "0", "0"}, {"CREATE POLICY p ON t USING (n > 25)", "5", "5"}, {"ALTER TABLE t DISABLE ROW LEVEL SECURITY", "30", "1030"},
		{"ALTER VIEW v SET (security_invoker)", "42501", "42501"}, {"GRANT SELECT ON t TO sluice_viewing", "30", "1030"}, {"ALTER VIEW v SET (security_invoker = false); REVOKE SELECT ON t FROM sluice_viewing", "30", "1030"},
		{"CREATE OR REPLACE VIEW v AS SELECT n FROM t WHERE n > 10", "20", "20"}, {"DROP VIEW v; CREATE VIEW v AS SELECT k, n FROM t; GRANT SELECT ON v TO sluice_viewing", "30", "1030"},
		{"ALTER VIEW v RENAME TO w", "42P01", "42P01"}, {"ALTER VIEW w RENAME TO v", "30", "1030"}, {"ALTER TABLE t RENAME TO t2", "30", "1030"}, {"REVOKE SELECT ON v FROM sluice_viewing", "42501", "42501"},
	} {
		exec(t, direct, strings.Split(step.sql, "; ")...)
		want(t, conn, "SELECT count(*) FROM v", step.rows)
		exec(t, direct, "INSERT INTO sluice.table_statistics_delta (id, rows) SELECT id, 1000 FROM sluice.table_statistics")
		becomes(t, conn, "SELECT count(*) FROM v", step.counters) // once the proxy has heard of the view
		exec(t, direct, "INSERT INTO sluice.table_statistics_delta (id, rows) SELECT id, -1000 FROM sluice.table_statistics")
	}
}
