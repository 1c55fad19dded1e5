package tests

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/embedded"
	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/proxy"
)

// passwordHome is a database of a home of its own that asks all but its superuser for passwords, behind a proxy.
type passwordHome struct {
	home  *embedded.Home
	addr  string // of the proxy
	hears *eavesdropper
}

const passwordRules = `
local all all                     trust
host  all postgres 127.0.0.1/32   trust
host  all old      127.0.0.1/32   md5
host  all all      127.0.0.1/32   scram-sha-256
`

// startPasswordHome starts it, with the catalog installed in database postgres, where the proxy reads verifiers.
func startPasswordHome(t *testing.T, change func(*proxy.Config)) *passwordHome {
	t.Helper()
	dir, err := os.MkdirTemp("", "sluice-auth-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(dir, "hba")
	if err := os.WriteFile(rules, []byte(passwordRules), 0o644); err != nil {
		t.Fatal(err)
	}
	home, err := embedded.Start(t.Context(), filepath.Join(dir, "home"), embedded.Options{Settings: map[string]string{"fsync": "off", "hba_file": rules}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := home.Stop(); err != nil {
			t.Error(err)
		}
	})
	config, err := pgconn.ParseConfig(home.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	p := &passwordHome{home: home, hears: &eavesdropper{}}
	p.hears.dial, config.DialFunc = config.DialFunc, p.hears.open
	c := proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}}}
	if change != nil {
		change(&c)
	}
	p.addr = serveProxy(t, c)
	exec(t, proxyURL(p.addr, "postgres"), "CREATE EXTENSION sluice")
	exec(t, home.URL("postgres"), "CREATE ROLE alice LOGIN PASSWORD 'wonderland'", "CREATE ROLE empty LOGIN",
		"CREATE ROLE stale LOGIN PASSWORD 'wonderland' VALID UNTIL '2001-01-01'", "SET password_encryption = md5; CREATE ROLE old LOGIN PASSWORD 'rabbit'")
	return p
}

// eavesdropper notes what goes over the connections to home.
type eavesdropper struct {
	dial pgconn.DialFunc
	mu   sync.Mutex
	said []string // one entry for each connection and each write or read of it
}

func (e *eavesdropper) open(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := e.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	e.note("connect")
	return &heardConn{Conn: c, heard: e}, nil
}

func (e *eavesdropper) note(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said = append(e.said, what)
}

// take returns what was said since the last call.
func (e *eavesdropper) take() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := strings.Join(e.said, ", ")
	e.said = nil
	return all
}

// heardConn is not heard once it listens: what the proxy's watch says is about no login.
type heardConn struct {
	net.Conn
	heard   *eavesdropper
	watches bool
}

func (c *heardConn) Write(b []byte) (int, error) {
	c.watches = c.watches || bytes.Contains(b, []byte("LISTEN "))
	if !c.watches {
		c.heard.note(fmt.Sprintf("write %d", len(b)))
	}
	return c.Conn.Write(b)
}

// TestNoOracleOfRoles guesses passwords of roles that exist, do not exist, have no password or a void one. Nothing that
// is sent, to the client or to home on its way, tells them apart: kinds, lengths and texts of all messages are the same.
func TestNoOracleOfRoles(t *testing.T) {
	p := startPasswordHome(t, nil)
	if err := login(t, p.addr, "alice", "wonderland"); err != nil {
		t.Fatalf("the right password: %v", err)
	}
	p.hears.take()
	_ = attempt(t, p.addr, "alice") // the connection for verifiers stands from now on
	first, firstHome := "", ""
	for _, role := range []string{"alice", "empty", "stale", "nobod"} {
		p.hears.take()
		got := strings.ReplaceAll(attempt(t, p.addr, role), role, "ROLE")
		there := p.hears.take()
		if first == "" {
			first, firstHome = got, there
			continue
		}
		if got != first {
			t.Errorf("%s: the client sees\n%s\nalice's saw\n%s", role, got, first)
		}
		if there != firstHome {
			t.Errorf("%s: home sees\n%s\nalice's saw\n%s", role, there, firstHome)
		}
	}
	if !strings.Contains(first, "C28P01\\x00Mpassword authentication failed for user") {
		t.Errorf("the client sees %s", first)
	}
}

// login logs a role in and out.
func login(t *testing.T, addr, role, password string) error {
	t.Helper()
	conn, err := pgx.Connect(timed(t), fmt.Sprintf("postgres://%s:%s@%s/postgres?sslmode=disable", role, password, addr))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var who string
	if err := conn.QueryRow(timed(t), "SELECT session_user").Scan(&who); err != nil || who != role {
		return fmt.Errorf("logged in as %q: %w", who, err)
	}
	return nil
}

// attempt runs a SCRAM exchange with a proof that is wrong and returns all that the proxy says: the whole of errors, else
// the type and the length of each message.
func attempt(t *testing.T, addr, role string) string {
	t.Helper()
	c := dial(t, addr)
	send := func(m pgproto3.FrontendMessage) {
		out, err := m.Encode(nil)
		if err == nil {
			_, err = c.Write(out)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": role, "database": "postgres"}})
	var seen []string
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(c, head); err != nil {
			return strings.Join(append(seen, err.Error()), "\n")
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(c, body); err != nil {
			t.Fatal(err)
		}
		if head[0] != 'R' {
			seen = append(seen, fmt.Sprintf("%c %q", head[0], body))
			continue
		}
		seen = append(seen, fmt.Sprintf("%c %d bytes", head[0], len(body)))
		switch binary.BigEndian.Uint32(body) {
		case pgproto3.AuthTypeSASL:
			send(&pgproto3.SASLInitialResponse{AuthMechanism: "SCRAM-SHA-256", Data: []byte("n,,n=,r=abcdefghijklmnopqrstuvwx")})
		case pgproto3.AuthTypeSASLContinue:
			nonce, _, _ := strings.Cut(strings.TrimPrefix(string(body[4:]), "r="), ",")
			send(&pgproto3.SASLResponse{Data: []byte("c=biws,r=" + nonce + ",p=" + strings.Repeat("A", 43) + "=")})
		}
	}
}

// TestLogins lets in whom home lets in, and nobody else.
func TestLogins(t *testing.T) {
	p := startPasswordHome(t, nil)
	direct := p.home.Addr()
	for _, c := range []struct{ role, password string }{
		{"alice", "wonderland"}, {"alice", "wrong"}, {"old", "rabbit"}, {"old", "wrong"}, {"empty", "x"}, {"stale", "wonderland"},
		{"nobody_at_all", "x"}, {"postgres", "x"},
	} {
		a, b := login(t, direct, c.role, c.password), login(t, p.addr, c.role, c.password)
		if got, want := said(b), said(a); got != want {
			t.Errorf("%s with password %s: Postgres says %s, the proxy %s", c.role, c.password, want, got)
		}
	}
}

// said is what a server says to a client that logs in.
func said(err error) string {
	var pe *pgconn.PgError
	switch {
	case err == nil:
		return "welcome"
	case errors.As(err, &pe):
		return pe.Severity + " " + pe.Code + " " + pe.Message
	}
	return err.Error()
}

// TestLoginsSlowDown fails again and again, and logs in all the same: later, but in order.
func TestLoginsSlowDown(t *testing.T) {
	p := startPasswordHome(t, nil)
	for range 6 {
		if got := said(login(t, p.addr, "alice", "wrong")); !strings.HasPrefix(got, "FATAL 28P01") {
			t.Fatal(got)
		}
	}
	if err := login(t, p.addr, "alice", "wonderland"); err != nil {
		t.Error(err)
	}
}

// TestLoginLimit fills all places with clients that say nothing: the one that has said nothing for longest gives way.
func TestLoginLimit(t *testing.T) {
	addr := serveProxy(t, proxyConfig(t, hometest.Start(t), func(c *proxy.Config) { c.LoginLimit = 3 }))
	silent := []net.Conn{dial(t, addr), dial(t, addr)}
	for _, evicted := range silent {
		last := dial(t, addr)
		want(t, connect(t, proxyURL(addr, "postgres")), "SELECT 1", "1")
		said, err := io.ReadAll(evicted)
		if err != nil || !strings.Contains(string(said), "FATAL") || !strings.Contains(string(said), "53300") {
			t.Errorf("a silent client heard %q (%v)", said, err)
		}
		// The one that came last still has its place, and may log in.
		m, _ := (&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "postgres", "database": "postgres"}}).Encode(nil)
		if _, err := last.Write(m); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 1)
		if _, err := io.ReadFull(last, answer); err != nil || answer[0] != 'R' {
			t.Errorf("the client that came last heard %q (%v)", answer, err)
		}
		silent = append(silent, dial(t, addr))
	}
}

// dial opens a connection that ends with the test.
func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// TestLoginTimeout lets a client go that does not log in.
func TestLoginTimeout(t *testing.T) {
	addr := serveProxy(t, proxyConfig(t, hometest.Start(t), func(c *proxy.Config) { c.LoginTimeout = 20 * time.Millisecond }))
	c := dial(t, addr)
	if said, err := io.ReadAll(c); err != nil || !strings.Contains(string(said), "canceling authentication due to timeout") {
		t.Errorf("heard %q (%v)", said, err)
	}
}
