package oracle

import (
	"strings"
	"testing"
)

func TestShrink(t *testing.T) {
	one, two := "1", "2"
	for _, test := range []struct {
		sql, keep, want string
		params          []*string
		ordered         bool
	}{
		{sql: "SELECT a.k, CASE WHEN a.b THEN lower(a.t) ELSE upper(a.t) END FROM {s}.x a JOIN {s}.y b ON a.k = b.k WHERE a.k > 3 AND a.b GROUP BY 1, 2 ORDER BY 1",
			keep: "lower(", want: "SELECT lower(a.t) FROM {s}.x a"},
		{sql: "WITH c AS (SELECT 1) SELECT k FROM {s}.x UNION SELECT sum(k + 1) FROM {s}.y WHERE k IN (SELECT 3)", keep: "sum(", want: "SELECT sum(k) FROM {s}.y"},
		{sql: "SELECT k + $1, k + $2 FROM {s}.x WHERE k = $1", params: []*string{&one, &two}, keep: "SELECT k +", want: "SELECT k + $1 FROM {s}.x"},
		{sql: "SELECT k, t FROM {s}.x WHERE k > 1 ORDER BY k, t LIMIT 3", keep: "LIMIT", want: "SELECT k, t FROM {s}.x ORDER BY k, t LIMIT 3"},
	} {
		s := Statement{SQL: test.sql, Params: test.params, Ordered: test.ordered}
		got := Shrink(s, 1000, func(c Statement) bool { return strings.Contains(c.SQL, test.keep) })
		if got.SQL != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.sql, got.SQL, test.want)
		}
		if strings.Contains(got.SQL, "$1") != (len(got.Params) == 1) {
			t.Errorf("%s has %d parameters", got.SQL, len(got.Params))
		}
	}
}

// TestShrinkKeepsOrder has a statement differ in the order of its rows alone.
func TestShrinkKeepsOrder(t *testing.T) {
	s := Statement{SQL: "SELECT k, t FROM {s}.x WHERE t <> '' ORDER BY t, k", Ordered: true}
	got := Shrink(s, 1000, func(c Statement) bool { return c.Ordered })
	if want := "SELECT k, t FROM {s}.x ORDER BY t, k"; got.SQL != want || !got.Ordered {
		t.Errorf("got %s, want %s", got.SQL, want)
	}
}

func TestCase(t *testing.T) {
	one := "it's"
	s := Statement{SQL: "SELECT $1, $2", Params: []*string{&one, nil}}
	if got, want := s.Case(), "-- params: [\"it's\",null]\nSELECT $1, $2;"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
