package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// TestDocs keeps the reference pages true: every flag and every option stands there with its default.
func TestDocs(t *testing.T) {
	configuration, duckdb := read(t, "../../docs/configuration.md"), read(t, "../../docs/duckdb.md")
	for _, key := range append(configKeys(), configFlag) {
		if !strings.Contains(configuration, "`--"+key+" ") {
			t.Errorf("docs/configuration.md does not know --%s", key)
		}
	}
	for _, w := range wrappers() {
		if w.Name() != "sluice_duckdb" {
			continue
		}
		for kind, name := range map[engines.ObjectKind]string{
			engines.ServerObject: "server", engines.TableObject: "foreign table", engines.ColumnObject: "column",
		} {
			for _, o := range w.Options(kind) {
				value := ""
				if o.Default != "" {
					value = "`" + o.Default + "`"
				}
				if line := fmt.Sprintf("| %s | `%s` | %s | %s |\n", name, o.Name, value, o.Doc); !strings.Contains(duckdb, line) {
					t.Errorf("docs/duckdb.md lacks the line\n%s", line)
				}
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
