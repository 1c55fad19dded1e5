package encode

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/engines"
)

// Type OIDs of Postgres that rows can be written as.
const (
	oidBool        = 16
	oidBytea       = 17
	oidName        = 19
	oidInt8        = 20
	oidInt2        = 21
	oidInt4        = 23
	oidText        = 25
	oidOID         = 26
	oidJSON        = 114
	oidFloat4      = 700
	oidFloat8      = 701
	oidUnknown     = 705
	oidBpchar      = 1042
	oidVarchar     = 1043
	oidDate        = 1082
	oidTime        = 1083
	oidTimestamp   = 1114
	oidTimestampTZ = 1184
	oidInterval    = 1186
	oidTimeTZ      = 1266
	oidBit         = 1560
	oidVarbit      = 1562
	oidNumeric     = 1700
	oidUUID        = 2950
	oidJSONB       = 3802
)

// elements maps the OID of an array type to that of its elements.
var elements = map[uint32]uint32{
	1000: oidBool, 1001: oidBytea, 1003: oidName, 1016: oidInt8, 1005: oidInt2, 1007: oidInt4, 1009: oidText,
	1028: oidOID, 199: oidJSON, 1021: oidFloat4, 1022: oidFloat8, 1014: oidBpchar, 1015: oidVarchar, 1182: oidDate,
	1183: oidTime, 1115: oidTimestamp, 1185: oidTimestampTZ, 1187: oidInterval, 1270: oidTimeTZ, 1561: oidBit,
	1563: oidVarbit, 1231: oidNumeric, 2951: oidUUID, 3807: oidJSONB,
}

// column is what a binder works from.
type column struct {
	field    engines.Field
	binary   bool
	settings *Settings
	array    arrow.Array
}

// targets holds a binder for each scalar type. A binder returns nil for an Arrow type that it has no conversion from.
// It is filled by init because arrays bind their elements through it.
var targets map[uint32]func(c column) cell

func init() {
	targets = map[uint32]func(c column) cell{
		oidBool:        bindBool,
		oidBytea:       bindBytea,
		oidName:        bindText,
		oidInt8:        bindInt,
		oidInt2:        bindInt,
		oidInt4:        bindInt,
		oidOID:         bindInt,
		oidText:        bindText,
		oidUnknown:     bindText,
		oidVarchar:     bindText,
		oidBpchar:      bindText,
		oidJSON:        bindJSON,
		oidJSONB:       bindJSONB,
		oidFloat4:      bindFloat,
		oidFloat8:      bindFloat,
		oidDate:        bindDate,
		oidTime:        bindTime,
		oidTimeTZ:      bindTimeTZ,
		oidTimestamp:   bindTimestamp,
		oidTimestampTZ: bindTimestamp,
		oidInterval:    bindInterval,
		oidBit:         bindBit,
		oidVarbit:      bindBit,
		oidNumeric:     bindNumeric,
		oidUUID:        bindUUID,
	}
}

func (e *Encoder) bindColumn(f engines.Field, format int16, a arrow.Array) (bound, error) {
	b := newBound(a)
	b.cell = bindCell(column{field: f, binary: format == Binary, settings: &e.settings, array: a})
	if b.cell == nil {
		return b, unsupported(f, a.DataType().String())
	}
	return b, nil
}

// newBound says which rows of a are NULL.
func newBound(a arrow.Array) bound {
	var b bound
	switch a := a.(type) {
	case *array.Null:
		b.never = true
		return b
	case *array.Dictionary:
		if a.Dictionary().NullN() > 0 {
			b.null = func(i int) bool { return a.IsNull(i) || a.Dictionary().IsNull(a.GetValueIndex(i)) }
			return b
		}
	}
	if a.NullN() > 0 {
		b.valid, b.offset = a.NullBitmapBytes(), a.Data().Offset()
	}
	return b
}

// bindCell finds the conversion for a column, nil for none.
func bindCell(c column) cell {
	switch a := c.array.(type) {
	case *array.Null:
		if bind := targets[c.field.OID]; bind == nil && elements[c.field.OID] == 0 {
			return nil
		}
		return func(dst []byte, _ int) ([]byte, error) { return dst, nil }
	case *array.Dictionary:
		c.array = a.Dictionary()
		inner := bindCell(c)
		if inner == nil {
			return nil
		}
		return func(dst []byte, i int) ([]byte, error) { return inner(dst, a.GetValueIndex(i)) }
	case array.ExtensionArray:
		c.array = a.Storage()
		return bindCell(c)
	}
	if _, ok := elements[c.field.OID]; ok {
		return bindList(c)
	}
	if bind := targets[c.field.OID]; bind != nil {
		return bind(c)
	}
	return nil
}
