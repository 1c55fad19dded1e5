package tests

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestDropDatabase drops a database whose clients have left: the proxy does not stay in it. Whoever comes back after a
// while is told of changes as before.
func TestDropDatabase(t *testing.T) {
	home := hometest.Start(t)
	addr := startProxy(t, home)
	visit := func(database string, statements ...string) {
		conn, err := pgx.Connect(timed(t), proxyURL(addr, database))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		for _, sql := range statements {
			exec1(t, conn, sql)
		}
	}
	admin := connect(t, home.URL("postgres"))
	for range 2 { // the second time it is another database of the same name
		exec1(t, admin, "CREATE DATABASE sluice_gone")
		visit("sluice_gone", "CREATE EXTENSION sluice", "CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (directory '/tmp')")
		visit("sluice_gone", "SELECT * FROM sluice.servers", "CREATE TABLE t (a int)", "SELECT sluice.track_statistics('t')")
		exec1(t, admin, "DROP DATABASE sluice_gone") // waits for others to leave, for 5 seconds
	}
}
