package tests

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded"
	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/internal/oracle"
	"github.com/sluicedb/sluice/internal/pgtest"
	"github.com/sluicedb/sluice/proxy"
)

// federation is the engine for statements over several servers.
func federation() engines.Federation {
	f, err := duckdb.NewFederation(map[string]string{"memory_limit": "500MB"})
	if err != nil {
		panic(err)
	}
	return f
}

// startProxy runs a proxy in front of home for the length of a test and returns its address.
func startProxy(t testing.TB, home *embedded.Home) string {
	config, err := pgconn.ParseConfig(home.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	return serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}}, Federation: federation()})
}

// logTo sends the proxy's log to the test's under -v.
func logTo(t testing.TB) io.Writer {
	if testing.Verbose() {
		return t.Output()
	}
	return io.Discard
}

// proxyURL is the URL of a database through a proxy.
func proxyURL(addr, database string) string {
	return fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable", addr, database)
}

var templates atomic.Int32

// template makes a database that has the extension, for others to be copied from.
func template(t *testing.T, home *embedded.Home) string {
	name := fmt.Sprintf("sluice_template_%d", templates.Add(1))
	exec(t, home.URL("postgres"), "CREATE DATABASE "+name)
	t.Cleanup(func() { exec(t, home.URL("postgres"), "DROP DATABASE "+name+" WITH (FORCE)") })
	t.Run("template", func(t *testing.T) { // its proxy ends with it, so that nobody is connected to the template
		exec(t, proxyURL(startProxy(t, home), name), "CREATE EXTENSION sluice")
	})
	if t.Failed() {
		t.FailNow()
	}
	return name
}

// exec runs statements on a connection of their own.
func exec(t testing.TB, url string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// TestWireProxy runs every script through the proxy, with plain tables and with foreign ones.
func TestWireProxy(t *testing.T) {
	home := hometest.Start(t)
	tmpl := template(t, home)
	for _, path := range scripts(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			addr := startProxy(t, home)
			plain := pgtest.Target{Name: "the proxy", Addr: addr, Home: home.URL("postgres"), Template: tmpl}
			targets := map[string]pgtest.Target{"home": plain}
			if pgtest.UsesTables(path) {
				foreign := plain
				foreign.Name = "the proxy with foreign tables"
				foreign.Foreign = foreignIn(home, addr, t.TempDir())
				targets["foreign"] = foreign
			}
			verifyWire(t, path, home, targets)
		})
	}
}

// foreignIn makes the tables of a script foreign ones, over a DuckDB file of its own for each table command.
func foreignIn(home *embedded.Home, addr, dir string) func(context.Context, string, []pgtest.Table) error {
	var servers int
	return func(ctx context.Context, database string, tables []pgtest.Table) error {
		conn, err := pgx.Connect(ctx, home.URL(database))
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		var create []string
		for _, tb := range tables {
			create = append(create, tb.Create())
		}
		servers++
		server := fmt.Sprintf("lake%d", servers)
		file := filepath.Join(dir, server+".duckdb")
		return oracle.Foreign(ctx, conn, proxyURL(addr, database), server, file, create...)
	}
}

// TestOracle compares the answers over foreign tables with those over plain ones, on every route that can be forced.
func TestOracle(t *testing.T) {
	o := newOracle(t,
		&oracle.Side{Name: "free choice", Schema: "fx"},
		&oracle.Side{Name: "remote", Schema: "fx", Route: "remote"},
		&oracle.Side{Name: "home_join", Schema: "fx", Route: "home_join"},
		&oracle.Side{Name: "read-only", Schema: "fx", Route: "home_join", Quick: true, ReadOnly: true,
			Lacks: []string{"floats GROUP BY f8"}}, // which of -0 and 0 stands for their group is the plan's choice
		&oracle.Side{Name: "parquet", Schema: "fp", Quick: true, Lacks: []string{"spans"}},
		&oracle.Side{Name: "federated", Schema: "fx", Route: "federated"},
		&oracle.Side{Name: "spread", Schema: "fm"},
		&oracle.Side{Name: "spread federated", Schema: "fm", Route: "federated"},
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

// newOracle makes the fixture at home, behind DuckDB and in Parquet.
func newOracle(t *testing.T, sides ...*oracle.Side) *oracle.Oracle {
	url, through, _ := twins(t)
	return oracle.New(t, url, through, sides...)
}

// twins makes the fixture at home, behind DuckDB (schema fx) and in Parquet (schema fp), and returns the database's URL
// around the proxy and through it.
func twins(t *testing.T) (url, through string, lake *oracle.Lake) {
	url, admin := fixture(t)
	through = postgresProxy(t, url)
	dir := t.TempDir()
	lake, err := oracle.Copy(t.Context(), admin, "plain", filepath.Join(dir, "lake.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := lake.Export(t.Context(), dir, "files", "fp")
	if err != nil {
		t.Fatal(err)
	}
	spread := lake.Spread("fm", "plain", "lake", "pond")
	exec(t, through, append(append([]string{
		lake.Server("lake", false), lake.Server("pond", false), "CREATE SCHEMA fm",
		"CREATE SERVER files FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory '" + dir + "')",
	}, append(lake.Tables("lake", "fx"), files...)...), spread...)...)
	return url, through, lake
}
