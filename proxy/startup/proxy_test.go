package startup_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/proxy/startup"
)

// proxy is the least that one can build on package startup: it copies bytes once a client is logged in.
type proxy struct {
	net.Listener
	cfg     startup.Config
	results chan *startup.Result
	errs    chan error
	wg      sync.WaitGroup
}

// option changes the configuration of a proxy.
type option func(*startup.Config)

func withTLS(c tls.Certificate) option {
	return func(cfg *startup.Config) {
		cfg.TLS = func() *tls.Config { return &tls.Config{Certificates: []tls.Certificate{c}} }
	}
}

func withVerifier(cfg *startup.Config) { cfg.Verifier = verifierOf }

func withHome(settings string) option {
	return func(cfg *startup.Config) {
		config, err := pgconn.ParseConfig("postgres://postgres@" + home().Addr() + "/postgres?" + settings)
		if err != nil {
			panic(err)
		}
		cfg.Home = config
	}
}

func startProxy(t *testing.T, options ...option) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, results: make(chan *startup.Result, 100), errs: make(chan error, 100)}
	withHome("sslmode=disable")(&p.cfg)
	for _, o := range options {
		o(&p.cfg)
	}
	p.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); p.wg.Wait() }) // wait: no goroutine outlives its test
	return p
}

func (p *proxy) serve(c net.Conn) {
	ctx := context.Background()
	r, err := startup.Accept(ctx, c, p.cfg)
	if err != nil {
		p.errs <- err
		return
	}
	if r.Cancel != nil {
		_ = startup.SendCancel(ctx, p.cfg.Home, r.Cancel.ProcessID, r.Cancel.SecretKey)
		_ = c.Close()
		return
	}
	p.results <- r
	ready, _ := (&pgproto3.ReadyForQuery{TxStatus: r.TxStatus}).Encode(r.Login)
	_, _ = r.Client.Write(append(ready, r.HomeLeft...))
	_, _ = r.Home.Write(r.ClientLeft)
	p.wg.Go(func() { _, _ = io.Copy(r.Home, r.Client); _ = r.Home.Close() })
	_, _ = io.Copy(r.Client, r.Home)
	_ = r.Client.Close()
}

// url returns a connection URL of the proxy.
func (p *proxy) url(user, password, database, settings string) string {
	return fmt.Sprintf("postgres://%s:%s@%s/%s?%s", user, password, p.Addr(), database, settings)
}

// connect logs in with pgconn, asks who it is and leaves.
func connect(t *testing.T, url string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := pgconn.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer c.Close(ctx)
	res, err := c.Exec(ctx, "SELECT session_user || '@' || current_database()").ReadAll()
	if err != nil {
		return "", err
	}
	if v := c.ParameterStatus("server_version"); v == "" {
		t.Error("no server_version was reported")
	}
	return string(res[0].Rows[0][0]), nil
}

// raw is a client that says exactly what a test wants.
type raw struct {
	net.Conn
	t *testing.T
}

func (p *proxy) raw(t *testing.T) raw {
	t.Helper()
	return rawTo(t, p.Addr().String())
}

func rawTo(t *testing.T, address string) raw {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	t.Cleanup(func() { _ = c.Close() })
	return raw{c, t}
}

func (r raw) say(b ...byte) {
	r.t.Helper()
	if _, err := r.Write(b); err != nil {
		r.t.Fatal(err)
	}
}

// hear reads n bytes.
func (r raw) hear(n int) string {
	r.t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		r.t.Fatalf("read: %v", err)
	}
	return string(b)
}

// rest reads until the other side closes.
func (r raw) rest() []byte {
	r.t.Helper()
	b, err := io.ReadAll(r)
	if err != nil && !strings.Contains(err.Error(), "reset by peer") {
		r.t.Fatalf("read: %v", err)
	}
	return b
}

// fatal reads one ErrorResponse and the end of the connection.
func (r raw) fatal() *pgconn.PgError {
	r.t.Helper()
	b := r.rest()
	if len(b) < 5 || b[0] != 'E' {
		r.t.Fatalf("no ErrorResponse but %q", b)
	}
	return decodeError(r.t, b[5:])
}

func decodeError(t *testing.T, body []byte) *pgconn.PgError {
	t.Helper()
	m := &pgproto3.ErrorResponse{}
	if err := m.Decode(body); err != nil {
		t.Fatal(err)
	}
	return pgconn.ErrorResponseToPgError(m)
}

// startupMessage encodes a packet of any version with name and value pairs.
func startupMessage(version uint32, pairs ...string) []byte {
	body := []byte{byte(version >> 24), byte(version >> 16), byte(version >> 8), byte(version)}
	for _, s := range pairs {
		body = append(append(body, s...), 0)
	}
	if version>>16 == 3 {
		body = append(body, 0)
	}
	n := len(body) + 4
	return append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, body...)
}

var (
	sslRequest = []byte{0, 0, 0, 8, 4, 210, 22, 47}
	gssRequest = []byte{0, 0, 0, 8, 4, 210, 22, 48}
	ecdsaCert  = sync.OnceValue(func() tls.Certificate { return certificate(x509.ECDSAWithSHA256) })
)
