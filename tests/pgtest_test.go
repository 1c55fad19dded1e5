package tests

import (
	"path/filepath"
	"testing"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/internal/pgtest"
)

// TestWire runs every script against bare Postgres, which the files record.
func TestWire(t *testing.T) {
	home := hometest.Start(t)
	bare := pgtest.Target{Name: "postgres", Addr: home.Addr(), Home: home.URL("postgres")}
	for _, path := range scripts(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { pgtest.Verify(t, path, bare) })
	}
}

// scripts lists the script files.
func scripts(t *testing.T) []string {
	paths, err := filepath.Glob("testdata/pgtest/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	return paths
}
