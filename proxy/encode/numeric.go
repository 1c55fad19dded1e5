package encode

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal256"

	"github.com/sluicedb/sluice/pgerr"
)

// magnitude is the absolute value of a decimal's unscaled integer, in the low 128 bits where big is nil.
type magnitude struct {
	negative bool
	hi, lo   uint64
	big      []byte // digits of a value of more than 128 bits
}

func bindNumeric(c column) cell {
	switch a := c.array.(type) {
	case *array.Int8:
		return numericInt(a.Int8Values(), c)
	case *array.Int16:
		return numericInt(a.Int16Values(), c)
	case *array.Int32:
		return numericInt(a.Int32Values(), c)
	case *array.Int64:
		return numericInt(a.Int64Values(), c)
	case *array.Uint8:
		return numericInt(a.Uint8Values(), c)
	case *array.Uint16:
		return numericInt(a.Uint16Values(), c)
	case *array.Uint32:
		return numericInt(a.Uint32Values(), c)
	case *array.Uint64:
		values := a.Uint64Values()
		return numericCell(c, 0, func(i int) magnitude { return magnitude{lo: values[i]} })
	case *array.Decimal32:
		values, scale := a.Values(), a.DataType().(*arrow.Decimal32Type).Scale
		return numericCell(c, scale, func(i int) magnitude { return ofInt(int64(values[i])) })
	case *array.Decimal64:
		values, scale := a.Values(), a.DataType().(*arrow.Decimal64Type).Scale
		return numericCell(c, scale, func(i int) magnitude { return ofInt(int64(values[i])) })
	case *array.Decimal128:
		values, scale := a.Values(), a.DataType().(*arrow.Decimal128Type).Scale
		return numericCell(c, scale, func(i int) magnitude { return of128(values[i].LowBits(), values[i].HighBits()) })
	case *array.Decimal256:
		values, scale := a.Values(), a.DataType().(*arrow.Decimal256Type).Scale
		return numericCell(c, scale, func(i int) magnitude { return of256(values[i]) })
	case *array.String, *array.LargeString, *array.StringView:
		return numericText(c)
	}
	return nil
}

func numericInt[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](values []T, c column) cell {
	return numericCell(c, 0, func(i int) magnitude { return ofInt(int64(values[i])) })
}

func ofInt(v int64) magnitude {
	if v < 0 {
		return magnitude{negative: true, lo: -uint64(v)}
	}
	return magnitude{lo: uint64(v)}
}

func of128(lo uint64, hi int64) magnitude {
	if hi >= 0 {
		return magnitude{hi: uint64(hi), lo: lo}
	}
	low, borrow := bits.Sub64(0, lo, 0)
	high, _ := bits.Sub64(0, uint64(hi), borrow)
	return magnitude{negative: true, hi: high, lo: low}
}

func of256(v decimal256.Num) magnitude {
	m := magnitude{negative: v.Sign() < 0}
	if m.negative {
		v = v.Negate()
	}
	words := v.Array()
	if words[2]|words[3] == 0 {
		m.hi, m.lo = words[1], words[0]
		return m
	}
	m.big = v.BigInt().Append(nil, 10)
	return m
}

// appendDigits adds the digits of m, at least one.
func (m magnitude) appendDigits(dst []byte) []byte {
	if m.big != nil {
		return append(dst, m.big...)
	}
	if m.hi == 0 {
		return strconv.AppendUint(dst, m.lo, 10)
	}
	const chunk = 10_000_000_000_000_000_000 // 10^19
	top, rest := m.hi/chunk, m.hi%chunk
	mid, low := bits.Div64(rest, m.lo, chunk)
	if top > 0 { // not reached below 2^127, for 2^64/10^19 is 1
		mid2, low2 := bits.Div64(top%chunk, mid, chunk)
		dst = strconv.AppendUint(dst, mid2, 10)
		dst = appendPadded(dst, low2)
		return appendPadded(dst, low)
	}
	dst = strconv.AppendUint(dst, mid, 10)
	return appendPadded(dst, low)
}

// appendPadded adds v as 19 digits.
func appendPadded(dst []byte, v uint64) []byte {
	var buf [19]byte
	for i := len(buf) - 1; i >= 0; i-- {
		buf[i] = byte('0' + v%10)
		v /= 10
	}
	return append(dst, buf[:]...)
}

// numericType is a numeric's typmod taken apart.
type numericType struct {
	limited          bool
	precision, scale int
}

func numericTypeOf(typmod int32) numericType {
	if typmod < 4 {
		return numericType{}
	}
	t := typmod - 4
	return numericType{limited: true, precision: int(t >> 16 & 0xffff), scale: int((t&0x7ff)^1024) - 1024}
}

func numericCell(c column, scale32 int32, value func(i int) magnitude) cell {
	t, scale := numericTypeOf(c.field.Typmod), int(scale32)
	var buf [128]byte
	return func(dst []byte, i int) ([]byte, error) {
		m := value(i)
		digits, scale := m.appendDigits(buf[:0]), scale
		if scale < 0 {
			digits, scale = shift(digits, -scale), 0
		}
		return appendNumeric(dst, digits, scale, m.negative, t, c.binary)
	}
}

// appendNumeric writes a number as the type allows it. It may change digits.
func appendNumeric(dst, digits []byte, scale int, negative bool, t numericType, bin bool) ([]byte, error) {
	if t.limited {
		digits, scale = rescale(digits, scale, t.scale)
		if significant(digits)-scale > t.precision-t.scale {
			return dst, numericOverflow(t)
		}
	}
	if bin {
		return appendNumericBinary(dst, digits, scale, negative), nil
	}
	return appendNumericText(dst, digits, scale, negative), nil
}

func numericOverflow(t numericType) error {
	return pgerr.Detail(pgerr.New(pgerr.NumericOutOfRange, "numeric field overflow"),
		"A field with precision %d, scale %d must round to an absolute value less than %s.", t.precision, t.scale, powerName(t.precision-t.scale))
}

func powerName(p int) string {
	if p == 0 {
		return "1"
	}
	return "10^" + strconv.Itoa(p)
}

// significant returns how many digits there are without zeros in front.
func significant(digits []byte) int {
	for i, d := range digits {
		if d != '0' {
			return len(digits) - i
		}
	}
	return 0
}

func shift(digits []byte, zeros int) []byte {
	if digits[0] == '0' && len(digits) == 1 {
		return digits
	}
	for range zeros {
		digits = append(digits, '0')
	}
	return digits
}

// rescale brings digits from one scale to another, rounding halves away from zero as Postgres does. A negative target
// scale rounds to tens, and what comes out has scale 0.
func rescale(digits []byte, from, to int) ([]byte, int) {
	for ; from < to; from++ {
		digits = append(digits, '0')
	}
	if from == to {
		return digits, to
	}
	drop := from - to
	up := drop <= len(digits) && digits[len(digits)-drop] >= '5'
	if drop >= len(digits) {
		digits = append(digits[:0], '0')
	} else {
		digits = digits[:len(digits)-drop]
	}
	if up {
		digits = increment(digits)
	}
	if to < 0 {
		return shift(digits, -to), 0
	}
	return digits, to
}

func increment(digits []byte) []byte {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] < '9' {
			digits[i]++
			return digits
		}
		digits[i] = '0'
	}
	digits = append(digits, '0')
	copy(digits[1:], digits)
	digits[0] = '1'
	return digits
}

func appendNumericText(dst, digits []byte, scale int, negative bool) []byte {
	if negative && significant(digits) > 0 {
		dst = append(dst, '-')
	}
	whole := len(digits) - scale
	if whole <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, trimLeading(digits[:whole])...)
	}
	if scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; whole < 0; whole++ {
		dst = append(dst, '0')
	}
	return append(dst, digits[whole:]...)
}

// trimLeading drops zeros in front of the last digit. There are some where a value smaller than one was padded.
func trimLeading(digits []byte) []byte {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}

const numericNegative = 0x4000

// appendNumericBinary writes numeric_send's form: number of base 10000 digits, weight of the first, sign, display
// scale, digits. Zero digits at either end are left out, but the display scale stays: 0.00 is not 0.
func appendNumericBinary(dst, digits []byte, scale int, negative bool) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	fraction := (scale + 3) / 4 // groups behind the point
	pad := fraction*4 - scale
	total := len(digits) + pad
	groups := (total + 3) / 4
	weight := groups - fraction - 1
	position := groups*4 - total // where in the first group the first digit stands
	value, count := 0, 0
	emit := func() {
		if count == 0 && value == 0 {
			weight-- // no digit yet
		} else {
			dst = binary.BigEndian.AppendUint16(dst, uint16(value))
			count++
		}
		value = 0
	}
	for k := range len(digits) + pad {
		d := 0
		if k < len(digits) {
			d = int(digits[k] - '0')
		}
		value = value*10 + d
		if position++; position == 4 {
			emit()
			position = 0
		}
	}
	for count > 0 && dst[len(dst)-1] == 0 && dst[len(dst)-2] == 0 {
		dst = dst[:len(dst)-2]
		count--
	}
	sign := uint16(0)
	if negative {
		sign = numericNegative
	}
	if count == 0 {
		weight, sign = 0, 0
	}
	binary.BigEndian.PutUint16(dst[at:], uint16(count))
	binary.BigEndian.PutUint16(dst[at+2:], uint16(weight))
	binary.BigEndian.PutUint16(dst[at+4:], sign)
	binary.BigEndian.PutUint16(dst[at+6:], uint16(scale))
	return dst
}
