package clickhousetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sluicedb/sluice/internal/registry"
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
	cache, unlock, err := registry.Cache("clickhouse")
	if err != nil {
		return "", err
	}
	defer func() { _ = unlock() }()
	dir := filepath.Join(cache, "root")
	if _, err := os.Stat(filepath.Join(dir, binary)); err == nil {
		return dir, nil
	}
	return dir, fetch(cache, dir)
}

// fetch downloads the server's package and those it needs that the machine lacks, and unpacks them.
func fetch(cache, dir string) error {
	names, err := missing()
	if err != nil && os.Getuid() == 0 { // a new machine has no lists yet
		if _, err = registry.Run(cache, "apt-get", "update"); err == nil {
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
	if _, err := registry.Run(work, "apt-get", append([]string{"download"}, names...)...); err != nil {
		return err
	}
	packages, err := filepath.Glob(filepath.Join(work, "*.deb"))
	if err != nil {
		return err
	}
	unpacked := filepath.Join(work, "root")
	for _, p := range packages {
		if _, err := registry.Run(work, "dpkg", "-x", p, unpacked); err != nil {
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
	out, err := registry.Run("", "apt-get", "-s", "install", "--no-install-recommends", "clickhouse-server")
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
