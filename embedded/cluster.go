package embedded

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// superuser is the role that initdb makes.
const superuser = "postgres"

// cluster is a data directory and what runs it.
type cluster struct {
	dir  string // of the Home
	bin  string
	user *account
}

func (c cluster) data() string { return filepath.Join(c.dir, "data") }
func (c cluster) log() string  { return filepath.Join(c.dir, "postgres.log") }

// version returns the major version that made the cluster, empty where there is none yet.
func (c cluster) version() string {
	text, err := os.ReadFile(filepath.Join(c.data(), "PG_VERSION"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// prepare makes the cluster if there is none, and sees to it that nothing is left of a server that died.
func (c cluster) prepare(ctx context.Context) error {
	if c.version() == "" {
		return c.init(ctx)
	}
	return c.clearStale(ctx)
}

// init makes the cluster under another name and renames it when it is whole, so that a start cut short leaves nothing.
func (c cluster) init(ctx context.Context) error {
	if _, err := os.Stat(c.data()); err == nil {
		return fmt.Errorf("directory %s exists but holds no Postgres cluster; remove it or choose another directory", c.data())
	}
	fresh := c.data() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	var said []byte
	var err error
	for _, locale := range []string{"C.UTF-8", "C"} {
		said, err = c.command(ctx, "initdb", "--pgdata="+fresh, "--username="+superuser, "--auth=trust",
			"--encoding=UTF8", "--locale="+locale, "--no-sync", "--no-instructions").CombinedOutput()
		if err == nil || !bytes.Contains(said, []byte("invalid locale name")) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("cannot make the embedded home's cluster in %s: %w\n%s", c.dir, err, bytes.TrimSpace(said))
	}
	if err := c.configure(fresh); err != nil {
		return err
	}
	return os.Rename(fresh, c.data())
}

// configure appends our defaults to a new cluster's postgresql.conf, where its owner may edit them.
func (c cluster) configure(data string) error {
	f, err := os.OpenFile(filepath.Join(data, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("\n# Defaults of sluice's embedded home\nshared_buffers = 128MB\nmax_connections = 200\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// command makes a command of the server's binaries that runs as its user, in its directory, with nothing of our own
// environment that libpq or the server would take as a setting.
func (c cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, name), args...)
	cmd.Dir = c.dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "PG") && !strings.HasPrefix(kv, "LC_") && !strings.HasPrefix(kv, "LANG") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	// Our own group: a terminal's Ctrl-C is for the proxy, which stops the server when its sessions are done.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.user.credential(), Setpgid: true}
	return cmd
}
