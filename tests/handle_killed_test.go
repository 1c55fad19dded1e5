package tests

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/proxy"
)

// TestHandlesOfAKilledProxy kills a proxy while its sessions make handles, at home and in DuckDB. Another finds what is left of those
// that never came to be: there is a table for each handle, with the rows that it should have, and no other.
func TestHandlesOfAKilledProxy(t *testing.T) {
	const sessions, enough = 6, 24
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	file := filepath.Join(t.TempDir(), "lake.duckdb")
	duckExec(t, file, "CREATE TABLE item AS SELECT range::INTEGER AS id FROM range(20000)", "CREATE VIEW kept AS SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'sluice%'")
	first := startChild(t, home.URL("postgres"))
	through := strings.Replace(direct, home.Addr(), first.addr, 1)
	exec(t, through, "CREATE EXTENSION sluice", "CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '"+file+"', read_only 'false', handles 'true')",
		"CREATE FOREIGN TABLE item (id int) SERVER lake", "CREATE FOREIGN TABLE kept (name text) SERVER lake", "CREATE TABLE plain AS SELECT generate_series(1, 20000) AS id")
	makers := []string{"'TABLE plain'", "'TABLE item'", "'TABLE item', server => 'lake'", "'TABLE plain', server => 'lake'"}
	var made atomic.Int32
	var wg sync.WaitGroup
	reached := make(chan struct{})
	for who := range sessions {
		conn, err := pgx.Connect(timed(t), through)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for i := who; ; i++ {
				if _, err := conn.PgConn().Exec(context.Background(), "SELECT * FROM sluice.materialize("+makers[i%len(makers)]+")").ReadAll(); err != nil {
					if sqlState(err) != "" {
						t.Errorf("%s: %v", makers[i%len(makers)], err)
					}
					return
				}
				if made.Add(1) == enough {
					close(reached)
				}
			}
		})
	}
	<-reached
	first.kill(t)
	wg.Wait()
	second := startChild(t, home.URL("postgres"))
	conn := connect(t, strings.Replace(direct, home.Addr(), second.addr, 1))
	becomes(t, conn, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name <> 'sluice' AND pid <> pg_backend_pid() AND backend_type = 'client backend'", "0")
	becomes(t, conn, "SELECT count(*) - (SELECT count(*) FROM sluice.ctas_handle WHERE server = 'lake') FROM kept", "0")
	want(t, conn, "SELECT count(*) FROM pg_class c WHERE relnamespace = 'sluice_handle'::regnamespace AND NOT EXISTS (SELECT FROM sluice.ctas_handle WHERE relation = c.oid)", "0")
	want(t, conn, "SELECT count(*) >= 24, min(row_count), max(row_count), count(*) FILTER (WHERE to_regclass(relation::text) IS NULL) FROM sluice.ctas_handle", "t|20000|20000|0")
	for _, relation := range strings.Split(rows(t, conn, "SELECT relation FROM sluice.ctas_handles"), "\n") {
		want(t, conn, "SELECT count(*) FROM "+relation, "20000")
	}
}

// TestHandlesOfTwoProxies has two proxies look after the handles of one database.
func TestHandlesOfTwoProxies(t *testing.T) {
	w := keeperWorld(t)
	conn, other := connect(t, w.through), connect(t, proxyURL(startProxy(t, w.home), w.database))
	for range 10 {
		for _, c := range []*pgx.Conn{conn, other} {
			want(t, c, "SELECT row_count FROM sluice.materialize('TABLE item', '1 second', 'keep')", "1000")
			want(t, c, "SELECT row_count FROM sluice.materialize('TABLE plain', '1 second')", "100")
		}
	}
	becomes(t, conn, "SELECT count(*) FROM sluice.ctas_handle", "0")
	becomes(t, other, "SELECT count(*) FROM kept", "0")
	want(t, conn, "SELECT count(*) FROM pg_class WHERE relnamespace = 'sluice_handle'::regnamespace", "0")
}

// TestHandleRowsStay has the rows of a handle stay where they are computed (I13).
func TestHandleRowsStay(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	config, err := pgconn.ParseConfig(direct)
	if err != nil {
		t.Fatal(err)
	}
	behind := newRelay(t, home.Addr())
	config.Port = behind.port()
	file := filepath.Join(t.TempDir(), "lake.duckdb")
	duckExec(t, file, "CREATE TABLE item AS SELECT range::INTEGER AS id, repeat('x', 50) AS name FROM range(200000)")
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}}, Federation: federation()})
	front := newRelay(t, addr)
	through := strings.Replace(direct, home.Addr(), front.address, 1)
	exec(t, through, "CREATE EXTENSION sluice", "CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '"+file+"', read_only 'false', handles 'true')",
		"CREATE FOREIGN TABLE item (id int, name text) SERVER lake", "CREATE TABLE plain AS SELECT i AS id, repeat('x', 50) AS name FROM generate_series(1, 200000) i")
	conn := connect(t, through)
	for _, args := range []string{"'TABLE plain'", "'SELECT * FROM item WHERE id >= 0', server => 'lake'"} {
		before := behind.bytes.Load() + front.bytes.Load()
		want(t, conn, "SELECT row_count FROM sluice.materialize("+args+")", "200000")
		if moved := behind.bytes.Load() + front.bytes.Load() - before; moved > 64<<10 || moved < 100 {
			t.Errorf("%s moves %d bytes", args, moved)
		}
	}
	before := behind.bytes.Load()
	want(t, conn, "SELECT count(*) FROM (TABLE item OFFSET 0) i JOIN plain USING (id)", "199999")
	if moved := behind.bytes.Load() - before; moved < 1<<20 {
		t.Errorf("what moves is not counted: %d bytes", moved)
	}
}
