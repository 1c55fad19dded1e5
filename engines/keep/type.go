package keep

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
)

// Type is a type of Postgres' whose values are what their text says.
type Type struct {
	Name             string // without modifiers, for instance "timestamp with time zone"; engines.AnyEnum for an enum
	Precision, Scale int    // of numeric(p,s), which any numbers may be; a Precision of 0 says that there are none
	Length           int    // of a type with one other modifier; 0 where there is none
	List             bool   // it is an array of that
}

// Decimal reports whether a type has so many digits at most, all of which may stand behind the point.
func (t Type) Decimal(most int) bool {
	return t.Name == "numeric" && !t.List && t.Precision > 0 && t.Precision <= most && t.Scale >= 0 && t.Scale <= t.Precision
}

// Remote is a type of an engine that keeps by few types: decimal of at most so many digits for numerics that fit, and for the others,
// by name, the one of whole. There is none for arrays, and none for times of fewer digits than all, as home would round to them.
func (t Type) Remote(decimal string, most int, whole map[string]string) string {
	switch {
	case t.List, t.Length > 0 && strings.HasPrefix(t.Name, "timestamp"):
		return ""
	case t.Decimal(most):
		return decimal + "(" + strconv.Itoa(t.Precision) + "," + strconv.Itoa(t.Scale) + ")"
	}
	return whole[t.Name]
}

// Text reports whether a type is one of text of any length: its values are their text, as others are not.
func (t Type) Text() bool { return (t.Name == "text" || t.Name == "character varying") && !t.List }

// exact are the types whose values home makes again of the text that it writes of them.
var exact = map[string]bool{
	"boolean": true, "smallint": true, "integer": true, "bigint": true, "real": true, "double precision": true, "numeric": true,
	"text": true, "character varying": true, "character": true, "date": true, "uuid": true, "bytea": true, "interval": true,
	"time without time zone": true, "time with time zone": true, "timestamp without time zone": true, "timestamp with time zone": true,
	"json": true, "jsonb": true, "inet": true, "cidr": true, "macaddr": true, "macaddr8": true, "bit": true, "bit varying": true,
	"tsvector": true, engines.AnyEnum: true,
	"int4range": true, "int8range": true, "numrange": true, "daterange": true, "tsrange": true, "tstzrange": true,
}

var modified = regexp.MustCompile(`^([a-z0-9 ]+)\((\d+)(?:,(-?\d+))?\)(.*)$`)

// Parse takes apart a type as home spells it; false where it is not known that its values are what their text says.
func Parse(text string) (t Type, ok bool) {
	t.Name, t.List = strings.CutSuffix(text, "[]")
	if m := modified.FindStringSubmatch(t.Name); m != nil {
		t.Name = m[1] + m[4]
		first, err := strconv.Atoi(m[2])
		if err != nil {
			return t, false
		}
		if t.Length = first; t.Name == "numeric" {
			t.Precision, t.Length = first, 0
			t.Scale, _ = strconv.Atoi(m[3])
		}
	}
	return t, exact[t.Name]
}
