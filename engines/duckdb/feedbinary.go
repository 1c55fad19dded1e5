package duckdb

import (
	"encoding/binary"
	"math"
	"math/big"
	"unsafe"

	"github.com/sluicedb/sluice/pgerr"
)

// Postgres counts days and microseconds from 2000-01-01.
const (
	epochDays   = 10957
	epochMicros = epochDays * 86400 * 1_000_000
)

func at[T any](data unsafe.Pointer, i int) *T {
	var t T
	return (*T)(unsafe.Add(data, i*int(unsafe.Sizeof(t))))
}

func ofLength(v []byte, n int) error {
	if len(v) != n {
		return pgerr.New(pgerr.ProtocolViolation, "a binary value has %d bytes where %d were expected", len(v), n)
	}
	return nil
}

func readBool(_ *feedType, data unsafe.Pointer, i int, v []byte) error {
	err := ofLength(v, 1)
	if err == nil {
		*at[bool](data, i) = v[0] != 0
	}
	return err
}

func readInt2(_ *feedType, data unsafe.Pointer, i int, v []byte) error {
	err := ofLength(v, 2)
	if err == nil {
		*at[uint16](data, i) = binary.BigEndian.Uint16(v)
	}
	return err
}

func readInt4(_ *feedType, data unsafe.Pointer, i int, v []byte) error {
	err := ofLength(v, 4)
	if err == nil {
		*at[uint32](data, i) = binary.BigEndian.Uint32(v)
	}
	return err
}

func readInt8(_ *feedType, data unsafe.Pointer, i int, v []byte) error {
	err := ofLength(v, 8)
	if err == nil {
		*at[uint64](data, i) = binary.BigEndian.Uint64(v)
	}
	return err
}

func readDate(_ *feedType, data unsafe.Pointer, i int, v []byte) error {
	if err := ofLength(v, 4); err != nil {
		return err
	}
	days := int32(binary.BigEndian.Uint32(v))
	switch days {
	case math.MaxInt32:
	case math.MinInt32:
		days = -math.MaxInt32
	default:
		days += epochDays
	}
	*at[int32](data, i) = days
	return nil
}

func readTimestamp(_ *feedType, data unsafe.Pointer, i int, v []byte) error {
	if err := ofLength(v, 8); err != nil {
		return err
	}
	micros := int64(binary.BigEndian.Uint64(v))
	switch {
	case micros == math.MaxInt64:
	case micros == math.MinInt64:
		micros = -math.MaxInt64
	case micros >= math.MaxInt64-epochMicros:
		return pgerr.New(codeDateTimeOverflow, "timestamp out of range")
	default:
		micros += epochMicros
	}
	*at[int64](data, i) = micros
	return nil
}

// readInterval turns microseconds, days and months around.
func readInterval(_ *feedType, data unsafe.Pointer, i int, v []byte) error {
	if err := ofLength(v, 16); err != nil {
		return err
	}
	*at[[2]uint32](data, 2*i) = [2]uint32{binary.BigEndian.Uint32(v[12:]), binary.BigEndian.Uint32(v[8:])}
	*at[uint64](data, 2*i+1) = binary.BigEndian.Uint64(v)
	return nil
}

// readUUID makes DuckDB's order-preserving form: a hugeint with the top bit flipped.
func readUUID(_ *feedType, data unsafe.Pointer, i int, v []byte) error {
	err := ofLength(v, 16)
	if err == nil {
		*at[hugeint](data, i) = hugeint{upper: int64(binary.BigEndian.Uint64(v) ^ 1<<63), lower: binary.BigEndian.Uint64(v[8:])}
	}
	return err
}

func readNoList(t *feedType, _ unsafe.Pointer, _ int, _ []byte) error {
	return t.unfed("array in binary form")
}

// Signs of Postgres' numeric in binary form. Others stand for NaN and the infinities, which a decimal has not.
const (
	positive = 0x0000
	negative = 0x4000
)

const digitBase = 10000

// readNumeric reads digits of base 10,000, the first of which has the weight given, into a decimal of fixed scale.
func readNumeric(t *feedType, data unsafe.Pointer, i int, v []byte) error {
	if len(v) < 8 || len(v) != 8+2*int(binary.BigEndian.Uint16(v)) {
		return pgerr.New(pgerr.ProtocolViolation, "malformed binary numeric")
	}
	sign := binary.BigEndian.Uint16(v[4:])
	if sign != positive && sign != negative {
		return pgerr.Hint(pgerr.New(pgerr.NumericOutOfRange, "NaN and infinity cannot be computed with by the federation engine"),
			"SET sluice.route = 'home_join' has home compute the statement.")
	}
	weight := int(int16(binary.BigEndian.Uint16(v[2:])))
	if t.precision <= 18 {
		n, ok := smallNumeric(v[8:], weight, t.scale)
		if !ok {
			return t.outOfRange()
		}
		if sign == negative {
			n = -n
		}
		switch {
		case t.precision <= 4:
			*at[int16](data, i) = int16(n)
		case t.precision <= 9:
			*at[int32](data, i) = int32(n)
		default:
			*at[int64](data, i) = n
		}
		return nil
	}
	n, ok := bigNumeric(v[8:], weight, t.scale)
	if !ok {
		return t.outOfRange()
	}
	if sign == negative {
		n.lower, n.upper = -n.lower, ^n.upper
		if n.lower == 0 {
			n.upper++
		}
	}
	*at[hugeint](data, i) = n
	return nil
}

func (t *feedType) outOfRange() error {
	return pgerr.New(pgerr.NumericOutOfRange, "a numeric does not fit %s", t.name)
}

// tens are the powers of ten below digitBase.
var tens = [4]int64{1, 10, 100, 1000}

// smallNumeric computes the digits as an integer of 10^-scale, of up to 18 decimal digits.
func smallNumeric(digits []byte, weight, scale int) (n int64, ok bool) {
	const limit = 1_000_000_000_000_000_000
	for ; len(digits) > 0; digits, weight = digits[2:], weight-1 {
		d := int64(binary.BigEndian.Uint16(digits))
		switch have := scale + 4*weight; { // the decimal exponent of the digit's unit
		case have >= 0:
			for ; have > 0 && d != 0; have-- {
				if d *= 10; d >= limit {
					return 0, false
				}
			}
			n += d
		case have > -4:
			if d%tens[-have] != 0 {
				return 0, false
			}
			n += d / tens[-have]
		case d != 0:
			return 0, false
		}
		if n >= limit {
			return 0, false
		}
	}
	return n, true
}

var maxDecimal = new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)

// bigNumeric is smallNumeric for up to 38 digits.
func bigNumeric(digits []byte, weight, scale int) (h hugeint, ok bool) {
	n, unit := new(big.Int), big.NewInt(digitBase)
	count := len(digits) / 2
	for i := range count {
		n.Mul(n, unit).Add(n, big.NewInt(int64(binary.BigEndian.Uint16(digits[2*i:]))))
	}
	exponent := scale + 4*(weight-count+1)
	if exponent > 38 && n.Sign() != 0 {
		return h, false
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
	if exponent >= 0 {
		n.Mul(n, power)
	} else if rest := new(big.Int); true {
		if n.QuoRem(n, power, rest); rest.Sign() != 0 {
			return h, false
		}
	}
	if n.Cmp(maxDecimal) >= 0 {
		return h, false
	}
	lower := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
	return hugeint{lower: lower.Uint64(), upper: int64(new(big.Int).Rsh(n, 64).Uint64())}, true
}
