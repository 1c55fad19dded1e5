package tests

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/proxy"
)

// governedPlans is a session at a proxy of its own, whose plans are counted, beside one at home: docs stands in schema fx
// there, in plain here. Administrators work through another proxy.
type governedPlans struct {
	t              *testing.T
	server         *proxy.Server
	plain, foreign *pgx.Conn
	admin, there   *pgx.Conn // at home, and through the other proxy
}

const askDocs = "SELECT id, note FROM %s.docs ORDER BY id"

func newGovernedPlans(t *testing.T) *governedPlans {
	w := newWorld(t, "CREATE TABLE docs AS SELECT * FROM "+docs)
	config, err := pgconn.ParseConfig(w.home.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	server, addr := runProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}}, Federation: federation()})
	roles := "kept_a, kept_b, kept_team"
	exec(t, w.direct, "DROP ROLE IF EXISTS "+roles, "CREATE SCHEMA plain", "CREATE SCHEMA fx", "CREATE TABLE entitlements (who text, region text)")
	for _, role := range strings.Split(roles, ", ") {
		exec(t, w.direct, "CREATE ROLE "+role, "GRANT USAGE ON SCHEMA plain, fx TO "+role, "GRANT SELECT ON entitlements TO "+role)
	}
	t.Cleanup(func() { exec(t, w.direct, "DROP OWNED BY "+roles+" CASCADE", "DROP ROLE "+roles) })
	exec(t, w.direct, "CREATE TABLE plain.docs AS SELECT * FROM "+docs)
	exec(t, w.through, "CREATE FOREIGN TABLE fx.docs (id int, owner text, secret int, note text) SERVER lake")
	g := &governedPlans{t: t, server: server, plain: connect(t, w.direct), foreign: connect(t, proxyURL(addr, w.database)), admin: connect(t, w.direct), there: connect(t, w.through)}
	for _, role := range strings.Split(roles, ", ") {
		g.administer("GRANT SELECT ON %s.docs TO " + role)
	}
	g.hold()
	return g
}

// hold prepares the question for docs.
func (g *governedPlans) hold() {
	if _, err := g.foreign.PgConn().Prepare(timed(g.t), "held", strings.ReplaceAll(askDocs, "%s", "fx"), nil); err != nil {
		g.t.Fatal(err)
	}
}

// administer has administrators of both do the same; what names no table concerns both.
func (g *governedPlans) administer(sql string) {
	g.t.Helper()
	if !strings.Contains(sql, "%s") {
		exec(g.t, g.admin.Config().ConnString(), sql)
		return
	}
	if a, b := rows(g.t, g.admin, strings.ReplaceAll(sql, "%s", "plain")), rows(g.t, g.there, strings.ReplaceAll(sql, "%s", "fx")); a != b {
		g.t.Fatalf("%s\n plain:   %s\n foreign: %s", sql, a, b)
	}
}

// do runs a statement in both sessions.
func (g *governedPlans) do(sql string) {
	g.t.Helper()
	if a, b := rows(g.t, g.plain, strings.ReplaceAll(sql, "%s", "plain")), rows(g.t, g.foreign, strings.ReplaceAll(sql, "%s", "fx")); a != b {
		g.t.Errorf("%s\n plain:   %s\n foreign: %s", sql, a, b)
	}
}

// held executes what hold has prepared.
func held(t *testing.T, conn *pgx.Conn) string {
	r := conn.PgConn().ExecPrepared(timed(t), "held", nil, nil, nil).Read()
	if code := sqlState(r.Err); code != "" {
		return code
	} else if r.Err != nil {
		t.Fatal(r.Err)
	}
	if len(r.Rows) == 0 {
		return r.CommandTag.String()
	}
	var out []string
	for _, row := range r.Rows {
		note := "NULL"
		if row[1] != nil {
			note = string(row[1])
		}
		out = append(out, string(row[0])+"|"+note)
	}
	return strings.Join(out, "\n")
}

// ask asks for docs by either protocol, twice, and reports whether the plan of the first statement was kept. That of a later
// one must be, where there is one at all: word of DDL may come late, and has the catalog read anew. At home the statement is analysed each time: Postgres itself lets a prepared one
// outlive a change of memberships.
func (g *governedPlans) ask(stage string) (kept bool) {
	g.t.Helper()
	began := time.Now()
	for i := 0; ; i++ {
		before, made := g.server.Planning()
		a, b := rows(g.t, g.plain, strings.ReplaceAll(askDocs, "%s", "plain")), ""
		if i%2 == 0 {
			b = rows(g.t, g.foreign, strings.ReplaceAll(askDocs, "%s", "fx"))
		} else {
			b = held(g.t, g.foreign)
		}
		if a != b {
			g.t.Errorf("%s, statement %d\n plain:   %s\n foreign: %s", stage, i, a, b)
		}
		after, remade := g.server.Planning()
		if i == 0 {
			kept = after.Plans > before.Plans
		}
		switch {
		case i < 3:
		case len(b) == 5, g.foreign.PgConn().TxStatus() != 'I', after.Plans == before.Plans+1 && remade.Plans == made.Plans:
			return kept
		case time.Since(began) > patience:
			g.t.Fatalf("%s: the plan of statement %d was not kept", stage, i)
		}
	}
}

// TestGovernedPlans changes all that a kept plan of a governed table rests on: the next statement knows of it.
func TestGovernedPlans(t *testing.T) {
	g := newGovernedPlans(t)
	g.do("SET ROLE kept_a")
	g.ask("without rules")
	for _, step := range ruleChanges {
		g.administer(step)
		g.ask(step)
	}
}

// ruleChanges are changes that others commit.
var ruleChanges = []string{
	"ALTER TABLE %s.docs ENABLE ROW LEVEL SECURITY",
	"CREATE POLICY own ON %s.docs TO kept_a USING (owner = 'alice')",
	"ALTER POLICY own ON %s.docs USING (owner = 'bob')",
	"CREATE POLICY team ON %s.docs TO kept_team USING (id = 4)",
	"GRANT kept_team TO kept_a", "REVOKE kept_team FROM kept_a", "GRANT kept_team TO kept_a",
	"ALTER ROLE kept_a NOINHERIT", "ALTER ROLE kept_a INHERIT",
	"DROP POLICY team ON %s.docs", "REVOKE kept_team FROM kept_a",
	"ALTER ROLE kept_a BYPASSRLS", "ALTER ROLE kept_a NOBYPASSRLS",
	"ALTER ROLE kept_a SUPERUSER", "ALTER ROLE kept_a NOSUPERUSER",
	"ALTER POLICY own ON %s.docs USING (owner IN (SELECT region FROM entitlements WHERE who = current_user))",
	"INSERT INTO entitlements VALUES ('kept_a', 'bob'), ('kept_b', 'alice')",
	"UPDATE entitlements SET region = 'alice'", "DELETE FROM entitlements",
	"INSERT INTO entitlements SELECT 'kept_a', 'alice' || CASE WHEN n > 1 THEN n ELSE NULL END FROM generate_series(1, 9000) n", "INSERT INTO entitlements VALUES ('kept_a', 'alice')",
	"REVOKE SELECT ON entitlements FROM kept_a", "GRANT SELECT ON entitlements TO kept_a", "TRUNCATE entitlements",
	"REVOKE SELECT ON %s.docs FROM kept_a", "GRANT SELECT (id, note, owner) ON %s.docs TO kept_a", "REVOKE SELECT (note) ON %s.docs FROM kept_a", "GRANT SELECT ON %s.docs TO kept_a",
	"REVOKE USAGE ON SCHEMA %s FROM kept_a", "GRANT USAGE ON SCHEMA %s TO kept_a",
	"ALTER TABLE %s.docs OWNER TO kept_a", "ALTER TABLE %s.docs FORCE ROW LEVEL SECURITY", "ALTER TABLE %s.docs NO FORCE ROW LEVEL SECURITY", "ALTER TABLE %s.docs OWNER TO postgres",
	"ALTER TABLE %s.docs DISABLE ROW LEVEL SECURITY",
}

// TestGovernedPlansOfSession changes what a session itself decides, and finds the plans that were made for the same before.
func TestGovernedPlansOfSession(t *testing.T) {
	g := newGovernedPlans(t)
	for _, sql := range []string{"ALTER TABLE %s.docs ENABLE ROW LEVEL SECURITY", "CREATE POLICY own ON %s.docs USING (owner = current_setting('kept.who', true))",
		"CREATE POLICY b ON %s.docs TO kept_b USING (id = 10 / current_setting('kept.number', true)::int)"} {
		g.administer(sql)
	}
	steps := []string{
		"SET ROLE kept_a", "SET kept.who = 'alice'", "SET kept.who = 'bob'", "SET ROLE kept_b", "SET kept.number = 0", "SET kept.number = 5", "SET SESSION AUTHORIZATION kept_a",
		"RESET SESSION AUTHORIZATION", "SET row_security = off", "SET ROLE kept_a", "RESET row_security", "SET kept.who = 'it''s \\'",
	}
	for _, known := range []bool{false, true} {
		g.do("RESET ROLE; SET kept.who = ''; SET kept.number = 1")
		for _, step := range steps {
			g.do(step)
			if kept := g.ask(step); known && !kept && step != "SET kept.number = 0" && step != "SET row_security = off" && held(t, g.foreign) != "42501" {
				t.Errorf("%s, again: the plan was made anew", step)
			}
		}
		g.do("RESET row_security")
	}
}

// TestGovernedPlansInTransaction changes rules in the transaction that reads, and takes that back: nobody else sees it.
func TestGovernedPlansInTransaction(t *testing.T) {
	g := newGovernedPlans(t)
	for _, sql := range []string{"ALTER TABLE %s.docs ENABLE ROW LEVEL SECURITY", "CREATE POLICY own ON %s.docs USING (owner IN (SELECT region FROM entitlements))", "INSERT INTO entitlements VALUES ('', 'alice')"} {
		g.administer(sql)
	}
	other := *g
	other.plain, other.foreign = connect(t, g.plain.Config().ConnString()), connect(t, g.foreign.Config().ConnString())
	other.hold()
	other.do("SET ROLE kept_a")
	for _, end := range []string{"ROLLBACK", "ROLLBACK TO a; COMMIT", "COMMIT"} {
		for _, change := range []string{"INSERT INTO entitlements VALUES ('', 'bob')", "ALTER POLICY own ON %s.docs USING (id > 2)", "ALTER TABLE %s.docs DISABLE ROW LEVEL SECURITY", "DROP POLICY own ON %s.docs"} {
			stage := change + "; " + end
			locks := !strings.HasPrefix(change, "INSERT") // at home, on the plain table
			g.do("SET ROLE kept_a")
			g.ask("before " + stage)
			g.do("RESET ROLE; BEGIN; SAVEPOINT a")
			g.do(change)
			g.do("SET LOCAL ROLE kept_a")
			g.ask("within " + stage)
			if !locks {
				other.ask("beside " + stage)
			} else if got := held(t, other.foreign); !slices.Contains([]string{"1|a1", "1|a1\n2|b1\n3|b2"}, got) {
				t.Errorf("beside %s: %s", stage, got)
			}
			g.do(end)
			g.do("SET ROLE kept_a")
			g.ask("after " + stage)
			other.ask("beside, after " + stage)
			g.do("RESET ROLE")
			if end == "COMMIT" {
				break // the others were taken back alone
			}
		}
	}
}
