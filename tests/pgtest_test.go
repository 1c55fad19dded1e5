package tests

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sluicedb/sluice/embedded"
	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/internal/pgtest"
)

// recordedMajor is the major version of the Postgres whose answers the script files hold. Under another one the scripts
// through the proxy are compared with what that one answers in the same run.
const recordedMajor = "15"

// TestWire runs every script against bare Postgres, which the files record.
func TestWire(t *testing.T) {
	home := hometest.Start(t)
	if major := majorOf(t, home); major != recordedMajor {
		t.Skipf("the files hold the answers of Postgres %s, and this one is %s", recordedMajor, major)
	}
	bare := pgtest.Target{Name: "postgres", Addr: home.Addr(), Home: home.URL("postgres")}
	for _, path := range scripts(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { pgtest.Verify(t, path, bare) })
	}
}

// majorOf asks home for its major version.
func majorOf(t *testing.T, home *embedded.Home) string {
	number := rows(t, connect(t, home.URL("postgres")), "SHOW server_version_num")
	return number[:len(number)-4]
}

// verifyWire runs the script at path against targets that must answer as bare Postgres of home's version does.
func verifyWire(t *testing.T, path string, home *embedded.Home, targets map[string]pgtest.Target) {
	verify := func(t *testing.T, target pgtest.Target) { pgtest.VerifyLike(t, path, target) }
	if majorOf(t, home) != recordedMajor {
		answers := pgtest.Answers(t, path, pgtest.Target{Name: "postgres", Addr: home.Addr(), Home: home.URL("postgres")})
		verify = func(t *testing.T, target pgtest.Target) { pgtest.VerifyAnswers(t, path, target, answers) }
	}
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		t.Run(name, func(t *testing.T) { verify(t, targets[name]) })
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
