package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// hangup is how long a command's output may stay open after the command was ended.
const hangup = 5 * time.Second

// cacheDir is where installs go, outside of the checkout.
func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = filepath.Join(os.TempDir(), "cache")
	}
	dir := filepath.Join(base, "sluice-interop")
	return dir, os.MkdirAll(dir, 0o755)
}

// command runs one of a client's commands in its directory, with variables of our own, and returns its output. What it
// has started ends with it.
func (c *client) command(ctx context.Context, args, env []string) (stdout, stderr string, err error) {
	cache, err := cacheDir()
	if err != nil {
		return "", "", err
	}
	env = append(cleanEnv(), append(env, "SLUICE_INTEROP_CACHE="+cache)...)
	lookup := func(name string) string {
		for i := len(env) - 1; i >= 0; i-- {
			if value, ok := strings.CutPrefix(env[i], name+"="); ok {
				return value
			}
		}
		return ""
	}
	expanded := make([]string, len(args))
	for i, a := range args {
		expanded[i] = os.Expand(a, lookup)
	}
	name := expanded[0]
	if strings.HasPrefix(name, ".") {
		name = filepath.Join(c.root, c.dir, name)
	}
	cmd := exec.CommandContext(ctx, name, expanded[1:]...)
	cmd.Dir, cmd.Env = filepath.Join(c.root, c.dir), env
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err = runToEnd(ctx, cmd)
	return out.String(), complaints.String(), err
}

// runToEnd runs a command made for a context. When that ends, so does all that the command has started.
func runToEnd(ctx context.Context, cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = hangup
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("did not end in time: %w", ctx.Err())
	}
	return err
}

// cleanEnv is our own environment without what a client of Postgres would take as a setting.
func cleanEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "PG") && !strings.HasPrefix(kv, "LC_") && !strings.HasPrefix(kv, "LANG") && !strings.HasPrefix(kv, "TZ=") {
			env = append(env, kv)
		}
	}
	return append(env, "LC_ALL=C.UTF-8", "TZ=UTC")
}

// lastLine is the last line of a text that says something.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
