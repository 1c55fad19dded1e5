package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// orphanWait is how long a postmaster whose proxy was killed may take to end: it was told to by the kernel.
const orphanWait = 5 * time.Second

// clearStale removes the pid file of a server that is no more. The server itself does so too, except where the pid now
// belongs to another process of its user, which is common in containers.
func (c cluster) clearStale(ctx context.Context) error {
	for deadline := time.Now().Add(orphanWait); ; {
		pid, ok := c.postmasterPID()
		if !ok {
			return nil
		}
		if !c.isPostmaster(pid) {
			return os.Remove(c.pidFile())
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("directory %s is in use by a Postgres server (process %d); stop it (pg_ctl stop -D %s) or choose another directory",
				c.dir, pid, c.data())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c cluster) pidFile() string { return filepath.Join(c.data(), "postmaster.pid") }

// postmasterPID reads the pid file; false where there is none.
func (c cluster) postmasterPID() (int, bool) {
	lines, ok := c.pidLines()
	if !ok {
		return 0, false
	}
	pid, err := strconv.Atoi(lines[0])
	if err != nil {
		return 0, true // cut short: nobody's
	}
	return max(pid, -pid), true // negative: a standalone backend
}

func (c cluster) pidLines() ([]string, bool) {
	text, err := os.ReadFile(c.pidFile())
	if err != nil {
		return nil, false
	}
	lines := strings.Split(string(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines, true
}

// isPostmaster reports whether the process lives and, where that can be told, works in our data directory.
func (c cluster) isPostmaster(pid int) bool {
	if pid <= 0 {
		return false
	}
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || !procMounted()
	}
	data, err := filepath.EvalSymlinks(c.data())
	return err != nil || cwd == data
}

// procMounted reports whether processes can be looked up in /proc at all.
func procMounted() bool {
	_, err := os.Stat("/proc/self/cwd")
	return err == nil
}
