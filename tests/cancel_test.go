package tests

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// endless is a DuckDB view that no statement comes to the end of, and the statement that declares it.
const (
	endless        = "CREATE VIEW endless AS SELECT i, i * 2 AS j FROM range(1000000000000) r(i)"
	declareEndless = "CREATE FOREIGN TABLE endless (i bigint, j bigint) SERVER lake"
)

// long are statements over endless that would run for hours, by the place where they spend them.
var long = map[string]string{
	"aggregate":       "SELECT count(*) FROM endless WHERE i % 7 = 3",
	"sort":            "SELECT i FROM endless ORDER BY j % 1000, i",
	"stream":          "SELECT i, j FROM endless",
	"join with home":  "SELECT sum(i) FROM endless JOIN generate_series(1, 3) g ON g = i",
	"home aggregate":  "SELECT sum(length(md5(i::text))) FROM endless",
	"copy":            "COPY (SELECT i FROM endless) TO STDOUT",
	"into home":       "INSERT INTO sink SELECT i FROM endless",
	"create table as": "CREATE TEMP TABLE ctas AS SELECT i FROM endless",
	"cursor":          "BEGIN; DECLARE c CURSOR FOR SELECT i FROM endless; MOVE ALL c",
	"handle":          "SELECT * FROM sluice.materialize('SELECT i FROM endless')",
	"federated":       "SELECT e.i FROM endless e LEFT JOIN sink s ON s.i = e.i",
	"federated count": "SELECT count(*) FROM endless e LEFT JOIN sink s ON s.i = e.i WHERE e.i % 7 = 3",
	"explain analyze": "EXPLAIN ANALYZE SELECT count(*) FROM endless WHERE i % 7 = 3",
}

// drain runs a statement and throws rows away as they come, after calling started.
func drain(ctx context.Context, conn *pgx.Conn, sql string) error {
	front := conn.PgConn().Frontend()
	front.Send(&pgproto3.Query{String: sql})
	if err := front.Flush(); err != nil {
		return err
	}
	var failure error
	for ctx.Err() == nil {
		m, err := front.Receive()
		if err != nil && failure != nil { // it was told why the session ends
			return failure
		}
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			failure = pgconn.ErrorResponseToPgError(m)
		case *pgproto3.ReadyForQuery:
			return failure
		}
	}
	return ctx.Err()
}

// TestCancel cancels statements wherever they are; the session lives on (C-06, C-07).
func TestCancel(t *testing.T) {
	w := newWorld(t, endless)
	exec(t, w.through, declareEndless, "CREATE TABLE sink (i bigint)")
	for name, sql := range long {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, w.through)
			for round := range 3 {
				done := make(chan error, 1)
				go func() { done <- drain(context.Background(), conn, sql) }()
				if err := cancelUntil(t, conn, done, time.Duration(round)*50*time.Millisecond); sqlState(err) != "57014" {
					t.Fatalf("round %d: the cancelled statement ended with %v", round, err)
				}
				want(t, conn, "ROLLBACK; SELECT 1", "ROLLBACK\n1")
			}
			want(t, conn, "SELECT count(*) FROM sink", "0")
		})
	}
}

// cancelUntil sends cancel requests until the statement ends, as a request that comes before the statement hits nothing.
func cancelUntil(t *testing.T, conn *pgx.Conn, done chan error, first time.Duration) error {
	t.Helper()
	wait := time.After(first)
	deadline := time.After(patience)
	for {
		select {
		case err := <-done:
			return err
		case <-wait:
			if err := conn.PgConn().CancelRequest(timed(t)); err != nil {
				t.Fatal(err)
			}
			wait = time.After(100 * time.Millisecond)
		case <-deadline:
			t.Fatal("the statement does not end")
		}
	}
}

// TestStatementTimeout keeps the meaning of statement_timeout wherever the time goes (C-05).
func TestStatementTimeout(t *testing.T) {
	w := newWorld(t, endless)
	exec(t, w.through, declareEndless, "CREATE TABLE sink (i bigint)")
	for name, sql := range long {
		t.Run(name, func(t *testing.T) {
			conn := connect(t, w.through)
			want(t, conn, "SET statement_timeout = '250ms'", "SET")
			err := drain(timed(t), conn, sql)
			if pe := pgError(err); pe == nil || pe.Code != "57014" || pe.Message != "canceling statement due to statement timeout" {
				t.Errorf("the statement ended with %v", err)
			}
			want(t, conn, "ROLLBACK; SELECT count(*) FROM sink", "ROLLBACK\n0")
		})
	}
}

// TestClientGone breaks connections in the midst of statements: all that they held is freed (C-04).
func TestClientGone(t *testing.T) {
	w := newWorld(t, endless)
	exec(t, w.through, declareEndless, "CREATE TABLE sink (i bigint)")
	want(t, connect(t, w.through), "SELECT count(*) FROM (SELECT i FROM endless LIMIT 3) x", "3")
	before := settled(t, 1<<30)
	var wg sync.WaitGroup
	for name, sql := range long {
		for range 3 {
			conn, err := pgx.Connect(timed(t), w.through)
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				time.AfterFunc(300*time.Millisecond, func() { _ = conn.PgConn().Conn().Close() })
				if err := drain(context.Background(), conn, sql); err == nil {
					t.Errorf("%s came to an end", name)
				}
			})
		}
	}
	wg.Wait()
	if after := settled(t, before+2); after > before+2 {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines before, %d after the clients went\n%s", before, after, buf[:runtime.Stack(buf, true)])
	}
	want(t, connect(t, w.direct), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()", "0")
}

// settled waits until no more than limit goroutines run, or the number no longer falls.
func settled(t *testing.T, limit int) int {
	n := runtime.NumGoroutine()
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond) // nothing signals that a goroutine is gone
		last := n
		if n = runtime.NumGoroutine(); n <= limit && n == last {
			break
		}
	}
	return n
}

// TestCancelsPoisonNothing cancels a hundred streams and asks for right answers after each (C-07).
func TestCancelsPoisonNothing(t *testing.T) {
	w := newWorld(t, endless)
	exec(t, w.through, declareEndless)
	conn := connect(t, w.through)
	for i := range 100 {
		rows, err := conn.Query(timed(t), "SELECT i FROM endless")
		if err != nil {
			t.Fatal(err)
		}
		for range i % 10 * 100 {
			if !rows.Next() {
				t.Fatalf("round %d: the stream ended: %v", i, rows.Err())
			}
		}
		if err := conn.PgConn().CancelRequest(timed(t)); err != nil {
			t.Fatal(err)
		}
		rows.Close()
		if sqlState(rows.Err()) != "57014" {
			t.Fatalf("round %d: the stream ended with %v", i, rows.Err())
		}
		want(t, conn, fmt.Sprintf("SELECT count(*) FROM (SELECT i FROM endless LIMIT %d) x", i), fmt.Sprint(i))
	}
}

// TestCloseEarly closes portals after a few rows of very many (M-07): the answer comes without draining the rest.
func TestCloseEarly(t *testing.T) {
	w := newWorld(t, endless)
	exec(t, w.through, declareEndless)
	conn := connect(t, w.through)
	for range 20 {
		front := conn.PgConn().Frontend()
		front.Send(&pgproto3.Parse{Query: "SELECT i FROM endless"})
		front.Send(&pgproto3.Bind{DestinationPortal: "p"})
		front.Send(&pgproto3.Execute{Portal: "p", MaxRows: 10})
		front.Send(&pgproto3.Close{ObjectType: 'P', Name: "p"})
		front.Send(&pgproto3.Sync{})
		if err := front.Flush(); err != nil {
			t.Fatal(err)
		}
		var kinds string
		for {
			m, err := front.Receive()
			if err != nil {
				t.Fatal(err)
			}
			kinds += kindOf(m)
			if _, ok := m.(*pgproto3.ReadyForQuery); ok {
				break
			}
		}
		if kinds != "12DDDDDDDDDDs3Z" {
			t.Fatalf("got %s", kinds)
		}
	}
	want(t, conn, "SELECT count(*) FROM (SELECT i FROM endless LIMIT 5) x", "5")
}

func kindOf(m pgproto3.BackendMessage) string {
	switch m.(type) {
	case *pgproto3.ParseComplete:
		return "1"
	case *pgproto3.BindComplete:
		return "2"
	case *pgproto3.CloseComplete:
		return "3"
	case *pgproto3.DataRow:
		return "D"
	case *pgproto3.PortalSuspended:
		return "s"
	case *pgproto3.ReadyForQuery:
		return "Z"
	case *pgproto3.ErrorResponse:
		return "E"
	}
	return fmt.Sprintf("(%T)", m)
}

// TestLateCancel sends a cancel request to a session that has nothing to run; the next statement is not hit (C-01).
func TestLateCancel(t *testing.T) {
	w := newWorld(t, endless)
	exec(t, w.through, declareEndless)
	conn := connect(t, w.through)
	for i := range 50 {
		if err := conn.PgConn().CancelRequest(timed(t)); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		want(t, conn, fmt.Sprintf("SELECT max(i) FROM (SELECT i FROM endless WHERE i < 50000 LIMIT %d) x", i+1), fmt.Sprint(i))
	}
}
