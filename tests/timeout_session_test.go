package tests

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// slow is a DuckDB view whose count takes some seconds, far longer than the timeouts of these tests, and comes to an end.
const slow = "CREATE VIEW slow AS SELECT i, md5(md5(i::VARCHAR) || md5((i * 3)::VARCHAR)) AS h FROM range(6000000) r(i)"

// TestIdleTimeoutsSpareWork sets the timeouts of idle sessions below the time that a statement takes at the engine: the
// session is at work meanwhile, and home must not find it idle.
func TestIdleTimeoutsSpareWork(t *testing.T) {
	w := newWorld(t, slow)
	exec(t, w.through, "CREATE FOREIGN TABLE slow (i bigint, h text) SERVER lake")
	const work = "SELECT count(*) FROM slow WHERE h LIKE '%00%' OR i >= 0"
	for name, statements := range map[string][]string{
		"idle_session_timeout":                {"SET idle_session_timeout = 300", work},
		"idle_in_transaction_session_timeout": {"SET idle_in_transaction_session_timeout = 300", "BEGIN", work, work, "COMMIT"},
		"in one query":                        {"SET idle_in_transaction_session_timeout = 300", "BEGIN; " + work + "; COMMIT"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, w.through)
			for _, sql := range statements {
				switch got := rows(t, conn, sql); got {
				case "6000000", "SET", "BEGIN", "COMMIT", "BEGIN\n6000000\nCOMMIT":
				default:
					t.Errorf("%s: %s", sql, got)
				}
			}
		})
	}
}

// suspend runs a few rows of a portal over endless inside the transaction that begin opens and leaves it half read.
func suspend(t *testing.T, conn *pgx.Conn, begin string) *pgproto3.Frontend {
	t.Helper()
	want(t, conn, begin, "SET\nBEGIN")
	front := conn.PgConn().Frontend()
	front.Send(&pgproto3.Parse{Query: "SELECT i FROM endless"})
	front.Send(&pgproto3.Bind{DestinationPortal: "p"})
	front.Send(&pgproto3.Execute{Portal: "p", MaxRows: 10})
	front.Send(&pgproto3.Sync{})
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
	kinds := ""
	for kinds == "" || kinds[len(kinds)-1] != 'Z' {
		m, err := front.Receive()
		if err != nil {
			t.Fatalf("%v after %s", err, kinds)
		}
		kinds += kindOf(m)
	}
	if kinds != "12DDDDDDDDDDsZ" {
		t.Fatalf("got %s", kinds)
	}
	return front
}

// TestTimeoutsEndSuspendedPortals lets home end sessions that hold a portal over an endless result: the client is told in
// home's words, and the engine's stream is closed.
func TestTimeoutsEndSuspendedPortals(t *testing.T) {
	w, streams := newCountedWorld(t, endless)
	exec(t, w.through, declareEndless)
	for name, c := range map[string]struct{ begin, code string }{
		"idle_in_transaction_session_timeout": {"SET idle_in_transaction_session_timeout = 200; BEGIN", "25P03"},
		"transaction_timeout":                 {"SET transaction_timeout = 1500; BEGIN", "25P04"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, w.through)
			if name == "transaction_timeout" && majorOf(t, w.home) < "17" {
				t.Skip("transaction_timeout came with Postgres 17")
			}
			front := suspend(t, conn, c.begin)
			m, err := front.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := m.(*pgproto3.ErrorResponse); !ok || e.Code != c.code || e.Severity != "FATAL" {
				t.Errorf("got %+v", m)
			}
			if m, err := front.Receive(); err == nil {
				t.Errorf("the connection goes on with %+v", m)
			}
			streams.await(t, 0)
		})
	}
}

// TestTransactionTimeout ends statements wherever they spend their time, and the session with them.
func TestTransactionTimeout(t *testing.T) {
	w, streams := newCountedWorld(t, endless)
	if majorOf(t, w.home) < "17" {
		t.Skip("transaction_timeout came with Postgres 17")
	}
	exec(t, w.through, declareEndless, "CREATE TABLE sink (i bigint)")
	for name, sql := range long {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, w.through)
			want(t, conn, "SET transaction_timeout = '1s'", "SET")
			err := drain(timed(t), conn, sql)
			if pe := pgError(err); pe == nil || pe.Code != "25P04" || pe.Severity != "FATAL" {
				t.Errorf("the statement ended with %v", err)
			}
			streams.await(t, 0)
		})
	}
	want(t, connect(t, w.through), "SELECT count(*) FROM sink", "0")
}

// TestTermination has an administrator end sessions wherever they spend their time: the client is told so.
func TestTermination(t *testing.T) {
	w, streams := newCountedWorld(t, endless)
	exec(t, w.through, declareEndless, "CREATE TABLE sink (i bigint)")
	admin := connect(t, w.direct)
	for name, sql := range long {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, w.through)
			opened := streams.opened.Load()
			done := make(chan error, 1)
			go func() { done <- drain(context.Background(), conn, sql) }()
			streams.awaitOpened(t, opened+1)
			want(t, admin, fmt.Sprintf("SELECT pg_terminate_backend(%d)", conn.PgConn().PID()), "t")
			select {
			case err := <-done:
				if pe := pgError(err); pe == nil || pe.Code != "57P01" || pe.Severity != "FATAL" {
					t.Errorf("the statement ended with %v", err)
				}
			case <-time.After(patience):
				t.Fatal("the statement does not end")
			}
			streams.await(t, 0)
		})
	}
}

// TestLockTimeout waits for a lock on a foreign table that another session alters, as on a plain one.
func TestLockTimeout(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS a")
	exec(t, w.through, "CREATE FOREIGN TABLE t (a int) SERVER lake", "CREATE TABLE p (a int)")
	other := connect(t, w.direct)
	want(t, other, "BEGIN; ALTER FOREIGN TABLE t ALTER a SET NOT NULL; LOCK TABLE p", "BEGIN\nALTER FOREIGN TABLE\nLOCK TABLE")
	conn := connect(t, w.through)
	for _, sql := range []string{"SELECT * FROM t", "SELECT * FROM t, p", "SELECT count(*) FROM p", "COPY (SELECT a FROM t) TO STDOUT", "EXPLAIN SELECT * FROM t"} {
		want(t, conn, "SET lock_timeout = 100", "SET")
		want(t, conn, sql, "55P03")
		want(t, conn, "BEGIN", "BEGIN")
		want(t, conn, sql, "55P03")
		want(t, conn, "SELECT 1", "25P02")
		want(t, conn, "ROLLBACK", "ROLLBACK")
	}
	want(t, other, "ROLLBACK", "ROLLBACK")
	want(t, conn, "SELECT * FROM t", "1")
}

// TestIdleSessionTimeout ends a session that does nothing, and what was left open in it.
func TestIdleSessionTimeout(t *testing.T) {
	w := newWorld(t, endless)
	exec(t, w.through, declareEndless)
	conn := connect(t, w.through)
	want(t, conn, "SELECT count(*) FROM (SELECT i FROM endless LIMIT 3) x; SET idle_session_timeout = 100", "3\nSET")
	m, err := conn.PgConn().Frontend().Receive()
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := m.(*pgproto3.ErrorResponse); !ok || e.Code != "57P05" {
		t.Errorf("got %+v", m)
	}
}
