package tests

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines/databricks/fake"
	"github.com/sluicedb/sluice/internal/oracle"
)

var leakRoles = []string{"leak_alice", "leak_bob", "leak_trusted"}

// leakEngine is where the governed tables lie: a schema over all rows, and one over those alone that leak_alice may see,
// with other values behind its masks.
type leakEngine struct {
	name        string
	full, bare  string
	routes      []string
	connections map[string]*leakClient
}

// leakEngines are the engines there are, and tables of both in one statement, with two schemas for each.
func leakEngines(schemas ...string) []*leakEngine {
	all := []string{"", "remote", "federated", "home_join"}
	return []*leakEngine{
		{name: "duckdb", full: schemas[0], bare: schemas[1], routes: all},
		{name: "postgres", full: schemas[2], bare: schemas[3], routes: all},
		{name: "both", full: schemas[4], bare: schemas[5], routes: []string{"", "federated", "home_join"}},
	}
}

// homeEngine is the engine of tables that are home's own.
const homeEngine = "home"

// leakWorld is a database with the tables of testdata/leaks_world.sql behind each engine, governed.
type leakWorld struct {
	direct, through string
	engines         []*leakEngine
	home            *leakEngine // the plain tables
	found           []string    // leaks, until report tells them
}

func newLeakWorld(t *testing.T) *leakWorld {
	home := hometest.Start(t)
	w := &leakWorld{direct: hometest.Database(t, home), home: &leakEngine{}}
	w.engines = append(leakEngines("sl_da", "sl_db", "sl_pa", "sl_pb", "sl_xa", "sl_xb"),
		&leakEngine{name: "databricks", full: "sl_ba", bare: "sl_bb", routes: []string{"", "federated", "home_join"}}) // it computes nothing
	for _, r := range leakRoles {
		exec(t, w.direct, "DROP ROLE IF EXISTS "+r, "CREATE ROLE "+r+" LOGIN")
	}
	t.Cleanup(func() {
		exec(t, w.direct, "DROP OWNED BY "+strings.Join(leakRoles, ", ")+" CASCADE", "DROP ROLE "+strings.Join(leakRoles, ", "))
	})
	exec(t, w.direct, "ALTER ROLE leak_trusted BYPASSRLS", "ALTER ROLE leak_trusted SET statement_timeout = '500ms'", leakFile(t, "leaks_world.sql", ""))
	w.through = postgresProxy(t, w.direct)
	admin := connect(t, w.direct)
	for i, rows := range []string{"raw", "bare"} {
		w.declare(t, admin, rows, i)
	}
	for _, e := range w.engines {
		for _, schema := range []string{e.full, e.bare} {
			exec(t, w.through, leakFile(t, "leaks_grants.sql", schema))
			runEach(t, w.through, leakFile(t, "leaks_rules.sql", schema))
		}
	}
	exec(t, w.direct, leakFile(t, "leaks_grants.sql", "sl_tw"))
	w.engines = append(w.engines, w.governHome(t))
	return w
}

// governHome has masks on tables of home itself. Their rows are those that leak_alice may see: row security of such tables is
// Postgres' own.
func (w *leakWorld) governHome(t *testing.T) *leakEngine {
	e := &leakEngine{name: homeEngine, full: "sl_ha", bare: "sl_hb", routes: []string{""}}
	for schema, rows := range map[string]string{e.full: "raw", e.bare: "bare"} {
		exec(t, w.direct, "CREATE SCHEMA "+schema)
		for _, table := range []string{"docs", "people", "cards", "emp", "vault", "open"} {
			exec(t, w.direct, "CREATE TABLE "+schema+"."+table+" AS SELECT * FROM "+rows+"."+table+" WHERE id IN (SELECT id FROM bare."+table+")")
		}
		exec(t, w.direct, leakFile(t, "leaks_grants.sql", schema))
		var masks []string
		for rule := range strings.Lines(leakFile(t, "leaks_rules.sql", schema)) {
			if strings.Contains(rule, "set_column_mask") {
				masks = append(masks, rule)
			}
		}
		runEach(t, w.through, strings.Join(masks, ""))
	}
	return e
}

// declare makes foreign tables over copies of a schema's tables, in DuckDB, in another Postgres, and by turns.
func (w *leakWorld) declare(t *testing.T, admin *pgx.Conn, rows string, i int) {
	lake, err := oracle.Copy(t.Context(), admin, rows, filepath.Join(t.TempDir(), rows+".duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	other := hometest.Database(t, hometest.Start(t))
	exec(t, other, leakFile(t, "leaks_world.sql", ""))
	duck, postgres := "lake_"+rows, "other_"+rows
	servers := otherServer(t, other, "")
	for j := range servers {
		servers[j] = strings.Replace(servers[j], "SERVER other", "SERVER "+postgres, 1)
	}
	schemas := make([]string, len(w.engines))
	for j, e := range w.engines {
		schemas[j] = []string{e.full, e.bare}[i]
		exec(t, w.direct, "CREATE SCHEMA "+schemas[j])
	}
	create := append(servers, lake.Server(duck, false))
	create = append(create, lake.Tables(duck, schemas[0])...)
	create = append(create, "IMPORT FOREIGN SCHEMA "+rows+" FROM SERVER "+postgres+" INTO "+schemas[1])
	create = append(create, lake.Tables(duck, schemas[2], "docs", "cards", "vault")...)
	create = append(create, "IMPORT FOREIGN SCHEMA "+rows+" LIMIT TO (people, emp, open) FROM SERVER "+postgres+" INTO "+schemas[2])
	create = append(create, brickServer("brick_"+rows, rows, fake.Serve(t, lake.File).URL, computesNothing)...)
	for _, table := range lake.Tables("brick_"+rows, schemas[3]) {
		create = append(create, strings.Replace(table, "table_name", "schema_name 'main', table_name", 1))
	}
	exec(t, w.through, create...)
}

// leakFile reads SQL of the corpus for a schema.
func leakFile(t *testing.T, name, schema string) string {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "{s}", schema)
}

// runEach runs statements, each of which has a line of its own.
func runEach(t *testing.T, url, text string) {
	for _, sql := range strings.Split(text, "\n") {
		if sql != "" && !strings.HasPrefix(sql, "--") {
			exec(t, url, sql)
		}
	}
}

// as is a URL with another user.
func as(t *testing.T, address, user string) string {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(user)
	return u.String()
}

// client returns a connection of a role, by way of the proxy or around it, with a route that is forced; it is kept for later attempts.
func (w *leakWorld) client(t *testing.T, e *leakEngine, address, role, route string) (*leakClient, []string, error) {
	var settings []string
	if route != "" {
		settings = []string{"SET sluice.route = " + route}
	}
	key := fmt.Sprint(address, role, route)
	if c := e.connections[key]; c != nil {
		return c, settings, nil
	}
	c, err := dialLeak(as(t, address, role), settings...)
	if err != nil {
		return nil, nil, err
	}
	if e.connections == nil {
		e.connections = map[string]*leakClient{}
	}
	e.connections[key] = c
	return c, settings, nil
}

func (w *leakWorld) close() {
	for _, e := range append(w.engines, w.home) {
		for _, c := range e.connections {
			_ = c.conn.Close()
		}
	}
}
