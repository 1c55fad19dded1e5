package duckdb

import (
	"strings"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// scalar says how values of one DuckDB type come out.
type scalar struct {
	oid, array uint32
	typ        arrow.DataType
	width      int
	build      func(c *column, lo, hi int) (arrow.ArrayData, error)
	weigh      func(c *column, i int) int
}

var utc = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}

// scalars holds the types that need nothing but their id. Postgres has no integer of one byte and no unsigned ones:
// the next wider type stands for them.
var scalars = map[bindings.Type]scalar{
	bindings.TypeBoolean:     {16, 1000, arrow.FixedWidthTypes.Boolean, 1, buildBool, nil},
	bindings.TypeTinyInt:     {21, 1005, arrow.PrimitiveTypes.Int8, 1, buildSame, nil},
	bindings.TypeUTinyInt:    {21, 1005, arrow.PrimitiveTypes.Uint8, 1, buildSame, nil},
	bindings.TypeSmallInt:    {21, 1005, arrow.PrimitiveTypes.Int16, 2, buildSame, nil},
	bindings.TypeUSmallInt:   {23, 1007, arrow.PrimitiveTypes.Uint16, 2, buildSame, nil},
	bindings.TypeInteger:     {23, 1007, arrow.PrimitiveTypes.Int32, 4, buildSame, nil},
	bindings.TypeUInteger:    {20, 1016, arrow.PrimitiveTypes.Uint32, 4, buildSame, nil},
	bindings.TypeBigInt:      {20, 1016, arrow.PrimitiveTypes.Int64, 8, buildSame, nil},
	bindings.TypeUBigInt:     {1700, 1231, arrow.PrimitiveTypes.Uint64, 8, buildSame, nil},
	bindings.TypeHugeInt:     {1700, 1231, &arrow.Decimal128Type{Precision: 38}, 16, buildSame, nil},
	bindings.TypeUHugeInt:    {1700, 1231, &arrow.Decimal256Type{Precision: 39}, 32, buildUhugeint, nil},
	bindings.TypeFloat:       {700, 1021, arrow.PrimitiveTypes.Float32, 4, buildSame, nil},
	bindings.TypeDouble:      {701, 1022, arrow.PrimitiveTypes.Float64, 8, buildSame, nil},
	bindings.TypeDate:        {1082, 1182, arrow.FixedWidthTypes.Date32, 4, buildDate, nil},
	bindings.TypeTime:        {1083, 1183, arrow.FixedWidthTypes.Time64us, 8, buildSame, nil},
	bindings.TypeTimeNS:      {1083, 1183, arrow.FixedWidthTypes.Time64ns, 8, buildSame, nil},
	bindings.TypeTimeTZ:      {1266, 1270, arrow.BinaryTypes.String, 24, buildTimeTZ, nil},
	bindings.TypeTimestamp:   {1114, 1115, &arrow.TimestampType{Unit: arrow.Microsecond}, 8, buildTimestamp, nil},
	bindings.TypeTimestampS:  {1114, 1115, &arrow.TimestampType{Unit: arrow.Second}, 8, buildTimestamp, nil},
	bindings.TypeTimestampMS: {1114, 1115, &arrow.TimestampType{Unit: arrow.Millisecond}, 8, buildTimestamp, nil},
	bindings.TypeTimestampNS: {1114, 1115, &arrow.TimestampType{Unit: arrow.Nanosecond}, 8, buildTimestamp, nil},
	bindings.TypeTimestampTZ: {1184, 1185, utc, 8, buildTimestamp, nil},
	bindings.TypeInterval:    {1186, 1187, arrow.FixedWidthTypes.MonthDayNanoInterval, 16, buildInterval, nil},
	bindings.TypeUUID:        {2950, 2951, &arrow.FixedSizeBinaryType{ByteWidth: 16}, 16, buildUUID, nil},
	bindings.TypeVarchar:     {25, 1009, arrow.BinaryTypes.String, 4, buildText, weighText},
	bindings.TypeBlob:        {17, 1001, arrow.BinaryTypes.Binary, 4, buildText, weighText},
	bindings.TypeBit:         {1562, 1563, arrow.BinaryTypes.String, 4, buildBit, weighBit},
}

const (
	oidJSON, oidJSONArray       = 114, 199
	oidText, oidTextArray       = 25, 1009
	oidNumeric, oidNumericArray = 1700, 1231
)

// newColumn makes the column for a result column of type t; HV004 where t has no counterpart in Postgres.
func newColumn(name string, t bindings.LogicalType) (*column, error) {
	c, _, err := columnOf(name, t)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// columnOf also returns the OID of the Postgres array that has elements of the column's type.
func columnOf(name string, t bindings.LogicalType) (*column, uint32, error) {
	id := bindings.GetTypeId(t)
	switch id {
	case bindings.TypeDecimal:
		return decimalColumn(name, t)
	case bindings.TypeEnum:
		return enumColumn(name, t)
	case bindings.TypeList, bindings.TypeArray:
		return listColumn(name, t, id == bindings.TypeArray)
	case bindings.TypeSQLNull:
		c := &column{field: engines.Field{Name: name, OID: oidText, Typmod: -1}, typ: arrow.Null, width: 1, build: buildNull}
		return c, oidTextArray, nil
	}
	s, ok := scalars[id]
	if !ok {
		return nil, 0, unmapped(name, typeName(t))
	}
	if id == bindings.TypeVarchar && bindings.LogicalTypeGetAlias(t) == "JSON" {
		s.oid, s.array = oidJSON, oidJSONArray
	}
	field := engines.Field{Name: name, OID: s.oid, Typmod: -1}
	return &column{field: field, typ: s.typ, width: s.width, build: s.build, weigh: s.weigh}, s.array, nil
}

func unmapped(name, typ string) error {
	return pgerr.Hint(pgerr.New(pgerr.FdwInvalidDataType, "type %s of column %q has no counterpart in Postgres", typ, name),
		"Declare the foreign table's column as json or text, so that DuckDB casts it.")
}

func buildNull(c *column, lo, hi int) (arrow.ArrayData, error) { return nullData(hi - lo), nil }

func decimalColumn(name string, t bindings.LogicalType) (*column, uint32, error) {
	width, scale := int32(bindings.DecimalWidth(t)), int32(bindings.DecimalScale(t))
	c := &column{
		field: engines.Field{Name: name, OID: oidNumeric, Typmod: (width<<16 | scale) + 4},
		typ:   &arrow.Decimal128Type{Precision: width, Scale: scale}, width: 16,
	}
	switch bindings.DecimalInternalType(t) {
	case bindings.TypeSmallInt:
		c.build = buildDecimal[int16]
	case bindings.TypeInteger:
		c.build = buildDecimal[int32]
	case bindings.TypeBigInt:
		c.build = buildDecimal[int64]
	default:
		c.build = buildSame
	}
	return c, oidNumericArray, nil
}

func enumColumn(name string, t bindings.LogicalType) (*column, uint32, error) {
	c := &column{
		field: engines.Field{Name: name, OID: oidText, Typmod: -1},
		typ:   arrow.BinaryTypes.String,
	}
	for i := range bindings.EnumDictionarySize(t) {
		label := bindings.EnumDictionaryValue(t, bindings.IdxT(i))
		c.labels = append(c.labels, label)
		c.width = max(c.width, len(label)+4)
	}
	switch bindings.EnumInternalType(t) {
	case bindings.TypeUTinyInt:
		c.build = buildEnum[uint8]
	case bindings.TypeUSmallInt:
		c.build = buildEnum[uint16]
	default:
		c.build = buildEnum[uint32]
	}
	return c, oidTextArray, nil
}

func listColumn(name string, t bindings.LogicalType, fixed bool) (*column, uint32, error) {
	c := &column{width: 4, build: buildList, weigh: weighList}
	var element bindings.LogicalType
	if fixed {
		element = bindings.ArrayTypeChildType(t)
		c.size = int(bindings.ArrayTypeArraySize(t))
	} else {
		element = bindings.ListTypeChildType(t)
	}
	defer bindings.DestroyLogicalType(&element)
	child, oid, err := columnOf(name, element)
	if err != nil {
		return nil, 0, unmapped(name, typeName(t))
	}
	c.child, c.typ = child, arrow.ListOf(child.typ)
	c.field = engines.Field{Name: name, OID: oid, Typmod: child.field.Typmod}
	return c, oid, nil // an array of arrays has the same type in Postgres
}

// typeNames spells the types that have children or no counterpart; all others have their own spelling in messages
// from DuckDB itself.
var typeNames = map[bindings.Type]string{
	bindings.TypeStruct: "STRUCT", bindings.TypeMap: "MAP", bindings.TypeUnion: "UNION", bindings.TypeBigNum: "BIGNUM",
	bindings.TypeGeometry: "GEOMETRY", bindings.TypeVariant: "VARIANT",
}

func typeName(t bindings.LogicalType) string {
	id := bindings.GetTypeId(t)
	if alias := bindings.LogicalTypeGetAlias(t); alias != "" {
		return strings.ToUpper(alias)
	}
	switch id {
	case bindings.TypeList:
		element := bindings.ListTypeChildType(t)
		defer bindings.DestroyLogicalType(&element)
		return typeName(element) + "[]"
	case bindings.TypeArray:
		element := bindings.ArrayTypeChildType(t)
		defer bindings.DestroyLogicalType(&element)
		return typeName(element) + "[]"
	}
	if n, ok := typeNames[id]; ok {
		return n
	}
	return "unknown"
}
