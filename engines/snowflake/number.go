package snowflake

import (
	"math"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

var arrowMemory = memory.DefaultAllocator

// mostDigits is how many digits a decimal has that is not held as text.
const mostDigits = 38

// fixed says how numbers of a scale are read: they come as integers, of a size that may be another in each record batch, or as
// decimals, in units of the last digit.
func (c *column) fixed() {
	precision, scale, sized := digitsOf(c.field.OID, c.field.Typmod)
	switch {
	case c.field.OID == oidInt2:
		c.typ, c.convert = arrow.PrimitiveTypes.Int16, c.integers(16)
	case c.field.OID == oidInt4:
		c.typ, c.convert = arrow.PrimitiveTypes.Int32, c.integers(32)
	case c.field.OID == oidInt8:
		c.typ, c.convert = arrow.PrimitiveTypes.Int64, c.integers(64)
	case sized && precision <= mostDigits:
		c.typ, c.convert = &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}, c.decimals
	case c.field.OID == oidNumeric || c.field.OID == oidText:
		c.typ, c.convert = arrow.BinaryTypes.String, c.spelled
	}
}

// digitsOf returns precision and scale of numeric(p,s), false for what has none, or a scale that decimals do not have.
func digitsOf(oid uint32, typmod int32) (precision, scale int, ok bool) {
	if oid != oidNumeric || typmod < 4 {
		return 0, 0, false
	}
	precision, scale = int((typmod-4)>>16)&0xffff, int((typmod-4)&0x7ff)
	return precision, scale, scale <= precision
}

// wide returns integers of any size as those of eight bytes; nil for what are none. NULL is any value.
func wide(a arrow.Array) []int64 {
	switch a := a.(type) {
	case *array.Int64:
		return a.Int64Values()
	case *array.Int32:
		return widened(a.Int32Values())
	case *array.Int16:
		return widened(a.Int16Values())
	case *array.Int8:
		return widened(a.Int8Values())
	}
	return nil
}

func widened[T int8 | int16 | int32](values []T) []int64 {
	out := make([]int64, len(values))
	for i, v := range values {
		out[i] = int64(v)
	}
	return out
}

// units returns the values of an array in units of the last digit, and NULL as zero.
func (c *column) units(a arrow.Array) (func(i int) decimal128.Num, error) {
	if d, ok := a.(*array.Decimal128); ok {
		return d.Value, nil
	}
	values := wide(a)
	if values == nil && a.Len() > 0 {
		return nil, c.unexpected(a)
	}
	return func(i int) decimal128.Num { return decimal128.FromI64(values[i]) }, nil
}

// integers reads whole numbers that fit.
func (c *column) integers(bits int) func(arrow.Array) (arrow.Array, error) {
	return func(a arrow.Array) (arrow.Array, error) {
		if whole, ok := a.(*array.Int64); ok && bits == 64 && c.from.scale == 0 {
			whole.Retain()
			return whole, nil
		}
		values := wide(a)
		if values == nil || c.from.scale > 0 {
			var err error
			if values, err = c.whole(a); err != nil {
				return nil, err
			}
		}
		for i, v := range values {
			if v<<(64-bits)>>(64-bits) != v && a.IsValid(i) {
				return nil, c.outOfRange(a.ValueStr(i))
			}
		}
		switch bits {
		case 16:
			return c.built(a, shortened(arrow.Int16Traits.CastFromBytes(c.room(2*len(values))), values, arrow.Int16Traits.CastToBytes)), nil
		case 32:
			return c.built(a, shortened(arrow.Int32Traits.CastFromBytes(c.room(4*len(values))), values, arrow.Int32Traits.CastToBytes)), nil
		}
		return c.built(a, arrow.Int64Traits.CastToBytes(values)), nil
	}
}

func shortened[T int16 | int32](out []T, values []int64, bytes func([]T) []byte) []byte {
	for i, v := range values {
		out[i] = T(v)
	}
	return bytes(out)
}

// whole returns numbers that are decimals, or have a scale, as integers.
func (c *column) whole(a arrow.Array) ([]int64, error) {
	unit, err := c.units(a)
	if err != nil {
		return nil, err
	}
	out := make([]int64, a.Len())
	for i := range out {
		if a.IsNull(i) {
			continue
		}
		v, ok := rescaled(unit(i), c.from.scale, 0)
		if !ok || v.HighBits() != int64(v.LowBits())>>63 {
			return nil, c.outOfRange(spell(unit(i), c.from.scale))
		}
		out[i] = int64(v.LowBits())
	}
	return out, nil
}

// rescaled is a number of one scale in units of another; false where it has more digits than that, or too many.
func rescaled(v decimal128.Num, from, to int) (decimal128.Num, bool) {
	switch {
	case from == to:
		return v, true
	case from < to && to-from <= mostDigits:
		out := v.IncreaseScaleBy(int32(to - from))
		back, rest := out.Div(decimal128.GetScaleMultiplier(to - from))
		return out, back == v && rest == decimal128.Num{}
	case from > to && from-to <= mostDigits:
		out, rest := v.Div(decimal128.GetScaleMultiplier(from - to))
		return out, rest == decimal128.Num{}
	}
	return v, false
}

// decimals reads numbers that fit into numeric(p,s).
func (c *column) decimals(a arrow.Array) (arrow.Array, error) {
	t := c.typ.(*arrow.Decimal128Type)
	more := int(t.Scale) - c.from.scale
	fits := more >= 0 && int(t.Precision-t.Scale) >= c.from.precision-c.from.scale
	out := arrow.Decimal128Traits.CastFromBytes(c.room(arrow.Decimal128SizeBytes * a.Len()))
	if values := wide(a); values != nil && fits && c.from.precision+more <= 18 { // which no product exceeds
		by := power(more)
		for i, v := range values {
			out[i] = decimal128.FromI64(v * by)
		}
		return c.built(a, arrow.Decimal128Traits.CastToBytes(out)), nil
	}
	unit, err := c.units(a)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if a.IsNull(i) {
			out[i] = decimal128.Num{}
			continue
		}
		v, ok := rescaled(unit(i), c.from.scale, int(t.Scale))
		if !ok || !fits && !v.FitsInPrecision(t.Precision) {
			return nil, c.outOfRange(spell(unit(i), c.from.scale))
		}
		out[i] = v
	}
	return c.built(a, arrow.Decimal128Traits.CastToBytes(out)), nil
}

// spelled reads numbers as texts, with all digits of their scale.
func (c *column) spelled(a arrow.Array) (arrow.Array, error) {
	unit, err := c.units(a)
	if err != nil {
		return nil, err
	}
	b := array.NewStringBuilder(arrowMemory)
	defer b.Release()
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(spell(unit(i), c.from.scale))
		}
	}
	return b.NewArray(), nil
}

func spell(v decimal128.Num, scale int) string {
	digits := new(big.Int).Abs(v.BigInt()).String()
	if n := scale + 1 - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if v.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// power is ten to the power of n.
func power(n int) int64 { return int64(math.Pow10(n)) }
