package clickhousetest

import (
	_ "embed" // what runs the library
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sluicedb/sluice/internal/registry"
)

//go:embed current.py
var runner []byte

// library is npm's package of chdb, which is ClickHouse as a library with all that a server listens with. Its clickhouse-local listens
// where it is told to by SYSTEM START LISTEN.
const (
	library = "@chdb/lib-linux-x64-gnu"
	version = "26.7.3-stable.1"
)

var current = instance{env: "SLUICE_TEST_CURRENT_CLICKHOUSE", begin: beginCurrent}

// Current returns a server of a current ClickHouse, one for the test process like that of Start, with the same users; the test is
// skipped unless tests are asked for that download something.
func Current(tb testing.TB) *Server {
	tb.Helper()
	registry.Need(tb)
	return current.start(tb)
}

func beginCurrent() (*Server, error) {
	path, err := currentLibrary()
	if err != nil {
		return nil, unavailable{err}
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		return nil, unavailable{err}
	}
	dir, err := os.MkdirTemp("", "sluice-clickhouse-")
	if err != nil {
		return nil, err
	}
	outer, err := freePorts()
	if err != nil {
		return nil, err
	}
	inner, err := freePorts()
	if err != nil {
		return nil, err
	}
	script := filepath.Join(dir, "current.py")
	if err := errors.Join(configure(dir, inner, ""), os.WriteFile(script, runner, 0o644)); err != nil {
		return nil, err
	}
	pairs := []string{outer[0] + ":" + inner[0], outer[1] + ":" + inner[1]}
	return launch(dir, outer, []string{"TZ=" + zone}, append([]string{python, script, path, filepath.Join(dir, config), host}, pairs...)...)
}

// currentLibrary returns the library, which the first call on a machine takes from npm.
func currentLibrary() (string, error) {
	dir, unlock, err := registry.Cache("clickhouse-" + version)
	if err != nil {
		return "", err
	}
	defer func() { _ = unlock() }()
	path := filepath.Join(dir, "node_modules", library, "libchdb.so")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	_, err = registry.Run(dir, "npm", "install", "--silent", "--no-save", "--prefix", dir, library+"@"+version)
	return path, err
}
