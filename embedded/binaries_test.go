package embedded

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// fakeServer makes a bin directory whose postgres says a version.
func fakeServer(t *testing.T, dir, version string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + " (Debian)'\n"
	for _, name := range []string{"initdb", "postgres"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCandidates(t *testing.T) {
	root := t.TempDir()
	dir := func(name string) string { return filepath.Join(root, name, "bin") }
	for _, v := range []string{"9", "17", "16"} {
		fakeServer(t, dir(v), v+".2")
	}
	fakeServer(t, dir("path"), "15beta1")
	if err := os.MkdirAll(dir("18"), 0o755); err != nil { // an installation without a server
		t.Fatal(err)
	}
	usual := usualPlaces
	t.Cleanup(func() { usualPlaces = usual })
	usualPlaces = []string{dir("[0-9]*")}
	t.Setenv("PATH", strings.Join([]string{root, dir("path"), ""}, string(os.PathListSeparator)))

	want := []string{dir("path"), dir("17"), dir("16"), dir("9")}
	if got := candidates(); !reflect.DeepEqual(got, want) {
		t.Errorf("candidates = %v, want %v", got, want)
	}
	for major, want := range map[string]string{"": dir("path"), "15": dir("path"), "16": dir("16")} {
		if got, err := findBinaries(t.Context(), major); err != nil || got != want {
			t.Errorf("binaries for %q = %s (%v), want %s", major, got, err, want)
		}
	}
	if _, err := findBinaries(t.Context(), "9000"); err == nil || !strings.Contains(err.Error(), "made by Postgres 9000, which this machine lacks (it has: 15, 17, 16, 9)") {
		t.Errorf("binaries for a version that is nowhere: %v", err)
	}
}
