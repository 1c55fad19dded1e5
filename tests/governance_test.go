package tests

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// onBothEngines runs a comparison over tables, by their names, of the same queries' rows: in DuckDB, and in another Postgres
// where they are in schema fx. The server is the one that a foreign table in schema fx is to name.
func onBothEngines(t *testing.T, tables map[string]string, compare func(t *testing.T, direct, through, server string)) {
	t.Run("duckdb", func(t *testing.T) {
		var create []string
		for name, query := range tables {
			create = append(create, "CREATE TABLE "+name+" AS "+query)
		}
		w := newWorld(t, create...)
		compare(t, w.direct, w.through, "lake")
	})
	t.Run("postgres", func(t *testing.T) {
		home := hometest.Start(t)
		direct, other := hometest.Database(t, home), hometest.Database(t, home)
		exec(t, other, "CREATE SCHEMA fx")
		for name, query := range tables {
			exec(t, other, "CREATE TABLE fx."+name+" AS "+query)
		}
		through := postgresProxy(t, direct)
		exec(t, through, otherServer(t, other, "")...)
		compare(t, direct, through, "other")
	})
}

// TestRowSecurity declares the same policies on plain and on foreign tables, by the same words, and asks the same of both as
// several roles, on each route.
func TestRowSecurity(t *testing.T) {
	onBothEngines(t, map[string]string{"docs": "SELECT * FROM " + docs, "open": "SELECT 1 AS id UNION ALL SELECT 2"}, compareRowSecurity)
}

const docs = "(VALUES (1, 'alice', 10, 'a1'), (2, 'bob', 20, 'b1'), (3, 'bob', 0, 'b2'), (4, NULL, 7, NULL)) v (id, owner, secret, note)"

func compareRowSecurity(t *testing.T, direct, through, server string) {
	roles := []string{"gov_alice", "gov_bob", "gov_auditor", "gov_boss"}
	exec(t, direct, "CREATE SCHEMA plain", "CREATE SCHEMA fx", "CREATE TABLE entitlements (who text, region text)")
	for _, r := range roles {
		exec(t, direct, "DROP ROLE IF EXISTS "+r, "CREATE ROLE "+r, "GRANT USAGE ON SCHEMA plain, fx TO "+r, "GRANT SELECT ON entitlements TO "+r)
	}
	t.Cleanup(func() {
		exec(t, direct, "DROP OWNED BY "+strings.Join(roles, ", ")+" CASCADE", "DROP ROLE "+strings.Join(roles, ", "))
	})
	exec(t, direct, "ALTER ROLE gov_auditor BYPASSRLS", "GRANT gov_bob TO gov_boss", "INSERT INTO entitlements VALUES ('gov_alice', 'b1'), ('gov_alice', NULL), ('gov_bob', 'a1')",
		"CREATE TABLE plain.docs AS SELECT * FROM "+docs, "CREATE TABLE plain.open AS SELECT generate_series(1, 2) AS id")
	exec(t, through, "CREATE FOREIGN TABLE fx.docs (id int, owner text, secret int, note text) SERVER "+server, "CREATE FOREIGN TABLE fx.open (id int) SERVER "+server)
	plain, foreign := connect(t, direct), connect(t, through)
	both := func(sql string) {
		t.Helper()
		sqlPlain, sqlForeign := strings.ReplaceAll(sql, "%s", "plain"), strings.ReplaceAll(sql, "%s", "fx")
		a, b := rows(t, plain, sqlPlain), rows(t, foreign, sqlForeign)
		if a != b {
			t.Errorf("%s\n plain:   %s\n foreign: %s", sql, a, b)
		}
	}
	ask := func(stage string) {
		t.Helper()
		routes := []string{"", "home_join", "federated"}
		if strings.HasPrefix(stage, "restrictive") {
			routes = append(routes, "remote")
		}
		for _, role := range append([]string{"postgres"}, roles...) {
			for _, route := range routes {
				both("SET ROLE " + role)
				want(t, foreign, "SET sluice.route = '"+route+"'", "SET")
				for _, sql := range readDocs {
					a := rows(t, plain, strings.ReplaceAll(sql, "%s", "plain"))
					b := rows(t, foreign, strings.ReplaceAll(sql, "%s", "fx"))
					if a != b && (route != "federated" && route != "remote" || b != "0A000") {
						t.Errorf("%s: as %s, route %q: %s\n plain:   %s\n foreign: %s", stage, role, route, sql, a, b)
					}
				}
				want(t, foreign, "RESET sluice.route", "RESET")
				both("RESET ROLE")
			}
		}
	}
	for _, r := range roles {
		both("GRANT SELECT ON %s.docs, %s.open TO " + r)
	}
	both("CREATE VIEW %s.few AS SELECT id, note FROM %s.open JOIN %s.docs USING (id)")
	both("GRANT SELECT ON %s.few TO gov_auditor")
	ask("without policies")
	both("ALTER TABLE %s.docs ENABLE ROW LEVEL SECURITY")
	ask("default deny")
	both("CREATE POLICY own ON %s.docs FOR SELECT USING (owner = substr(current_user, 5))")
	ask("one policy")
	for _, sql := range doors {
		both(sql)
	}
	want(t, foreign, "GRANT SELECT ON fx.few TO gov_bob; SET ROLE gov_bob", "GRANT\nSET")
	want(t, foreign, "SELECT id FROM fx.few ORDER BY 1", "2") // where the view of a superuser's over plain tables tells all
	want(t, foreign, "SELECT query_to_xml('SELECT * FROM fx.docs', true, false, '')", "55000")
	want(t, foreign, "DO $$ BEGIN PERFORM FROM fx.docs; END $$", "55000")
	want(t, foreign, "RESET ROLE", "RESET")
	both("CREATE POLICY extra ON %s.docs TO gov_alice USING (docs.note IN (SELECT region FROM entitlements WHERE who = current_user))")
	ask("entitlements")
	both("CREATE POLICY low ON %s.docs AS RESTRICTIVE FOR ALL TO gov_bob USING (secret < current_setting('gov.most', true)::int)")
	for _, most := range []string{"15", "100"} {
		both("SET gov.most = '" + most + "'")
		ask("restrictive below " + most)
	}
	both("ALTER POLICY low ON %s.docs TO gov_alice USING (secret > 10)")
	both("ALTER POLICY low ON %s.docs RENAME TO high")
	ask("altered")
	both("DROP POLICY own ON %s.docs")
	ask("dropped")
	both("ALTER TABLE %s.docs FORCE ROW LEVEL SECURITY")
	both("ALTER TABLE %s.docs OWNER TO gov_bob")
	ask("forced")
	both("ALTER TABLE %s.docs NO FORCE ROW LEVEL SECURITY")
	ask("owned")
	both("ALTER TABLE %s.docs DISABLE ROW LEVEL SECURITY")
	ask("disabled")
	for _, sql := range badPolicies {
		both(sql)
	}
	both("SET ROLE gov_alice")
	for _, sql := range []string{"CREATE POLICY mine ON %s.docs USING (true)", "ALTER TABLE %s.docs DISABLE ROW LEVEL SECURITY", "DROP POLICY extra ON %s.docs"} {
		both(sql)
	}
	for _, sql := range filtersByOthers {
		both(sql)
	}
}

// filtersByOthers have a filter look at a column that the role may not read, and at a setting that is never set, set, and then void
// (G-17, G-23).
var filtersByOthers = []string{
	"RESET ROLE", "DROP POLICY extra ON %s.docs", "DROP POLICY high ON %s.docs", "ALTER TABLE %s.docs ENABLE ROW LEVEL SECURITY",
	"CREATE POLICY one ON %s.docs USING (owner = 'alice' AND secret = current_setting('gov.one', true)::int)",
	"REVOKE SELECT ON %s.docs FROM gov_alice", "GRANT SELECT (id) ON %s.docs TO gov_alice", "SET ROLE gov_alice",
	"SELECT id FROM %s.docs", "BEGIN; SET LOCAL gov.one = '10'; SELECT id FROM %s.docs; COMMIT", "SELECT id FROM %s.docs", "SELECT current_setting('gov.one') = ''",
	"SELECT owner FROM %s.docs", "SELECT id FROM %s.docs WHERE owner = 'alice'",
}

var readDocs = []string{
	"SELECT * FROM %s.docs ORDER BY id",
	"SELECT count(*) FROM %s.docs",
	"SELECT sum(10 / secret) FROM %s.docs",
	"SELECT 10 / secret FROM %s.docs ORDER BY id",
	"SELECT owner, max(10 / secret) FROM %s.docs GROUP BY owner ORDER BY 2, 1",
	"SELECT q, count(*) FROM (SELECT 10 / secret AS q FROM %s.docs) d GROUP BY q ORDER BY 1",
	"SELECT sum(q) FROM (SELECT 10 / secret AS q FROM %s.docs) d WHERE q > 0",
	"SELECT sum(10 / d.secret) FROM %s.open o JOIN %s.docs d USING (id)",
	"SELECT sum(10 / d.secret) FROM %s.docs d LEFT JOIN %s.open o ON o.id = d.id",
	"SELECT count(*) FROM %s.docs d WHERE id <= (SELECT sum(10 / i.secret) FROM %s.docs i WHERE i.owner = d.owner)",
	"SELECT id FROM %s.docs WHERE secret = 20 AND 1 / (secret - 20) = 1",
	"SELECT id FROM %s.docs WHERE 10 / secret > 0 AND secret <> 0 ORDER BY 1",
	"SELECT id FROM %s.docs WHERE (note || 'x')::int > 0 AND owner = 'nobody'",
	"SELECT o.id, d.note FROM %s.open o LEFT JOIN %s.docs d USING (id) ORDER BY 1",
	"SELECT o.id FROM %s.open o WHERE EXISTS (SELECT FROM %s.docs d WHERE d.id = o.id) ORDER BY 1",
	"SELECT o.id FROM %s.open o WHERE id NOT IN (SELECT id FROM %s.docs) ORDER BY 1",
	"WITH docs AS (SELECT * FROM %s.docs) SELECT count(*) FROM docs",
	"WITH docs AS (SELECT 1 AS n) SELECT * FROM docs",
	"SELECT max(secret), min(note), count(DISTINCT owner), string_agg(note, ',' ORDER BY id) FROM %s.docs",
	"SELECT row_to_json(d) FROM %s.docs d ORDER BY id",
	"SELECT d::text FROM %s.docs d ORDER BY id",
	"SELECT (SELECT note FROM %s.docs x WHERE x.id = o.id) FROM %s.open o ORDER BY id",
	"TABLE %s.docs ORDER BY 1 LIMIT 2",
	"SELECT owner, count(*) FROM %s.docs GROUP BY ROLLUP (owner) ORDER BY 1, 2",
	"SELECT id FROM %s.docs UNION SELECT id FROM %s.open ORDER BY 1",
	"COPY (SELECT id FROM %s.docs ORDER BY 1) TO STDOUT",
	"SELECT * FROM %s.docs d, LATERAL (SELECT d.secret + 1) x (more) ORDER BY id",
	"SELECT id, row_number() OVER (ORDER BY secret) FROM %s.docs ORDER BY 1",
	"SELECT ctid IS NULL, tableoid <> 0 FROM %s.open",
	"SELECT id FROM %s.docs ORDER BY secret DESC, id FETCH FIRST 2 ROWS ONLY",
}

// doors are other ways to the rows, and what they are planned for changing between them.
var doors = []string{
	"PREPARE p AS SELECT string_agg(note, ',' ORDER BY id) FROM %s.docs", "EXECUTE p",
	"SET ROLE gov_alice", "EXECUTE p", "EXECUTE p",
	"SET ROLE gov_bob", "EXECUTE p", "EXECUTE p",
	"BEGIN; DECLARE c CURSOR FOR SELECT id FROM %s.docs ORDER BY 1; FETCH ALL FROM c; COMMIT",
	"BEGIN; DECLARE c SCROLL CURSOR FOR SELECT id FROM %s.docs ORDER BY 1; FETCH ALL FROM c; FETCH FIRST FROM c; COMMIT",
	"CREATE TEMP TABLE taken AS TABLE %s.docs; SELECT count(*), min(note) FROM taken; DROP TABLE taken",
	"SELECT * INTO TEMP taken FROM %s.docs; SELECT count(*), min(note) FROM taken; DROP TABLE taken",
	"COPY (TABLE %s.docs) TO STDOUT", "COPY %s.docs (id) TO STDOUT",
	"SET row_security = off", "SELECT count(*) FROM %s.docs", "SET row_security = on",
	"BEGIN", "SELECT count(*) FROM %s.docs", "SET LOCAL ROLE gov_alice", "SELECT count(*) FROM %s.docs", "SAVEPOINT a", "RESET ROLE", "DROP POLICY own ON %s.docs", "SET LOCAL ROLE gov_alice",
	"SELECT count(*) FROM %s.docs", "ROLLBACK TO a", "SELECT count(*) FROM %s.docs", "COMMIT", "SELECT count(*) FROM %s.docs",
	"RESET ROLE", "EXECUTE p", "DEALLOCATE p",
}

var badPolicies = []string{
	"CREATE POLICY extra ON %s.docs USING (true)",
	"CREATE POLICY new ON %s.docs USING (nothing = 1)",
	"CREATE POLICY new ON %s.docs USING (id)",
	"CREATE POLICY new ON %s.docs USING (count(*) > 1)",
	"CREATE POLICY new ON %s.docs TO no_such_role USING (true)",
	"CREATE POLICY new ON %s.docs FOR SELECT WITH CHECK (true)",
	"CREATE POLICY new ON %s.docs USING (id = ",
	"ALTER POLICY none ON %s.docs USING (true)",
	"ALTER POLICY none ON %s.docs RENAME TO other",
	"ALTER POLICY high ON %s.docs RENAME TO extra",
	"DROP POLICY none ON %s.docs",
	"DROP POLICY IF EXISTS none ON %s.docs",
}

// TestColumnMasks compares a masked foreign table, as a role that sees the masks, with a plain table of what it may see.
func TestColumnMasks(t *testing.T) {
	onBothEngines(t, map[string]string{"pii": "SELECT * FROM " + pii, "t1m": "SELECT * FROM (VALUES (1, 2), (3, 4)) v (a, b)"}, compareMasks)
}

const pii = "(VALUES (1, 'ann@x.io', '111-11-1111', 'eu'), (2, 'bob@x.io', '222-22-2222', 'us'), (3, NULL, '333-33-3333', 'us')) v (id, email, ssn, region)"

func compareMasks(t *testing.T, direct, through, server string) {
	exec(t, direct, "DROP ROLE IF EXISTS gov_r1", "DROP ROLE IF EXISTS gov_r2", "CREATE ROLE gov_r1", "CREATE ROLE gov_r2", "CREATE SCHEMA plain", "CREATE SCHEMA fx", "GRANT USAGE ON SCHEMA plain, fx TO gov_r1, gov_r2")
	t.Cleanup(func() {
		exec(t, direct, "DROP OWNED BY gov_r1, gov_r2", "DROP ROLE gov_r1, gov_r2")
	})
	exec(t, direct, "CREATE TABLE plain.pii (id int, email text, ssn varchar(11), region text)", "INSERT INTO plain.pii VALUES (2, '***', 'XXX-XX-2222', 'us'), (3, NULL, 'XXX-XX-3333', 'us')",
		"CREATE TABLE plain.t1m (a int, b int)", "INSERT INTO plain.t1m VALUES (NULL, 2), (3, 4)", "CREATE TABLE plain.known (ssn text)", "INSERT INTO plain.known VALUES ('222-22-2222'), ('XXX-XX-3333')",
		"CREATE TABLE fx.known AS TABLE plain.known", "GRANT SELECT ON ALL TABLES IN SCHEMA plain, fx TO gov_r1")
	exec(t, through, "CREATE FOREIGN TABLE fx.pii (id int, email text, ssn varchar(11), region text) SERVER "+server, "CREATE FOREIGN TABLE fx.t1m (a int, b int) SERVER "+server,
		"GRANT SELECT ON fx.pii, fx.t1m TO gov_r1, gov_r2",
		"SELECT sluice.set_row_filter('fx.pii', 'public', 'region = ''us''')",
		"SECURITY LABEL FOR sluice ON COLUMN fx.pii.email IS 'MASKED WITH VALUE CASE WHEN email IS NOT NULL THEN ''***'' END'",
		"SELECT sluice.set_column_mask('fx.pii', 'ssn', '''XXX-XX-'' || right(ssn, 4)', '{gov_r2}')",
		"SELECT sluice.set_column_mask('fx.t1m', 'a', 'CASE WHEN a <> 1 THEN a END')",
		"SELECT sluice.set_column_mask('fx.t1m', 'b', 'CASE WHEN a <> 1 OR a = 1 THEN b END')")
	plain, foreign := connect(t, direct), connect(t, through)
	want(t, plain, "SET ROLE gov_r1", "SET")
	want(t, foreign, "SET ROLE gov_r1", "SET")
	for _, route := range []string{"", "home_join", "federated"} {
		want(t, foreign, "SET sluice.route = '"+route+"'", "SET")
		for _, sql := range readMasked {
			a, b := rows(t, plain, strings.ReplaceAll(sql, "%s", "plain")), rows(t, foreign, strings.ReplaceAll(sql, "%s", "fx"))
			if a != b && (route != "federated" || b != "0A000") {
				t.Errorf("route %q: %s\n plain:   %s\n foreign: %s", route, sql, a, b)
			}
		}
	}
	want(t, foreign, "RESET sluice.route", "RESET")
	explained := rows(t, foreign, "EXPLAIN SELECT ssn FROM fx.pii WHERE id > 0") + rows(t, foreign, "EXPLAIN (ANALYZE) SELECT ssn FROM fx.pii WHERE id > 0")
	for _, hidden := range []string{"'us'", "XXX", "(rows="} {
		if strings.Contains(explained, hidden) || !strings.Contains(explained, "not shown") {
			t.Errorf("EXPLAIN shows %s: %s", hidden, explained)
		}
	}
	want(t, foreign, "UPDATE fx.pii SET email = 'x'", "42501")
	want(t, foreign, "RESET ROLE", "RESET")
	want(t, foreign, "SET ROLE gov_r2", "SET")
	want(t, foreign, "SELECT email, ssn FROM fx.pii ORDER BY id", "***|222-22-2222\nNULL|333-33-3333")
	want(t, foreign, "RESET ROLE", "RESET")
	want(t, foreign, "SELECT count(*), min(email) FROM fx.pii", "3|ann@x.io")
	for _, bad := range [][2]string{
		{"SELECT sluice.set_column_mask('fx.pii', 'none', '1')", "42703"},
		{"SELECT sluice.set_column_mask('fx.pii', 'id', '(SELECT count(*)::int FROM fx.pii)')", "0A000"},
		{"CREATE VIEW fx.seen AS SELECT id FROM fx.pii", "CREATE VIEW"},
		{"SELECT sluice.set_row_filter('fx.pii', 'public', 'id IN (SELECT id FROM fx.seen)')", "0A000"},
		{"DROP VIEW fx.seen", "DROP VIEW"},
		{"SELECT sluice.set_column_mask('fx.pii', 'id', '''x''::text')", "42804"},
		{"SELECT sluice.set_column_mask('fx.pii', 'id', 'nothing')", "42703"},
		{"SELECT sluice.set_column_mask('fx.pii', 'id', 'max(id)')", "42803"},
		{"SELECT sluice.set_column_mask('fx.pii', 'id', '1), (2')", "42601"},
		{"SELECT sluice.set_column_mask('pg_class', 'relname', '''x''')", "42809"},
		{"SELECT sluice.drop_column_mask('fx.pii', 'id')", "42704"},
		{"SECURITY LABEL FOR sluice ON COLUMN fx.pii.email IS 'SECRET'", "22023"},
	} {
		want(t, foreign, bad[0], bad[1])
	}
	dumped := strings.Split(rows(t, foreign, "SELECT * FROM sluice.dump_policies()"), ";\n")
	want(t, foreign, "SECURITY LABEL FOR sluice ON COLUMN fx.pii.email IS NULL", "SECURITY LABEL")
	want(t, foreign, "SELECT sluice.drop_row_filter('fx.pii', 'public')", "")
	exec(t, through, "DELETE FROM sluice.row_security", "DELETE FROM sluice.column_mask")
	want(t, foreign, "SELECT count(*) FROM sluice.dump_policies()", "0")
	for _, sql := range dumped {
		if code := rows(t, foreign, sql); len(code) == 5 {
			t.Errorf("%s: %s", sql, code)
		}
	}
	if again := strings.Split(rows(t, foreign, "SELECT * FROM sluice.dump_policies()"), ";\n"); !slices.Equal(again, dumped) {
		t.Errorf("dumped %q, after a restore %q", dumped, again)
	}
}

var readMasked = []string{
	"SELECT * FROM %s.pii ORDER BY id",
	"SELECT count(*) FROM %s.pii WHERE ssn = '222-22-2222'",
	"SELECT count(*) FROM %s.pii WHERE ssn LIKE '222%%'",
	"SELECT count(*) FROM %s.pii WHERE ssn = 'XXX-XX-2222'",
	"SELECT count(*) FROM %s.pii WHERE email = '***'",
	"SELECT p.id FROM %s.pii p JOIN %s.known k ON k.ssn = p.ssn",
	"SELECT id FROM %s.pii ORDER BY ssn DESC",
	"SELECT max(ssn), min(email), count(DISTINCT email), count(email), length(max(ssn)) FROM %s.pii",
	"SELECT string_agg(ssn, ',' ORDER BY id) FROM %s.pii",
	"SELECT ssn, count(*) FROM %s.pii GROUP BY ssn ORDER BY 1",
	"SELECT to_jsonb(p) ->> 'ssn', p::text FROM %s.pii p ORDER BY id",
	"SELECT array_agg(p ORDER BY id) FROM %s.pii p",
	"SELECT * FROM %s.t1m ORDER BY b",
	"SELECT b, a FROM %s.t1m ORDER BY b",
	"SELECT a FROM %s.t1m WHERE a = 1",
	"SELECT x.id FROM %s.pii x JOIN %s.pii y USING (ssn) ORDER BY 1",
	"SELECT CASE WHEN email LIKE 'bob%%' THEN 'bob' ELSE email END FROM %s.pii ORDER BY id",
	"SELECT id FROM %s.pii WHERE lower(email) = 'bob@x.io'",
	"SELECT count(*) FILTER (WHERE ssn LIKE '222%%') FROM %s.pii",
}

// TestGovernedStreams leaves a governed result early, and cancels one: both free the engine.
func TestGovernedStreams(t *testing.T) {
	w, count := newCountedWorld(t, "CREATE TABLE big AS SELECT i::INTEGER AS id, 'value ' || i AS v FROM range(3000000) r (i)")
	exec(t, w.direct, "DROP ROLE IF EXISTS gov_reader", "CREATE ROLE gov_reader")
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY gov_reader", "DROP ROLE gov_reader") })
	exec(t, w.through, "CREATE FOREIGN TABLE big (id int, v text) SERVER lake", "GRANT SELECT ON big TO gov_reader",
		"SELECT sluice.set_row_filter('big', 'gov_reader', 'id > 4')", "SELECT sluice.set_column_mask('big', 'v', 'left(v, 7)')")
	conn := connect(t, w.through)
	want(t, conn, "SET ROLE gov_reader; BEGIN; DECLARE c CURSOR FOR SELECT * FROM big; FETCH 2 FROM c", "SET\nBEGIN\nDECLARE CURSOR\n5|value 5\n6|value 6")
	want(t, conn, "CLOSE c", "CLOSE CURSOR")
	count.await(t, 0)
	want(t, conn, "COMMIT", "COMMIT")
	for _, route := range []string{"remote", "home_join"} {
		want(t, conn, "SET sluice.route = "+route, "SET")
		before := count.opened.Load()
		result := conn.PgConn().Exec(timed(t), "SELECT a.v FROM big a, big b")
		count.awaitOpened(t, before+1)
		if err := conn.PgConn().CancelRequest(timed(t)); err != nil {
			t.Fatal(err)
		}
		if _, err := readAway(result); sqlState(err) != "57014" {
			t.Errorf("route %s: %v", route, err)
		}
		count.await(t, 0)
	}
}

// readAway reads a result and keeps nothing of it but the number of rows.
func readAway(m *pgconn.MultiResultReader) (rows int, err error) {
	for m.NextResult() {
		r := m.ResultReader()
		for r.NextRow() {
			rows++
		}
		_, _ = r.Close()
	}
	return rows, m.Close()
}
