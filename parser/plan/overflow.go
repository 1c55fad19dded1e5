package plan

import (
	"math"
	"strconv"

	"github.com/sluicedb/sluice/parser/dialect"
)

// opaque keeps an engine from taking a sum, product or cast of integers apart that may be out of range: of x + 1 = 5 an
// optimizer makes x = 4, and of a narrowing cast in a comparison nothing, so that Postgres' error would not show.
func opaque(entry *dialect.Entry, list []operand, t typ, sql string) string {
	if !t.IsInt() || !overflows(entry, list, t) {
		return sql
	}
	return "(" + sql + " | 0)"
}

// overflows reports whether an operator or cast of operands like these may yield what its type does not hold.
func overflows(entry *dialect.Entry, list []operand, t typ) bool {
	if entry.Kind != dialect.Operator && entry.Kind != dialect.Cast || !list[0].typ.IsInt() {
		return false
	}
	most := magnitude(list[0])
	switch {
	case entry.Kind == dialect.Cast:
		return most > largest(t)
	case len(list) == 1: // the least number has no opposite
		most++
	case entry.Name == "+" || entry.Name == "-":
		most += magnitude(list[1])
	case entry.Name == "*":
		most *= magnitude(list[1])
	default:
		return false
	}
	return most >= largest(t) // a sum of two bounds is no float of its own
}

// magnitude is how far an integer operand may be from 0.
func magnitude(o operand) float64 {
	if n, err := strconv.ParseFloat(o.literal, 64); o.plain && err == nil {
		return math.Abs(n)
	}
	return largest(o.typ) // for the least number, too: what is of it alone is compared with the same bound
}

// largest is the bound of an integer type.
func largest(t typ) float64 {
	switch t.OID {
	case int2OID:
		return math.MaxInt16
	case int4OID:
		return math.MaxInt32
	case int8OID:
		return math.MaxInt64
	}
	return math.Inf(1)
}
