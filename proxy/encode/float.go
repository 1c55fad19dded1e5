package encode

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

func bindFloat(c column) cell {
	switch a := c.array.(type) {
	case *array.Float32:
		return floatCell(a.Float32Values(), c)
	case *array.Float64:
		return floatCell(a.Float64Values(), c)
	}
	return nil
}

func floatCell[T float32 | float64](values []T, c column) cell {
	single := c.field.OID == oidFloat4
	digits := c.settings.ExtraFloatDigits
	return func(dst []byte, i int) ([]byte, error) {
		v := float64(values[i])
		if v != v {
			v = math.Float64frombits(quietNaN) // Postgres' own, whatever payload the engine's has
		}
		if single {
			if f := float32(v); math.IsInf(float64(f), 0) && !math.IsInf(v, 0) {
				return dst, pgerr.New(pgerr.NumericOutOfRange, "%s is out of range for type real", strconv.FormatFloat(v, 'g', -1, 64))
			}
			if c.binary {
				return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(v))), nil
			}
			return appendFloat(dst, float64(float32(v)), digits, &floatSingle), nil
		}
		if c.binary {
			return binary.BigEndian.AppendUint64(dst, math.Float64bits(v)), nil
		}
		return appendFloat(dst, v, digits, &floatDouble), nil
	}
}

const quietNaN = 0x7ff8000000000000

// precision describes one of the two float types.
type precision struct {
	bits     int  // as strconv wants it
	mantissa uint // bits of the mantissa, the hidden one included
	digits   int  // decimal digits that survive: FLT_DIG, DBL_DIG
	fixed    int  // exponents from here on are written with an e
}

var (
	floatSingle = precision{bits: 32, mantissa: 24, digits: 6, fixed: 6}
	floatDouble = precision{bits: 64, mantissa: 53, digits: 15, fixed: 15}
)

// appendFloat writes v as float4out and float8out do: the shortest text that reads back as v, or with
// extra_float_digits below 1 a fixed number of digits.
func appendFloat(dst []byte, v float64, extra int, p *precision) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	}
	var buf [32]byte
	if extra > 0 {
		return layOut(dst, shortest(buf[:0], v, p), p.fixed)
	}
	n := max(p.digits+extra, 1)
	return layOut(dst, trimZeros(strconv.AppendFloat(buf[:0], v, 'e', n-1, p.bits)), n)
}

// shortest returns the shortest digits that read back as v, in the form d.ddde±xx. strconv's own differ from Postgres'
// in two rare cases: where v stands halfway between two candidates Postgres takes the even one, and it leaves out a
// candidate that stands halfway between v and a neighbour, though rounding to even would read it back.
func shortest(buf []byte, v float64, p *precision) []byte {
	s := strconv.AppendFloat(buf, v, 'e', -1, p.bits)
	n := countDigits(s)
	if n < p.digits && math.Abs(v) < float64(uint64(1)<<p.mantissa) {
		return s
	}
	if n >= p.digits && lowestBit(v) > -32 {
		var other [32]byte
		even := strconv.AppendFloat(other[:0], v, 'e', n-1, p.bits)
		if string(even) != string(s) && readsBack(even, v, p) {
			s = append(s[:0], even...)
		}
	}
	if math.Abs(v) < float64(uint64(1)<<p.mantissa) || !halfway(s, v, p) {
		return s
	}
	for ; n < 18; n++ {
		s = strconv.AppendFloat(buf, v, 'e', n-1, p.bits)
		if readsBack(s, v, p) && !halfway(s, v, p) {
			return trimZeros(s)
		}
	}
	return s
}

// lowestBit returns the power of two that the lowest bit set in v's mantissa stands for. A number halfway between two
// candidates has at most 18 digits, and so no bit far behind the point.
func lowestBit(v float64) int {
	frac, e := math.Frexp(math.Abs(v))
	m := uint64(math.Ldexp(frac, 53))
	return e - 53 + bits.TrailingZeros64(m)
}

func readsBack(s []byte, v float64, p *precision) bool {
	back, err := strconv.ParseFloat(string(s), p.bits)
	return err == nil && back == v
}

// countDigits returns how many digits stand in front of the exponent.
func countDigits(s []byte) int {
	n := 0
	for _, b := range s {
		switch {
		case b == 'e':
			return n
		case b >= '0' && b <= '9':
			n++
		}
	}
	return n
}

// halfway reports whether the decimal s, which reads back as v, is exactly the middle between v and a neighbour. v must
// be so large that it is a whole number; then the middle has one bit more than the mantissa.
func halfway(s []byte, v float64, p *precision) bool {
	value, tens := parts(s)
	for value != 0 && value%10 == 0 {
		value, tens = value/10, tens+1
	}
	if tens < 0 || tens > 27 {
		return false
	}
	frac, e := math.Frexp(math.Abs(v))
	m := uint64(math.Ldexp(frac, int(p.mantissa))) // |v| = m * 2^(e-mantissa)
	shift := e - int(p.mantissa)
	twos := tens
	for range tens {
		if value > math.MaxUint64/5 {
			return false
		}
		value *= 5
	}
	for value&1 == 0 && value != 0 {
		value >>= 1
		twos++
	}
	return twos == shift-1 && (value == 2*m+1 || value == 2*m-1)
}

// parts takes d.ddde±xx apart: it is value times ten to the power of tens, but for its sign.
func parts(s []byte) (value uint64, tens int) {
	for i, b := range s {
		switch {
		case b >= '0' && b <= '9':
			value = value*10 + uint64(b-'0')
			tens--
		case b == 'e':
			exp, _ := strconv.Atoi(string(s[i+1:])) // strconv made it
			return value, tens + 1 + exp            // the first digit stands before the point
		}
	}
	return value, tens + 1
}

// trimZeros drops zeros at the end of the fraction of d.ddde±xx.
func trimZeros(s []byte) []byte {
	e := bytes.IndexByte(s, 'e')
	if bytes.IndexByte(s[:e], '.') < 0 {
		return s
	}
	end := e
	for s[end-1] == '0' {
		end--
	}
	if s[end-1] == '.' {
		end--
	}
	return append(s[:end], s[e:]...)
}

// layOut writes d.ddde±xx as C's %g would: with an exponent of at least two digits when it is below -4 or not below
// fixed, and without one otherwise.
func layOut(dst, s []byte, fixed int) []byte {
	if s[0] == '-' {
		dst, s = append(dst, '-'), s[1:]
	}
	e := bytes.IndexByte(s, 'e')
	exp := 0
	for _, b := range s[e+2:] {
		exp = exp*10 + int(b-'0')
	}
	if s[e+1] == '-' {
		exp = -exp
	}
	if exp < -4 || exp >= fixed {
		return append(dst, s...) // strconv writes two digits of exponent as well
	}
	first, rest := s[0], s[1:e]
	if len(rest) > 0 {
		rest = rest[1:] // the point
	}
	if exp < 0 {
		dst = append(dst, '0', '.')
		for range -exp - 1 {
			dst = append(dst, '0')
		}
		return append(append(dst, first), rest...)
	}
	dst = append(dst, first)
	if exp >= len(rest) {
		dst = append(dst, rest...)
		for range exp - len(rest) {
			dst = append(dst, '0')
		}
		return dst
	}
	dst = append(dst, rest[:exp]...)
	dst = append(dst, '.')
	return append(dst, rest[exp:]...)
}
