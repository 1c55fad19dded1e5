package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// Options says what differs from the default; the zero value is fine.
type Options struct {
	// Settings are server settings that win over those of postgresql.conf, for instance {"fsync": "off"}.
	Settings map[string]string
	// Port is the TCP port on 127.0.0.1; 0 chooses a free one.
	Port int
}

// Home is a running Postgres with superuser postgres, who needs no password.
type Home struct {
	dir  string
	port int
	sock bool
	lock *os.File
	proc *process
	stop sync.Once
	err  error
}

// portTries bounds how often a chosen port may be lost to another process before it is bound.
const portTries = 10

// Start runs the cluster in dir, which it makes on first use, and returns when it takes connections. As root the server
// runs as the owner of the cluster, for a new one as user postgres or nobody. Errors say what to do.
func Start(ctx context.Context, dir string, opts Options) (*Home, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot make the directory of the embedded home: %w", err)
	}
	lock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	h, err := start(ctx, dir, opts)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	h.lock = lock
	return h, nil
}

// start does the work of Start in a directory that is locked.
func start(ctx context.Context, dir string, opts Options) (*Home, error) {
	c := cluster{dir: dir}
	var err error
	if c.user, err = chooseAccount(dir, c.data()); err != nil {
		return nil, err
	}
	if c.bin, err = findBinaries(ctx, c.version()); err != nil {
		return nil, err
	}
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		port := opts.Port
		if port == 0 {
			if port, err = freePort(); err != nil {
				return nil, err
			}
		}
		h, err := c.run(ctx, port, opts.Settings)
		if err == nil || !errors.Is(err, errPortTaken) || opts.Port != 0 || try == portTries {
			return h, err
		}
	}
}

// URL returns the connection URL of a database for superuser postgres.
func (h *Home) URL(database string) string { return urlOf(h.port, database) }

// Addr returns host:port of the TCP listener.
func (h *Home) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(h.port)) }

// SocketDir returns the directory of the unix socket, empty where its path would be too long for one.
func (h *Home) SocketDir() string {
	if !h.sock {
		return ""
	}
	return h.dir
}

// Dir returns the directory the home lives in.
func (h *Home) Dir() string { return h.dir }

// Done is closed when the server has ended, by Stop or by itself.
func (h *Home) Done() <-chan struct{} { return h.proc.done }

// Stop ends the server as "fast shutdown" does, waits for it, and gives the directory free. Idempotent.
func (h *Home) Stop() error {
	h.stop.Do(func() {
		h.err = errors.Join(h.proc.stop(), h.lock.Close())
	})
	return h.err
}
