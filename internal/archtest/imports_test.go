package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sluicedb/sluice"

// allowed says what a package (first matching pattern) may import of this module besides packages below itself.
// Imports go downwards only: cmd → proxy → parser/plan → {parser, catalog, engines}.
var allowed = []struct {
	pattern string
	imports []string
}{
	{"cmd/*", []string{"proxy", "proxy/*", "engines", "engines/*", "catalog", "embedded", "demo", "pgerr"}},
	{"demo", []string{"embedded"}},
	{"embedded", nil},
	{"pgerr", nil},
	{"migrations", nil},
	{"sql", nil},
	{"catalog", []string{"pgerr", "migrations", "sql"}},
	{"engines", []string{"pgerr"}},
	{"engines/certify", []string{"engines"}},
	{"engines/columnar", []string{"engines", "pgerr"}},
	{"engines/keep", []string{"engines", "pgerr"}},
	{"engines/*/internal/*", nil},
	{"engines/*", []string{"engines", "engines/columnar", "engines/keep", "engines/pool", "socket", "pgerr"}},
	{"lru", nil},
	{"socket", nil},
	{"parser", []string{"lru", "pgerr"}},
	{"parser/govern", []string{"parser", "catalog", "sql", "pgerr"}},
	{"parser/dialect", []string{"parser", "catalog", "engines", "pgerr"}},
	{"parser/plan", []string{"parser", "parser/*", "catalog", "engines", "pgerr"}},
	{"parser/*", []string{"parser", "pgerr"}},
	{"proxy/wire", []string{"pgerr"}},
	{"proxy/encode", []string{"proxy/wire", "engines", "pgerr"}},
	{"proxy", []string{"proxy/*", "socket", "parser", "parser/*", "catalog", "engines", "engines/certify", "engines/guard", "lru", "migrations", "sql", "pgerr"}},
	{"proxy/*", []string{"proxy/*", "socket", "parser", "parser/*", "catalog", "engines", "engines/guard", "lru", "pgerr"}},
	{"bench", []string{"embedded", "internal/tpch"}},
	{"internal/tpch", nil},
	{"interop", []string{"embedded"}},
	{"tests", nil}, // scripts through the whole proxy; its doc.go imports nothing
}

// Package is what `go list -json` says of a package.
type Package struct {
	ImportPath string
	GoFiles    []string
	CgoFiles   []string
	Imports    []string
}

func (p Package) name() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// testOnly reports whether a package is there for tests: all that is internal is but the data that bench has too, and what imports testing in its code.
func (p Package) testOnly() bool {
	return strings.HasPrefix(p.name(), "internal/") && p.name() != "internal/tpch" || slices.Contains(p.Imports, "testing") || len(p.GoFiles)+len(p.CgoFiles) == 0
}

func packages(t *testing.T) []Package {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,GoFiles,CgoFiles,Imports", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var list []Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

func match(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// mayImport returns the patterns that a package may import, false where the table does not know the package.
func mayImport(name string) ([]string, bool) {
	for _, rule := range allowed {
		if match(rule.pattern, name) {
			return rule.imports, true
		}
	}
	return nil, false
}

func TestImports(t *testing.T) {
	list := packages(t)
	if len(list) < 5 {
		t.Fatalf("go list knows only %d packages", len(list))
	}
	testOnly := map[string]bool{}
	for _, p := range list {
		testOnly[p.ImportPath] = p.testOnly()
	}
	for _, p := range list {
		if !testOnly[p.ImportPath] {
			checkImports(t, p, testOnly)
		}
	}
}

func checkImports(t *testing.T, p Package, testOnly map[string]bool) {
	patterns, known := mayImport(p.name())
	if !known {
		t.Errorf("package %s is in no rule: add it to the table in this file", p.name())
		return
	}
	for _, imported := range p.Imports {
		name, ours := strings.CutPrefix(imported, module+"/")
		switch {
		case !ours || strings.HasPrefix(name, p.name()+"/internal/"):
		case testOnly[imported]:
			t.Errorf("%s imports %s, which is for tests only", p.name(), name)
		case !slices.ContainsFunc(patterns, func(pattern string) bool { return match(pattern, name) }):
			t.Errorf("%s imports %s; it may import of this module only %v", p.name(), name, patterns)
		}
	}
}
