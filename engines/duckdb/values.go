package duckdb

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluicedb/sluice/pgerr"
)

// buildSame views a vector whose values are laid out as Arrow's.
func buildSame(c *column, lo, hi int) (arrow.ArrayData, error) {
	return c.array(lo, hi, raw(c.data, c.rows*c.width)), nil
}

// buildDate views dates. DuckDB's -infinity is one more than Postgres' and Arrow readers', which is rare enough to
// look for first and copy only then.
func buildDate(c *column, lo, hi int) (arrow.ArrayData, error) {
	return buildFinite(c, lo, hi, int32(math.MinInt32))
}

// buildTimestamp views timestamps of any unit, as buildDate does dates.
func buildTimestamp(c *column, lo, hi int) (arrow.ArrayData, error) {
	return buildFinite(c, lo, hi, int64(math.MinInt64))
}

func buildFinite[T int32 | int64](c *column, lo, hi int, lowest T) (arrow.ArrayData, error) {
	in := slice[T](c.data, c.rows)
	found := false
	for _, v := range in[lo:hi] {
		found = found || v == lowest+1
	}
	if !found {
		return buildSame(c, lo, hi)
	}
	buf := c.ownValues(hi, c.width)
	out := typed[T](buf)
	for i := lo; i < hi; i++ {
		if out[i] = in[i]; out[i] == lowest+1 {
			out[i] = lowest
		}
	}
	return c.array(lo, hi, buf), nil
}

// buildBool packs DuckDB's byte per value into Arrow's bit per value.
func buildBool(c *column, lo, hi int) (arrow.ArrayData, error) {
	in := raw(c.data, c.rows)
	out := c.ownValues((hi+7)/8, 1)
	clear(out)
	for i := lo; i < hi; i++ {
		if in[i] != 0 {
			out[i>>3] |= 1 << (i & 7)
		}
	}
	return c.array(lo, hi, out), nil
}

// buildDecimal widens a decimal that is stored in 16, 32 or 64 bits to Arrow's 128.
func buildDecimal[T int16 | int32 | int64](c *column, lo, hi int) (arrow.ArrayData, error) {
	in := slice[T](c.data, c.rows)
	buf := c.ownValues(hi, 16)
	out := typed[hugeint](buf)
	for i := lo; i < hi; i++ {
		v := int64(in[i])
		out[i] = hugeint{lower: uint64(v), upper: v >> 63}
	}
	return c.array(lo, hi, buf), nil
}

// buildUhugeint widens an unsigned 128-bit integer to a 256-bit decimal.
func buildUhugeint(c *column, lo, hi int) (arrow.ArrayData, error) {
	in := slice[hugeint](c.data, c.rows)
	buf := c.ownValues(hi, 32)
	out := typed[[4]uint64](buf)
	for i := lo; i < hi; i++ {
		out[i] = [4]uint64{in[i].lower, uint64(in[i].upper)}
	}
	return c.array(lo, hi, buf), nil
}

// buildUUID undoes DuckDB's order-preserving form: a hugeint with the top bit flipped.
func buildUUID(c *column, lo, hi int) (arrow.ArrayData, error) {
	in := slice[hugeint](c.data, c.rows)
	out := c.ownValues(hi, 16)
	for i := lo; i < hi; i++ {
		binary.BigEndian.PutUint64(out[i*16:], uint64(in[i].upper)^(1<<63))
		binary.BigEndian.PutUint64(out[i*16+8:], in[i].lower)
	}
	return c.array(lo, hi, out), nil
}

const nanosPerMicro = 1000

// buildInterval turns microseconds into Arrow's nanoseconds, which reach only to 292 years of hours. duckdb_interval is
// otherwise laid out as Arrow's interval.
func buildInterval(c *column, lo, hi int) (arrow.ArrayData, error) {
	in := slice[arrow.MonthDayNanoInterval](c.data, c.rows)
	buf := c.ownValues(hi, 16)
	out := typed[arrow.MonthDayNanoInterval](buf)
	for i := lo; i < hi; i++ {
		out[i] = in[i]
		micros := in[i].Nanoseconds
		if micros > math.MaxInt64/nanosPerMicro || micros < math.MinInt64/nanosPerMicro {
			if c.isValid(i) {
				return nil, pgerr.New(codeDateTimeOverflow, "interval out of range in column %q", c.field.Name)
			}
			micros = 0
		}
		out[i].Nanoseconds = micros * nanosPerMicro
	}
	return c.array(lo, hi, buf), nil
}
