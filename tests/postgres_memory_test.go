package tests

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestPostgresMemory is TestMemory over another Postgres, whose rows are relayed.
func TestPostgresMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what streams gigabytes")
	}
	cluster := hometest.Start(t)
	home, other := hometest.Database(t, cluster), hometest.Database(t, cluster)
	exec(t, other,
		"CREATE VIEW big AS SELECT generate_series(1, 5000000::bigint) AS i, repeat('x', 220) AS t",
		"CREATE VIEW small AS SELECT generate_series(1, 500000::bigint) AS i, repeat('x', 220) AS t",
		"CREATE VIEW wide AS SELECT generate_series(1, 1024::bigint) AS i, repeat('y', 1048576) AS t")
	config, err := pgconn.ParseConfig(home)
	if err != nil {
		t.Fatal(err)
	}
	c := startChild(t, cluster.URL("postgres"))
	url := proxyURL(c.addr, config.Database)
	exec(t, url, "CREATE EXTENSION sluice")
	exec(t, url, append(otherServer(t, other, ""), "IMPORT FOREIGN SCHEMA public FROM SERVER other INTO public")...)
	if n := stream(t, url, "", "SELECT * FROM small", false); n != 500000 { // warm-up: pools and buffers
		t.Fatalf("%d rows", n)
	}
	c.read(t, url, 0, []reading{
		{"simple, 1x", "", "SELECT * FROM small", false, 500000},
		{"simple, 10x", "", "SELECT * FROM big", false, 5000000},
		{"extended binary", "SET sluice.route = 'remote'", "SELECT * FROM big", true, 5000000},
		{"copy", "", "COPY (SELECT * FROM big) TO STDOUT", false, 5000000},
		{"wide rows", "", "SELECT * FROM wide", false, 1024},
		{"home_join", "SET sluice.route = 'home_join'", "SELECT * FROM small", false, 500000},
	})
}
