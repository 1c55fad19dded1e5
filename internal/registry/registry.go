package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const asked = "SLUICE_REGISTRIES"

// Need skips a test unless tests that download something are asked for.
func Need(tb testing.TB) {
	tb.Helper()
	if os.Getenv(asked) == "" {
		tb.Skipf("it downloads a server; make real runs it (%s=1)", asked)
	}
}

// Cache returns a directory that is kept between runs, which no other process has until unlock is called.
func Cache(name string) (dir string, unlock func() error, err error) {
	base := "/var/cache/sluice"
	if os.Getuid() != 0 {
		own, err := os.UserCacheDir()
		if err != nil {
			return "", nil, err
		}
		base = filepath.Join(own, "sluice")
	}
	dir = filepath.Join(base, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", nil, errors.Join(err, lock.Close())
	}
	return dir, lock.Close, nil
}

// patience is how long a registry may take.
const patience = 10 * time.Minute

// Run returns what a command prints; its error says what that complained of.
func Run(dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second // for what it has started itself
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, complaint(string(out)))
	}
	return string(out), nil
}

// complaint is the line that says what went wrong: the first error that is called so, else the last line.
func complaint(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for _, l := range lines {
		if strings.Contains(l, "ERROR") {
			return l
		}
	}
	return lines[len(lines)-1]
}
