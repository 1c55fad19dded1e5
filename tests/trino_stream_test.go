package tests

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/internal/trinotest"
)

// declareTPCH declares tables that a Trino makes up as it is read: of 1.5 million rows, and of more than anybody reads; and one of home
// that they are joined with.
func declareTPCH(t *testing.T, url string, s *trinotest.Server) {
	t.Helper()
	exec(t, url, fmt.Sprintf("CREATE SERVER made FOREIGN DATA WRAPPER sluice_trino OPTIONS (host '%s', port '%s', secure 'false', catalog 'tpch')", s.Host, s.Port),
		"CREATE USER MAPPING FOR PUBLIC SERVER made OPTIONS (user 'test')",
		"CREATE FOREIGN TABLE orders (orderkey bigint, clerk varchar(15), comment varchar(79)) SERVER made OPTIONS (schema_name 'sf1')",
		"CREATE FOREIGN TABLE endless (orderkey bigint, comment varchar(44)) SERVER made OPTIONS (schema_name 'sf100000', table_name 'lineitem')",
		"CREATE TABLE parity (k bigint, t text)", "INSERT INTO parity VALUES (0, 'even'), (1, 'odd')")
}

const byTrino = "SET sluice.federation_server = 'made'"

// TestRealTrinoMemory is TestMemory over Trino.
func TestRealTrinoMemory(t *testing.T) {
	s, cluster := trinotest.Start(t), hometest.Start(t)
	home := hometest.Database(t, cluster)
	config, err := pgconn.ParseConfig(home)
	if err != nil {
		t.Fatal(err)
	}
	c := startChild(t, cluster.URL("postgres"))
	url := proxyURL(c.addr, config.Database)
	exec(t, url, "CREATE EXTENSION sluice")
	declareTPCH(t, url, s)
	if n := stream(t, url, "", "SELECT * FROM orders WHERE orderkey <= 60000", false); n != 15000 { // warm-up: pools and buffers
		t.Fatalf("%d rows", n)
	}
	c.read(t, url, 0, []reading{
		{"simple, 1x", "", "SELECT * FROM orders WHERE orderkey <= 600000", false, 150000},
		{"simple, 10x", "", "SELECT * FROM orders", false, 1500000},
		{"federated, 10x", byTrino, "SELECT o.*, p.t FROM orders o JOIN parity p ON p.k = o.orderkey % 2", true, 1500000},
	})
}

// TestRealTrinoCancel ends statements in each way that a client has, and finds that Trino has ended them.
func TestRealTrinoCancel(t *testing.T) {
	s := trinotest.Start(t)
	url := trinoURL(t)
	declareTPCH(t, url, s)
	conn := connect(t, url)
	want(t, conn, byTrino, "SET")
	const joined = "FROM endless e JOIN parity p ON p.k = e.orderkey % 2"
	for name, sql := range map[string]string{
		"stream": "SELECT * FROM endless", "aggregate": "SELECT count(*) FROM endless WHERE comment <> ''", "copy": "COPY (SELECT orderkey FROM endless) TO STDOUT",
		"federated": "SELECT e.orderkey, p.t " + joined, "federated aggregate": "SELECT p.t, count(*) " + joined + " GROUP BY p.t", "home_join": "SELECT reverse(comment) FROM endless",
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan error, 1)
			go func() { done <- drain(context.Background(), conn, sql) }()
			if err := cancelUntil(t, conn, done, time.Second); sqlState(err) != "57014" {
				t.Errorf("the cancelled statement ended with %v", err)
			}
			idleTrino(t, s)
		})
	}
	for name, sql := range map[string]string{"portal": "SELECT orderkey FROM endless", "federated portal": "SELECT e.orderkey " + joined} {
		t.Run(name, func(t *testing.T) {
			want(t, conn, "BEGIN", "BEGIN")
			front := conn.PgConn().Frontend()
			front.Send(&pgproto3.Parse{Query: sql})
			front.Send(&pgproto3.Bind{DestinationPortal: "p"})
			front.Send(&pgproto3.Execute{Portal: "p", MaxRows: 3})
			if n := rowsUntilReady(t, front); n != 3 || s.Running(t) != 1 {
				t.Errorf("%d rows came, %d statements run", n, s.Running(t))
			}
			front.Send(&pgproto3.Close{ObjectType: 'P', Name: "p"})
			rowsUntilReady(t, front)
			idleTrino(t, s)
			want(t, conn, "ROLLBACK", "ROLLBACK")
		})
	}
	t.Run("hangup", func(t *testing.T) {
		other := connect(t, url)
		go func() { _ = drain(context.Background(), other, "SELECT * FROM endless") }()
		for end := time.Now().Add(patience); s.Running(t) == 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		}
		if err := other.PgConn().Conn().Close(); err != nil {
			t.Fatal(err)
		}
		idleTrino(t, s)
	})
}

// idleTrino waits until no statement of Sluice's runs.
func idleTrino(t *testing.T, s *trinotest.Server) {
	t.Helper()
	for end := time.Now().Add(patience); s.Running(t) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a statement still runs at Trino")
		}
	}
}

// rowsUntilReady sends what is to be sent, and a Sync, and counts the rows of the answer.
func rowsUntilReady(t *testing.T, front *pgproto3.Frontend) (n int) {
	t.Helper()
	front.Send(&pgproto3.Sync{})
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		m, err := front.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.DataRow:
			n++
		case *pgproto3.ErrorResponse:
			t.Fatal(pgconn.ErrorResponseToPgError(m))
		case *pgproto3.ReadyForQuery:
			return n
		}
	}
}
