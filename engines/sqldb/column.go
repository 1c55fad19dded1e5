package sqldb

import (
	"database/sql/driver"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Type OIDs of pg_type.
const (
	oidBool        = 16
	oidBytea       = 17
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidText        = 25
	oidJSON        = 114
	oidFloat4      = 700
	oidFloat8      = 701
	oidBpchar      = 1042
	oidVarchar     = 1043
	oidDate        = 1082
	oidTime        = 1083
	oidTimestamp   = 1114
	oidTimestampTZ = 1184
	oidInterval    = 1186
	oidBit         = 1560
	oidVarbit      = 1562
	oidNumeric     = 1700
	oidUUID        = 2950
	oidJSONB       = 3802
)

// column collects the values of one column of a batch, as those of its type at home.
type column struct {
	field   engines.Field
	strict  bool
	builder array.Builder
	put     func(c *column, v driver.Value) error
	bits    int // of an integer
	rows    int // how many values the last batch had
	bytes   int // and of how many bytes, of texts
}

// form is how values of a type at home are held and read.
type form struct {
	typ arrow.DataType
	put func(c *column, v driver.Value) error
}

var forms = map[uint32]form{
	oidBool:        {arrow.FixedWidthTypes.Boolean, putBool},
	oidInt2:        {arrow.PrimitiveTypes.Int16, putInt},
	oidInt4:        {arrow.PrimitiveTypes.Int32, putInt},
	oidInt8:        {arrow.PrimitiveTypes.Int64, putInt},
	oidFloat4:      {arrow.PrimitiveTypes.Float32, putFloat},
	oidFloat8:      {arrow.PrimitiveTypes.Float64, putFloat},
	oidBytea:       {arrow.BinaryTypes.Binary, putBytes},
	oidDate:        {arrow.FixedWidthTypes.Date32, putDate},
	oidTime:        {arrow.FixedWidthTypes.Time64us, putTime},
	oidTimestamp:   {&arrow.TimestampType{Unit: arrow.Microsecond}, putTimestamp},
	oidTimestampTZ: {&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, putTimestamp},
	oidInterval:    {arrow.FixedWidthTypes.MonthDayNanoInterval, putInterval},
	oidUUID:        {&arrow.FixedSizeBinaryType{ByteWidth: 16}, putUUID},
	oidVarchar:     {arrow.BinaryTypes.String, putLimited},
	oidBpchar:      {arrow.BinaryTypes.String, putLimited},
	oidJSON:        {arrow.BinaryTypes.String, putJSON},
	oidJSONB:       {arrow.BinaryTypes.String, putJSON},
	oidBit:         {arrow.BinaryTypes.String, putBits},
	oidVarbit:      {arrow.BinaryTypes.String, putBits},
	oidNumeric:     {arrow.BinaryTypes.String, putNumericText},
}

// mostDigits is how many digits a decimal has that is not held as text.
const mostDigits = 38

// newColumn makes the column for values of a type at home; those of types that are not listed are texts, which home reads.
func newColumn(f engines.Field, strict bool) *column {
	k, ok := forms[f.OID]
	if !ok {
		k = form{arrow.BinaryTypes.String, putText}
	}
	if precision, scale, ok := digitsOf(f); ok && precision <= mostDigits {
		k = form{&arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}, putDecimal}
	}
	return &column{field: f, strict: strict, builder: array.NewBuilder(memory.DefaultAllocator, k.typ), put: k.put, bits: bits[f.OID]}
}

// digitsOf returns precision and scale of numeric(p,s), false for what has none, or a scale that decimals do not have.
func digitsOf(f engines.Field) (precision, scale int, ok bool) {
	if f.OID != oidNumeric || f.Typmod < 4 {
		return 0, 0, false
	}
	t := f.Typmod - 4
	precision, scale = int(t>>16)&0xffff, int(t&0x7ff)
	return precision, scale, scale <= precision
}

// append adds a value that is not NULL, or nothing where it returns an error, which names the column.
func (c *column) append(v driver.Value) error {
	if b, ok := v.([]byte); ok && b == nil {
		v = []byte{}
	}
	err := c.put(c, v)
	if err == nil {
		return nil
	}
	pe := pgerr.From(err)
	if pe.Where == "" {
		pe.Where = `column "` + c.field.Name + `" of a remote row`
	}
	return pe
}

// byteBuilder is a builder whose values have any length.
type byteBuilder interface {
	DataLen() int
	ReserveData(n int)
}

// begin makes room for as much as the last batch had: what grows step by step is copied each time.
func (c *column) begin() {
	c.builder.Reserve(c.rows)
	if b, ok := c.builder.(byteBuilder); ok {
		b.ReserveData(min(c.bytes, engines.BatchBytes)) // a larger one was of a single row
	}
}

// take returns the first n values, and begins anew.
func (c *column) take(n int) arrow.Array {
	c.rows = n
	if b, ok := c.builder.(byteBuilder); ok {
		c.bytes = b.DataLen()
	}
	a := c.builder.NewArray()
	if a.Len() > n {
		return array.NewSlice(a, 0, int64(n))
	}
	return a
}

// misfit says that a value is not one of the column's type.
func (c *column) misfit(v driver.Value) *pgconn.PgError {
	return pgerr.Hint(pgerr.New(pgerr.InvalidTextRepr, "%s is no value for column %q of type %s", describe(v), c.field.Name, c.typeName()),
		"Declare the column with the type that its values have at the foreign server.")
}

// typeName is the type at home, for messages.
func (c *column) typeName() string {
	if name := typeNames[c.field.OID]; name != "" {
		return name
	}
	return "text"
}

var typeNames = map[uint32]string{
	oidBool: "boolean", oidBytea: "bytea", oidInt8: "bigint", oidInt2: "smallint", oidInt4: "integer", oidText: "text", oidJSON: "json",
	oidFloat4: "real", oidFloat8: "double precision", oidBpchar: "character", oidVarchar: "character varying", oidDate: "date", oidTime: "time",
	oidTimestamp: "timestamp", oidTimestampTZ: "timestamp with time zone", oidInterval: "interval", oidBit: "bit", oidVarbit: "bit varying",
	oidNumeric: "numeric", oidUUID: "uuid", oidJSONB: "jsonb",
}
