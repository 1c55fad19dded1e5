package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const root = ".."

// TestClients keeps the clients, the list of accepted differences and the document together.
func TestClients(t *testing.T) {
	all, err := findClients(root)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := documented(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if row, ok := rows[c.dir]; !ok {
			t.Errorf("%s has no row of %s", document, c.dir)
		} else if !strings.Contains(row, "| "+c.Language+" | "+c.Name+" |") {
			t.Errorf("%s says of %s: %s", document, c.dir, row)
		} else if v := (&verdict{client: c}); !strings.Contains(row, "not run") && !strings.Contains(row, "| "+v.secureCell()+" |") {
			t.Errorf("%s does not say of %s: %q with TLS: %s", document, c.dir, v.secureCell(), row)
		}
		delete(rows, c.dir)
	}
	for dir := range rows {
		t.Errorf("%s has a row of %s, which is no client", document, dir)
	}
	accepted, err := readAccepted(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range accepted {
		if !slices.ContainsFunc(all, func(c *client) bool { return c.key() == a.client }) {
			t.Errorf("%s accepts a difference of %s, which is no client", acceptedFile, a.client)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := parse("connect\tone\nconnect\ttwo\ncopy\tn/a it has none\n")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got["connect"], []string{"one", "two"}) || got.notApplicable("copy") != "it has none" || got.notApplicable("connect") != "" {
		t.Errorf("parsed %q", got)
	}
	for _, out := range []string{"hello\n", "nothing\tdetail\n"} {
		if _, err := parse(out); err == nil {
			t.Errorf("%q is taken for lines of checks", out)
		}
	}
}

func TestDifference(t *testing.T) {
	for _, c := range []struct {
		want, got []string
		said      string
	}{
		{[]string{"a", "b"}, []string{"a", "b"}, ""},
		{[]string{"a", "b"}, []string{"a", "c"}, "line 2\n  want b\n  got  c"},
		{[]string{"a", "b"}, []string{"a"}, "line 2\n  want b\n  got  nothing"},
		{[]string{"a"}, []string{"a", "b"}, "line 2\n  want nothing\n  got  b"},
		{nil, nil, "the program printed nothing at home itself"},
		{[]string{"FAIL x"}, []string{"FAIL x"}, "at home itself: FAIL x"},
	} {
		if said := difference(c.want, c.got); said != c.said {
			t.Errorf("%q and %q: %q, want %q", c.want, c.got, said, c.said)
		}
	}
}

// transcriptOf has one line for each check, which change replaces for one of them.
func transcriptOf(check, line string) transcript {
	t := transcript{}
	for _, name := range checks {
		t[name] = []string{"fine"}
	}
	if check != "" {
		t[check] = []string{line}
	}
	return t
}

func TestVerdict(t *testing.T) {
	c := &client{Name: "Client", Language: "Go", dir: "interop/go/client", version: "1.2"}
	accepted := []acceptance{{"client", "copy", lake, "odd", "documented"}, {"client", "types", plain, "odd", "gone"}}
	v := &verdict{client: c, differences: map[string][]string{}, expected: transcriptOf("cursor", "n/a none")}
	v.compare(plain, checks, v.expected, v.expected, nil)
	if !v.passed() {
		t.Error("equal transcripts do not pass")
	}
	different := transcriptOf("", "")
	different["copy"] = []string{"odd one", "fine"}
	v.compare(lake, checks, v.expected, different, accepted)
	if v.passed() || !slices.Equal(v.differences[lake], []string{"cursor"}) || len(v.accepted) != 1 {
		t.Errorf("differences %v, accepted %v", v.differences, v.accepted)
	}
	v.compare(overTLS, secureChecks, v.expected, transcriptOf("types", "others"), nil)
	want := "| Go | Client | 1.2 | 9 of 9 | 7 of 9 (differs: cursor; see below: copy) | differs: types | cursor | [interop/go/client](../interop/go/client) |"
	if got := v.row(); got != want {
		t.Errorf("row\n%s\nwant\n%s", got, want)
	}
	stale := &verdict{client: c, differences: map[string][]string{}}
	if stale.compare(plain, checks, transcriptOf("", ""), transcriptOf("", ""), accepted); stale.passed() {
		t.Error("an accepted difference that does not occur passes")
	}
	if lost := (&verdict{client: &client{failed: "no registry"}}); !lost.passed() {
		t.Error("a client that is not run counts as a difference")
	}
}

func TestBrief(t *testing.T) {
	failed := errors.New("exit status 1")
	for _, c := range []struct {
		complaint, out string
		err            error
		want           string
	}{
		{"", "[ERROR] no | route\n[ERROR] See the help\n\x1b[0m\x1b[0m\n", failed, "[ERROR] no / route"},
		{"npm warn old\nnpm error code ENOTFOUND\nnpm error more\n", "", failed, "npm error code ENOTFOUND"},
		{"WARNING: connection error\nERROR: none found\n", "", failed, "ERROR: none found"},
		{"sh: mvn: not found\n", "hello\n", failed, "sh: mvn: not found"},
		{"", "", failed, "exit status 1"},
		{"Downloading\n", "", fmt.Errorf("did not end in time: %w", context.DeadlineExceeded), "did not end in time: context deadline exceeded"},
	} {
		if got := brief(c.complaint, c.out, c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestDocumentTable(t *testing.T) {
	before, table, after, err := cutTable("a\n" + tableBegin + "t\n" + tableEnd + "b\n")
	if err != nil || before != "a\n" || table != "t\n" || after != "b\n" {
		t.Errorf("%q %q %q %v", before, table, after, err)
	}
	if _, _, _, err := cutTable("no table"); err == nil {
		t.Error("a document without a table is taken")
	}
	if a, b := withoutVersion("| Go | pgx | 1 | x |"), withoutVersion("| Go | pgx | 2 | x |\n"); a != b {
		t.Errorf("%q and %q differ by more than the version", a, b)
	}
}
