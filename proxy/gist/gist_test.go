package gist

import (
	"strings"
	"testing"
)

// TestStrip leaves nothing of what a literal or a comment says, and tells statements apart by the rest alone.
func TestStrip(t *testing.T) {
	for statement, want := range map[string]string{
		"SELECT 'a', E'b\\'c', U&'d', B'1', X'f', $$g$$, $t$h$t$, 1, 2.5, 1e9 FROM t": "SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM t",
		"SELECT \"1\", a1 FROM t /* 'x' */ -- 7":                                      "SELECT \"1\", a1 FROM t",
		"SELECT $1::varchar(10)":                                                      "SELECT $1::varchar(?)",
		"SELECT 'open":                                                                "",
	} {
		if got := strip(statement); got != want {
			t.Errorf("%s\n got: %s\nwant: %s", statement, got, want)
		}
	}
	if got := strip("SELECT " + strings.Repeat("é,", mostText)); len(got) > mostText+len("…") || !strings.HasSuffix(got, "…") {
		t.Errorf("a long text is kept in %d bytes", len(got))
	}
	a, b, c := Of("SELECT 1 FROM t"), Of("SELECT  2 FROM t"), Of("SELECT 1 FROM u")
	if a.Fingerprint == "" || a.Fingerprint != b.Fingerprint || a.Fingerprint == c.Fingerprint {
		t.Errorf("fingerprints %s %s %s", a.Fingerprint, b.Fingerprint, c.Fingerprint)
	}
}
