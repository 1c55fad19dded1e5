package clickhouse

import (
	"encoding/binary"
	"math/big"
	"net/netip"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// OIDs of pg_type, those of arrays behind them.
const (
	oidBool, oidBools             = 16, 1000
	oidBytea, oidByteas           = 17, 1001
	oidInt8, oidInt8s             = 20, 1016
	oidInt2, oidInt2s             = 21, 1005
	oidInt4, oidInt4s             = 23, 1007
	oidText, oidTexts             = 25, 1009
	oidFloat4, oidFloat4s         = 700, 1021
	oidFloat8, oidFloat8s         = 701, 1022
	oidDate, oidDates             = 1082, 1182
	oidTimestampTZ, oidTimestamps = 1184, 1185
	oidInterval, oidIntervals     = 1186, 1187
	oidNumeric, oidNumerics       = 1700, 1231
	oidUUID, oidUUIDs             = 2950, 2951
	oidJSONB, oidJSONBs           = 3802, 3807
)

// scalar says how values of a fixed size become Postgres' values.
type scalar struct {
	oid, array uint32
	typmod     int32
	name       string // the type as Postgres spells it
	width      int    // bytes of a value as it comes
	typ        arrow.DataType
	// convert writes n values into dst, which has room for them; nil where they are the same in both.
	convert func(dst, src []byte, n int)
	// text appends a value's text, where the Arrow type is that of strings.
	text func(dst, v []byte) []byte
}

var instant = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}

// scalars are the types that need nothing but their name. Postgres has no integer of one byte and no unsigned ones: the next
// wider type stands for them.
var scalars = map[string]scalar{
	"Bool":     {oidBool, oidBools, -1, "boolean", 1, arrow.FixedWidthTypes.Boolean, packBools, nil},
	"Int8":     {oidInt2, oidInt2s, -1, "smallint", 1, arrow.PrimitiveTypes.Int8, nil, nil},
	"UInt8":    {oidInt2, oidInt2s, -1, "smallint", 1, arrow.PrimitiveTypes.Uint8, nil, nil},
	"Int16":    {oidInt2, oidInt2s, -1, "smallint", 2, arrow.PrimitiveTypes.Int16, nil, nil},
	"UInt16":   {oidInt4, oidInt4s, -1, "integer", 2, arrow.PrimitiveTypes.Uint16, nil, nil},
	"Int32":    {oidInt4, oidInt4s, -1, "integer", 4, arrow.PrimitiveTypes.Int32, nil, nil},
	"UInt32":   {oidInt8, oidInt8s, -1, "bigint", 4, arrow.PrimitiveTypes.Uint32, nil, nil},
	"Int64":    {oidInt8, oidInt8s, -1, "bigint", 8, arrow.PrimitiveTypes.Int64, nil, nil},
	"UInt64":   {oidNumeric, oidNumerics, typmod(20, 0), "numeric(20,0)", 8, &arrow.Decimal128Type{Precision: 20}, widenUnsigned, nil},
	"Int128":   {oidNumeric, oidNumerics, typmod(39, 0), "numeric(39,0)", 16, arrow.BinaryTypes.String, nil, appendInteger(true, 0)},
	"UInt128":  {oidNumeric, oidNumerics, typmod(39, 0), "numeric(39,0)", 16, arrow.BinaryTypes.String, nil, appendInteger(false, 0)},
	"Int256":   {oidNumeric, oidNumerics, typmod(77, 0), "numeric(77,0)", 32, arrow.BinaryTypes.String, nil, appendInteger(true, 0)},
	"UInt256":  {oidNumeric, oidNumerics, typmod(78, 0), "numeric(78,0)", 32, arrow.BinaryTypes.String, nil, appendInteger(false, 0)},
	"Float32":  {oidFloat4, oidFloat4s, -1, "real", 4, arrow.PrimitiveTypes.Float32, nil, nil},
	"Float64":  {oidFloat8, oidFloat8s, -1, "double precision", 8, arrow.PrimitiveTypes.Float64, nil, nil},
	"Date":     {oidDate, oidDates, -1, "date", 2, arrow.FixedWidthTypes.Date32, widenDays, nil},
	"Date32":   {oidDate, oidDates, -1, "date", 4, arrow.FixedWidthTypes.Date32, nil, nil},
	"DateTime": {oidTimestampTZ, oidTimestamps, -1, "timestamp with time zone", 4, instant, widenSeconds, nil},
	"Time":     {oidInterval, oidIntervals, -1, "interval", 4, arrow.FixedWidthTypes.MonthDayNanoInterval, spanOfSeconds, nil},
	"BFloat16": {oidFloat4, oidFloat4s, -1, "real", 2, arrow.PrimitiveTypes.Float32, widenFloats, nil},
	"UUID":     {oidUUID, oidUUIDs, -1, "uuid", 16, &arrow.FixedSizeBinaryType{ByteWidth: 16}, swapHalves, nil},
	"IPv4":     {oidText, oidTexts, -1, "inet", 4, arrow.BinaryTypes.String, nil, appendIPv4},
	"IPv6":     {oidText, oidTexts, -1, "inet", 16, arrow.BinaryTypes.String, nil, appendIPv6},
	"Nothing":  {oidText, oidTexts, -1, "text", 1, arrow.BinaryTypes.String, nil, func(dst, _ []byte) []byte { return dst }},
}

// scalarOf returns the scalar of a type without its wrappings.
func scalarOf(t typeName) (scalar, bool) {
	switch t.name {
	case "DateTime":
		return scalars[t.name], true
	case "DateTime64":
		return fineTime(t.number(0))
	case "Time64":
		return fineSpan(t.number(0))
	case "Enum8", "Enum16":
		return enum(t)
	}
	if p, s, ok := t.decimal(); ok {
		return decimal(p, s), true
	}
	s, ok := scalars[t.text]
	return s, ok
}

func typmod(precision, scale int) int32 { return int32(precision<<16|scale) + 4 }

// decimal holds up to 38 digits as Arrow's decimal, and more as text.
func decimal(precision, scale int) scalar {
	s := scalar{
		oid: oidNumeric, array: oidNumerics, typmod: typmod(precision, scale), width: 16,
		name: "numeric(" + itoa(precision) + "," + itoa(scale) + ")", typ: &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)},
	}
	switch {
	case precision <= 9:
		s.width, s.convert = 4, widenSigned32
	case precision <= 18:
		s.width, s.convert = 8, widenSigned64
	case precision > 38:
		s.width, s.typ, s.text = 32, arrow.BinaryTypes.String, appendInteger(true, scale)
	}
	return s
}

// fineTime is DateTime64 with so many digits behind the second, of which Postgres has six.
func fineTime(digits int) (scalar, bool) {
	if digits < 0 || digits > 9 {
		return scalar{}, false
	}
	s := scalars["DateTime"]
	s.width = 8
	times, by := power(6-digits), power(digits-6)
	s.convert = func(dst, src []byte, n int) {
		for i := range n {
			v := int64(binary.LittleEndian.Uint64(src[8*i:]))
			binary.LittleEndian.PutUint64(dst[8*i:], uint64(v*times/by))
		}
	}
	return s, true
}

// fineSpan is Time64 with so many digits behind the second.
func fineSpan(digits int) (scalar, bool) {
	if digits < 0 || digits > 9 {
		return scalar{}, false
	}
	s, times := scalars["Time"], power(9-digits)
	s.width = 8
	s.convert = func(dst, src []byte, n int) {
		for i := range n {
			putSpan(dst[16*i:], int64(binary.LittleEndian.Uint64(src[8*i:]))*times)
		}
	}
	return s, true
}

func spanOfSeconds(dst, src []byte, n int) {
	for i := range n {
		putSpan(dst[16*i:], int64(int32(binary.LittleEndian.Uint32(src[4*i:])))*int64(time.Second))
	}
}

// putSpan writes an interval that is nothing but nanoseconds.
func putSpan(dst []byte, nanoseconds int64) {
	clear(dst[:8])
	binary.LittleEndian.PutUint64(dst[8:], uint64(nanoseconds))
}

// widenFloats reads floats that are the upper halves of wider ones.
func widenFloats(dst, src []byte, n int) {
	for i := range n {
		clear(dst[4*i : 4*i+2])
		copy(dst[4*i+2:4*i+4], src[2*i:])
	}
}

func power(n int) int64 {
	p := int64(1)
	for range n {
		p *= 10
	}
	return p
}

// enum is read as its labels.
func enum(t typeName) (scalar, bool) {
	labels := t.labels()
	if labels == nil {
		return scalar{}, false
	}
	s := scalar{oid: oidText, array: oidTexts, typmod: -1, name: "text", typ: arrow.BinaryTypes.String, width: 1}
	s.text = func(dst, v []byte) []byte { return append(dst, labels[int16(int8(v[0]))]...) }
	if t.name == "Enum16" {
		s.width = 2
		s.text = func(dst, v []byte) []byte { return append(dst, labels[int16(binary.LittleEndian.Uint16(v))]...) }
	}
	return s, true
}

func packBools(dst, src []byte, n int) {
	clear(dst[:(n+7)/8])
	for i := range n {
		if src[i] != 0 {
			dst[i/8] |= 1 << (i % 8)
		}
	}
}

func widenUnsigned(dst, src []byte, n int) {
	for i := range n {
		copy(dst[16*i:], src[8*i:8*i+8])
		clear(dst[16*i+8 : 16*i+16])
	}
}

func putWide(dst []byte, v int64) {
	binary.LittleEndian.PutUint64(dst, uint64(v))
	binary.LittleEndian.PutUint64(dst[8:], uint64(v>>63))
}

func widenSigned32(dst, src []byte, n int) {
	for i := range n {
		putWide(dst[16*i:], int64(int32(binary.LittleEndian.Uint32(src[4*i:]))))
	}
}

func widenSigned64(dst, src []byte, n int) {
	for i := range n {
		putWide(dst[16*i:], int64(binary.LittleEndian.Uint64(src[8*i:])))
	}
}

func widenDays(dst, src []byte, n int) {
	for i := range n {
		binary.LittleEndian.PutUint32(dst[4*i:], uint32(binary.LittleEndian.Uint16(src[2*i:])))
	}
}

func widenSeconds(dst, src []byte, n int) {
	for i := range n {
		binary.LittleEndian.PutUint64(dst[8*i:], uint64(binary.LittleEndian.Uint32(src[4*i:]))*1_000_000)
	}
}

// swapHalves reads a UUID, which comes as two little-endian numbers.
func swapHalves(dst, src []byte, n int) {
	for i := range 2 * n {
		v := binary.LittleEndian.Uint64(src[8*i:])
		binary.BigEndian.PutUint64(dst[8*i:], v)
	}
}

// appendInteger writes little-endian integers of any size, with so many digits behind the point.
func appendInteger(signed bool, scale int) func(dst, v []byte) []byte {
	return func(dst, v []byte) []byte {
		b := slices.Clone(v)
		slices.Reverse(b)
		n := new(big.Int).SetBytes(b)
		if signed && b[0]&0x80 != 0 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		if scale == 0 {
			return n.Append(dst, 10)
		}
		if n.Sign() < 0 {
			dst = append(dst, '-')
			n.Neg(n)
		}
		digits := n.Append(nil, 10)
		for range scale + 1 - len(digits) {
			digits = slices.Insert(digits, 0, '0')
		}
		point := len(digits) - scale
		dst = append(append(dst, digits[:point]...), '.')
		return append(dst, digits[point:]...)
	}
}

// appendIPv4 reads a number.
func appendIPv4(dst, v []byte) []byte {
	return netip.AddrFrom4([4]byte{v[3], v[2], v[1], v[0]}).AppendTo(dst)
}

// appendIPv6 reads bytes in the order of the net. What is an address of the older kind in disguise stays one, as Postgres
// writes it.
func appendIPv6(dst, v []byte) []byte {
	return netip.AddrFrom16([16]byte(v)).AppendTo(dst)
}

func unmapped(name, typ string) *pgconn.PgError {
	return pgerr.Hint(pgerr.New(pgerr.FdwInvalidDataType, "type %s of column %q has no counterpart in Postgres", typ, name),
		"Leave the column out of the foreign table, or declare it as text, so that ClickHouse spells its values.")
}
