package snowflake

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// column brings the values of one column to its type at home.
type column struct {
	from  remoteColumn
	field engines.Field
	typ   arrow.DataType
	// convert returns an array of typ, which the caller frees. It may share memory with the one before, which is over then.
	convert func(arrow.Array) (arrow.Array, error)
	scratch []byte
}

// room returns memory for so many bytes, which had the values of an array before.
func (c *column) room(n int) []byte {
	if n > cap(c.scratch) {
		c.scratch = make([]byte, max(n, 2*cap(c.scratch), 512))
	}
	return c.scratch[:n]
}

var (
	timestamps   = &arrow.TimestampType{Unit: arrow.Microsecond}
	timestampsTZ = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	uuids        = &arrow.FixedSizeBinaryType{ByteWidth: 16}
)

// same are the types at home whose values come as they are, by the server's kinds.
var same = map[string]map[uint32]arrow.DataType{
	"boolean":   {oidBool: arrow.FixedWidthTypes.Boolean},
	"real":      {oidFloat8: arrow.PrimitiveTypes.Float64},
	"date":      {oidDate: arrow.FixedWidthTypes.Date32},
	"binary":    {oidBytea: arrow.BinaryTypes.Binary},
	"variant":   documents,
	"object":    documents,
	"array":     documents,
	"map":       documents,
	"geography": documents,
	"geometry":  documents,
	"text":      {oidText: arrow.BinaryTypes.String, oidJSON: arrow.BinaryTypes.String, oidJSONB: arrow.BinaryTypes.String},
}

var documents = map[uint32]arrow.DataType{oidJSON: arrow.BinaryTypes.String, oidJSONB: arrow.BinaryTypes.String, oidText: arrow.BinaryTypes.String}

// unread are types at home that no column of the server's is read as, not even a text.
var unread = map[uint32]bool{oidBool: true, oidBytea: true, oidInt8: true, oidInt2: true, oidInt4: true, oidFloat4: true, oidFloat8: true, oidDate: true,
	oidTime: true, oidTimestamp: true, oidTimestampTZ: true, oidInterval: true, oidTimeTZ: true, oidBit: true, oidVarbit: true, oidNumeric: true}

// newColumn says how values of a column are read as a type at home; HV004 where they are not.
func newColumn(from remoteColumn, f engines.Field) (*column, error) {
	c := &column{from: from, field: f, typ: same[from.kind][f.OID]}
	switch {
	case c.typ != nil:
		c.convert = c.keep
	case from.kind == "fixed":
		c.fixed()
	case from.kind == "real" && f.OID == oidFloat4:
		c.typ, c.convert = arrow.PrimitiveTypes.Float32, c.narrow
	case from.kind == "time" && f.OID == oidTime:
		c.typ, c.convert = arrow.FixedWidthTypes.Time64us, c.moments
	case from.kind == "timestamp_ntz" && f.OID == oidTimestamp:
		c.typ, c.convert = timestamps, c.moments
	case (from.kind == "timestamp_ltz" || from.kind == "timestamp_tz") && f.OID == oidTimestampTZ:
		c.typ, c.convert = timestampsTZ, c.moments
	case from.kind == "text" && f.OID == oidUUID:
		c.typ, c.convert = uuids, c.uuid
	case from.kind == "text" && (f.OID == oidVarchar || f.OID == oidBpchar):
		c.typ, c.convert = arrow.BinaryTypes.String, c.limited
	case from.kind == "text" && (!unread[f.OID] || f.OID == oidNumeric && f.Typmod == -1): // which home reads, or encoders
		c.typ, c.convert = arrow.BinaryTypes.String, c.keep
	}
	if c.convert == nil {
		return nil, pgerr.Hint(pgerr.New(pgerr.FdwInvalidDataType, "column %q is of type %s at Snowflake, which is not read as %s", from.name, from.describe(), c.typeName()),
			"Declare the foreign table's column as IMPORT FOREIGN SCHEMA does.")
	}
	return c, nil
}

func (c *column) typeName() string {
	if name := typeNames[c.field.OID]; name != "" {
		return name
	}
	return "the type it has"
}

// keep takes an array as it is.
func (c *column) keep(a arrow.Array) (arrow.Array, error) {
	if a.DataType().ID() != c.typ.ID() {
		return nil, c.unexpected(a)
	}
	a.Retain()
	return a, nil
}

// unexpected is for an array of another type than the server's description says.
func (c *column) unexpected(a arrow.Array) error {
	return malformed("column %q of type %s comes as %s", c.from.name, c.from.describe(), a.DataType())
}

func (c *column) outOfRange(text string) error {
	return pgerr.Hint(pgerr.New(pgerr.NumericOutOfRange, "%s is out of range for column %q of type %s", text, c.field.Name, c.typeName()),
		"Declare the column with the type that its values have at Snowflake.")
}

// built wraps values, one for each row, as an array that has NULL where a has.
func (c *column) built(a arrow.Array, values []byte) arrow.Array {
	if a.NullN() == 0 {
		return c.builtWhere(a.Len(), nil, values)
	}
	return c.builtWhere(a.Len(), a.IsNull, values)
}

// builtWhere is built with NULL in the rows that null says; nil for none.
func (c *column) builtWhere(rows int, null func(i int) bool, values []byte) arrow.Array {
	var valid *memory.Buffer
	nulls := 0
	if null != nil {
		bits := make([]byte, (rows+7)/8)
		for i := range rows {
			if null(i) {
				nulls++
			} else {
				bits[i/8] |= 1 << (i % 8)
			}
		}
		valid = memory.NewBufferBytes(bits)
	}
	data := array.NewData(c.typ, rows, []*memory.Buffer{valid, memory.NewBufferBytes(values)}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// narrow reads doubles as reals, if they are such.
func (c *column) narrow(a arrow.Array) (arrow.Array, error) {
	source, ok := a.(*array.Float64)
	if !ok {
		return nil, c.unexpected(a)
	}
	out := arrow.Float32Traits.CastFromBytes(c.room(4 * a.Len()))
	for i, v := range source.Float64Values() {
		if out[i] = float32(v); float64(out[i]) != v && v == v && a.IsValid(i) {
			return nil, c.outOfRange(a.ValueStr(i))
		}
	}
	return c.built(a, arrow.Float32Traits.CastToBytes(out)), nil
}
