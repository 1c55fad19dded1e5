package snowflake

import (
	"testing"

	"github.com/sluicedb/sluice/engines/keep"
)

// TestHolds takes what a query yields into a table only where no value becomes another one.
func TestHolds(t *testing.T) {
	for _, c := range []struct {
		from remoteColumn
		to   string
		ok   bool
	}{
		{remoteColumn{kind: "fixed", precision: 18}, "NUMBER(19,0)", true}, {remoteColumn{kind: "fixed", precision: 38}, "NUMBER(19,0)", false},
		{remoteColumn{kind: "fixed", precision: 9, scale: 2}, "NUMBER(9,2)", true}, {remoteColumn{kind: "fixed", precision: 9, scale: 3}, "NUMBER(9,2)", false},
		{remoteColumn{kind: "fixed", precision: 9, scale: 1}, "NUMBER(9,2)", false}, {remoteColumn{kind: "real"}, "NUMBER(9,2)", false},
		{remoteColumn{kind: "real"}, "FLOAT", true}, {remoteColumn{kind: "text"}, "VARCHAR", true}, {remoteColumn{kind: "fixed", precision: 9}, "VARCHAR", false},
		{remoteColumn{kind: "variant"}, "VARCHAR", false}, {remoteColumn{kind: "timestamp_ntz", scale: 6}, "TIMESTAMP_NTZ(6)", true},
		{remoteColumn{kind: "timestamp_ntz", scale: 9}, "TIMESTAMP_NTZ(6)", false}, {remoteColumn{kind: "timestamp_tz", scale: 6}, "TIMESTAMP_LTZ(6)", false},
	} {
		if c.from.holds(c.to) != c.ok {
			t.Errorf("%+v goes into %s: %t", c.from, c.to, !c.ok)
		}
	}
}

// TestSpelled writes numbers as the doubles that hold them.
func TestSpelled(t *testing.T) {
	for _, c := range [][4]string{
		{"real", "FLOAT", "1e-45", "1.401298464324817e-45"}, {"real", "FLOAT", "0.1", "0.10000000149011612"}, {"double precision", "FLOAT", "0.1", "0.1"},
		{"double precision", "FLOAT", "NaN", "nan"}, {"double precision", "FLOAT", "Infinity", "inf"}, {"double precision", "FLOAT", "-Infinity", "-inf"}, {"double precision", "FLOAT", "-0", "-0"},
		{"text", "VARCHAR", "Infinity", "Infinity"},
	} {
		got, err := spelled(c[2], keep.Column{Type: keep.Type{Name: c[0]}, Remote: c[1]})
		if err != nil || got != c[3] {
			t.Errorf("%s %s: %q, not %q: %v", c[0], c[2], got, c[3], err)
		}
	}
}
