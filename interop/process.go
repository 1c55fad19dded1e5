package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// stopWait is how long the proxy may take to end after each signal.
const stopWait = 20 * time.Second

// process is the proxy.
type process struct {
	addr   string
	cmd    *exec.Cmd
	said   output
	ended  chan struct{}
	result error
}

// output keeps what a process has said so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// startProcess runs a server and returns when it takes connections.
func startProcess(ctx context.Context, addr string, cmd *exec.Cmd) (*process, error) {
	p := &process{addr: addr, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	// Our own group: a terminal's Ctrl-C is for the runner, which ends the server when its clients are done.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w; make build makes it", cmd.Path, err)
	}
	go func() { p.result = cmd.Wait(); close(p.ended) }()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return p, conn.Close()
		}
		select {
		case <-p.ended:
			return nil, fmt.Errorf("%s ended at once: %w\n%s", cmd.Path, p.result, p.said.String())
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("%s does not listen on %s", cmd.Path, addr), p.stop())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stop ends the server, gently first. One that has ended before is an error: a client brought it down.
func (p *process) stop() error {
	if p == nil {
		return nil
	}
	select {
	case <-p.ended:
		return fmt.Errorf("the proxy has ended by itself: %w\n%s", p.result, p.said.String())
	default:
	}
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = p.cmd.Process.Signal(signal)
		select {
		case <-p.ended:
			return nil
		case <-time.After(stopWait):
		}
	}
	return errors.New("the proxy does not end")
}
