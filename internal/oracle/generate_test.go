package oracle

import (
	"testing"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

func TestGeneratorRepeats(t *testing.T) {
	a, b, c := NewGenerator(1), NewGenerator(1), NewGenerator(2)
	differ := false
	for range 200 {
		s := a.Statement("")
		if s.SQL != b.Statement("").SQL {
			t.Fatal("the same seed makes other statements")
		}
		differ = differ || s.SQL != c.Statement("").SQL
		if _, err := pg_query.Parse(s.in("plain")); err != nil {
			t.Errorf("%s: %v", s.SQL, err)
		}
	}
	if !differ {
		t.Error("another seed makes the same statements")
	}
}
