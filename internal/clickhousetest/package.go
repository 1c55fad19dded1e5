package clickhousetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// binary is where the server lies below the directory that its packages are unpacked in.
const binary = "usr/sbin/clickhouse-server"

// libraries are where what it is linked with lies, unless the machine has it.
var libraries = []string{"usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"}

// root returns a directory in which the server is unpacked, which the first call on a machine takes from Debian's archive.
func root() (string, error) {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return "", errors.New("only Debian has the package clickhouse-server")
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(cache, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "root")
	if _, err := os.Stat(filepath.Join(dir, binary)); err == nil {
		return dir, nil
	}
	return dir, fetch(cache, dir)
}

// cacheDir is kept between runs.
func cacheDir() (string, error) {
	base := "/var/cache/sluice"
	if os.Getuid() != 0 {
		own, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		base = filepath.Join(own, "sluice")
	}
	dir := filepath.Join(base, "clickhouse")
	return dir, os.MkdirAll(dir, 0o755)
}

// fetch downloads the server's package and those it needs that the machine lacks, and unpacks them.
func fetch(cache, dir string) error {
	names, err := missing()
	if err != nil && os.Getuid() == 0 { // a new machine has no lists yet
		if _, err = run(cache, "apt-get", "update"); err == nil {
			names, err = missing()
		}
	}
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if _, err := run(work, "apt-get", append([]string{"download"}, names...)...); err != nil {
		return err
	}
	packages, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil {
		return err
	}
	unpacked := filepath.Join(work, "root")
	for _, p := range packages {
		if _, err := run(work, "dpkg", "-x", p, unpacked); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(unpacked, binary)); err != nil {
		return fmt.Errorf("the package has no %s", binary)
	}
	return os.Rename(unpacked, dir)
}

// missing lists the packages that an install would bring.
func missing() ([]string, error) {
	out, err := run("", "apt-get", "-s", "install", "--no-install-recommends", "clickhouse-server")
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(out) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "Inst" {
			names = append(names, words[1])
		}
	}
	if len(names) == 0 {
		return nil, errors.New("apt-get would install nothing for clickhouse-server")
	}
	return names, nil
}

// run returns what a command prints.
func run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	out, err := cmd.CombinedOutput()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, lines[len(lines)-1])
	}
	return string(out), nil
}
