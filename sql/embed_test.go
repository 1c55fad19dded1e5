package sql_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoBackslashes looks for literals that mean something else in a session with standard_conforming_strings off: functions
// are parsed as they are called. In E'…' a backslash is the same to all.
func TestNoBackslashes(t *testing.T) {
	files, err := filepath.Glob("*.sql")
	if err != nil {
		t.Fatal(err)
	}
	migrations, err := filepath.Glob("../migrations/*.sql")
	if err != nil || len(files) == 0 || len(migrations) == 0 {
		t.Fatalf("%d files, %d migrations: %v", len(files), len(migrations), err)
	}
	for _, name := range append(files, migrations...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			parts := strings.Split(line, "'") // odd ones stand within quotes
			for i, part := range parts {
				if i%2 == 1 && strings.Contains(part, `\`) && !strings.HasSuffix(parts[i-1], "E") {
					t.Errorf("%s:%d: '%s' has a backslash: write E'…', or the pattern without one", name, number, part)
				}
			}
		}
	}
}
