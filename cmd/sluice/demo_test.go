package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemoOnce takes the whole tour, in a directory that is used twice.
func TestDemoOnce(t *testing.T) {
	dir, err := os.MkdirTemp("", "sluice-tour-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // home's server may run as another user
		t.Fatal(err)
	}
	for range 2 {
		var out bytes.Buffer
		cmd := rootCommand()
		cmd.SetOut(&out)
		cmd.SetArgs([]string{"demo", "--once", "--dir", filepath.Join(dir, "demo")})
		if err := cmd.ExecuteContext(t.Context()); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if n := strings.Count(out.String(), "✓ the same as on plain tables"); n != 5 {
			t.Errorf("%d results were compared, want 5\n%s", n, out.String())
		}
		if !strings.Contains(out.String(), "Remote SQL: ") {
			t.Errorf("EXPLAIN shows no remote SQL\n%s", out.String())
		}
	}
}
