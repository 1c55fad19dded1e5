package tests

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/bigquery"
	bigfake "github.com/sluicedb/sluice/engines/bigquery/fake"
	"github.com/sluicedb/sluice/engines/clickhouse"
	"github.com/sluicedb/sluice/engines/databricks"
	brickfake "github.com/sluicedb/sluice/engines/databricks/fake"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/engines/postgres"
	"github.com/sluicedb/sluice/engines/snowflake"
	flakefake "github.com/sluicedb/sluice/engines/snowflake/fake"
	"github.com/sluicedb/sluice/engines/sqldb"
	"github.com/sluicedb/sluice/engines/trino"
	"github.com/sluicedb/sluice/internal/chdbtest"
	"github.com/sluicedb/sluice/internal/clickhousetest"
	"github.com/sluicedb/sluice/internal/mariadbtest"
	"github.com/sluicedb/sluice/internal/registry"
	"github.com/sluicedb/sluice/internal/tdstest"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/proxy"
)

// listedEngine is a line of docs/engines.md.
type listedEngine struct {
	name    string
	page    string
	wrapper engines.Wrapper
	driver  string                            // of sluice_sql
	server  func(t *testing.T) engines.Server // a real one; nil where there is but a fake
}

var listedEngines = []listedEngine{
	{"DuckDB", "duckdb.md", duckdb.Wrapper{}, "", func(t *testing.T) engines.Server {
		file := filepath.Join(t.TempDir(), "lake.duckdb")
		duckExec(t, file)
		return engines.Server{Options: map[string]string{"database": file}}
	}},
	{"another Postgres", "postgres.md", postgres.Wrapper{}, "", func(t *testing.T) engines.Server {
		u, err := url.Parse(hometest.Database(t, hometest.Start(t)))
		if err != nil {
			t.Fatal(err)
		}
		return engines.Server{Options: map[string]string{"host": u.Hostname(), "port": u.Port(), "dbname": u.Path[1:]},
			Mapping: map[string]string{"user": u.User.Username(), "password_required": "false"}}
	}},
	{"ClickHouse", "clickhouse.md", clickhouse.Wrapper{}, "", clickhouseServer},
	{"ClickHouse over HTTP", "clickhouse.md", clickhouse.Wrapper{}, "", func(t *testing.T) engines.Server {
		s := clickhouseServer(t)
		s.Options["protocol"], s.Options["port"] = "http", clickhousetest.Start(t).HTTP
		return s
	}},
	{"current ClickHouse", "clickhouse.md", clickhouse.Wrapper{}, "", func(t *testing.T) engines.Server {
		return clickhouseAt(clickhousetest.Current(t))
	}},
	{"current ClickHouse over HTTP", "clickhouse.md", clickhouse.Wrapper{}, "", func(t *testing.T) engines.Server {
		s := chdbtest.Start(t)
		return engines.Server{Options: map[string]string{"protocol": "http", "host": s.Host, "port": s.Port}, Mapping: map[string]string{"user": chdbtest.User, "password": chdbtest.Password}}
	}},
	{"MariaDB", "sql.md", sqldb.Wrapper{}, "mysql", func(t *testing.T) engines.Server {
		return engines.Server{Options: map[string]string{"driver": "mysql", "host": "127.0.0.1", "port": strconv.Itoa(mariadbtest.Start(t).Port), "database": "mysql"},
			Mapping: map[string]string{"user": mariadbtest.Reader, "password": mariadbtest.ReaderPassword}}
	}},
	{"SQLite", "sql.md", sqldb.Wrapper{}, "sqlite", func(t *testing.T) engines.Server {
		file := filepath.Join(t.TempDir(), "lite.db")
		(&sqlWorld{file: file}).lite(t, "CREATE TABLE t (a INTEGER)")
		return engines.Server{Options: map[string]string{"driver": "sqlite", "file": file}}
	}},
	{"Trino", "trino.md", trino.Wrapper{}, "", trinoServer},
	{"BigQuery", "bigquery.md", bigquery.Wrapper{}, "", nil},
	{"SQL Server", "mssql.md", sqldb.SQLServer{}, "", nil},
	{"Databricks", "databricks.md", databricks.Wrapper{}, "", nil},
	{"Snowflake", "snowflake.md", snowflake.Wrapper{}, "", nil},
}

// fakes stand in for servers of engines by name.
var fakes = map[string]func(t *testing.T) engines.Server{
	"BigQuery": func(t *testing.T) engines.Server {
		p := bigfake.Start(t)
		return engines.Server{Options: map[string]string{"project": bigfake.Name, "endpoint": p.URL, "storage_endpoint": p.Address}, Mapping: map[string]string{"access_token": bigfake.Token}}
	},
	"Databricks": func(t *testing.T) engines.Server {
		return engines.Server{Options: map[string]string{"host": brickfake.Start(t).URL, "warehouse_id": brickfake.Warehouse}, Mapping: map[string]string{"token": brickfake.Token}}
	},
	"SQL Server": func(t *testing.T) engines.Server {
		m := tdstest.Start(t, hometest.Database(t, hometest.Start(t)))
		return engines.Server{Options: map[string]string{"host": "127.0.0.1", "port": strconv.Itoa(m.Port), "database": "sales", "sslmode": "disable"},
			Mapping: map[string]string{"user": tdstest.User, "password": tdstest.Password}}
	},
	"Snowflake": func(t *testing.T) engines.Server {
		return engines.Server{Options: flakefake.Start(t).Options(), Mapping: map[string]string{"user": flakefake.User, "password": flakefake.Password}}
	},
}

// TestEnginesPage certifies each engine, and compares what is found with docs/engines.md. An engine whose server this machine
// does not have keeps what its line says of the server.
func TestEnginesPage(t *testing.T) {
	enginesPage(t, func(e listedEngine) bool { return e.name != slowest })
}

// slowest is the engine whose fake takes longest, a second for each hundred thousand rows.
const slowest = "SQL Server"

// TestRealEnginesPage is TestEnginesPage for the engines whose servers are downloaded, and for the slowest.
func TestRealEnginesPage(t *testing.T) {
	registry.Need(t)
	enginesPage(t, func(e listedEngine) bool {
		return e.name == "Trino" || e.name == "current ClickHouse" || e.name == "current ClickHouse over HTTP" || e.name == slowest
	})
}

// enginesPage certifies some of the engines. The others keep what their lines say of their servers.
func enginesPage(t *testing.T, some func(e listedEngine) bool) {
	const path, begin, end = "../docs/engines.md", "-docs.write -->\n", "<!-- end -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	table, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no table", path)
	}
	lines := []string{"", "| engine | version tested | certified | real or fake | shipped |", "|---|---|---|---|---|"}
	for _, e := range listedEngines {
		line := ""
		if some(e) {
			t.Run(e.name, func(t *testing.T) { line = e.line(t) })
		}
		if line == "" { // it was skipped, or has failed
			i := slices.IndexFunc(strings.Split(table, "\n"), func(l string) bool { return strings.HasPrefix(l, e.title()) })
			if i < 0 {
				t.Fatalf("%s has no line of %s", path, e.name)
			}
			cells := strings.Split(strings.Split(table, "\n")[i], "|")
			cells[len(cells)-2] = " " + dialect.Shipped(e.dialect(t)) + " " // which takes no server
			line = strings.Join(cells, "|")
		}
		lines = append(lines, line)
	}
	want := head + begin + strings.Join(lines, "\n") + "\n\n" + end + tail
	if *docsWrite {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s is not what is found: run go test ./tests -run TestEnginesPage -docs.write\n%s", path, strings.Join(lines, "\n"))
	}
}

func (e listedEngine) title() string { return "| [" + e.name + "](" + e.page + ") |" }

// shortVersion is what of a version does not change with each repair.
var shortVersion = regexp.MustCompile(`^.*?\d+(\.\d+)?`)

func (e listedEngine) dialect(t *testing.T) dialect.Dialect {
	d, err := dialect.Of(&catalog.Server{Wrapper: e.wrapper.Name(), Options: map[string]string{"driver": e.driver}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (e listedEngine) line(t *testing.T) string {
	d := e.dialect(t)
	start, kind := e.server, "real"
	if start == nil {
		start, kind = fakes[e.name], "fake"
	}
	s := start(t)
	s.Name = "certified"
	engine, err := e.wrapper.Open(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	found, err := proxy.Certify(t.Context(), engine)
	if err != nil {
		t.Fatal(err)
	}
	var terminals []string
	for _, terminal := range []string{"row", "arrow"} {
		good := true
		for _, f := range found {
			if f.Terminal == terminal && !f.Certified {
				good = false
				if terminal == "row" {
					t.Errorf("%s is not certified: %s: %s", e.name, f.Capability, f.Detail)
				}
			}
		}
		if good {
			terminals = append(terminals, map[string]string{"row": "row", "arrow": "Arrow"}[terminal])
		}
	}
	version := shortVersion.FindString(found[0].Version)
	if strings.HasPrefix(version, "PostgreSQL") { // make versions runs with each
		version = "PostgreSQL 15 to 18"
	}
	if kind == "fake" {
		version = "a fake of " + version
	}
	return fmt.Sprintf("%s %s | %s | %s | %s |", e.title(), version, strings.Join(terminals, ", "), kind, dialect.Shipped(d))
}

func clickhouseServer(t *testing.T) engines.Server { return clickhouseAt(clickhousetest.Start(t)) }

func clickhouseAt(s *clickhousetest.Server) engines.Server {
	return engines.Server{Options: map[string]string{"host": s.Host, "port": s.Port}, Mapping: map[string]string{"user": "analyst", "password": "secret"}}
}
