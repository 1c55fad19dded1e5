package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/proxy/startup"
)

// serving is a proxy that runs as `sluice serve` with the arguments given.
type serving struct {
	stop func() error
}

// startServe runs the command until the test ends or stop is called, which returns what the command returned.
func startServe(t *testing.T, args ...string) serving {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	cmd := rootCommand()
	cmd.SetArgs(append([]string{"serve", "--log-level", "error"}, args...))
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	stopped := false
	stop := func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return serving{stop}
}

// connect tries until the proxy listens.
func connect(t *testing.T, dsn string) *pgconn.PgConn {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		conn, err := pgconn.Connect(t.Context(), dsn)
		if err == nil {
			t.Cleanup(func() { _ = conn.Close(context.Background()) })
			return conn
		}
		if time.Now().After(deadline) {
			t.Fatalf("cannot connect: %v", err)
		}
		time.Sleep(10 * time.Millisecond) // the command has no signal for a listener that is open
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	for port := 21000; port < 32768; port++ {
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// socketDir makes a directory whose path is short enough for a socket.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sluice-sock-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestServeSocketAndDrain(t *testing.T) {
	url := hometest.Database(t, hometest.Start(t))
	dir := socketDir(t)
	socket := filepath.Join(dir, ".s.PGSQL.6543")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false) // as a proxy that was killed leaves it
	_ = stale.Close()

	s := startServe(t, "--home", url, "--listen", socket, "--drain", "50ms")
	conn := connect(t, "host="+dir+" port=6543 user=postgres database=postgres")
	if err := conn.Exec(t.Context(), "SELECT 1").Close(); err != nil {
		t.Error(err)
	}
	if err := s.stop(); err != nil {
		t.Errorf("serve ends with %v", err)
	}
	if err := conn.Exec(t.Context(), "SELECT 1").Close(); err == nil {
		t.Error("the session outlives the drain")
	}
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

func TestServeAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	cmd := rootCommand()
	cmd.SetArgs([]string{"serve", "--home", "postgres://127.0.0.1:1/x", "--listen", l.Addr().String()})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot listen on "+l.Addr().String()) {
		t.Errorf("serve says %v", err)
	}
}

// What is mistyped is named as it was typed.
func TestMistyped(t *testing.T) {
	for want, args := range map[string][]string{
		`unknown command "chek"`:       {"chek"},
		`unknown flag: --hom`:          {"check", "--hom", "x"},
		`--federation-memory lots: a `: {"serve", "--federation-memory", "lots", "--home", "postgres://127.0.0.1:1/x"},
	} {
		cmd := rootCommand()
		cmd.SetArgs(args)
		cmd.SetOut(io.Discard)
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: want %s, have %v", args, want, err)
		}
	}
}

func TestServeMetrics(t *testing.T) {
	url := hometest.Database(t, hometest.Start(t))
	dir, port := socketDir(t), freePort(t)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	startServe(t, "--home", url, "--listen", filepath.Join(dir, ".s.PGSQL.1"), "--metrics", address)
	connect(t, "host="+dir+" port=1 user=postgres database=postgres")
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, "host="+dir+" port=1 user=postgres database="+config.Database)
	for _, sql := range []string{"CREATE EXTENSION sluice", "CREATE SERVER lake FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '/no/such/file')",
		"CREATE FOREIGN TABLE t (a int) SERVER lake", "SELECT * FROM t"} {
		if err := conn.Exec(t.Context(), sql).Close(); (err == nil) == strings.HasPrefix(sql, "SELECT") {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(text), `sluice_build_info{commit="`) || !strings.Contains(string(text), "\nsluice_audit_lost_total 0\n") {
		t.Errorf("metrics are %q (%v)", text, err)
	}
	for _, line := range []string{"sluice_server_broken{", "sluice_server_waiting{", "sluice_server_running{"} {
		if line += `database="` + config.Database + `",server="lake"} 0` + "\n"; !strings.Contains(string(text), line) {
			t.Errorf("metrics lack %s", line)
		}
	}
	// Who reads metrics need not be who may read tables: they tell no role from another, nor a table, nor rows that were read.
	for _, m := range regexp.MustCompile(`(?m)^(sluice_\w+)(?:\{(.*)\})? `).FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains([]string{"", "plan", "commit", "database"}, strings.Split(m[2], "=")[0]) || strings.Contains(m[1], "rows") && m[1] != "sluice_audit_rows_total" {
			t.Errorf("metric %s", m[0])
		}
	}
}

// TestServeTLS refuses clients without TLS, and shows another certificate after SIGHUP.
func TestServeTLS(t *testing.T) {
	url := hometest.Database(t, hometest.Start(t))
	dir, port := t.TempDir(), strconv.Itoa(freePort(t))
	writeCertificate(t, dir, "first")
	startServe(t, "--home", url, "--listen", "127.0.0.1:"+port, "--tls-mode", "require",
		"--tls-cert", filepath.Join(dir, "cert.pem"), "--tls-key", filepath.Join(dir, "key.pem"))
	dsn := "host=127.0.0.1 port=" + port + " user=postgres database=postgres sslmode="
	if got := subject(t, connect(t, dsn+"require")); got != "first" {
		t.Errorf("the certificate is %s", got)
	}
	if _, err := pgconn.Connect(t.Context(), dsn+"disable"); err == nil {
		t.Error("a client without TLS was let in")
	}

	writeCertificate(t, dir, "second")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); subject(t, connect(t, dsn+"require")) != "second"; {
		if time.Now().After(deadline) {
			t.Fatal("SIGHUP does not load the new certificate")
		}
	}
}

func TestReloadKeepsWhatWorks(t *testing.T) {
	dir := t.TempDir()
	writeCertificate(t, dir, "first")
	f := tlsFlags{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem")}
	c, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.cert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.reload(); err == nil {
		t.Error("a broken certificate was loaded")
	}
	if got, err := c.config().GetCertificate(nil); err != nil || got == nil {
		t.Errorf("the old certificate is gone: %v", err)
	}
}

func TestTLSFlagsRefused(t *testing.T) {
	for want, f := range map[string]tlsFlags{
		"needs both": {cert: "x"},
		"both --tls": {mode: "require"},
		"choose":     {mode: "perhaps", cert: "x", key: "y"},
		"no such":    {cert: "/none", key: "/none"},
		"need TLS":   {clients: clientCertFlags{ca: "x"}},
	} {
		if _, err := f.load(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if c, err := (tlsFlags{mode: "disable", cert: "/none"}).load(); err != nil || c.config() != nil {
		t.Errorf("disable: %v", err)
	}
}

func TestClientCertFlags(t *testing.T) {
	dir := t.TempDir()
	writeCertificate(t, dir, "authority")
	ca, none, idents := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "idents")
	if err := os.WriteFile(idents, []byte("sluice hatter alice\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]clientCertFlags{
		"choose optional":         {ca: ca, demand: "verify"},
		"need --tls-client-ca":    {demand: "verify-ca"},
		"holds no certificate":    {ca: none},
		"authorities of clients'": {ca: "/none"},
		"map of clients'":         {ca: ca, idents: "/none"},
		"line 1: a quoted word":   {ca: ca, idents: none + ".bad"},
		"revocation lists of":     {ca: ca, crl: "/none"},
		"no revocation list":      {ca: ca, crl: ca},
	} {
		if strings.HasSuffix(f.idents, ".bad") {
			if err := os.WriteFile(f.idents, []byte("sluice \"hatter"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.load(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if c, err := (clientCertFlags{}).load(); c != nil || err != nil {
		t.Errorf("no flags: %v, %v", c, err)
	}
	c, err := clientCertFlags{ca: ca, demand: "verify-full", idents: idents}.load()
	if err != nil || c.Demand != startup.CertVerifyFull || !c.Map.Maps("hatter", "alice") || c.Map.Maps("alice", "alice") {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestLogFlags(t *testing.T) {
	for _, f := range []logFlags{{"loud", "text"}, {"info", "xml"}} {
		if _, err := f.logger(io.Discard); err == nil {
			t.Errorf("%+v is taken", f)
		}
	}
	log, err := logFlags{"warn", "json"}.logger(io.Discard)
	if err != nil || log.Enabled(t.Context(), slog.LevelInfo) || !log.Enabled(t.Context(), slog.LevelWarn) {
		t.Errorf("level warn: %v", err)
	}
}

func TestPsqlLine(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:6543":            "psql -h 127.0.0.1 -p 6543 -U postgres -d app",
		"[::]:6543":                 "psql -h 127.0.0.1 -p 6543 -U postgres -d app",
		"/run/sluice/.s.PGSQL.6543": "psql -h /run/sluice -p 6543 -U postgres -d app",
	} {
		if got := psqlLine(address, "app"); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

// subject is the name in the certificate that a connection was shown.
func subject(t *testing.T, conn *pgconn.PgConn) string {
	t.Helper()
	c, ok := conn.Conn().(*tls.Conn)
	if !ok {
		t.Fatal("the connection has no TLS")
	}
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName
}

// writeCertificate writes cert.pem and key.pem.
func writeCertificate(t *testing.T, dir, name string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
