package clickhouse

import (
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// awkward are values that could end a literal, or begin another. The last one is no text of Postgres'.
var awkward = []string{
	"", "a", `\`, `\\`, `'`, `\'`, `'; DROP TABLE x --`, "a\x00b", "\n\r\t\b\f\v\a", `$1`, `$2 '`, "`", `"`, "ä€😀", `\0`, `\x41`, `\N`, "%_", "-- /* */", "\xff",
}

// TestArguments has the server read such values.
func TestArguments(t *testing.T) {
	overEach(t, func(t *testing.T, s engines.Server) { checkArguments(t, s, awkward) })
}

func checkArguments(t *testing.T, s engines.Server, values []string) {
	e := open(t, s)
	for _, v := range values {
		s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT concat($1, '|$1''\\'', $2)", Args: []*string{&v, &v}})
		if err != nil {
			t.Errorf("%q: %v", v, err)
			continue
		}
		if got := texts(t, s); len(got) != 1 || got[0] != v+"|$1''"+v {
			t.Errorf("%q became %q", v, got)
		}
	}
	rows, err := e.Open(t.Context(), engines.Query{SQL: "SELECT $1", Args: []*string{nil}})
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(t, rows); len(got) != 1 || got[0] != "(null)" {
		t.Errorf("NULL became %q", got)
	}
	if _, err := e.Open(t.Context(), engines.Query{SQL: "SELECT $2", Args: []*string{nil}}); code(err) != "XX000" {
		t.Error(err)
	}
}
