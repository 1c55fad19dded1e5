package tests

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
	bigqueryfake "github.com/sluicedb/sluice/engines/bigquery/fake"
	databricksfake "github.com/sluicedb/sluice/engines/databricks/fake"
	"github.com/sluicedb/sluice/internal/clickhousetest"
	"github.com/sluicedb/sluice/internal/mariadbtest"
	"github.com/sluicedb/sluice/internal/tdstest"
	"github.com/sluicedb/sluice/internal/trinotest"
)

// handlePlace is a server that takes handles. It is foreign server keep, through what a test can take down, and foreign server seen, of
// which nothing is ever down.
type handlePlace struct {
	declare  []string
	fill     string   // a query that it computes whole, without an end; empty where it fills no tables so
	tables   counting // of handles
	running  counting // of statements of theirs
	down, up func()   // nothing gets through in between
}

// counting is done for on a connection to the proxy.
type counting func(t *testing.T, conn *pgx.Conn) string

func asks(sql string) counting {
	return func(t *testing.T, conn *pgx.Conn) string { return rows(t, conn, sql) }
}

func counts(n func() int) counting {
	return func(*testing.T, *pgx.Conn) string { return strconv.Itoa(n()) }
}

// beyond has a place be beyond a network, whose port on this machine it returns.
func (p *handlePlace) beyond(t *testing.T, server string) (port string) {
	network := newRelay(t, server)
	p.down, p.up = network.down, func() { network.up(t) }
	return strconv.Itoa(int(network.port()))
}

// handlePlaces are those that every machine has.
var handlePlaces = map[string]func(t *testing.T) *handlePlace{
	"ClickHouse": clickHousePlace, "BigQuery": bigQueryPlace, "Databricks": databricksPlace, "MariaDB": mariaPlace, "SQL Server": sqlServerPlace, "SQLite": sqlitePlace,
}

func clickHousePlace(t *testing.T) *handlePlace {
	const database = "handle_place"
	s := clickhousetest.Start(t)
	s.Run(t, "DROP DATABASE IF EXISTS "+database, "CREATE DATABASE "+database, "CREATE VIEW "+database+".endless AS SELECT toInt64(number) AS i FROM system.numbers")
	p := &handlePlace{fill: "SELECT i FROM endless", running: counts(func() int { return s.Running(t) }),
		tables: asks("SELECT count(*) FROM tables WHERE database = '" + database + "' AND name LIKE 'sluice_handle%'")}
	port := p.beyond(t, net.JoinHostPort(s.Host, s.Port))
	for name, at := range map[string]string{
		"keep": fmt.Sprintf("host '127.0.0.1', port '%s', database '%s', handles 'true'", port, database), "seen": fmt.Sprintf("host '%s', port '%s'", s.Host, s.Port),
	} {
		p.declare = append(p.declare, "CREATE SERVER "+name+" FOREIGN DATA WRAPPER sluice_clickhouse OPTIONS ("+at+")", "CREATE USER MAPPING FOR PUBLIC SERVER "+name+" OPTIONS (user 'analyst', password 'secret')")
	}
	p.declare = append(p.declare, "CREATE FOREIGN TABLE tables (database text, name text) SERVER seen OPTIONS (schema_name 'system')",
		"CREATE FOREIGN TABLE endless (i bigint) SERVER keep OPTIONS (schema_name '"+database+"')")
	return p
}

func bigQueryPlace(t *testing.T) *handlePlace {
	f := bigqueryfake.Start(t, "CREATE SCHEMA kept", "CREATE VIEW kept.endless AS SELECT i FROM range(1000000000000) r(i)")
	p := &handlePlace{fill: "SELECT i FROM endless", tables: counts(func() int { return len(f.Left()) }), running: counts(func() int { return int(f.Running.Load()) })}
	port := p.beyond(t, strings.TrimPrefix(f.URL, "http://"))
	p.declare = append(bigServer("keep", "http://127.0.0.1:"+port, f.Address), "ALTER SERVER keep OPTIONS (ADD dataset 'kept', ADD handles 'true', ADD connect_timeout '2')",
		"CREATE FOREIGN TABLE endless (i bigint) SERVER keep OPTIONS (schema_name 'kept')")
	return p
}

func databricksPlace(t *testing.T) *handlePlace {
	f := databricksfake.Start(t, "CREATE SCHEMA keeper", "CREATE VIEW keeper.endless AS SELECT i FROM range(1000000000000) r(i)")
	p := &handlePlace{fill: "SELECT i FROM endless", running: counts(func() int { return int(f.Running.Load()) }),
		tables: asks("SELECT count(*) FROM tables WHERE table_schema = 'keeper' AND table_name LIKE 'sluice_handle%'")}
	port := p.beyond(t, f.Listener.Addr().String())
	p.declare = append(brickServer("keep", "lake", "http://127.0.0.1:"+port, ", schema 'keeper', handles 'true'"), brickServer("seen", "lake", f.URL, "")...)
	p.declare = append(p.declare, "CREATE FOREIGN TABLE endless (i bigint) SERVER keep OPTIONS (schema_name 'keeper')",
		"CREATE FOREIGN TABLE tables (table_schema text, table_name text) SERVER seen OPTIONS (schema_name 'fake_information')")
	return p
}

func mariaPlace(t *testing.T) *handlePlace {
	const database = "handle_place"
	s := mariadbtest.Start(t)
	if err := s.Do(t.Context(), "", "DROP DATABASE IF EXISTS "+database, "CREATE DATABASE "+database); err != nil {
		t.Fatal(err)
	}
	p := &handlePlace{
		tables:  asks("SELECT count(*) FROM tables WHERE table_schema = '" + database + "' AND table_name LIKE 'sluice_handle%'"),
		running: asks("SELECT count(*) FROM processlist WHERE db = '" + database + "' AND command <> 'Sleep'"),
	}
	port := p.beyond(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)))
	for name, at := range map[string]string{"keep": port + "', database '" + database + "', handles 'true", "seen": strconv.Itoa(s.Port)} {
		p.declare = append(p.declare, "CREATE SERVER "+name+" FOREIGN DATA WRAPPER sluice_sql OPTIONS (driver 'mysql', host '127.0.0.1', port '"+at+"')",
			fmt.Sprintf("CREATE USER MAPPING FOR PUBLIC SERVER %s OPTIONS (user '%s', password '%s')", name, mariadbtest.Admin, mariadbtest.AdminPassword))
	}
	p.declare = append(p.declare, "CREATE FOREIGN TABLE tables (table_schema text, table_name text) SERVER seen OPTIONS (schema_name 'information_schema')",
		"CREATE FOREIGN TABLE processlist (db text, command text) SERVER seen OPTIONS (schema_name 'information_schema')")
	return p
}

func sqlServerPlace(t *testing.T) *handlePlace {
	s := tdstest.Start(t, hometest.Database(t, hometest.Start(t)))
	behind := connect(t, s.URL)
	p := &handlePlace{running: counts(s.Running), tables: func(t *testing.T, _ *pgx.Conn) string {
		return rows(t, behind, "SELECT count(*) FROM pg_class WHERE relname LIKE 'sluice_handle%' AND relkind = 'r'")
	}}
	port := p.beyond(t, net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)))
	p.declare = []string{
		fmt.Sprintf("CREATE SERVER keep FOREIGN DATA WRAPPER sluice_mssql OPTIONS (host '127.0.0.1', port '%s', database 'sales', sslmode 'disable', handles 'true')", port),
		fmt.Sprintf("CREATE USER MAPPING FOR PUBLIC SERVER keep OPTIONS (user '%s', password '%s')", tdstest.User, strings.ReplaceAll(tdstest.Password, "'", "''")),
	}
	return p
}

// sqlitePlace is a file, which is down while somebody else writes to it. Nothing runs in it but the proxy's own statements.
func sqlitePlace(t *testing.T) *handlePlace {
	file := filepath.Join(t.TempDir(), "keep.db")
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: file}).EscapedPath()+"?_busy_timeout=60000&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ask := func(sql string) (n int) {
		if err := db.QueryRow(sql).Scan(&n); err != nil {
			t.Error(err)
		}
		return n
	}
	ask("SELECT count(*) FROM sqlite_schema") // which makes the file
	var writing *sql.Tx
	return &handlePlace{
		declare: []string{"CREATE SERVER keep FOREIGN DATA WRAPPER sluice_sql OPTIONS (driver 'sqlite', file '" + file + "', connect_timeout '1', handles 'true')"},
		tables:  counts(func() int { return ask("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'sluice_handle%'") }), running: counts(func() int { return 0 }),
		down: func() {
			if writing, err = db.BeginTx(context.Background(), nil); err != nil {
				t.Error(err)
			}
		},
		up: func() { _ = writing.Rollback() },
	}
}

// trinoPlace is a Trino, whose tables stand in memory.
func trinoPlace(t *testing.T) *handlePlace {
	s := trinotest.Start(t)
	s.Run(t, "CREATE SCHEMA memory.place", "CREATE VIEW memory.place.endless AS SELECT orderkey AS i FROM tpch.sf100000.lineitem")
	t.Cleanup(func() { s.Run(t, "DROP SCHEMA memory.place CASCADE") })
	p := &handlePlace{fill: "SELECT count(*) AS n FROM endless", running: counts(func() int { return s.Running(t) }), tables: counts(func() int {
		return int(s.Ask(t, "SELECT count(*) FROM memory.information_schema.tables WHERE table_schema = 'place' AND starts_with(table_name, 'sluice_handle')")[0][0].(float64))
	})}
	port := p.beyond(t, s.Address())
	p.declare = []string{
		fmt.Sprintf("CREATE SERVER keep FOREIGN DATA WRAPPER sluice_trino OPTIONS (host '127.0.0.1', port '%s', secure 'false', catalog 'memory', schema 'place', handles 'true')", port),
		`CREATE USER MAPPING FOR PUBLIC SERVER keep OPTIONS ("user" 'analyst')`, "CREATE FOREIGN TABLE endless (i bigint) SERVER keep OPTIONS (schema_name 'place')",
	}
	return p
}
