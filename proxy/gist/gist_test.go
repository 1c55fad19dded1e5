package gist

import (
	"strings"
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// TestStrip leaves nothing of what a literal or a comment says, and tells statements apart by the rest alone.
func TestStrip(t *testing.T) {
	for statement, want := range map[string]string{
		"SELECT 'a', E'b\\'c', U&'d', B'1', X'f', $$g$$, $t$h$t$, 1, 2.5, 1e9 FROM t": "SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM t",
		"SELECT \"1\", a1 FROM t /* 'x' */ -- 7":                                      "SELECT \"1\", a1 FROM t",
		"SELECT $1::varchar(10)":                                                      "SELECT $1::varchar(?)",
		"SELECT 'open":                                                                "",
	} {
		if got := (wording{text: statement}).strip(); got != want {
			t.Errorf("%s\n got: %s\nwant: %s", statement, got, want)
		}
	}
	if got := (wording{text: "SELECT " + strings.Repeat("é,", mostText)}).strip(); len(got) > mostText+len("…") || !strings.HasSuffix(got, "…") {
		t.Errorf("a long text is kept in %d bytes", len(got))
	}
	a, b, c := Of("SELECT 1 FROM t"), Of("SELECT  2 FROM t"), Of("SELECT 1 FROM u")
	if a.Fingerprint == "" || a.Fingerprint != b.Fingerprint || a.Fingerprint == c.Fingerprint {
		t.Errorf("fingerprints %s %s %s", a.Fingerprint, b.Fingerprint, c.Fingerprint)
	}
	const lookup = "SELECT a FROM t WHERE id = 7 AND name = 'x'"
	fingerprint, err := pg_query.Fingerprint(lookup)
	if got := Of(lookup); err != nil || got != (Gist{fingerprint, "SELECT a FROM t WHERE id = ? AND name = ?"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got := Of("SELECT a FROM t WHERE id = $1 AND name = 'x'"); got.Text != "SELECT a FROM t WHERE id = $1 AND name = ?" { // the client's own
		t.Errorf("%+v", got)
	}
}
