package tests

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/engines/postgres"
	"github.com/sluicedb/sluice/engines/trino"
	"github.com/sluicedb/sluice/internal/tpch"
	"github.com/sluicedb/sluice/internal/trinotest"
	"github.com/sluicedb/sluice/proxy"
)

// trinoWorld is a home, another Postgres and a Trino that has a catalog of either.
type trinoWorld struct{ direct, through, other string }

// newTrinoWorld has servers trino, whose own tables are in the catalog given, and other.
func newTrinoWorld(t *testing.T, catalog string) *trinoWorld {
	t.Helper()
	remote := trinotest.Start(t)
	home := hometest.Start(t)
	w := &trinoWorld{direct: hometest.Database(t, home), other: hometest.Database(t, home)}
	config, err := pgconn.ParseConfig(w.direct)
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, postgres.Wrapper{}, trino.Wrapper{}}, Federation: federation()})
	w.through = proxyURL(addr, config.Database)
	for name, direct := range map[string]string{"own": w.direct, "other": w.other} {
		u, err := url.Parse(direct)
		if err != nil {
			t.Fatal(err)
		}
		password, _ := u.User.Password()
		remote.Postgres(t, name, "jdbc:postgresql://"+u.Host+u.Path, u.User.Username(), password)
	}
	exec(t, w.through, "CREATE EXTENSION sluice", fmt.Sprintf(`CREATE SERVER trino FOREIGN DATA WRAPPER sluice_trino
 OPTIONS (host '%s', port '%s', secure 'false', catalog '%s', catalogs 'other=other', home_catalog 'own')`, remote.Host, remote.Port, catalog),
		"CREATE USER MAPPING FOR PUBLIC SERVER trino OPTIONS (user 'test')")
	exec(t, w.through, otherServer(t, w.other, ", updatable 'true'")...)
	return w
}

// TestRealTrinoTPCH asks the 22 queries of tables of which some are Trino's own, some another Postgres' and some home's, and compares the
// answers with those of plain tables.
func TestRealTrinoTPCH(t *testing.T) {
	remote := trinotest.Start(t)
	remote.Run(t, `CREATE CATALOG bench USING tpch WITH ("tpch.column-naming" = 'STANDARD', "tpch.double-type-mapping" = 'DECIMAL')`)
	t.Cleanup(func() { remote.Run(t, "DROP CATALOG bench") })
	w := newTrinoWorld(t, "bench")
	exec(t, w.through, "CREATE SCHEMA lake", "IMPORT FOREIGN SCHEMA tiny FROM SERVER trino INTO lake", "CREATE SCHEMA plain", "CREATE SCHEMA mix", "CREATE SCHEMA fill")
	other := connect(t, w.other)
	for _, table := range tpch.Tables() {
		exec(t, w.through, "CREATE TABLE plain."+table.Name+" AS SELECT * FROM lake."+table.Name)
		switch table.Name {
		case "lineitem", "orders":
			exec(t, w.through, "ALTER FOREIGN TABLE lake."+table.Name+" SET SCHEMA mix", "IMPORT FOREIGN SCHEMA tiny LIMIT TO ("+table.Name+") FROM SERVER trino INTO lake")
		case "nation", "part":
			exec(t, w.through, "CREATE TABLE mix."+table.Name+" AS SELECT * FROM plain."+table.Name)
		default:
			exec1(t, other, "CREATE TABLE "+table.Name+" ("+strings.ReplaceAll(table.Definition(""), " char(", " varchar(")+")")
			exec(t, w.through, "IMPORT FOREIGN SCHEMA public LIMIT TO ("+table.Name+") FROM SERVER other INTO mix", "INSERT INTO mix."+table.Name+" SELECT * FROM plain."+table.Name)
		}
	}
	plain := connect(t, w.direct)
	exec1(t, plain, "SET search_path = plain")
	exec1(t, plain, "CREATE INDEX ON lineitem (l_partkey, l_suppkey)")
	exec1(t, plain, "ANALYZE")
	for _, schema := range []string{"lake", "mix"} {
		conn := connect(t, w.through)
		exec1(t, conn, "SET search_path = "+schema)
		exec1(t, conn, "SET sluice.federation_server = 'trino'")
		computed := 0
		for i, query := range tpch.Queries() {
			want, got := answerOf(t, plain, query, nil), answerOf(t, conn, query, nil)
			if got != want {
				t.Errorf("query %d over %s\n got: %.2000s\nwant: %.2000s", i+1, schema, got, want)
			}
			plan := rows(t, conn, "EXPLAIN "+query)
			if strings.Contains(plan, "Foreign Scan") && strings.Contains(plan, "Server: trino") && !strings.Contains(plan, "Join") {
				computed++
			} else {
				t.Logf("query %d over %s: %.400s", i+1, schema, plan)
			}
		}
		if computed != 22 {
			t.Errorf("Trino computes %d queries of 22 over %s", computed, schema)
		}
	}
}

// TestRealTrinoFederation names a Trino for statements over several servers, and finds when it is not asked.
func TestRealTrinoFederation(t *testing.T) {
	w := newTrinoWorld(t, "own")
	exec(t, w.other, "CREATE TABLE sales (id int, region int, amount numeric(10,2), gone text)", "INSERT INTO sales SELECT i, i % 3, i * 1.5, 'x' FROM generate_series(1, 30) i",
		"CREATE TABLE seen (id int, at timestamp)", "INSERT INTO seen VALUES (0, '2024-01-01'), (1, 'infinity'), (2, '-infinity')")
	exec(t, w.direct, `CREATE TABLE regions (id int, name text COLLATE "C")`, "INSERT INTO regions VALUES (0, 'north'), (1, 'south'), (2, 'west')")
	exec(t, w.through, "IMPORT FOREIGN SCHEMA public FROM SERVER other INTO public", "DROP ROLE IF EXISTS trino_reader", "CREATE ROLE trino_reader", "GRANT SELECT ON sales, regions TO trino_reader")
	conn := connect(t, w.through)
	t.Cleanup(func() { exec(t, w.through, "DROP OWNED BY trino_reader CASCADE", "DROP ROLE trino_reader") })
	const query = "SELECT r.name, sum(s.amount) FROM sales s JOIN regions r ON r.id = s.region GROUP BY r.name ORDER BY 1"
	const answer = "north|247.50\nsouth|217.50\nwest|232.50"
	for _, c := range []struct{ sql, want string }{
		{"SET sluice.federation_server = 'nowhere'", "SET"}, {query, "42704"},
		{"SET sluice.federation_server = 'other'", "SET"}, {query, "22023"},
		{"SET sluice.federation_server = 'trino'", "SET"}, {query, answer}, {"EXPLAIN " + query, "+Server: trino"},
		{"SET sluice.route = 'federated'", "SET"}, {query, answer}, {"RESET sluice.route", "RESET"},
		{"SET sluice.federation_server = ''", "SET"}, {query, answer}, {"EXPLAIN " + query, "-Server: trino"},
		{"SET sluice.federation_server = 'trino'", "SET"},
		// What the transaction has written, no other session sees.
		{"BEGIN", "BEGIN"}, {"UPDATE regions SET name = 'east' WHERE id = 1", "UPDATE 1"}, {query, "east|217.50\nnorth|247.50\nwest|232.50"},
		{"EXPLAIN " + query, "+VALUES sluice_feed(1)"}, {"ROLLBACK", "ROLLBACK"}, {"EXPLAIN " + query, "-VALUES"},
		{"BEGIN ISOLATION LEVEL REPEATABLE READ", "BEGIN"}, {"EXPLAIN " + query, "+VALUES sluice_feed(1)"}, {"ROLLBACK", "ROLLBACK"},
		// Roles need USAGE of the server, and what they may not see it is not asked for.
		{"SET ROLE trino_reader", "SET"}, {query, "42501"}, {"RESET ROLE", "RESET"},
		{"GRANT USAGE ON FOREIGN SERVER trino TO trino_reader", "GRANT"},
		{"ALTER FOREIGN TABLE sales ENABLE ROW LEVEL SECURITY", "ALTER TABLE"}, {"CREATE POLICY few ON sales TO trino_reader USING (region < 2)", "CREATE POLICY"},
		{"SET ROLE trino_reader", "SET"}, {query, "north|247.50\nsouth|217.50"}, {"EXPLAIN " + query, "+Server: trino"}, {"RESET ROLE", "RESET"},
		{"ALTER TABLE regions ENABLE ROW LEVEL SECURITY", "ALTER TABLE"}, {"CREATE POLICY one ON regions TO trino_reader USING (id = 1)", "CREATE POLICY"},
		{"SET ROLE trino_reader", "SET"}, {query, "south|217.50"}, {"EXPLAIN " + query, "+Home Scan on public.regions"}, {"RESET ROLE", "RESET"},
	} {
		got := rows(t, conn, c.sql)
		switch wanted, has := strings.CutPrefix(c.want, "+"); {
		case has && !strings.Contains(got, wanted), strings.HasPrefix(c.want, "-") && strings.Contains(got, c.want[1:]):
			t.Errorf("%s\n%s; want %s", c.sql, got, c.want)
		case !has && !strings.HasPrefix(c.want, "-") && got != c.want:
			t.Errorf("%s\n got: %s\nwant: %s", c.sql, got, c.want)
		}
	}
	// Trino has no infinite times, and home the last word.
	want(t, conn, "SELECT s.id FROM seen s JOIN regions r ON r.id = s.id WHERE s.at > '2020-01-01' ORDER BY 1", "0\n1")
	// A catalog that does not have what the server has is no obstacle, but for who insists.
	exec(t, w.through, "ALTER SERVER trino OPTIONS (SET catalogs 'other=own')")
	want(t, conn, query, answer)
	rows(t, conn, "SET sluice.route = 'federated'")
	want(t, conn, query, "42P01")
}
