package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startWait = 30 * time.Second
	stopWait  = 20 * time.Second
	tick      = 100.0 // of /proc times, a second
)

// process is a server that the harness started and will end.
type process struct {
	metrics string // URL of the metrics of a Sluice
	name    string
	cmd     *exec.Cmd
	addr    string
	said    bytes.Buffer
	ended   chan struct{}
	result  error
}

// start runs a server and returns when it takes connections at addr. It stays in this process' session: Linux schedules
// each session as one, and a daemon in another would be measured with other shares of the processor.
func start(ctx context.Context, name, addr string, cmd *exec.Cmd) (*process, error) {
	p := &process{name: name, cmd: cmd, addr: addr, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { p.result = cmd.Wait(); close(p.ended) }()
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return p, c.Close()
		}
		select {
		case <-p.ended:
			return nil, fmt.Errorf("%s ended at once: %w\n%s", name, p.result, p.said.Bytes())
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("%s does not listen on %s", name, addr), p.stop())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stop ends the server, gently first.
func (p *process) stop() error {
	if p == nil {
		return nil
	}
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = p.cmd.Process.Signal(signal)
		select {
		case <-p.ended:
			return nil
		case <-time.After(stopWait):
		}
	}
	return fmt.Errorf("%s does not end", p.name)
}

// end stops the server and adds what it said to a failure.
func (p *process) end(err error) error {
	if p == nil {
		return err
	}
	err = errors.Join(err, p.stop())
	if err != nil && p.said.Len() > 0 {
		err = fmt.Errorf("%w\n%s said:\n%s", err, p.name, bytes.TrimSpace(p.said.Bytes()))
	}
	return err
}

// cpu returns the processor time that the process has used.
func (p *process) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	return parseCPU(string(text))
}

// parseCPU reads utime and stime, fields 14 and 15 of a stat file. The name before them may hold anything.
func parseCPU(stat string) (time.Duration, error) {
	const utime, stime = 14 - 3, 15 - 3
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) <= stime {
		return 0, fmt.Errorf("unexpected stat file: %s", stat)
	}
	u, err1 := strconv.ParseFloat(fields[utime], 64)
	s, err2 := strconv.ParseFloat(fields[stime], 64)
	return time.Duration((u + s) / tick * float64(time.Second)), errors.Join(err1, err2)
}

// peak returns the largest resident memory of the process so far, in bytes.
func (p *process) peak() (float64, error) { return p.memory("VmHWM") }

// resident returns the resident memory of the process, in bytes.
func (p *process) resident() (float64, error) { return p.memory("VmRSS") }

func (p *process) memory(field string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	return parseMemory(string(text), field)
}

func parseMemory(status, field string) (float64, error) {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			return kb * 1024, err
		}
	}
	return 0, errors.New("the status file has no " + field)
}

// freeAddress returns a loopback address, other than those given, for a server that must be told one. Ports above 32767 are left to the kernel,
// which gives them to clients.
func freeAddress(other ...string) (string, error) {
	for port := 20000; port < 32768; port++ {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port+os.Getpid()%1000))
		if slices.Contains(other, addr) {
			continue
		}
		l, err := net.Listen("tcp", addr)
		if err == nil {
			return addr, l.Close()
		}
	}
	return "", errors.New("no free port")
}

// unprivileged is whom to run a server as that refuses to run as root; nil for this process' own user.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
	}
	return nil, errors.New("this machine has neither user postgres nor nobody")
}
