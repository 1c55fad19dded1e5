package dialect

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var write = flag.Bool("write", false, "write docs/pushdown.md anew")

// cases returns the names of the oracle's cases, each with at least one statement.
func cases(t *testing.T) map[string]bool {
	paths, err := filepath.Glob("../../tests/testdata/oracle/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no statements: %v", err)
	}
	found := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(text), "\n-- case: ")[1:] {
			name, statements, _ := strings.Cut(part, "\n")
			found[name] = strings.Contains(statements, ";\n")
		}
	}
	return found
}

// TestProof finds for each entry the statements of the oracle that prove it, and for each case an entry.
func TestProof(t *testing.T) {
	known := cases(t)
	named := map[string]bool{}
	for _, e := range duckTable {
		if e.Cases == "" {
			t.Errorf("%s %s has no proof", e.Kind, e.Name)
		}
		for _, name := range strings.Fields(e.Cases) {
			named[name] = true
			if !known[name] {
				t.Errorf("%s %s is proven by %q, of which there are no statements", e.Kind, e.Name, name)
			}
		}
	}
	for name := range known {
		if !named[name] {
			t.Errorf("case %q proves no entry", name)
		}
	}
}

// TestEntries finds entries whose SQL does not use an operand, or that can never be reached.
func TestEntries(t *testing.T) {
	t.Run("duckdb", func(t *testing.T) { checkEntries(t, duckTable) })
	t.Run("trino", func(t *testing.T) { checkEntries(t, trinoTable) })
}

func checkEntries(t *testing.T, table Table) {
	seen := map[string]bool{}
	for _, e := range table {
		for i, a := range e.Args {
			if place := "$" + string(rune('1'+i)); !strings.Contains(e.SQL, place) && a.Literal == nil {
				t.Errorf("%s %s: %s does not use %s", e.Kind, e.Name, e.SQL, place)
			}
		}
		key := string(e.Kind) + e.Name + e.over()
		if seen[key] {
			t.Errorf("%s %s over %s stands there twice", e.Kind, e.Name, e.over())
		}
		seen[key] = true
	}
}

// TestPage keeps docs/pushdown.md what the table says: go test ./parser/dialect -run TestPage -write renders it.
func TestPage(t *testing.T) {
	const path, mark = "../../docs/pushdown.md", "<!-- rendered from parser/dialect -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("%s has no line %q", path, mark)
	}
	want := head + mark + duckTable.Page()
	if *write {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s is not what the table says: run go test ./parser/dialect -run TestPage -write", path)
	}
}
