package startup_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/proxy/startup"
)

func TestLogin(t *testing.T) {
	logins := []struct{ name, user, password, database string }{
		{"trust", "alice", "", "trust"},
		{"scram", "alice", "wonderland", "scram"},
		{"md5", "old", "rabbit", "md5"},
		{"cleartext", "alice", "wonderland", "clear"},
		{"scram under md5", "alice", "wonderland", "md5"},
	}
	for _, clientTLS := range []string{"disable", "require"} {
		for _, homeTLS := range []string{"disable", "require"} {
			for _, verified := range []bool{false, true} {
				options := []option{withHome("sslmode=" + homeTLS), withTLS(ecdsaCert())}
				if verified {
					options = append(options, withVerifier)
				}
				p := startProxy(t, options...)
				for _, l := range logins {
					name := strings.Join([]string{l.name, "client", clientTLS, "home", homeTLS}, " ")
					settings := "sslmode=" + clientTLS
					if !verified {
						name += " relayed"
						settings += "&channel_binding=disable"
					}
					t.Run(name, func(t *testing.T) {
						got, err := connect(t, p.url(l.user, l.password, l.database, settings))
						if err != nil {
							t.Fatal(err)
						}
						if want := l.user + "@" + l.database; got != want {
							t.Errorf("logged in as %s, want %s", got, want)
						}
					})
				}
			}
		}
	}
}

// Where neither leg can bind and the client would, the login fails with words that help.
func TestRelayBetweenTLS(t *testing.T) {
	p := startProxy(t, withTLS(ecdsaCert()), withHome("sslmode=require"))
	_, err := connect(t, p.url("alice", "wonderland", "scram", "sslmode=require"))
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "28000" || !strings.Contains(e.Hint, "sluice.get_auth") {
		t.Errorf("err = %v", err)
	}
	// With one leg in clear nothing stands in the way.
	p = startProxy(t, withTLS(ecdsaCert()))
	if _, err := connect(t, p.url("alice", "wonderland", "scram", "sslmode=require")); err != nil {
		t.Error(err)
	}
}

// A wrong password, a role without one, with an md5 one and a role that does not exist look alike: the same frames come.
func TestWrongPassword(t *testing.T) {
	for _, mode := range []string{"disable", "require"} {
		p := startProxy(t, withTLS(ecdsaCert()), withVerifier)
		for _, user := range []string{"alice", "locked", "old", "expired", "nobody_at_all"} {
			_, err := connect(t, p.url(user, "wrong", "scram", "channel_binding=prefer&sslmode="+mode))
			var e *pgconn.PgError
			if !errors.As(err, &e) {
				t.Fatalf("%s: %v", user, err)
			}
			if e.Severity != "FATAL" || e.Code != "28P01" || e.Message != `password authentication failed for user "`+user+`"` || e.Detail+e.Hint != "" {
				t.Errorf("%s: %+v", user, e)
			}
		}
	}
}

// What a password is to be hashed with tells nothing of the role: it is what home says of it, always.
func TestChallengeIsHomes(t *testing.T) {
	challenge := func(address, user string) string {
		r := rawTo(t, address)
		r.say(startupMessage(3<<16, "user", user, "database", "scram")...)
		r.frame()
		const first = "n,,n=,r=abcdefghijklmnopqrstuvwx"
		r.say(sasl("SCRAM-SHA-256", len(first), first)...)
		typ, body := r.frame()
		_, hash, ok := strings.Cut(string(body), ",")
		if typ != 'R' || !ok {
			t.Fatalf("%s: %q %q", user, typ, body)
		}
		return hash
	}
	p, other := startProxy(t, withVerifier), startProxy(t, withVerifier)
	seen := map[string]string{}
	for _, user := range []string{"alice", "locked", "old", "expired", "slow", "nobody_at_all", "nobody_either"} {
		want := challenge(home().Addr(), user)
		for _, address := range []string{p.Addr().String(), other.Addr().String()} {
			if got := challenge(address, user); got != want {
				t.Errorf("%s is to use %s, at home %s", user, got, want)
			}
		}
		if namesake := seen[want]; namesake != "" {
			t.Errorf("%s and %s are to use the same", user, namesake)
		}
		seen[want] = user
	}
}

// Channel binding is offered for a role that does not exist as well.
func TestUnknownRoleIsOfferedPlus(t *testing.T) {
	p := startProxy(t, withTLS(ecdsaCert()), withVerifier)
	for _, user := range []string{"alice", "nobody_at_all"} {
		_, err := connect(t, p.url(user, "wrong", "scram", "sslmode=require&channel_binding=require"))
		var e *pgconn.PgError
		if !errors.As(err, &e) || e.Code != "28P01" {
			t.Errorf("%s: %v", user, err)
		}
	}
}

// A result says whether the client has bound its login.
func TestBound(t *testing.T) {
	p := startProxy(t, withTLS(ecdsaCert()), withVerifier)
	for settings, want := range map[string]bool{
		"sslmode=require&channel_binding=require": true, "sslmode=require": true,
		"sslmode=require&channel_binding=disable": false, "sslmode=disable": false,
	} {
		if _, err := connect(t, p.url("alice", "wonderland", "scram", settings)); err != nil {
			t.Fatal(err)
		}
		if r := <-p.results; r.Bound != want {
			t.Errorf("%s: bound %v", settings, r.Bound)
		}
	}
}

// Errors of home's arrive as home worded them.
func TestHomeErrors(t *testing.T) {
	p := startProxy(t, withVerifier)
	for _, c := range []struct{ user, database string }{{"alice", "no_such_database"}, {"crowded", "scram"}} {
		_, err := connect(t, p.url(c.user, "wonderland", c.database, "sslmode=disable"))
		direct := strings.Replace(p.url(c.user, "wonderland", c.database, "sslmode=disable"), p.Addr().String(), home().Addr(), 1)
		_, want := connect(t, direct)
		var got, real *pgconn.PgError
		if !errors.As(err, &got) || !errors.As(want, &real) {
			t.Fatalf("%s: through the proxy %v, direct %v", c.database, err, want)
		}
		if *got != *real {
			t.Errorf("through the proxy %+v\ndirect %+v", got, real)
		}
	}
}

func TestHomeUnreachable(t *testing.T) {
	p := startProxy(t, func(cfg *startup.Config) {
		cfg.Home, _ = pgconn.ParseConfig("postgres://postgres@127.0.0.1:1/postgres?sslmode=disable")
	})
	_, err := connect(t, p.url("alice", "wonderland", "scram", "sslmode=disable"))
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "57P03" || e.Hint == "" {
		t.Errorf("err = %v", err)
	}
	if logged := <-p.errs; !strings.Contains(logged.Error(), "127.0.0.1:1") {
		t.Errorf("the log is not told where home was sought: %v", logged)
	}
}

// sslmode of home's URL chooses and falls back as libpq does.
func TestHomeSSLMode(t *testing.T) {
	for _, c := range []struct {
		settings, database string
		fails              string
	}{
		{"sslmode=allow", "onlytls", ""},
		{"sslmode=prefer", "onlytls", ""},
		{"sslmode=disable", "noplain", "28000"},
		{"sslmode=require", "noplain", ""},
		{"sslmode=verify-full", "scram", "57P03"},
		{"sslmode=require&channel_binding=require", "scram", ""},
		{"sslmode=disable&channel_binding=require", "scram", "28000"},
		{"sslmode=require&require_auth=scram-sha-256", "trust", "28000"},
		{"sslmode=require&require_auth=scram-sha-256", "scram", ""},
		{"sslmode=require&require_auth=!password", "clear", "28000"},
		{"sslmode=disable&target_session_attrs=primary", "scram", ""},
		{"sslmode=disable&target_session_attrs=standby", "scram", "57P03"},
	} {
		t.Run(c.settings+" "+c.database, func(t *testing.T) {
			p := startProxy(t, withVerifier, withHome(c.settings))
			_, err := connect(t, p.url("alice", "wonderland", c.database, "sslmode=disable"))
			switch {
			case c.fails == "":
				if err != nil {
					t.Fatal(err)
				}
			default:
				var e *pgconn.PgError
				if !errors.As(err, &e) || e.Code != c.fails {
					t.Errorf("err = %v, want %s", err, c.fails)
				}
			}
		})
	}
}

func TestUnixSocketHome(t *testing.T) {
	if home().SocketDir() == "" {
		t.Skip("the temporary directory's path is too long for a socket")
	}
	_, port, _ := strings.Cut(home().Addr(), ":")
	p := startProxy(t, func(cfg *startup.Config) {
		cfg.Home, _ = pgconn.ParseConfig("host=" + home().SocketDir() + " port=" + port + " user=postgres")
	})
	if _, err := connect(t, p.url("alice", "", "scram", "sslmode=disable")); err != nil {
		t.Error(err)
	}
}

// What a Result holds is enough to open a side connection and to cancel.
func TestResult(t *testing.T) {
	p := startProxy(t, withVerifier, withHome("sslmode=require"), withTLS(ecdsaCert()))
	ctx := t.Context()
	c, err := pgconn.Connect(ctx, p.url("alice", "wonderland", "scram", "sslmode=require&application_name=hatter"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	r := <-p.results
	if r.Parameters["application_name"] != "hatter" || r.Replication || r.TxStatus != 'I' || r.PID != c.PID() {
		t.Errorf("result: %+v", r)
	}
	side, err := r.OpenSide(ctx, map[string]string{"application_name": "side"})
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close(ctx)
	res, err := side.Exec(ctx, "SELECT session_user || current_setting('application_name')").ReadAll()
	if err != nil || string(res[0].Rows[0][0]) != "aliceside" {
		t.Errorf("side connection: %v %v", res, err)
	}
	for name, cancel := range map[string]func() error{
		"Result.SendCancel": func() error { return r.SendCancel(ctx) },
		"SendCancel":        func() error { return startup.SendCancel(ctx, p.cfg.Home, r.PID, r.SecretKey) },
		"CancelRequest":     func() error { return c.CancelRequest(ctx) },
	} {
		if err := cancelled(ctx, c, cancel); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// cancelled runs a statement that ends by cancel alone.
func cancelled(ctx context.Context, c *pgconn.PgConn, cancel func() error) error {
	ended := make(chan error, 1)
	go func() {
		_, err := c.Exec(ctx, "SELECT pg_sleep(3600)").ReadAll()
		ended <- err
	}()
	for sleeping := false; !sleeping; {
		rows, err := asSuperuser(ctx, "SELECT pid::text FROM pg_stat_activity WHERE pid::text = $1 AND wait_event = 'PgSleep'", itoa(c.PID()))
		if err != nil {
			return err
		}
		sleeping = len(rows) == 1
	}
	if err := cancel(); err != nil {
		return err
	}
	err := <-ended
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "57014" {
		return nil
	}
	return err
}

func TestRelayedLoginLeavesNoKeys(t *testing.T) {
	p := startProxy(t)
	ctx := t.Context()
	c, err := pgconn.Connect(ctx, p.url("alice", "wonderland", "scram", "sslmode=disable"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if side, err := (<-p.results).OpenSide(ctx, nil); err == nil {
		t.Error("a side connection was opened without keys")
		_ = side.Close(ctx)
	}
}

func TestReplication(t *testing.T) {
	p := startProxy(t)
	ctx := t.Context()
	c, err := pgconn.Connect(ctx, p.url("postgres", "", "trust", "sslmode=disable&replication=database"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	if r := <-p.results; !r.Replication {
		t.Error("a replication connection was not recognised")
	}
	if _, err := c.Exec(ctx, "IDENTIFY_SYSTEM").ReadAll(); err != nil {
		t.Error(err)
	}
}

// A client that says nothing is let go when the time is over, and so is one that stops at its password.
func TestTimeout(t *testing.T) {
	p := startProxy(t, withVerifier, func(cfg *startup.Config) { cfg.Timeout = 50 * time.Millisecond })
	for _, said := range [][]byte{nil, startupMessage(3<<16, "user", "alice", "database", "scram")} {
		c := p.raw(t)
		c.say(said...)
		all := c.rest()
		if !strings.Contains(string(all), "canceling authentication due to timeout") {
			t.Errorf("said %q, heard %q", said, all)
		}
		if err := <-p.errs; err == nil {
			t.Error("no error")
		}
	}
}

func TestSilentClient(t *testing.T) {
	p := startProxy(t)
	_ = p.raw(t).Close()
	if err := <-p.errs; !errors.Is(err, io.EOF) {
		t.Errorf("err = %v, want io.EOF", err)
	}
}

// A server that stops says so to those who have not come in yet.
func TestShutdownDuringStartup(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := rawTo(t, l.Addr().String())
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := startup.Accept(ctx, server, startup.Config{}); err == nil {
		t.Error("no error")
	}
	if e := c.fatal(); e.Code != "57P01" {
		t.Errorf("%+v", e)
	}
}

// A host that is down is passed over, and a cancel finds the host that the session is at.
func TestSecondHost(t *testing.T) {
	p := startProxy(t, withVerifier, func(cfg *startup.Config) {
		cfg.Home, _ = pgconn.ParseConfig("postgres://postgres@127.0.0.1:1," + home().Addr() + "/postgres?sslmode=prefer")
	})
	ctx := t.Context()
	c, err := pgconn.Connect(ctx, p.url("alice", "wonderland", "scram", "sslmode=disable"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	r := <-p.results
	if err := cancelled(ctx, c, func() error { return r.SendCancel(ctx) }); err != nil {
		t.Error(err)
	}
}

// Where home asks for nothing, it has judged the proxy: who else comes in is for the configuration to say.
func TestAdmit(t *testing.T) {
	p := startProxy(t, withVerifier, func(cfg *startup.Config) { cfg.Admit = func(net.Addr) bool { return false } })
	_, err := connect(t, p.url("alice", "", "trust", "sslmode=disable"))
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "28000" || !strings.Contains(e.Hint, "pg_hba.conf") {
		t.Errorf("err = %v", err)
	}
	if _, err := connect(t, p.url("alice", "wonderland", "scram", "sslmode=disable")); err != nil {
		t.Errorf("with a password: %v", err)
	}
	p = startProxy(t, func(cfg *startup.Config) { cfg.Admit = startup.Local })
	if _, err := connect(t, p.url("alice", "", "trust", "sslmode=disable")); err != nil {
		t.Errorf("a local client: %v", err)
	}
	for address, want := range map[net.Addr]bool{
		&net.TCPAddr{IP: net.ParseIP("::1")}: true, &net.TCPAddr{IP: net.ParseIP("10.0.0.7")}: false, &net.UnixAddr{Net: "unix"}: true,
	} {
		if startup.Local(address) != want {
			t.Errorf("%v is local: %v", address, !want)
		}
	}
}
