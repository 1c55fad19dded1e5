package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParsePgbench(t *testing.T) {
	const out = `pgbench (15.18 (Debian 15.18-0+deb12u1))
number of transactions actually processed: 80000
latency average = 0.158 ms
initial connection time = 11.011 ms
tps = 40000.000000 (without initial connection time)
`
	n, took, err := parsePgbench(out)
	if err != nil || n != 80000 || took != 2*time.Second {
		t.Errorf("%v transactions in %v, %v", n, took, err)
	}
	for _, bad := range []string{"", "pgbench: error: connection failed", strings.Replace(out, "80000", "0", 1), strings.Replace(out, "tps", "x", 1)} {
		if _, _, err := parsePgbench(bad); err == nil {
			t.Errorf("%q is taken for a result", bad)
		}
	}
}

func TestParseProc(t *testing.T) {
	cpu, err := parseCPU("42 (a name) with ) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 100 1000 10")
	if err != nil || cpu != 3*time.Second {
		t.Errorf("cpu %v, %v", cpu, err)
	}
	const status = "Name:\tx\nVmPeak:\t  999 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n"
	for field, want := range map[string]float64{"VmHWM": 2 * mib, "VmRSS": mib} {
		if got, err := parseMemory(status, field); err != nil || got != want {
			t.Errorf("%s %v, %v", field, got, err)
		}
	}
	if _, err := parseMemory("Name:\tx\n", "VmHWM"); err == nil {
		t.Error("a status file without VmHWM has a peak")
	}
}

// The figures of this very process can be read where the harness runs.
func TestOwnFigures(t *testing.T) {
	p := &process{cmd: &exec.Cmd{Process: &os.Process{Pid: os.Getpid()}}}
	peak, err := p.peak()
	if err != nil || peak < mib {
		t.Errorf("peak %v, %v", peak, err)
	}
	if now, err := p.resident(); err != nil || now < mib {
		t.Errorf("resident %v, %v", now, err)
	}
	if _, err := p.cpu(); err != nil {
		t.Error(err)
	}
}

func TestReport(t *testing.T) {
	r := &report{}
	r.add(line{what: "speed", values: [3]string{"1", "", "2"}, ratio: "2.00 of direct", goal: "≥ 1", reached: true})
	r.add(line{what: "size", values: [3]string{"", "", "3"}, goal: "≤ 2"})
	r.note("A note.")
	var b strings.Builder
	r.print(&b)
	const want = `| figure | direct | PgBouncer | Sluice | ratio          | goal | reached |
|--------|--------|-----------|--------|----------------|------|---------|
| speed  | 1      |           | 2      | 2.00 of direct | ≥ 1  | yes     |
| size   |        |           | 3      |                | ≤ 2  | **no**  |

A note.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestMedian(t *testing.T) {
	for want, values := range map[float64][]float64{2: {3, 1, 2}, 2.5: {4, 1, 2, 3}, 7: {7}} {
		if got := median(values); got != want {
			t.Errorf("median(%v) = %v", values, got)
		}
	}
}

// The client counts rows of any size, in whatever pieces they come, and reports an error.
func TestClient(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	c := &client{Conn: here, buf: make([]byte, 1024)}
	wide := &pgproto3.DataRow{Values: [][]byte{make([]byte, 5000)}}
	narrow := &pgproto3.DataRow{Values: [][]byte{[]byte("1")}}
	ready := &pgproto3.ReadyForQuery{TxStatus: 'I'}
	served := make(chan struct{})
	go func() {
		defer close(served)
		serve(there, 7, &pgproto3.ParameterStatus{Name: "server_version", Value: "15.1"}, narrow, wide, narrow, wide, wide,
			&pgproto3.CommandComplete{CommandTag: []byte("SELECT 5")}, ready)
		serve(there, 2, narrow, &pgproto3.PortalSuspended{}, ready)
		serve(there, 3, narrow, &pgproto3.ErrorResponse{Severity: "ERROR", Code: "22012", Message: "division by zero"}, ready)
	}()
	d, err := c.query(context.Background(), "SELECT 1")
	if err != nil || d.rows != 5 || d.bytes != 3*5011+2*12 || c.version != "15.1" || d.first > d.total {
		t.Errorf("%+v, version %q, %v", d, c.version, err)
	}
	if d, err := c.query(context.Background(), "a portal's part"); err != nil || d.rows != 1 || !d.suspended {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := c.query(context.Background(), "SELECT 1/0"); err == nil || !strings.Contains(err.Error(), "22012") {
		t.Errorf("err = %v", err)
	}
	_ = here.Close()
	<-served
}

// serve reads a query and answers it in pieces of n bytes.
func serve(c net.Conn, n int, messages ...pgproto3.BackendMessage) {
	if _, err := c.Read(make([]byte, 1024)); err != nil {
		return
	}
	var out []byte
	for _, m := range messages {
		out, _ = m.Encode(out)
	}
	for len(out) > 0 {
		piece := out[:min(n, len(out))]
		if _, err := c.Write(piece); err != nil {
			return
		}
		out = out[len(piece):]
	}
}

func TestSettings(t *testing.T) {
	s := &settings{only: "duckdb,bulk"}
	if !s.wants("duckdb") || s.wants("pgbench") || !(&settings{}).wants("pgbench") {
		t.Error("-only chooses the wrong parts")
	}
	if err := run(context.Background(), &settings{}); err == nil {
		t.Error("a run without rows is taken on")
	}
}
