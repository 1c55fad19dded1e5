package tests

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/databricks"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/engines/postgres"
	"github.com/sluicedb/sluice/internal/oracle"
	"github.com/sluicedb/sluice/proxy"
)

// postgresProxy runs a proxy that has both engines, makes the extension in a database and returns the URL of that through
// the proxy.
func postgresProxy(t *testing.T, home string) (through string) {
	config, err := pgconn.ParseConfig(home)
	if err != nil {
		t.Fatal(err)
	}
	through = proxyURL(startBoth(t, config), config.Database)
	exec(t, through, "CREATE EXTENSION sluice")
	return through
}

// startBoth runs a proxy that has the engines of foreign tables for the length of a test and returns its address.
func startBoth(t *testing.T, config *pgconn.Config) (addr string) {
	return serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, postgres.Wrapper{}, databricks.Wrapper{}}, Federation: federation()})
}

// otherServer returns the statements that declare a database as foreign server "other" for everybody. Those who own it are superusers,
// so that it need not ask for a password.
func otherServer(t *testing.T, address, options string) []string {
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		fmt.Sprintf("CREATE SERVER other FOREIGN DATA WRAPPER sluice_postgres OPTIONS (host '%s', port '%s', dbname '%s'%s)",
			u.Hostname(), u.Port(), u.Path[1:], options),
		"CREATE USER MAPPING FOR PUBLIC SERVER other OPTIONS (user 'postgres', password_required 'false')",
	}
}

// newPostgresOracle makes the fixture at home and in another database, which is imported as schema fx.
func newPostgresOracle(t *testing.T, sides ...*oracle.Side) *oracle.Oracle {
	other, _ := fixture(t)
	return oracleOver(t, other, sides...)
}

// oracleOver is newPostgresOracle with the other database given.
func oracleOver(t *testing.T, other string, sides ...*oracle.Side) *oracle.Oracle {
	home, _ := fixture(t)
	through := postgresProxy(t, home)
	exec(t, through, append(otherServer(t, other, ""), "IMPORT FOREIGN SCHEMA plain FROM SERVER other INTO fx")...)
	return oracle.New(t, home, through, sides...)
}

// TestPostgresOracle is TestOracle over another Postgres.
func TestPostgresOracle(t *testing.T) {
	o := newPostgresOracle(t,
		&oracle.Side{Name: "free choice", Schema: "fx"},
		&oracle.Side{Name: "remote", Schema: "fx", Route: "remote"},
		&oracle.Side{Name: "home_join", Schema: "fx", Route: "home_join", Quick: true},
		&oracle.Side{Name: "read-only", Schema: "fx", Route: "home_join", Quick: true, ReadOnly: true, Lacks: []string{"floats GROUP BY f8"}},
	)
	for _, file := range statements(t) {
		t.Run(file.name, func(t *testing.T) {
			for _, s := range file.list {
				o.Compare(t, s)
			}
		})
	}
	t.Log(o.Report())
}

// TestPostgresOracleOfOtherCollation asks a database that orders text in another way, and knows other letters.
func TestPostgresOracleOfOtherCollation(t *testing.T) {
	cluster := hometest.Start(t)
	name := fmt.Sprintf("bytewise_%d", os.Getpid())
	exec(t, cluster.URL("postgres"), "CREATE DATABASE "+name+" TEMPLATE template0 LOCALE 'C'")
	t.Cleanup(func() { exec(t, cluster.URL("postgres"), "DROP DATABASE "+name+" WITH (FORCE)") })
	text, err := os.ReadFile("testdata/fixture.sql")
	if err != nil {
		t.Fatal(err)
	}
	exec(t, cluster.URL(name), string(text))
	o := oracleOver(t, cluster.URL(name), &oracle.Side{Name: "free choice", Schema: "fx", Quick: true}, &oracle.Side{Name: "remote", Schema: "fx", Route: "remote", Quick: true})
	for _, file := range statements(t) {
		for _, s := range file.list {
			if s.Setting || strings.Contains(s.SQL, "texts") || strings.Contains(s.SQL, "customers") || strings.Contains(s.SQL, "emp") {
				o.Compare(t, s)
			}
		}
	}
	t.Log(o.Report())
}
