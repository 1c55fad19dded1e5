package startup_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// libpq is the client that most others are measured by.
func TestPsql(t *testing.T) {
	if _, err := exec.LookPath("psql"); err != nil {
		t.Skip("psql is not installed")
	}
	root := filepath.Join(t.TempDir(), "root.crt")
	if err := os.WriteFile(root, certPEM(ecdsaCert()), 0o600); err != nil {
		t.Fatal(err)
	}
	ending := startProxy(t, withTLS(ecdsaCert()), withVerifier, withHome("sslmode=require"))
	relaying := startProxy(t, withTLS(ecdsaCert()))
	clear := startProxy(t, withVerifier)
	wrong := `password authentication failed for user "alice"`
	for _, c := range []struct {
		name     string
		proxy    *proxy
		settings string
		password string
		fails    string // part of what psql says; empty: it works
	}{
		{"prefer", ending, "sslmode=prefer", "wonderland", ""},
		{"disable", ending, "sslmode=disable", "wonderland", ""},
		{"require bound", ending, "sslmode=require channel_binding=require", "wonderland", ""},
		{"require unbound", ending, "sslmode=require channel_binding=disable", "wonderland", ""},
		{"verify-full bound", ending, "sslmode=verify-full channel_binding=require sslrootcert=" + root, "wonderland", ""},
		{"verify-ca", ending, "sslmode=verify-ca sslrootcert=" + root, "wonderland", ""},
		{"gss wanted first", ending, "gssencmode=prefer sslmode=prefer", "wonderland", ""},
		{"bound in clear", ending, "sslmode=disable channel_binding=require", "wonderland", "channel binding required"},
		{"wrong password", ending, "sslmode=require", "nonsense", wrong},
		{"wrong password in clear", ending, "sslmode=disable", "nonsense", wrong},
		{"relayed", relaying, "sslmode=require", "wonderland", ""},
		{"relayed in clear", relaying, "sslmode=disable", "wonderland", ""},
		{"relayed wrong password", relaying, "sslmode=require", "nonsense", wrong},
		{"relayed bound", relaying, "sslmode=require channel_binding=require", "wonderland", "channel binding is required"},
		{"no TLS, preferred", clear, "sslmode=prefer", "wonderland", ""},
		{"no TLS, required", clear, "sslmode=require", "wonderland", "server does not support SSL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := psql(t, c.proxy, c.settings, c.password)
			switch {
			case c.fails == "" && (err != nil || out != "alice\n"):
				t.Errorf("psql: %v\n%s", err, out)
			case c.fails != "" && (err == nil || !strings.Contains(out, c.fails)):
				t.Errorf("psql: %v\n%s\nwant %s", err, out, c.fails)
			}
		})
	}
}

func psql(t *testing.T, p *proxy, settings, password string) (string, error) {
	t.Helper()
	host, port, _ := strings.Cut(p.Addr().String(), ":")
	name := "host=localhost hostaddr=" + host + " port=" + port + " user=alice dbname=scram " + settings
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "psql", "-XAtw", "-c", "SELECT session_user", "-d", name)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+password, "LC_ALL=C")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}
