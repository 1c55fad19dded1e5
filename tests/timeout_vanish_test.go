package tests

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// unixTCPRepair is TCP_REPAIR of Linux: a socket that is closed in that state says nothing to its peer.
const unixTCPRepair = 19

// ways are how a client may vanish.
var ways = map[string]func(*testing.T, *net.TCPConn){
	"FIN": func(_ *testing.T, c *net.TCPConn) { _ = c.Close() },
	"reset": func(t *testing.T, c *net.TCPConn) {
		if err := c.SetLinger(0); err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
	},
	"without a word": func(t *testing.T, c *net.TCPConn) { // the keepalive of the proxy finds out
		raw, err := c.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var failed error
		err = raw.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, unixTCPRepair, 1)
		})
		if err != nil || failed != nil {
			t.Skipf("this account may not make a socket silent: %v %v", err, failed)
		}
		_ = c.Close()
	},
}

// at are what a session is about when its client vanishes, by statements that do not end: some of home's, some of ours,
// and a portal that is half read.
var at = map[string]string{
	"home":                  "SELECT pg_sleep(600)",
	"home before foreign":   "SELECT pg_sleep(600); SELECT count(*) FROM endless",
	"engine":                "SELECT count(*) FROM endless WHERE i % 7 = 3",
	"stream":                "SELECT i, j FROM endless",
	"into home":             "INSERT INTO sink SELECT i FROM endless",
	"a lock":                "SELECT count(*) FROM locked",
	"in a block":            "BEGIN; INSERT INTO sink VALUES (1); SELECT count(*) FROM endless WHERE i % 7 = 3",
	"nothing, in a block":   "",
	"a portal, in a block":  "portal",
	"a pipeline that waits": "pipeline",
}

// TestVanished breaks a client's connection in all ways, in the midst of all there is: nothing is left of it, neither at
// home nor at an engine.
func TestVanished(t *testing.T) {
	w, streams := newCountedWorld(t, endless)
	exec(t, w.through, declareEndless, "CREATE TABLE sink (i bigint)", "CREATE TABLE locked (i int)")
	admin := connect(t, w.direct)
	want(t, admin, "BEGIN; LOCK TABLE locked", "BEGIN\nLOCK TABLE")
	watcher := connect(t, w.direct)
	for way, vanish := range ways {
		for what, sql := range at {
			t.Run(what+", "+way, func(t *testing.T) {
				config, err := pgx.ParseConfig(w.through)
				if err != nil {
					t.Fatal(err)
				}
				conn, err := pgx.ConnectConfig(timed(t), config)
				if err != nil {
					t.Fatal(err)
				}
				pid := conn.PgConn().PID()
				opened := streams.opened.Load()
				begin(t, conn, sql)
				awaitWork(t, watcher, pid, what, streams, opened)
				vanish(t, conn.PgConn().Conn().(*net.TCPConn))
				for deadline := time.Now().Add(patience); ; {
					left := rows(t, watcher, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d", pid))
					if left == "0" {
						break
					}
					if time.Now().After(deadline) {
						t.Fatalf("left at home: %s", rows(t, watcher, fmt.Sprintf("SELECT state, query FROM pg_stat_activity WHERE pid = %d", pid)))
					}
					time.Sleep(5 * time.Millisecond) // nothing signals it
				}
				streams.await(t, 0)
			})
		}
	}
	want(t, watcher, "SELECT count(*) FROM sink", "0")
}

// begin sends a statement and reads nothing.
func begin(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	front := conn.PgConn().Frontend()
	switch sql {
	case "":
		want(t, conn, "BEGIN; INSERT INTO sink VALUES (1)", "BEGIN\nINSERT 0 1")
		return
	case "portal":
		suspend(t, conn, "SET client_min_messages = warning; BEGIN")
		return
	case "pipeline": // a message of ours waits behind one of home's
		for _, q := range []string{"SELECT pg_sleep(600)", "SELECT i FROM endless"} {
			front.Send(&pgproto3.Parse{Query: q})
			front.Send(&pgproto3.Bind{})
			front.Send(&pgproto3.Execute{})
		}
		front.Send(&pgproto3.Sync{})
	default:
		front.Send(&pgproto3.Query{String: sql})
	}
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
}

// awaitWork waits until the statement is where it is to be.
func awaitWork(t *testing.T, watcher *pgx.Conn, pid uint32, what string, streams *streamCount, opened int64) {
	t.Helper()
	condition := "state = 'active'"
	switch what {
	case "home", "home before foreign", "a pipeline that waits":
		condition = "wait_event = 'PgSleep'"
	case "a lock":
		condition = "wait_event_type = 'Lock'"
	case "nothing, in a block", "a portal, in a block":
		condition = "state = 'idle in transaction'"
	default:
		streams.awaitOpened(t, opened+1)
	}
	for deadline := time.Now().Add(patience); rows(t, watcher, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND %s", pid, condition)) != "1"; {
		if time.Now().After(deadline) {
			t.Fatal("the statement does not begin")
		}
		time.Sleep(5 * time.Millisecond) // nothing signals it
	}
}

// TestVanishedBehindDirectTLS breaks a connection that began with TLS, whose bytes go through one more layer.
func TestVanishedBehindDirectTLS(t *testing.T) {
	cert := selfSigned(t)
	w, streams := newCountedWorld(t, endless)
	exec(t, w.through, declareEndless)
	c := proxyConfig(t, w.home, countedInto(streams))
	c.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	url := fmt.Sprintf("postgres://postgres@%s/%s?sslmode=require&sslnegotiation=direct", serveProxy(t, c), w.database)
	conn, err := pgx.Connect(timed(t), url)
	if err != nil {
		t.Fatal(err)
	}
	begin(t, conn, at["engine"])
	streams.awaitOpened(t, 1)
	_ = conn.PgConn().Conn().(*tls.Conn).NetConn().Close()
	streams.await(t, 0)
	_ = conn.Close(context.Background())
}

// TestCancelHitsItsStatement holds a cancel request back on its way to home until the statement it was for is over and
// the next one was sent: that one is not hit (C-01).
func TestCancelHitsItsStatement(t *testing.T) {
	w := newWorld(t)
	gate := &cancelGate{arrived: make(chan struct{}), open: make(chan struct{})}
	c := proxyConfig(t, w.home, gate.into)
	conn := connect(t, proxyURL(serveProxy(t, c), w.database))
	keeper, watcher := connect(t, w.direct), connect(t, w.direct)
	want(t, keeper, "SELECT pg_advisory_lock(1)", "")
	done := make(chan error, 1)
	go func() { done <- drain(context.Background(), conn, "SELECT pg_advisory_lock(1)") }()
	pid := conn.PgConn().PID()
	awaitWork(t, watcher, pid, "a lock", nil, 0)
	gate.closed.Store(true)
	cancelled := make(chan error, 1)
	go func() { cancelled <- conn.PgConn().CancelRequest(context.Background()) }()
	<-gate.arrived
	want(t, keeper, "SELECT pg_advisory_unlock(1)", "t")
	if err := <-done; err != nil {
		t.Fatalf("the first statement ended with %v", err)
	}
	go func() { done <- drain(context.Background(), conn, "SELECT pg_sleep(0.3), 'next'") }()
	// Where the next statement is not held back it comes to home in this time, and the cancel hits it.
	for range 20 {
		if rows(t, watcher, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE pid = %d AND wait_event = 'PgSleep'", pid)) == "1" {
			break
		}
		time.Sleep(5 * time.Millisecond) // to give a fault a chance: nothing signals that there is none
	}
	close(gate.open)
	if err := <-done; err != nil {
		t.Errorf("the next statement ended with %v", err)
	}
	if err := <-cancelled; err != nil {
		t.Error(err)
	}
}
