package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded"
)

const (
	role     = "interop"
	password = "interop password"

	startLimit = 2 * time.Minute
)

// rig is a home with a proxy before it, and a second Postgres: for clients that are servers themselves, and for what
// Postgres says of foreign tables when their wrapper is a real one.
type rig struct {
	work   string
	home   *embedded.Home
	second *embedded.Home
	sluice *process // it speaks TLS with home always, with clients if they ask for it
}

func newRig(ctx context.Context, s *settings) (r *rig, err error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	r = &rig{}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.work, err = os.MkdirTemp("", "sluice-interop-"); err != nil {
		return nil, err
	}
	if err := os.Chmod(r.work, 0o755); err != nil {
		return nil, err
	}
	quick := map[string]string{"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
	if r.home, err = embedded.Start(ctx, filepath.Join(r.work, "home"), embedded.Options{Settings: quick}); err != nil {
		return nil, err
	}
	if r.second, err = embedded.Start(ctx, filepath.Join(r.work, "second"), embedded.Options{Settings: quick}); err != nil {
		return nil, err
	}
	for _, h := range []*embedded.Home{r.home, r.second} {
		if err := addRole(ctx, h); err != nil {
			return nil, err
		}
	}
	if err := r.addTLS(ctx); err != nil {
		return nil, err
	}
	return r, r.startSluice(ctx, s)
}

// addTLS gives home a certificate, and makes an authority that has signed none.
func (r *rig) addTLS(ctx context.Context) error {
	data := filepath.Join(r.home.Dir(), "data")
	a, err := newAuthority(data)
	if err != nil {
		return err
	}
	if err := a.issue(data); err != nil {
		return err
	}
	if _, err := newAuthority(r.work); err != nil {
		return err
	}
	return execute(ctx, r.home.URL("postgres"), "ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()")
}

func (r *rig) startSluice(ctx context.Context, s *settings) error {
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	binary, err := s.binary()
	if err != nil {
		return err
	}
	data := filepath.Join(r.home.Dir(), "data")
	home := urlOf(r.home.Addr(), "postgres", url.User("postgres")) + "?sslmode=verify-full&sslrootcert=" + filepath.Join(data, authorityFile)
	r.sluice, err = startProcess(ctx, addr, exec.Command(binary, "serve", "--home", home, "--listen", addr, "--drain", "1s",
		"--log-level", "debug", "--tls-cert", filepath.Join(data, certificateFile), "--tls-key", filepath.Join(data, keyFile)))
	if err != nil {
		return err
	}
	// Without the catalog in the proxy's own database it cannot bind a login to its certificate.
	return execute(ctx, urlOf(addr, "postgres", url.User("postgres")), "CREATE EXTENSION sluice")
}

// addRole makes the role that clients are, and has a server ask it for its password.
func addRole(ctx context.Context, home *embedded.Home) error {
	rules := "local all all trust\nhost all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(home.Dir(), "data", "pg_hba.conf"), []byte(rules), 0o600); err != nil {
		return err
	}
	return execute(ctx, home.URL("postgres"),
		"SELECT pg_reload_conf()", "CREATE ROLE "+role+" LOGIN PASSWORD '"+password+"'")
}

// close ends what newRig has started and removes its files.
func (r *rig) close() error {
	err := r.sluice.stop()
	for _, h := range []*embedded.Home{r.home, r.second} {
		if h != nil {
			err = errors.Join(err, h.Stop())
		}
	}
	return errors.Join(err, os.RemoveAll(r.work))
}

// urlOf is a database at an address, for a user.
func urlOf(addr, database string, user *url.Userinfo) string {
	return (&url.URL{Scheme: "postgres", User: user, Host: addr, Path: "/" + database}).String()
}

// execute runs statements over a connection of their own.
func execute(ctx context.Context, url string, statements ...string) (err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for _, sql := range statements {
		if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return fmt.Errorf("%w\nin %s", err, sql)
		}
	}
	return nil
}

// freeAddress returns a loopback address for a server that must be told one. Ports above 32767 are left to the kernel,
// which gives them to clients.
func freeAddress() (string, error) {
	for port := 21000; port < 31000; port++ {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port+os.Getpid()%1000))
		l, err := net.Listen("tcp", addr)
		if err == nil {
			return addr, l.Close()
		}
	}
	return "", errors.New("no free port")
}
