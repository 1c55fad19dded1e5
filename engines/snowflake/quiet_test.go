package snowflake

import (
	"os"
	"os/exec"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/snowflake/fake"
)

const quietEnv = "SLUICE_SNOWFLAKE_QUIET"

// TestQuiet runs statements in a process whose directories are empty. Nothing must be written there or printed. The fake looks
// at what the library has found out of the machine, and at what it asks for.
func TestQuiet(t *testing.T) {
	if os.Getenv(quietEnv) != "" {
		return
	}
	home, temp, work := t.TempDir(), t.TempDir(), t.TempDir()
	f := fake.Start(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestQuietly$", "-test.count=1")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), quietEnv+"="+f.Options()["port"], "HOME="+home, "TMPDIR="+temp, "XDG_CACHE_HOME="+home)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "PASS\n" {
		t.Errorf("%v: %s", err, out)
	}
	if len(f.Orders()) != 2 {
		t.Errorf("%d statements came", len(f.Orders()))
	}
	for _, dir := range []string{home, temp, work} {
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 0 {
			t.Errorf("%s has %v %v", dir, entries, err)
		}
	}
}

// TestQuietly is the process of TestQuiet.
func TestQuietly(t *testing.T) {
	port := os.Getenv(quietEnv)
	if port == "" {
		return
	}
	e := open(t, engines.Server{Name: "flake", Options: fake.Options("127.0.0.1", port), Mapping: map[string]string{"user": fake.User, "password": fake.Password}})
	if _, err := read(t, e, "SELECT 1"); err != nil {
		t.Error(err)
	}
	if _, err := read(t, e, "SELEKT 1"); code(err) != "42601" {
		t.Error(err)
	}
}
