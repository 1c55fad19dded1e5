package duckdb

import (
	"math"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/pgerr"
)

// sink is one vector that a feed fills: memory of DuckDB's.
type sink struct {
	handle bindings.Vector
	data   unsafe.Pointer
	valid  unsafe.Pointer // one bit a row; nil until a row is NULL
}

func sinkOf(v bindings.Vector) sink { return sink{handle: v, data: bindings.VectorGetData(v)} }

func (v *sink) null(i int) {
	if v.valid == nil {
		bindings.VectorEnsureValidityWritable(v.handle)
		v.valid = bindings.VectorGetValidity(v.handle)
	}
	*(*byte)(unsafe.Add(v.valid, i>>3)) &^= 1 << (i & 7)
}

// put copies rows [lo, hi) of an Arrow array to row at of a vector and those behind it.
func (v *sink) put(t *feedType, at int, src arrow.Array, lo, hi int) error {
	if lo == hi { // elements of lists that are all empty have no offsets either
		return nil
	}
	if src.NullN() > 0 {
		for i := lo; i < hi; i++ {
			if src.IsNull(i) {
				v.null(at + i - lo)
			}
		}
	}
	ok, err := v.values(t, at, src, lo, hi)
	if err == nil && !ok && src.NullN() < src.Len() { // an array without values may have any type
		err = t.unfed(src.DataType().String())
	}
	return err
}

// values copies what is not NULL; false where the types do not fit.
func (v *sink) values(t *feedType, at int, src arrow.Array, lo, hi int) (bool, error) {
	switch s := src.(type) {
	case *array.Boolean:
		return t.id == bindings.TypeBoolean, v.bools(at, s, lo, hi)
	case *array.Decimal128:
		return v.decimals(t, at, s, lo, hi), nil
	case *array.Date32:
		finite(room[int32](v, at, lo, hi), typed[int32](bytesOf(s.Date32Values()))[lo:hi], math.MinInt32)
		return t.id == bindings.TypeDate, nil
	case *array.Time64:
		if s.DataType().(*arrow.Time64Type).Unit != arrow.Microsecond {
			return false, nil
		}
		copy(room[int64](v, at, lo, hi), typed[int64](bytesOf(s.Time64Values()))[lo:hi])
		return t.id == bindings.TypeTime, nil
	case *array.Timestamp:
		if s.DataType().(*arrow.TimestampType).Unit != arrow.Microsecond {
			return false, nil
		}
		finite(room[int64](v, at, lo, hi), typed[int64](bytesOf(s.TimestampValues()))[lo:hi], math.MinInt64)
		return t.id == bindings.TypeTimestamp || t.id == bindings.TypeTimestampTZ, nil
	case *array.MonthDayNanoInterval:
		v.intervals(at, s, lo, hi)
		return t.id == bindings.TypeInterval, nil
	case *array.FixedSizeBinary:
		return t.id == bindings.TypeUUID && s.DataType().(*arrow.FixedSizeBinaryType).ByteWidth == 16, v.uuids(at, s, lo, hi)
	case *array.String:
		if t.id != bindings.TypeVarchar {
			return false, nil
		}
		v.assignTexts(at, s.ValueOffsets()[lo:hi+1], s.ValueBytes()[s.ValueOffset(lo)-s.ValueOffset(0):])
		return true, nil
	case *array.Binary:
		if t.id != bindings.TypeBlob {
			return false, nil
		}
		v.assignTexts(at, s.ValueOffsets()[lo:hi+1], s.ValueBytes()[s.ValueOffset(lo)-s.ValueOffset(0):])
		return true, nil
	case *array.List:
		return v.lists(t, at, s, lo, hi)
	}
	return v.numbers(t, at, src, lo, hi), nil
}

// room is where the values of rows [lo, hi) go that are put at row at.
func room[T any](v *sink, at, lo, hi int) []T { return slice[T](v.data, at+hi-lo)[at:] }

// numbers copies integers and floats, integers of fewer bytes too.
func (v *sink) numbers(t *feedType, at int, src arrow.Array, lo, hi int) bool {
	switch t.id {
	case bindings.TypeSmallInt:
		return widen(room[int16](v, at, lo, hi), src, lo)
	case bindings.TypeInteger:
		return widen(room[int32](v, at, lo, hi), src, lo)
	case bindings.TypeBigInt:
		return widen(room[int64](v, at, lo, hi), src, lo)
	case bindings.TypeFloat:
		s, ok := src.(*array.Float32)
		if ok {
			copy(room[float32](v, at, lo, hi), s.Float32Values()[lo:hi])
		}
		return ok
	case bindings.TypeDouble:
		s, ok := src.(*array.Float64)
		if ok {
			copy(room[float64](v, at, lo, hi), s.Float64Values()[lo:hi])
		}
		return ok
	}
	return false
}

func widen[T int16 | int32 | int64](dst []T, src arrow.Array, lo int) bool {
	switch s := src.(type) {
	case *array.Int64:
		return same(dst, s.Int64Values()[lo:])
	case *array.Int32:
		return same(dst, s.Int32Values()[lo:]) || wider(dst, s.Int32Values()[lo:])
	case *array.Int16:
		return same(dst, s.Int16Values()[lo:]) || wider(dst, s.Int16Values()[lo:])
	case *array.Int8:
		return wider(dst, s.Int8Values()[lo:])
	case *array.Uint32:
		return wider(dst, s.Uint32Values()[lo:])
	case *array.Uint16:
		return wider(dst, s.Uint16Values()[lo:])
	case *array.Uint8:
		return wider(dst, s.Uint8Values()[lo:])
	}
	return false
}

func same[T, S any](dst []T, src []S) bool {
	values, ok := any(src).([]T)
	if ok {
		copy(dst, values)
	}
	return ok
}

func wider[T int16 | int32 | int64, S int8 | int16 | int32 | uint8 | uint16 | uint32](dst []T, src []S) bool {
	var t T
	var s S
	if unsafe.Sizeof(s) >= unsafe.Sizeof(t) {
		return false
	}
	for i := range dst {
		dst[i] = T(src[i])
	}
	return true
}

func (v *sink) bools(at int, src *array.Boolean, lo, hi int) error {
	dst := room[bool](v, at, lo, hi)
	for i := range dst {
		dst[i] = src.Value(lo + i)
	}
	return nil
}

// finite copies dates and timestamps. Arrow's least value stands for -infinity, which in DuckDB is the one above it.
func finite[T int32 | int64](dst, src []T, lowest T) {
	for i, value := range src {
		if value == lowest {
			value++
		}
		dst[i] = value
	}
}

func (v *sink) decimals(t *feedType, at int, src *array.Decimal128, lo, hi int) bool {
	from := src.DataType().(*arrow.Decimal128Type)
	if t.id != bindings.TypeDecimal || int(from.Scale) != t.scale || int(from.Precision) > t.precision {
		return false
	}
	values := typed[hugeint](bytesOf(src.Values()))[lo:hi]
	switch {
	case t.precision <= 4:
		narrow(room[int16](v, at, lo, hi), values)
	case t.precision <= 9:
		narrow(room[int32](v, at, lo, hi), values)
	case t.precision <= 18:
		narrow(room[int64](v, at, lo, hi), values)
	default:
		copy(room[hugeint](v, at, lo, hi), values)
	}
	return true
}

func narrow[T int16 | int32 | int64](dst []T, src []hugeint) {
	for i := range dst {
		dst[i] = T(src[i].lower)
	}
}

func (v *sink) intervals(at int, src *array.MonthDayNanoInterval, lo, hi int) {
	dst := room[arrow.MonthDayNanoInterval](v, at, lo, hi)
	copy(dst, src.MonthDayNanoIntervalValues()[lo:hi])
	for i := range dst {
		dst[i].Nanoseconds /= nanosPerMicro
	}
}

func (v *sink) uuids(at int, src *array.FixedSizeBinary, lo, hi int) error {
	for i := lo; i < hi; i++ {
		if src.IsValid(i) {
			if err := readUUID(nil, v.data, at+i-lo, src.Value(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// lists copies lists: their elements stand in a vector of their own.
func (v *sink) lists(t *feedType, at int, src *array.List, lo, hi int) (bool, error) {
	if t.element == nil {
		return false, nil
	}
	from, _ := src.ValueOffsets(lo)
	to := from
	if hi > lo {
		_, to = src.ValueOffsets(hi - 1)
	}
	first := int(bindings.ListVectorGetSize(v.handle))
	end := bindings.IdxT(first + int(to-from))
	if bindings.ListVectorReserve(v.handle, end) == bindings.StateError || bindings.ListVectorSetSize(v.handle, end) == bindings.StateError {
		return false, pgerr.New(pgerr.OutOfMemory, "could not make room for the elements of a list")
	}
	dst := room[listEntry](v, at, lo, hi)
	for i := range dst {
		a, b := src.ValueOffsets(lo + i)
		dst[i] = listEntry{offset: uint64(first + int(a-from)), length: uint64(b - a)}
	}
	elements := sinkOf(bindings.ListVectorGetChild(v.handle))
	return true, elements.put(t.element, first, src.ListValues(), int(from), int(to))
}
