package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestPagesAreBounded looks at what runs: an index range of a page and one row of home's tables, a LIMIT in an engine's statement.
func TestPagesAreBounded(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT range AS id, range % 7 AS s, 'n' || range AS name, TIMESTAMPTZ '2024-01-01 00:00:00+00' + INTERVAL (range) SECOND AS at FROM range(2000)")
	exec(t, w.through, "CREATE SCHEMA lake", "CREATE FOREIGN TABLE lake.t (id bigint OPTIONS (key 'true'), s bigint, name text COLLATE \"C\", at timestamptz NOT NULL) SERVER lake",
		"CREATE TABLE t (id bigint PRIMARY KEY, s bigint, name text COLLATE \"C\", at timestamptz NOT NULL, k int NOT NULL)",
		"INSERT INTO t SELECT i, CASE WHEN i % 2 = 0 THEN i % 7 END, 'n' || i, '2024-01-01'::timestamptz + i * interval '1 s', i % 10 FROM generate_series(0, 19999) i",
		"CREATE INDEX ON t (s, id)", "CREATE INDEX ON t (at, id)", "CREATE INDEX ON t (k, name DESC, id)", "CREATE INDEX ON t (k DESC, s DESC NULLS LAST, id)", "VACUUM ANALYZE t")
	conn := connect(t, w.through)
	const size = 10
	for _, order := range []string{"id", "id DESC", "at", "at DESC, id DESC", "s, id", "s DESC, id DESC", "s NULLS FIRST", "s DESC NULLS LAST", "k, name DESC, id", "k DESC, name, id DESC",
		"k DESC, s DESC NULLS LAST, id", "k, s NULLS FIRST, id DESC"} {
		query := "SELECT id, name FROM t ORDER BY " + order
		token := ""
		for page := range 3 {
			after := ""
			if page > 0 {
				after = ", '" + token + "'"
			}
			call := fmt.Sprintf("sluice.page('%s', %d%s)", query, size, after)
			plan := rows(t, conn, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM "+call)
			if n := scanned(plan); n < size || n > size+2 || strings.Contains(plan, "Sort") || strings.Contains(plan, "Rows Removed") {
				t.Errorf("page %d by %s reads %d rows:\n%s", page, order, n, plan)
			}
			token = rows(t, conn, "SELECT page_token FROM "+call+" OFFSET 9")
			if page == 1 { // a deep one
				token = rows(t, conn, fmt.Sprintf("SELECT page_token FROM sluice.page('%s', 1000) OFFSET 990 LIMIT 1", query))
			}
		}
	}
	for _, order := range []string{"id", "at DESC", "s, at", "name DESC NULLS LAST, id", "s NULLS FIRST", "s DESC, name"} {
		query := "SELECT id, s, name FROM lake.t WHERE s < 5 ORDER BY " + order
		token := rows(t, conn, "SELECT page_token FROM sluice.page('"+query+"', 2) OFFSET 1")
		for _, after := range []string{"", ", '" + token + "'"} {
			plan := rows(t, conn, "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM sluice.page('"+query+"', 2"+after+")")
			remote := plan[strings.Index(plan, "Remote SQL"):]
			remote, _, _ = strings.Cut(remote, "\n")
			if !strings.Contains(remote, "ORDER BY") || !strings.Contains(remote, "LIMIT 3") || after != "" && !strings.Contains(remote, "$1") {
				t.Errorf("by %s%s:\n%s", order, after, plan)
			}
		}
	}
}

// scanned adds up the rows that the scans of a plan have yielded.
func scanned(plan string) (n int) {
	for line := range strings.Lines(plan) {
		if strings.Contains(line, "Scan") && !strings.Contains(line, "CTE Scan") && !strings.Contains(line, "Function Scan") && !strings.Contains(line, "Subquery Scan") {
			if _, rest, ok := strings.Cut(line, "actual rows="); ok {
				count := 0
				_, _ = fmt.Sscanf(rest, "%d", &count)
				n += count
			}
		}
	}
	return n
}

// TestPageForms has pages stand in all kinds of statements, and queries of all kinds.
func TestPageForms(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	early := connect(t, through)
	exec(t, through, "CREATE EXTENSION sluice", "CREATE TABLE c (id int PRIMARY KEY, name text NOT NULL)", "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
		"CREATE TABLE o (id int PRIMARY KEY, c int REFERENCES c, n numeric, at timestamptz, d date, f float8, i interval, b bytea, u uuid, m mood)",
		"INSERT INTO c SELECT i, 'c' || i FROM generate_series(1, 5) i",
		`INSERT INTO o SELECT i, CASE WHEN i % 4 > 0 THEN 1 + i % 5 END, CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN i / 7.0 END, CASE i % 3 WHEN 0 THEN 'infinity' WHEN 1 THEN '2024-01-01 00:00:00.000001'::timestamptz + i * interval '1 us' END,
		CASE i % 4 WHEN 0 THEN '0044-03-15 BC' WHEN 1 THEN '12345-06-07'::date WHEN 2 THEN '2024-02-01'::date + i END, CASE i % 4 WHEN 0 THEN 1e300 / i WHEN 1 THEN 0.1 + 0.2 WHEN 2 THEN '-infinity' END,
		CASE WHEN i % 3 > 0 THEN i * interval '1 month -1 day 0.000001 s' END, CASE WHEN i % 6 > 0 THEN decode(lpad(i::text, 4, '0'), 'hex') END, md5(i::text)::uuid, (ARRAY['sad', 'ok', 'happy', NULL])[1 + i % 4]::mood
		FROM generate_series(1, 30) i`, "CREATE VIEW v AS SELECT * FROM o", "CREATE TABLE parent (id int PRIMARY KEY, s int NOT NULL)", "CREATE TABLE child () INHERITS (parent)",
		"INSERT INTO parent SELECT i, 1 FROM generate_series(1, 5) i", "INSERT INTO child SELECT i, 2 FROM generate_series(3, 9) i")
	want(t, early, "SELECT id FROM sluice.page('SELECT id FROM c', 1)", "1") // of a session that was there before the extension
	conn := connect(t, through)
	for _, query := range []string{ // whose first column is a unique one
		"SELECT id FROM o ORDER BY n", "SELECT id FROM o ORDER BY at DESC", "SELECT id FROM o ORDER BY d NULLS FIRST", "SELECT id FROM o ORDER BY f DESC NULLS LAST", "SELECT id FROM o ORDER BY i, id",
		"SELECT id FROM o ORDER BY b DESC, n", "SELECT id FROM o ORDER BY u", "SELECT id FROM o ORDER BY m, f DESC, n NULLS FIRST, d DESC NULLS LAST", "SELECT id FROM o", "SELECT id, o.* IS NULL AS z FROM o ORDER BY 2, 1 DESC",
		"SELECT o.id, c.name FROM o JOIN c ON c.id = o.c ORDER BY c.name DESC", "SELECT o.id, c.name FROM o LEFT JOIN c ON c.id = o.c ORDER BY name, n",
		"SELECT coalesce(o.id, -c.id) AS x FROM c FULL JOIN o ON o.id = c.id + 3 ORDER BY c.name, at", "SELECT o.id * 10 + c.id AS x FROM o, c ORDER BY c.name DESC, o.m",
		"SELECT o.id FROM o JOIN c USING (id) ORDER BY id DESC", "SELECT c, count(*) FROM o GROUP BY c ORDER BY 2 DESC", "SELECT coalesce(c, 0) AS x, sum(id) FROM o GROUP BY coalesce(c, 0) ORDER BY sum(n) DESC",
		"SELECT DISTINCT c FROM o ORDER BY c DESC", "SELECT id FROM o UNION SELECT -id FROM o ORDER BY id", "WITH x AS (SELECT * FROM o) SELECT id FROM x ORDER BY d, id", "SELECT id FROM v ORDER BY m, id",
		"SELECT id, row_number() OVER (ORDER BY id DESC) AS r FROM o ORDER BY r", "SELECT i FROM generate_series(1, 20) i ORDER BY i DESC", "SELECT id * 10 + s AS x FROM parent ORDER BY s, id", "SELECT id FROM ONLY parent ORDER BY s",
		"SELECT * FROM (VALUES (1), (NULL), (3)) v (a) ORDER BY a", "SELECT id FROM o WHERE c = 2 ORDER BY f", "SELECT id FROM o ORDER BY d::text COLLATE \"C\" DESC, id", "SELECT lower(name) AS name FROM c ORDER BY name DESC",
	} {
		plain := rows(t, conn, "SELECT (q.r).* FROM (SELECT q AS r FROM ("+query+") q) q")
		want := len(strings.Split(plain, "\n"))
		var last string
		for _, size := range []int{1, 4, 1000} {
			got := strings.ReplaceAll(pages(t, conn, query, size), ";", ",")
			seen := map[string]bool{}
			for _, id := range strings.Split(got, ",") {
				seen[id] = true
			}
			if len(seen) != want || strings.Count(got, ",") != want-1 || last != "" && got != last {
				t.Errorf("%s in pages of %d: %s", query, size, got)
			}
			last = got
		}
	}
	const call = "sluice.page('SELECT id, name FROM c ORDER BY id', 2)"
	for sql, answer := range map[string]string{
		"SELECT page.id, page.name FROM " + call:                                                                                                                                      "1|c1\n2|c2",
		"SELECT x FROM " + call + " AS p (x, y, z) ORDER BY x DESC":                                                                                                                   "2\n1",
		"SELECT o.id FROM " + call + " p JOIN o ON o.c = p.id WHERE p.id = 2 ORDER BY 1 LIMIT 1":                                                                                      "1",
		"SELECT (SELECT max(id) FROM " + call + ")":                                                                                                                                   "2",
		"WITH p AS (SELECT * FROM " + call + ") SELECT count(*) FROM p":                                                                                                               "2",
		"SELECT id FROM sluice . /* a page */ \"page\" ( query => 'SELECT id FROM c', page_size=>1)":                                                                                  "1",
		"SELECT 'é', id FROM " + call + " UNION ALL SELECT 'sluice.page(', id FROM " + call + " p":                                                                                    "é|1\né|2\nsluice.page(|1\nsluice.page(|2",
		"BEGIN; DECLARE k CURSOR FOR SELECT id FROM " + call + "; FETCH 1 FROM k; COMMIT":                                                                                             "BEGIN\nDECLARE CURSOR\n1\nCOMMIT",
		"PREPARE p (int, text) AS SELECT id FROM sluice.page('SELECT id FROM c WHERE id > $1', 2, $2); EXECUTE p (2, NULL); DEALLOCATE p":                                             "PREPARE\n3\n4\nDEALLOCATE",
		"CREATE TABLE copy AS SELECT id FROM " + call + "; SELECT * FROM copy":                                                                                                        "SELECT 2\n1\n2",
		"SELECT id FROM sluice.page('SELECT id FROM c', 3 - 1)":                                                                                                                       "1\n2",
		"SET sluice.max_page_size = 3; SELECT id FROM sluice.page('SELECT id FROM c', 100); SELECT count(*) FROM sluice.page('SELECT id FROM c', 99 + 1); RESET sluice.max_page_size": "SET\n1\n2\n3\n3\nRESET",
		"SELECT count(*) FROM sluice.page('SELECT id FROM o, generate_series(1, 3) ORDER BY id, generate_series')":                                                                    "50",
	} {
		want(t, conn, sql, answer)
	}
	refused(t, conn)
}

// refused are calls that cannot be pages.
func refused(t *testing.T, conn *pgx.Conn) {
	for sql, code := range map[string]string{
		"SELECT * FROM sluice.page('SELECT id FROM c LIMIT 3')": "0A000", "SELECT * FROM sluice.page('SELECT id FROM c FOR UPDATE')": "0A000", "SELECT * FROM sluice.page('SELECT DISTINCT ON (c) c FROM o ORDER BY c, id')": "0A000",
		"SELECT * FROM sluice.page('DELETE FROM c')": "22023", "SELECT * FROM sluice.page('SELECT 1; SELECT 2')": "22023", "SELECT * FROM sluice.page('SELEC')": "42601", "SELECT * FROM sluice.page('SELECT nix FROM c')": "42703",
		"SELECT * FROM sluice.page('SELECT random() AS r FROM c ORDER BY r')": "0A000", "SELECT * FROM sluice.page('SELECT 1 AS a FROM v')": "42P10", "SELECT * FROM sluice.page('SELECT id, id FROM c')": "42701",
		"SELECT * FROM sluice.page('SELECT id AS page_token FROM c')": "42701", "SELECT * FROM sluice.page('SELECT m, 1 AS one FROM v ORDER BY m')": "22023", "SELECT * FROM sluice.page('SELECT id FROM c', 0)": "22023",
		"SELECT * FROM sluice.page('SELECT id FROM c', -1 * 3)": "22023", "SELECT * FROM sluice.page('SELECT c FROM c ORDER BY c')": "0A000", "SELECT sluice.page('SELECT id FROM c')": "0A000",
		"SELECT * FROM ROWS FROM (sluice.page('SELECT id FROM c'))": "0A000", "SELECT * FROM sluice.page('SELECT id FROM c') WITH ORDINALITY": "0A000", "CREATE VIEW w AS SELECT * FROM sluice.page('SELECT id FROM c')": "0A000",
		"SELECT * FROM c, sluice.page('SELECT id FROM o', 1, c.name)": "0A000", "SELECT * FROM sluice.page(concat('SELECT id FROM o'))": "0A000", "SELECT * FROM sluice.page('SELECT * FROM sluice.page(''SELECT id FROM c'')')": "0A000",
		"SELECT * FROM sluice.page('SELECT id FROM c', nix => 1)": "42883", "SELECT * FROM sluice.page('SELECT id FROM c', 1, NULL, 2)": "42883", "DO $$ BEGIN PERFORM * FROM sluice.page('SELECT id FROM c'); END $$": "0A000",
		"SET sluice.max_page_size = 'many'; SELECT * FROM sluice.page('SELECT id FROM c')": "22023", "SELECT * FROM sluice.page('WITH x AS (DELETE FROM o RETURNING id) SELECT id FROM x ORDER BY id')": "0A000",
	} {
		want(t, conn, sql, code)
		want(t, conn, "RESET sluice.max_page_size; SELECT 1", "RESET\n1")
		var pe *pgconn.PgError
		_, err := conn.Exec(timed(t), sql, pgx.QueryExecModeExec)
		if pe = pgError(err); !strings.HasPrefix(sql, "SET") && (pe == nil || pe.Code != code) {
			t.Errorf("%s by extended messages: %v", sql, err)
		}
	}
}

// TestUnindexedPages looks at what is said where no index has the order.
func TestUnindexedPages(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	exec(t, through, "CREATE EXTENSION sluice", `CREATE TABLE "T" (id int PRIMARY KEY, a int, b text NOT NULL, "order" date, tenant int)`)
	config, err := pgx.ParseConfig(through)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said = append(said, n.Severity+" "+n.Hint) }
	conn, err := pgx.ConnectConfig(timed(t), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	for order, index := range map[string]string{
		"a":                     "(a, id)",
		"b DESC, a DESC":        "(b, a, id)",
		"b DESC, a NULLS FIRST": "(b, a DESC NULLS LAST, id DESC)",
		"b, a DESC NULLS LAST":  "(b, a DESC NULLS LAST, id DESC)",
		`lower(b), "order"`:     `((lower(b)), "order", id)`,
		"id":                    "",
		"id, a DESC NULLS LAST": "",
	} {
		sql := `SELECT * FROM sluice.page('SELECT id, a FROM "T" WHERE tenant = $$1$$ ORDER BY ` + order + `')`
		sql = strings.Replace(sql, "WHERE tenant = $$1$$ ", "", 1)
		wanted := ""
		if index != "" {
			wanted = `WARNING CREATE INDEX CONCURRENTLY ON public."T" ` + index + ";"
		}
		said = nil
		rows(t, conn, sql)
		if got := strings.Join(said, "\n"); got != wanted {
			t.Errorf("by %s: %s, not %s", order, got, wanted)
		}
		if index == "" {
			continue
		}
		if e := refusal(t, conn, "SET sluice.on_unindexed_page = error; "+sql); e == nil || e.Code != "54000" || "WARNING "+e.Hint != wanted {
			t.Errorf("by %s: %v", order, e)
		}
		exec(t, direct, strings.Replace(strings.TrimPrefix(strings.TrimSuffix(wanted, ";"), "WARNING "), " CONCURRENTLY", "", 1))
		said = nil
		want(t, conn, "SET sluice.on_unindexed_page = error; "+sql+"; RESET sluice.on_unindexed_page", "SET\nSELECT 0\nRESET")
		if len(said) > 0 {
			t.Errorf("with the index: %v", said)
		}
		exec(t, direct, `DROP INDEX "`+rows(t, conn, "SELECT max(indexname) FROM pg_indexes WHERE tablename = 'T' AND indexname <> 'T_pkey'")+`"`)
	}
	want(t, conn, "SET sluice.on_unindexed_page = error; SELECT * FROM sluice.page('SELECT id FROM \"T\" WHERE tenant = 1 ORDER BY \"order\"')", "54000")
	if e := refusal(t, conn, "SET sluice.on_unindexed_page = error; SELECT * FROM sluice.page('SELECT id FROM \"T\" WHERE tenant = 1 ORDER BY \"order\"')"); e == nil ||
		e.Hint != `CREATE INDEX CONCURRENTLY ON public."T" (tenant, "order", id);` {
		t.Error(e)
	}
	want(t, conn, "SELECT string_agg(statement, ' ' ORDER BY statement) FROM sluice.index_advice WHERE relation = '\"T\"'::regclass AND keys <> '{tenant,id}'",
		`CREATE INDEX CONCURRENTLY ON public."T" (a, id); CREATE INDEX CONCURRENTLY ON public."T" (b, a DESC NULLS LAST, id DESC); CREATE INDEX CONCURRENTLY ON public."T" (b, a, id);`)
	want(t, conn, "SELECT sluice.advise_index('\"T\"'::regclass, '{id); DROP TABLE x; --}'), sluice.advise_index('\"T\"'::regclass, '{a,b}')", "|")
	want(t, conn, "SELECT count(*) FROM sluice.index_advice WHERE keys IN ('{a,b}', '{id); DROP TABLE x; --}')", "1")
	want(t, conn, "BEGIN READ ONLY; SELECT * FROM sluice.page('SELECT id FROM \"T\" ORDER BY \"order\" DESC'); COMMIT", "BEGIN\nSELECT 0\nCOMMIT")
	want(t, conn, "RESET sluice.on_unindexed_page; SET sluice.on_unindexed_page = no; SELECT * FROM sluice.page('SELECT id FROM \"T\" ORDER BY tenant')", "22023")
	want(t, conn, "SET sluice.on_unindexed_page = ignore; SELECT * FROM sluice.page('SELECT id FROM \"T\" ORDER BY tenant')", "SET\nSELECT 0")
	const advised = "SELECT count(*) > 0 FROM sluice.index_advised"
	want(t, conn, advised, "t")
	exec(t, direct, `ALTER TABLE "T" DROP b`)
	want(t, conn, advised, "f")
	want(t, conn, `SELECT sluice.advise_index('"T"'::regclass, '{a,id}'); `+advised, "\nt")
	exec(t, direct, `DROP TABLE "T"`)
	want(t, conn, advised, "f")
	want(t, conn, "RESET sluice.on_unindexed_page; CREATE TEMP TABLE passing (id int PRIMARY KEY, a int); SELECT id FROM sluice.page('SELECT * FROM passing ORDER BY a'); "+advised, "RESET\nCREATE TABLE\nSELECT 0\nf")
}
