package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/guard"
	"github.com/sluicedb/sluice/proxy/ddl"
)

// TestDocs keeps the reference pages true: every flag and every option stands there with its default.
func TestDocs(t *testing.T) {
	configuration := read(t, "../../docs/configuration.md")
	flags := serveCommand().Flags()
	for _, key := range append(configKeys(), configFlag) {
		value, _ := pflag.UnquoteUsage(flags.Lookup(key))
		if flag := fmt.Sprintf("`--%s %s`", key, value); !strings.Contains(configuration, flag) {
			t.Errorf("docs/configuration.md does not know %s", flag)
		}
	}
	operations := read(t, "../../docs/operations.md")
	for _, o := range guard.Options {
		if line := fmt.Sprintf("| `%s` | `%s` | %s |\n", o.Name, o.Default, o.Doc); !strings.Contains(operations, line) {
			t.Errorf("docs/operations.md lacks the line\n%s", line)
		}
	}
	for _, w := range wrappers() {
		page := "docs/" + strings.TrimPrefix(w.Name(), "sluice_") + ".md"
		text := read(t, "../../"+page)
		for kind, name := range map[engines.ObjectKind]string{
			engines.ServerObject: "server", engines.MappingObject: "user mapping", engines.TableObject: "foreign table", engines.ColumnObject: "column",
		} {
			for _, o := range w.Options(kind) {
				value := ""
				if o.Default != "" {
					value = "`" + o.Default + "`"
				}
				if line := fmt.Sprintf("| %s | `%s` | %s | %s |\n", name, o.Name, value, o.Doc); !strings.Contains(text, line) {
					t.Errorf("%s lacks the line\n%s", page, line)
				}
			}
		}
	}
}

// TestSecrets has the options of user mappings that the pages call references looked up as such, and no others.
func TestSecrets(t *testing.T) {
	found := 0
	for _, w := range wrappers() {
		for _, o := range w.Options(engines.MappingObject) {
			if said := strings.Contains(o.Doc, "as a reference"); said != ddl.IsSecret(o.Name) {
				t.Errorf("%s: option %q is a reference by its text: %t, as it is read: %t", w.Name(), o.Name, said, !said)
			} else if said {
				found++
			}
		}
	}
	if found < len(wrappers()) {
		t.Errorf("%d options hold secrets", found)
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
