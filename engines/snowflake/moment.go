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
	at, null, err := c.moment(a)
	if err != nil {
		return nil, err
	}
	out := make([]int64, a.Len())
	for i := range out {
		if null(i) {
			continue
		}
		var ok bool
		if out[i], ok = at(i); !ok {
			return nil, pgerr.New("22008", "a value of column %q is out of range for type %s", c.field.Name, c.typeName())
		}
	}
	return c.builtWhere(a.Len(), null, arrow.Int64Traits.CastToBytes(out)), nil
}

// moment returns how the microseconds of row i are found, false where they are too many, and whether it is NULL: a struct is, or its
// seconds alone.
func (c *column) moment(a arrow.Array) (at func(i int) (int64, bool), null func(i int) bool, err error) {
	nested, ok := a.(*array.Struct)
	if !ok {
		values := wide(a)
		if values == nil && a.Len() > 0 || c.from.scale > 9 {
			return nil, nil, c.unexpected(a)
		}
		return scaled(values, c.from.scale), a.IsNull, nil
	}
	parts := nested.NumField()
	if c.from.kind == "timestamp_tz" {
		parts-- // the zone
	}
	if parts < 1 || parts > 2 {
		return nil, nil, c.unexpected(a)
	}
	seconds, ok := nested.Field(0).(*array.Int64)
	if !ok {
		return nil, nil, c.unexpected(a)
	}
	null = func(i int) bool { return nested.IsNull(i) || seconds.IsNull(i) }
	if parts == 1 {
		return scaled(seconds.Int64Values(), c.from.scale), null, nil
	}
	nanos, ok := nested.Field(1).(*array.Int32)
	if !ok {
		return nil, nil, c.unexpected(a)
	}
	return func(i int) (int64, bool) {
		whole := seconds.Value(i)
		if whole > math.MaxInt64/1_000_000-1 || whole < math.MinInt64/1_000_000+1 {
			return 0, false
		}
		return whole*1_000_000 + rounded(int64(nanos.Value(i)), 1000), true
	}, null, nil
}

// scaled are values in units of the last digit of a scale.
func scaled(values []int64, scale int) func(i int) (int64, bool) {
	if scale > micros {
		by := power(scale - micros)
		return func(i int) (int64, bool) { return rounded(values[i], by), true }
	}
	by := power(micros - scale)
	return func(i int) (int64, bool) {
		v := values[i] * by
		return v, v/by == values[i]
	}
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
