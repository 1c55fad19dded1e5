package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// stopWait is how long a fast shutdown may take before the server is told to drop everything and recover at next start.
const stopWait = 60 * time.Second

// socketPathLimit is the longest path of a unix socket that every system takes.
const socketPathLimit = 100

// process is a running postmaster.
type process struct {
	pid  int
	done chan struct{} // closed when it has ended
	err  error         // set before done is closed
}

// run starts the server on a port and waits until it takes connections.
func (c cluster) run(ctx context.Context, port int, settings map[string]string) (*Home, error) {
	log, err := os.OpenFile(c.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	begin, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	sock := len(filepath.Join(c.dir, ".s.PGSQL.00000")) < socketPathLimit
	cmd := c.command(context.WithoutCancel(ctx), "postgres", c.arguments(port, sock, settings)...)
	cmd.Stdout, cmd.Stderr = log, log
	p, err := spawn(cmd)
	if err != nil {
		return nil, fmt.Errorf("cannot run the embedded home's server: %w", err)
	}
	if err := c.awaitReady(ctx, p); err != nil {
		return nil, errors.Join(c.explain(err, begin), p.stop())
	}
	return &Home{dir: c.dir, port: port, sock: sock, proc: p}, nil
}

// arguments spells the server's command line. What stands there wins over postgresql.conf and ALTER SYSTEM.
func (c cluster) arguments(port int, sock bool, settings map[string]string) []string {
	all := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"port":                    strconv.Itoa(port),
		"unix_socket_directories": "",
		"logging_collector":       "off",
	}
	if sock {
		all["unix_socket_directories"] = `"` + c.dir + `"`
	}
	for name, value := range settings {
		all[name] = value
	}
	args := []string{"-D", c.data()}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		args = append(args, "-c", name+"="+all[name])
	}
	return args
}

// spawn starts the command so that it does not outlive this process. The kernel sends the death signal when the THREAD
// that started the child ends, so that thread is held until the child is gone.
func spawn(cmd *exec.Cmd) (*process, error) {
	dieWithParent(cmd.SysProcAttr)
	p := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	return p, <-started
}

// awaitReady waits for the word "ready" that the postmaster writes into its pid file, as pg_ctl does.
func (c cluster) awaitReady(ctx context.Context, p *process) error {
	const pidLine, statusLine = 0, 7
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		lines, ok := c.pidLines()
		if ok && len(lines) > statusLine && lines[pidLine] == strconv.Itoa(p.pid) && lines[statusLine] == "ready" {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.done:
			return errors.New("the server ended while starting")
		case <-tick.C:
		}
	}
}

// explain adds what the server has said since offset begin of its log.
func (c cluster) explain(err error, begin int64) error {
	text, rerr := os.ReadFile(c.log())
	if rerr != nil || int64(len(text)) < begin {
		return err
	}
	said := text[begin:]
	if bytes.Contains(said, []byte("could not bind IPv4 address")) {
		return fmt.Errorf("%w\n%s", errPortTaken, bytes.TrimSpace(said))
	}
	return fmt.Errorf("the embedded home in %s did not start: %w (log: %s)\n%s", c.dir, err, c.log(), bytes.TrimSpace(said))
}

// stop tells the postmaster to end sessions and shut down, and waits until it has.
func (p *process) stop() error {
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGINT, stopWait}, {syscall.SIGQUIT, 10 * time.Second}, {syscall.SIGKILL, 10 * time.Second}} {
		if p.ended() {
			return nil
		}
		if err := syscall.Kill(p.pid, step.signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
		timeout := time.NewTimer(step.wait)
		select {
		case <-p.done:
			timeout.Stop()
			return nil
		case <-timeout.C:
		}
	}
	return fmt.Errorf("the embedded home's server (process %d) does not end", p.pid)
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
