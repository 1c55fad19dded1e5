package tests

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	osexec "os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/bigquery"
	"github.com/sluicedb/sluice/engines/clickhouse"
	"github.com/sluicedb/sluice/engines/databricks"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/engines/postgres"
	"github.com/sluicedb/sluice/engines/snowflake"
	"github.com/sluicedb/sluice/engines/sqldb"
	"github.com/sluicedb/sluice/engines/trino"
	"github.com/sluicedb/sluice/proxy"
)

// childEnv holds home's URL where the test binary is to be a proxy instead of running tests.
const childEnv = "SLUICE_TESTS_HOME"

// serveChild is the proxy of a child process: it prints its address and serves until standard input ends.
func serveChild(home string) error {
	config, err := pgconn.ParseConfig(home)
	if err != nil {
		return err
	}
	server, err := proxy.NewServer(proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, postgres.Wrapper{}, trino.Wrapper{}, clickhouse.Wrapper{}, bigquery.Wrapper{}, snowflake.Wrapper{}, databricks.Wrapper{}, sqldb.Wrapper{}, sqldb.SQLServer{}}, Federation: federation()})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
		server.Close()
	}()
	debug.SetMemoryLimit(64 << 20) // of the Go heap: a leak shows as a peak, not as lazy collection
	fmt.Println(listener.Addr())
	return server.Serve(ctx, listener)
}

// child is a proxy in a process of its own, whose memory can be seen.
type child struct {
	pid    int
	addr   string
	killed *atomic.Bool
}

// kill ends the process without warning.
func (c child) kill(t *testing.T) {
	t.Helper()
	c.killed.Store(true)
	if err := syscall.Kill(c.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func startChild(t *testing.T, home string) child {
	cmd := osexec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+home)
	cmd.Stderr = logTo(t)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := &atomic.Bool{}
	t.Cleanup(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil && !killed.Load() {
			t.Errorf("the proxy's process: %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return child{cmd.Process.Pid, strings.TrimSpace(line), killed}
}

// resetPeak makes the process's peak its present size.
func (c child) resetPeak(t *testing.T) {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", c.pid), []byte("5"), 0); err != nil {
		t.Skipf("the peak of a process cannot be reset here: %v", err)
	}
}

// memory returns VmHWM and VmRSS in MiB.
func (c child) memory(t *testing.T) (peak, now int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.pid))
	if err != nil {
		t.Skipf("the memory of a process cannot be read here: %v", err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		switch name {
		case "VmHWM":
			peak = kib >> 10
		case "VmRSS":
			now = kib >> 10
		}
	}
	return peak, now
}

// growth is how much of memory, in MiB, a streaming proxy may take above what it has at rest.
const growth = 64

// vectors is what DuckDB itself holds of rows that are 16 KiB wide: its vectors have 2048 rows, however wide, and each
// thread has one in work besides the one that is read.
const vectors = 3 * 32

// spelled is what a statement of 58 MB takes that its inputs are written into: what was read of them, which grows by parts,
// the literals, the statement and the message.
const spelled = 3 * 64

// TestMemory streams more than a GiB through every door and route in bounded memory (I2, I4, I7, M-01, M-02, M-08).
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves out what streams gigabytes")
	}
	w := newWorld(t,
		"CREATE VIEW narrow AS SELECT i, i::VARCHAR AS t FROM range(5000000) r(i)",
		"CREATE VIEW big AS SELECT i, repeat('x', 220) || i AS t FROM range(5000000) r(i)",
		"CREATE VIEW small AS SELECT i, repeat('x', 220) || i AS t FROM range(500000) r(i)",
		"CREATE VIEW wide AS SELECT i, repeat('y', 16384) AS t FROM range(16384) r(i)",
		"CREATE VIEW wider AS SELECT i, repeat('y', 16384) AS t FROM range(163840) r(i)",
	)
	exec(t, w.through, "CREATE FOREIGN TABLE big (i bigint, t text) SERVER lake", "CREATE FOREIGN TABLE small (i bigint, t text) SERVER lake",
		"CREATE FOREIGN TABLE wide (i bigint, t text) SERVER lake", "CREATE FOREIGN TABLE wider (i bigint, t text) SERVER lake", "CREATE FOREIGN TABLE narrow (i bigint, t text) SERVER lake")
	exec(t, w.direct, "CREATE TABLE many AS SELECT i, repeat('x', 220) || i AS t FROM generate_series(1, 1000000) i")
	c := startChild(t, w.home.URL("postgres"))
	url := proxyURL(c.addr, w.database)
	if n := stream(t, url, "", "SELECT * FROM small", false); n != 500000 { // warm-up: pools and buffers
		t.Fatalf("%d rows", n)
	}
	c.read(t, url, vectors, []reading{
		{"simple, 1x", "", "SELECT * FROM small", false, 500000},
		{"simple, 10x", "", "SELECT * FROM big", false, 5000000},
		{"extended binary", "", "SELECT * FROM big", true, 5000000},
		{"copy", "", "COPY (SELECT * FROM big) TO STDOUT", false, 5000000},
		{"wide rows, 1x", "", "SELECT * FROM wide", false, 16384},
		{"wide rows, 10x", "", "SELECT * FROM wider", false, 163840},
		{"home_join", "SET sluice.route = 'home_join'", "SELECT * FROM small", false, 500000},
		{"remote", "SET sluice.route = 'remote'", "SELECT i, t FROM narrow WHERE i >= 0", false, 5000000},
		{"federated, 1x", "SET sluice.route = 'federated'", "SELECT * FROM small", false, 500000},
		{"federated, 10x", "SET sluice.route = 'federated'", "SELECT * FROM big", false, 5000000},
		{"federated with home", "SET sluice.route = 'federated'", "SELECT m.* FROM many m JOIN narrow n ON n.i = m.i WHERE n.i BETWEEN 1 AND 1000000", false, 1000000},
		{"evaluated at home", "", "SELECT reverse(t) FROM small", false, 500000},
		{"read-only", "SET default_transaction_read_only = on", "SELECT reverse(t) FROM small WHERE i < 250000", false, 250000},
		{"handle, 1x", "BEGIN", "SELECT * FROM sluice.materialize('SELECT * FROM small WHERE i < 50000')", false, 1},
		{"handle, 10x", "BEGIN", "SELECT * FROM sluice.materialize('TABLE small')", false, 1},
		{"cursor", "BEGIN; DECLARE c CURSOR FOR SELECT * FROM big", "FETCH 1000000 FROM c", false, 1000000},
	})
	t.Run("a client that stops reading", func(t *testing.T) { stalled(t, c, url) })
}

// reading is a statement whose rows are all read, after statements that prepare it.
type reading struct {
	name, before, sql string
	binary            bool
	rows              int
}

// read runs statements in order and bounds what the proxy grows by, and for a name that ends in "10x" how far it goes
// beyond the one before in "1x". Names that begin with "wide" may take so many MiB more.
func (c child) read(t *testing.T, url string, wide int, list []reading) {
	t.Helper()
	var small int
	for _, test := range list {
		t.Run(test.name, func(t *testing.T) {
			c.resetPeak(t)
			_, before := c.memory(t)
			if n := stream(t, url, test.before, test.sql, test.binary); n != test.rows {
				t.Errorf("%d rows came, want %d", n, test.rows)
			}
			peak, _ := c.memory(t)
			t.Logf("at rest %d MiB, peak %d MiB", before, peak)
			allowed, slack := growth, 8
			if strings.HasPrefix(test.name, "wide") {
				allowed, slack = growth+wide, max(slack, wide)
			}
			if test.name == "read-only" {
				allowed += spelled
			}
			if peak-before > allowed {
				t.Errorf("the proxy grew from %d to %d MiB", before, peak)
			}
			if strings.HasSuffix(test.name, ", 1x") {
				small = peak
			}
			if strings.HasSuffix(test.name, ", 10x") && peak > small+small/10+slack {
				t.Errorf("the peak is %d MiB, and was %d MiB with a tenth of the rows", peak, small)
			}
		})
	}
}

// stream runs a statement, throws away what comes, and returns the number of rows.
func stream(t *testing.T, url, before, sql string, bin bool) (n int) {
	t.Helper()
	conn := connect(t, url)
	if before != "" {
		if _, err := conn.PgConn().Exec(timed(t), before).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	return drainRaw(t, conn.PgConn(), sql, bin)
}

// drainRaw reads frames without decoding them, so that the client is not what is slow.
func drainRaw(t *testing.T, conn *pgconn.PgConn, sql string, bin bool) (n int) {
	send(t, conn, sql, bin)
	in := bufio.NewReaderSize(conn.Conn(), 1<<20)
	for {
		if err := conn.Conn().SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		var head [5]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			t.Fatal(err)
		}
		length := int(binary.BigEndian.Uint32(head[1:])) - 4
		if head[0] == 'E' {
			body := make([]byte, length)
			_, _ = io.ReadFull(in, body)
			t.Errorf("%s: %q", sql, body)
			continue
		}
		if _, err := in.Discard(length); err != nil {
			t.Fatal(err)
		}
		switch head[0] {
		case 'D', 'd':
			n++
		case 'Z':
			return n
		}
	}
}

func send(t *testing.T, conn *pgconn.PgConn, sql string, bin bool) {
	front := conn.Frontend()
	if bin {
		front.Send(&pgproto3.Parse{Query: sql})
		front.Send(&pgproto3.Bind{ResultFormatCodes: []int16{1}})
		front.Send(&pgproto3.Execute{})
		front.Send(&pgproto3.Sync{})
	} else {
		front.Send(&pgproto3.Query{String: sql})
	}
	if err := front.Flush(); err != nil {
		t.Fatal(err)
	}
}

// stalled asks for much, reads nothing for a while, and then all of it (M-02).
func stalled(t *testing.T, c child, url string) {
	conn := connect(t, url).PgConn()
	c.resetPeak(t)
	_, before := c.memory(t)
	send(t, conn, "SELECT * FROM big", false)
	for range 20 { // while the client does not read, other sessions are served
		if n := stream(t, url, "", "SELECT 1 FROM small LIMIT 1", false); n != 1 {
			t.Errorf("%d rows in another session", n)
		}
	}
	time.Sleep(time.Second) // a proxy that reads ahead would do so now; nothing signals that it does not
	peak, _ := c.memory(t)
	if peak-before > growth {
		t.Errorf("the proxy grew from %d to %d MiB while its client did not read", before, peak)
	}
	in := bufio.NewReaderSize(conn.Conn(), 1<<20)
	if n, err := countRows(conn.Conn(), in); err != nil || n != 5000000 {
		t.Errorf("%d rows came in the end, %v", n, err)
	}
}

// countRows counts DataRow messages up to ReadyForQuery.
func countRows(conn net.Conn, in *bufio.Reader) (n int, err error) {
	for {
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return n, err
		}
		var head [5]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return n, err
		}
		if _, err := in.Discard(int(binary.BigEndian.Uint32(head[1:])) - 4); err != nil {
			return n, err
		}
		switch head[0] {
		case 'D':
			n++
		case 'Z':
			return n, nil
		}
	}
}

// TestHostileFrames declares lengths that no message has: the connection is closed, nothing near the length is
// allocated, and others are served (W-23).
func TestHostileFrames(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS a")
	exec(t, w.through, "CREATE FOREIGN TABLE t (a int) SERVER lake")
	c := startChild(t, w.home.URL("postgres"))
	url := proxyURL(c.addr, w.database)
	other := connect(t, url)
	want(t, other, "SELECT a FROM t", "1")
	c.resetPeak(t)
	_, before := c.memory(t)
	for _, frame := range [][]byte{
		{'Q', 0, 0, 0, 2}, {'Q', 0, 0, 0, 0}, {'Q', 0x7f, 0xff, 0xff, 0xff}, {'Q', 0x80, 0, 0, 0}, {'Q', 0xff, 0xff, 0xff, 0xff}, {'z', 0, 0, 0, 4}, {0, 0, 0, 0, 4},
		{'P', 0x7f, 0xff, 0xff, 0xff}, {'B', 0x3f, 0xff, 0xff, 0xff, 'a'}, {'d', 0x7f, 0xff, 0xff, 0xff}, {'X', 0, 0, 0, 99}, {'S', 0, 0, 0, 3}, {'E', 0x70, 0, 0, 0}, {'p', 0x70, 0, 0, 0},
	} {
		conn := connect(t, url).PgConn().Conn()
		if _, err := conn.Write(frame); err != nil {
			t.Fatal(err)
		}
		if len(frame) > 5 || frame[1] != 0 { // a message that is short of its length ends with its sender
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, conn); err != nil && os.IsTimeout(err) {
			t.Errorf("% x: the connection stays open", frame)
		}
		want(t, other, "SELECT a FROM t", "1")
	}
	for _, packet := range [][]byte{{0, 0, 0x4e, 0x20, 0, 3, 0, 0}, {0, 0, 0, 3}, {0xff, 0xff, 0xff, 0xff, 0, 3, 0, 0}, {0, 0, 0, 8, 0, 4, 0, 0}} {
		conn, err := net.Dial("tcp", c.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(packet); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		_ = conn.(*net.TCPConn).CloseWrite()
		if _, err := io.Copy(io.Discard, conn); err != nil && os.IsTimeout(err) {
			t.Errorf("startup packet % x: the connection stays open", packet)
		}
		_ = conn.Close()
	}
	peak, _ := c.memory(t)
	if peak-before > 16 {
		t.Errorf("the proxy grew from %d to %d MiB", before, peak)
	}
	want(t, other, "SELECT a FROM t", "1")
}
