package registry

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Python makes a Python environment that has what the requirements say, once, and returns its interpreter.
func Python(name string, requirements []byte) (python string, err error) {
	dir, unlock, err := Cache(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	env, list := filepath.Join(dir, "env"), filepath.Join(dir, "requirements.txt")
	python = filepath.Join(env, "bin", "python")
	if have, err := os.ReadFile(list); err == nil && bytes.Equal(have, requirements) {
		return python, nil
	}
	if err := errors.Join(os.RemoveAll(env), os.RemoveAll(list)); err != nil {
		return "", err
	}
	if _, err := Run(dir, "python3", "-m", "venv", env); err != nil {
		return "", err
	}
	wanted := filepath.Join(dir, "wanted.txt")
	if err := os.WriteFile(wanted, requirements, 0o644); err != nil {
		return "", err
	}
	if _, err := Run(dir, python, "-m", "pip", "install", "--quiet", "--requirement", wanted); err != nil {
		return "", err
	}
	return python, os.Rename(wanted, list)
}

// Daemon runs a program in a directory of its own until the test ends, or its process. What it prints stands in the file that is
// returned.
func Daemon(tb testing.TB, environment []string, program string, args ...string) (log string) {
	tb.Helper()
	cmd := exec.Command("sh", append([]string{"-c", `"$@" >log 2>&1 & read -r _; kill -9 $!`, "sh", program}, args...)...)
	cmd.Dir, cmd.Env = tb.TempDir(), append(os.Environ(), environment...)
	life, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = life.Close()
		_ = cmd.Wait()
	})
	return filepath.Join(cmd.Dir, "log")
}

// FreePort is a port of the loopback interface that nobody listens on.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}
