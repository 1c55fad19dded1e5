package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/sluicedb/sluice/embedded"
)

const database = "bench"

// rig is what all parts share: a home with a database, and a directory.
type rig struct {
	*settings
	work      string
	temporary bool
	home      *embedded.Home

	certificate certificate
}

func newRig(ctx context.Context, s *settings) (r *rig, err error) {
	r = &rig{settings: s, work: s.dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.work == "" {
		r.temporary = true
		if r.work, err = os.MkdirTemp("", "sluice-bench-"); err != nil {
			return r, err
		}
	}
	if r.work, err = filepath.Abs(r.work); err != nil {
		return r, err
	}
	if err := os.MkdirAll(r.work, 0o755); err != nil {
		return r, err
	}
	if err := os.Chmod(r.work, 0o755); err != nil { // others run Postgres and PgBouncer
		return r, err
	}
	if err := r.buildSluice(ctx); err != nil {
		return r, err
	}
	settings, err := r.homeSettings()
	if err != nil {
		return r, err
	}
	progress("starting Postgres")
	if r.home, err = embedded.Start(ctx, filepath.Join(r.work, "home"), embedded.Options{
		Settings: settings,
	}); err != nil {
		return r, err
	}
	return r, r.createDatabase(ctx)
}

// homeSettings makes what home is configured by: it takes as many clients as idle at once, with TLS if they ask for it,
// and lets in all but one role without a password.
func (r *rig) homeSettings() (map[string]string, error) {
	who, err := unprivileged()
	if err != nil {
		return nil, err
	}
	if r.certificate, err = makeCertificate(r.work, who); err != nil {
		return nil, err
	}
	hba := filepath.Join(r.work, "pg_hba.conf")
	text := "host all " + scramRole + " 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\nlocal all all trust\n"
	return map[string]string{
		"fsync": "off", "shared_buffers": "512MB", "max_wal_size": "4GB", "autovacuum": "off",
		"max_connections": strconv.Itoa(max(r.idle+50, 200)), "hba_file": hba,
		"ssl": "on", "ssl_cert_file": r.certificate.cert, "ssl_key_file": r.certificate.key,
	}, os.WriteFile(hba, []byte(text), 0o644)
}

// buildSluice makes the binary where there is none.
func (r *rig) buildSluice(ctx context.Context) error {
	if _, err := os.Stat(r.sluice); err == nil {
		r.sluice, err = filepath.Abs(r.sluice)
		return err
	}
	progress("%s does not exist: building it", r.sluice)
	r.sluice = filepath.Join(r.work, "sluice")
	out, err := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", r.sluice, "github.com/sluicedb/sluice/cmd/sluice").CombinedOutput()
	if err != nil {
		return fmt.Errorf("cannot build the binary to measure: %w\n%s", err, out)
	}
	return nil
}

func (r *rig) createDatabase(ctx context.Context) error {
	c, err := connect(ctx, r.home.Addr(), "postgres")
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.exec(ctx, "DROP DATABASE IF EXISTS "+database); err != nil {
		return err
	}
	return c.exec(ctx, "CREATE DATABASE "+database)
}

// startSluice starts a proxy in front of the home, which it speaks to in clear. It takes clients with TLS.
func (r *rig) startSluice(ctx context.Context) (*process, error) {
	return r.startSluiceAt(ctx, r.home.URL(database))
}

// startSluiceAt starts a proxy with a URL of the home's.
func (r *rig) startSluiceAt(ctx context.Context, home string) (*process, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	metrics, err := freeAddress(addr)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(r.sluice, "serve", "--home", home, "--listen", addr, "--drain", "1s", "--log-level", "warn",
		"--tls-cert", r.certificate.cert, "--tls-key", r.certificate.key, "--metrics", metrics)
	p, err := start(ctx, "sluice", addr, cmd)
	if err == nil {
		p.metrics = "http://" + metrics + "/metrics"
	}
	return p, err
}

// startBouncer starts PgBouncer in session mode, or returns nil and says why not.
func (r *rig) startBouncer(ctx context.Context, report *report) (*process, error) {
	binary, err := exec.LookPath("pgbouncer")
	if err != nil {
		if binary = "/usr/sbin/pgbouncer"; !isFile(binary) {
			report.note("PgBouncer is not installed, so its column is empty; on Debian: apt-get install pgbouncer.")
			return nil, nil
		}
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(addr)
	_, homePort, _ := net.SplitHostPort(r.home.Addr())
	path := filepath.Join(r.work, "pgbouncer.ini")
	ini := fmt.Sprintf(`[databases]
%s = host=127.0.0.1 port=%s user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = session
max_client_conn = 500
default_pool_size = 150
log_connections = 0
log_disconnections = 0
`, database, homePort, port)
	if err := os.WriteFile(path, []byte(ini), 0o644); err != nil {
		return nil, err
	}
	who, err := unprivileged()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	return start(ctx, "pgbouncer", addr, cmd)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (r *rig) postgresVersion(ctx context.Context) string {
	c, err := connect(ctx, r.home.Addr(), "postgres")
	if err != nil {
		return "Postgres"
	}
	defer c.close()
	return "Postgres " + strings.Fields(c.version + " ?")[0]
}

func (r *rig) close() error {
	var err error
	if r.home != nil {
		err = r.home.Stop()
	}
	if r.temporary && r.work != "" {
		err = errors.Join(err, os.RemoveAll(r.work))
	}
	return err
}
