package encode

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

func bindBool(c column) cell {
	a, ok := c.array.(*array.Boolean)
	if !ok {
		return nil
	}
	yes, no := byte('t'), byte('f')
	if c.binary {
		yes, no = 1, 0
	}
	return func(dst []byte, i int) ([]byte, error) {
		if a.Value(i) {
			return append(dst, yes), nil
		}
		return append(dst, no), nil
	}
}

// integer is one of Postgres' integer types.
type integer struct {
	name   string
	size   int
	lo, hi int64
}

var integers = map[uint32]integer{
	oidInt2: {"smallint", 2, math.MinInt16, math.MaxInt16},
	oidInt4: {"integer", 4, math.MinInt32, math.MaxInt32},
	oidInt8: {"bigint", 8, math.MinInt64, math.MaxInt64},
	oidOID:  {"OID", 4, 0, math.MaxUint32},
}

func (t integer) outOfRange() error {
	return pgerr.New(pgerr.NumericOutOfRange, "%s out of range", t.name)
}

// append adds v, which is in range.
func (t integer) append(dst []byte, v int64, bin bool) []byte {
	switch {
	case !bin:
		return strconv.AppendInt(dst, v, 10)
	case t.size == 2:
		return binary.BigEndian.AppendUint16(dst, uint16(v))
	case t.size == 4:
		return binary.BigEndian.AppendUint32(dst, uint32(v))
	default:
		return binary.BigEndian.AppendUint64(dst, uint64(v))
	}
}

func bindInt(c column) cell {
	t := integers[c.field.OID]
	switch a := c.array.(type) {
	case *array.Int8:
		return intCell(a.Int8Values(), t, c.binary)
	case *array.Int16:
		return intCell(a.Int16Values(), t, c.binary)
	case *array.Int32:
		return intCell(a.Int32Values(), t, c.binary)
	case *array.Int64:
		return intCell(a.Int64Values(), t, c.binary)
	case *array.Uint8:
		return intCell(a.Uint8Values(), t, c.binary)
	case *array.Uint16:
		return intCell(a.Uint16Values(), t, c.binary)
	case *array.Uint32:
		return intCell(a.Uint32Values(), t, c.binary)
	case *array.Uint64:
		return uintCell(a.Uint64Values(), t, c.binary)
	case *array.Decimal128:
		if a.DataType().(*arrow.Decimal128Type).Scale != 0 {
			return nil
		}
		return func(dst []byte, i int) ([]byte, error) {
			v := a.Value(i)
			low := int64(v.LowBits())
			if v.HighBits() != low>>63 || low < t.lo || low > t.hi {
				return dst, t.outOfRange()
			}
			return t.append(dst, low, c.binary), nil
		}
	}
	return nil
}

func intCell[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](values []T, t integer, bin bool) cell {
	if t.size == 8 {
		if bin {
			return func(dst []byte, i int) ([]byte, error) {
				return binary.BigEndian.AppendUint64(dst, uint64(int64(values[i]))), nil
			}
		}
		return func(dst []byte, i int) ([]byte, error) { return strconv.AppendInt(dst, int64(values[i]), 10), nil }
	}
	return func(dst []byte, i int) ([]byte, error) {
		v := int64(values[i])
		if v < t.lo || v > t.hi {
			return dst, t.outOfRange()
		}
		return t.append(dst, v, bin), nil
	}
}

func uintCell(values []uint64, t integer, bin bool) cell {
	return func(dst []byte, i int) ([]byte, error) {
		if values[i] > uint64(t.hi) {
			return dst, t.outOfRange()
		}
		return t.append(dst, int64(values[i]), bin), nil
	}
}
