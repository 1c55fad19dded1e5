package snowflake

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

// micros is how many digits behind the second Postgres keeps.
const micros = 6

// moments reads times and timestamps, which come in units of the last digit, or as structs of seconds and nanoseconds. The zone that a
// TIMESTAMP_TZ has beside them only says how it was written. Digits beyond the sixth are rounded, as Postgres does.
func (c *column) moments(a arrow.Array) (arrow.Array, error) {
	out := arrow.Int64Traits.CastFromBytes(c.room(8 * a.Len()))
	null := a.IsNull
	var values, nanos []int64
	if nested, ok := a.(*array.Struct); ok {
		parts := nested.NumField()
		if c.from.kind == "timestamp_tz" {
			parts-- // the zone
		}
		if parts < 1 || parts > 2 {
			return nil, c.unexpected(a)
		}
		seconds := nested.Field(0)
		values = wide(seconds)
		if parts == 2 {
			nanos = wide(nested.Field(1))
		}
		if seconds.NullN() > 0 { // some senders say it of these alone
			null = func(i int) bool { return nested.IsNull(i) || seconds.IsNull(i) }
		}
		if a.Len() > 0 && (values == nil || parts == 2 && nanos == nil) {
			return nil, c.unexpected(a)
		}
	} else if values = wide(a); values == nil && a.Len() > 0 {
		return nil, c.unexpected(a)
	}
	good := 0
	switch {
	case nanos != nil:
		good = joined(out, values, nanos, null)
	case c.from.scale > 9:
		return nil, c.unexpected(a)
	default:
		good = scaled(out, values, c.from.scale, null)
	}
	if good < len(out) {
		return nil, pgerr.New("22008", "a value of column %q is out of range for type %s", c.field.Name, c.typeName())
	}
	return c.builtWhere(a.Len(), null, arrow.Int64Traits.CastToBytes(out)), nil
}

// joined makes microseconds of seconds and nanoseconds, and returns how many values there are before the first that is out of range.
func joined(out, seconds, nanos []int64, null func(i int) bool) int {
	const least, most = math.MinInt64/1_000_000 + 1, math.MaxInt64/1_000_000 - 1
	for i, whole := range seconds {
		if (whole > most || whole < least) && !null(i) {
			return i
		}
		out[i] = whole*1_000_000 + rounded(nanos[i], 1000)
	}
	return len(seconds)
}

// scaled is joined of values in units of the last digit of a scale.
func scaled(out, values []int64, scale int, null func(i int) bool) int {
	if scale > micros {
		by := power(scale - micros)
		for i, v := range values {
			out[i] = rounded(v, by)
		}
		return len(values)
	}
	by := power(micros - scale)
	for i, v := range values {
		if out[i] = v * by; out[i]/by != v && !null(i) {
			return i
		}
	}
	return len(values)
}

// rounded is v divided by an even number, to the nearest, and to the even one of two.
func rounded(v, by int64) int64 {
	whole, rest := v/by, v%by
	if rest < 0 {
		whole, rest = whole-1, rest+by
	}
	if rest > by/2 || rest == by/2 && whole%2 != 0 {
		whole++
	}
	return whole
}
