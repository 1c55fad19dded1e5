package startup

import (
	"strings"
	"testing"
)

func TestIdentMap(t *testing.T) {
	m, err := ParseIdentMap(`
# a comment
sluice  "Alice Liddell"   alice          # behind a line
sluice  bob               alice
sluice  bob               bob
sluice  /^(.*)@wonder$    \1
sluice  root              all
sluice  quoted            "all"
sluice  "with ""quotes""" w
sluice  team              /^team_
other   mallory           alice
`, "sluice")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		system, role string
		want         bool
	}{
		{"Alice Liddell", "alice", true}, {"Alice Liddell", "Alice Liddell", false}, {"alice", "alice", false},
		{"bob", "alice", true}, {"bob", "bob", true}, {"bob", "carol", false},
		{"hatter@wonder", "hatter", true}, {"hatter@wonder", "alice", false}, {"hatter@wonder.org", "hatter", false},
		{"root", "anybody", true}, {"quoted", "all", true}, {"quoted", "bob", false}, {`with "quotes"`, "w", true},
		{"team", "team_a", true}, {"team", "a_team_", false}, {"mallory", "alice", false}, {"", "alice", false}, {"root", "", false},
	} {
		if got := m.Maps(c.system, c.role); got != c.want {
			t.Errorf("%q as %q: %v", c.system, c.role, got)
		}
	}
	var none *IdentMap
	if !none.Maps("alice", "alice") || none.Maps("alice", "Alice") || none.Maps("", "") {
		t.Error("without a map a name is not just the role's")
	}
}

func TestIdentMapRefused(t *testing.T) {
	for text, want := range map[string]string{
		"sluice a":                 "line 1: want three words",
		"sluice a b c":             "got 4",
		"sluice a,b c":             "lists are not supported",
		"sluice a,b":               "lists are not supported",
		"sluice @names b":          "files are not supported",
		"other a,b":                "line 1: lists",
		"sluice a \\\nb c":         "line 2: want three words",
		"\nsluice /( b":            "line 2: error parsing regexp",
		"sluice a /(":              "error parsing regexp",
		"sluice a +staff":          "groups are not supported",
		`sluice a \1`:              "needs a regular expression",
		`sluice /a \1`:             "needs a regular expression",
		`sluice "a b`:              "does not end",
		"include_if_exists a.conf": "not supported",
	} {
		if _, err := ParseIdentMap(text, "sluice"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
