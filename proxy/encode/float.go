package encode

import (
	"encoding/binary"
	"math"
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

// shortest returns the shortest digits that read back as v, in the form d.ddde±xx. Postgres leaves out a candidate that
// stands exactly halfway to a neighbour, though rounding to even would read it back.
func shortest(buf []byte, v float64, p *precision) []byte {
	s := strconv.AppendFloat(buf, v, 'e', -1, p.bits)
	if math.Abs(v) < float64(uint64(1)<<p.mantissa) || !halfway(s, v, p) {
		return s
	}
	for n := len(s); n < 20; n++ {
		s = strconv.AppendFloat(buf, v, 'e', n, p.bits)
		back, err := strconv.ParseFloat(string(s), p.bits)
		if s = trimZeros(s); err == nil && back == v && !halfway(s, v, p) {
			return s
		}
	}
	return strconv.AppendFloat(buf, v, 'e', 17, p.bits)
}

// halfway reports whether the decimal s, which reads back as v, is exactly the middle between v and a neighbour. v must
// be so large that it is a whole number; then the middle has one bit more than the mantissa.
func halfway(s []byte, v float64, p *precision) bool {
	digits, exp := parts(s)
	value, tens := uint64(0), exp
	for _, d := range digits {
		value = value*10 + uint64(d-'0')
		tens--
	}
	tens++ // the first digit stands before the point
	if tens < 0 || tens > 22 {
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

// parts takes d.ddde±xx apart into digits and exponent. The sign is dropped.
func parts(s []byte) (digits []byte, exp int) {
	var out [24]byte
	n := 0
	for i, b := range s {
		switch {
		case b >= '0' && b <= '9':
			out[n] = b
			n++
		case b == 'e':
			exp, _ = strconv.Atoi(string(s[i+1:])) // strconv made it
			return append([]byte(nil), out[:n]...), exp
		}
	}
	return append([]byte(nil), out[:n]...), exp
}

// trimZeros drops zeros at the end of the digits of d.ddde±xx.
func trimZeros(s []byte) []byte {
	e := len(s) - 1
	for s[e] != 'e' {
		e--
	}
	end := e
	for end > 0 && s[end-1] == '0' {
		end--
	}
	if s[end-1] == '.' {
		end--
	}
	if !hasPoint(s[:e]) {
		return s
	}
	return append(s[:end], s[e:]...)
}

func hasPoint(s []byte) bool {
	for _, b := range s {
		if b == '.' {
			return true
		}
	}
	return false
}

// layOut writes d.ddde±xx as C's %g would: with an exponent of at least two digits when it is below -4 or not below
// fixed, and without one otherwise.
func layOut(dst, s []byte, fixed int) []byte {
	if s[0] == '-' {
		dst, s = append(dst, '-'), s[1:]
	}
	e := len(s) - 1
	for s[e] != 'e' {
		e--
	}
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
