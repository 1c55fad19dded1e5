package tests

import (
	"io"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// relay is a network before a server that a test takes down and up again. It counts what passes, both ways.
type relay struct {
	bytes   atomic.Int64
	server  string
	address string

	mu       sync.Mutex
	listener net.Listener
	conns    []net.Conn
	wg       sync.WaitGroup
}

func newRelay(t *testing.T, server string) *relay {
	t.Helper()
	r := &relay{server: server, address: "127.0.0.1:0"}
	r.up(t)
	t.Cleanup(r.down)
	return r
}

// up has it pass on what comes, at the same address as before.
func (r *relay) up(t *testing.T) {
	t.Helper()
	l, err := net.Listen("tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.listener, r.address = l, l.Addr().String()
	r.mu.Unlock()
	r.wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", r.server)
			if err != nil {
				_ = client.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, client, server)
			r.mu.Unlock()
			r.wg.Go(func() { r.pass(server, client) })
			r.wg.Go(func() { r.pass(client, server) })
		}
	})
}

// port is that of its address, on this machine.
func (r *relay) port() uint16 {
	return netip.MustParseAddrPort(r.address).Port()
}

func (r *relay) pass(to, from net.Conn) {
	_, _ = io.Copy(to, io.TeeReader(from, r))
	_, _ = to.Close(), from.Close()
}

// Write counts what has passed.
func (r *relay) Write(b []byte) (int, error) {
	r.bytes.Add(int64(len(b)))
	return len(b), nil
}

// down breaks all connections and lets none in.
func (r *relay) down() {
	r.mu.Lock()
	_ = r.listener.Close()
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
	r.mu.Unlock()
	r.wg.Wait()
}

// TestServerComesBack has a server go away and come back: statements fail at once in between, and run again by themselves.
func TestServerComesBack(t *testing.T) {
	cluster := hometest.Start(t)
	home, other := hometest.Database(t, cluster), hometest.Database(t, cluster)
	exec(t, other, "CREATE TABLE r AS SELECT 1 AS i")
	u, err := url.Parse(other)
	if err != nil {
		t.Fatal(err)
	}
	network := newRelay(t, u.Host)
	u.Host = network.address
	through := postgresProxy(t, home)
	exec(t, through, append(otherServer(t, u.String(), ", max_failures '2'"), "CREATE FOREIGN TABLE r (i int) SERVER other OPTIONS (schema_name 'public')")...)
	conn := connected(t, through)

	const health = "SELECT state, running, queued, idle, last_error IS NULL, last_error_at IS NULL, remedy IS NULL, retry_at IS NULL FROM sluice.servers WHERE name = 'other'"
	want(t, conn, health, "untried|0|0|NULL|t|t|t|t")
	want(t, conn, "SELECT i FROM r", "1")
	want(t, conn, health, "ok|0|0|1|t|t|t|t")
	network.down()
	for range 2 {
		if got := rows(t, conn, "SELECT i FROM r"); got != "08001" {
			t.Errorf("a server that is down: %s", got)
		}
	}
	want(t, conn, health, "broken|0|0|0|f|f|f|f")
	want(t, conn, "SELECT last_error LIKE '08001: could not connect to server \"other\": %refused%', remedy LIKE '%server%', retry_at > last_error_at FROM sluice.servers", "t|t|t")
	if got := says(t, conn, "SELECT i FROM r"); got != `08001 server "other" cannot be reached` {
		t.Error(got)
	}
	network.up(t)
	becomes(t, conn, "SELECT i FROM r", "1")
	want(t, conn, "SELECT state, last_error LIKE '08001%', retry_at IS NULL FROM sluice.servers", "ok|t|t")

	exec(t, through, "CREATE ROLE health_nobody LOGIN")
	t.Cleanup(func() { exec(t, cluster.URL("postgres"), "DROP ROLE health_nobody") })
	nobody := connected(t, strings.Replace(through, "postgres@", "health_nobody@", 1))
	want(t, nobody, "SELECT name, state, last_error FROM sluice.servers", "other|NULL|NULL")
	want(t, nobody, "SELECT current_setting('sluice.servers', true)", "")
	exec(t, through, "GRANT USAGE ON FOREIGN SERVER other TO health_nobody")
	want(t, nobody, "SELECT state, last_error FROM sluice.servers", "untried|NULL") // what other roles met is theirs
	want(t, connected(t, home), "SELECT name, state FROM sluice.servers", "other|NULL")
	exec(t, through, "REVOKE USAGE ON FOREIGN SERVER other FROM health_nobody")
}

// TestServerWithoutSecret has a server broken whose secret is missing, and says what to do.
func TestServerWithoutSecret(t *testing.T) {
	through := postgresProxy(t, hometest.Database(t, hometest.Start(t)))
	exec(t, through, "CREATE SERVER closed FOREIGN DATA WRAPPER sluice_postgres",
		"CREATE USER MAPPING FOR PUBLIC SERVER closed OPTIONS (user 'x', password 'env:NO_SUCH_SECRET')", "CREATE FOREIGN TABLE g (i int) SERVER closed")
	conn := connected(t, through)
	const health = "SELECT state, last_error LIKE '22023: cannot resolve %', remedy LIKE '%NO_SUCH_SECRET%', retry_at IS NULL FROM sluice.servers"
	want(t, conn, health, "untried|NULL|NULL|t")
	want(t, conn, "SELECT i FROM g", "22023")
	want(t, conn, health, "broken|t|t|t")
}
