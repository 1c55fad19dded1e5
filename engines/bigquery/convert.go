package bigquery

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// form is a column of a result: what it is at home, and how values become that; nil where they are.
type form struct {
	field   engines.Field
	typ     arrow.DataType // after that
	convert func(f engines.Field, a arrow.Array) (arrow.Array, error)
}

// formsOf looks at each column that comes and what home has for it, which may be unknown.
func formsOf(schema *arrow.Schema, wanted []engines.Field) ([]form, error) {
	forms := make([]form, schema.NumFields())
	if len(wanted) > 0 && len(wanted) != len(forms) {
		return nil, pgerr.New(pgerr.ProtocolViolation, "the service has %d columns of %d", len(forms), len(wanted))
	}
	for i, f := range schema.Fields() {
		of, err := natural(f)
		switch {
		case err != nil:
			return nil, err
		case len(wanted) == 0:
			forms[i] = form{field: of, typ: f.Type}
		default:
			if forms[i], err = formOf(wanted[i], of, f.Type); err != nil {
				return nil, err
			}
		}
	}
	return forms, nil
}

func fieldsOf(forms []form) []engines.Field {
	fields := make([]engines.Field, len(forms))
	for i := range forms {
		fields[i] = forms[i].field
	}
	return fields
}

// formOf says how values of a natural type become those of the one that home has.
func formOf(wanted, of engines.Field, t arrow.DataType) (form, error) {
	f := form{field: wanted, typ: t}
	switch {
	case wanted.OID == oidNumeric && of.OID == oidNumeric:
		if p, s, ok := digitsOf(wanted); ok && p <= 38 {
			f.typ, f.convert = &arrow.Decimal128Type{Precision: int32(p), Scale: int32(s)}, decimals
			if arrow.TypeEqual(f.typ, t) {
				f.convert = nil
			}
		}
		return f, nil
	case wanted.OID == of.OID:
		return f, nil
	case of.OID == oidInt8 && wanted.OID == oidInt2:
		f.typ, f.convert = arrow.PrimitiveTypes.Int16, narrowed[int16]
		return f, nil
	case of.OID == oidInt8 && wanted.OID == oidInt4:
		f.typ, f.convert = arrow.PrimitiveTypes.Int32, narrowed[int32]
		return f, nil
	case of.OID == oidFloat8 && wanted.OID == oidFloat4:
		f.typ, f.convert = arrow.PrimitiveTypes.Float32, singles
		return f, nil
	case of.OID == oidText && wanted.OID == oidUUID:
		f.typ, f.convert = &arrow.FixedSizeBinaryType{ByteWidth: 16}, uuids
		return f, nil
	case of.OID == oidText && (wanted.OID == oidVarchar || wanted.OID == oidBpchar):
		f.convert = limited
		return f, nil
	case of.OID == oidText && !bound[wanted.OID]: // which home reads
		return f, nil
	case integers[wanted.OID] && of.OID == arrays[oidInt8]: // whose elements are looked at where they are written
		return f, nil
	}
	return f, mismatch(wanted, t)
}

// bound are the types whose values do not come as text.
var bound = map[uint32]bool{
	oidBool: true, oidBytea: true, oidInt8: true, oidInt2: true, oidInt4: true, oidFloat4: true, oidFloat8: true, oidDate: true, oidTime: true,
	oidTimestamp: true, oidTimestampTZ: true, oidInterval: true, 1000: true, 1001: true, 1005: true, 1007: true, 1016: true, 1009: true,
	1021: true, 1022: true, 1182: true, 1183: true, 1115: true, 1185: true, 1231: true,
}

// integers are the arrays of integers that are narrower than the service's.
var integers = map[uint32]bool{1005: true, 1007: true}

func mismatch(wanted engines.Field, t arrow.DataType) *pgconn.PgError {
	return pgerr.Hint(pgerr.New(pgerr.FdwInvalidDataType, "column %q comes as %s, which its type at home does not take", wanted.Name, t),
		"Give the foreign table's column the type that IMPORT FOREIGN SCHEMA gives it, or text.")
}

// convert makes the columns of a record batch what they are at home.
func convert(record arrow.RecordBatch, forms []form) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, len(forms))
	fields := make([]arrow.Field, len(forms))
	for i, a := range record.Columns() {
		f := &forms[i]
		fields[i] = arrow.Field{Name: f.field.Name, Type: f.typ, Nullable: true}
		if columns[i] = a; f.convert == nil {
			continue
		}
		var err error
		if columns[i], err = f.convert(f.field, a); err != nil {
			return nil, err
		}
		defer columns[i].Release()
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, record.NumRows()), nil
}

// inColumn says in an error which column has the value.
func inColumn(f engines.Field, e *pgconn.PgError) error {
	e.Where = `column "` + f.Name + `" of a remote row`
	return e
}

// like makes an array of values with the NULLs of another.
func like(t arrow.DataType, a arrow.Array, values []byte) arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(values)}
	nulls := a.NullN()
	if nulls > 0 {
		valid := make([]byte, (a.Len()+7)/8)
		for i := range a.Len() {
			if a.IsValid(i) {
				valid[i/8] |= 1 << (i % 8)
			}
		}
		buffers[0] = memory.NewBufferBytes(valid)
	}
	data := array.NewData(t, a.Len(), buffers, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

func narrowed[T int16 | int32](f engines.Field, a arrow.Array) (arrow.Array, error) {
	values := a.(*array.Int64).Int64Values()
	out := make([]T, len(values))
	for i, v := range values {
		if out[i] = T(v); int64(out[i]) != v && a.IsValid(i) {
			return nil, inColumn(f, pgerr.New(pgerr.NumericOutOfRange, "%d is out of range for type %s", v, map[uint32]string{oidInt2: "smallint", oidInt4: "integer"}[f.OID]))
		}
	}
	if f.OID == oidInt2 {
		return like(arrow.PrimitiveTypes.Int16, a, arrow.GetBytes(out)), nil
	}
	return like(arrow.PrimitiveTypes.Int32, a, arrow.GetBytes(out)), nil
}

// singles refuses what real cannot hold, as Postgres' own cast does.
func singles(f engines.Field, a arrow.Array) (arrow.Array, error) {
	values := a.(*array.Float64).Float64Values()
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
		over := math.IsInf(float64(out[i]), 0) && !math.IsInf(v, 0)
		if (over || out[i] == 0 && v != 0) && a.IsValid(i) {
			return nil, inColumn(f, pgerr.New(pgerr.NumericOutOfRange, "%v is out of range for type real", v))
		}
	}
	return like(arrow.PrimitiveTypes.Float32, a, arrow.GetBytes(out)), nil
}

func uuids(f engines.Field, a arrow.Array) (arrow.Array, error) {
	texts := a.(*array.String)
	out := make([]byte, 16*texts.Len())
	for i := range texts.Len() {
		if texts.IsNull(i) {
			continue
		}
		var u pgtype.UUID
		if err := u.Scan(texts.Value(i)); err != nil {
			return nil, inColumn(f, pgerr.New(pgerr.InvalidTextRepr, "invalid input syntax for type uuid: %q", texts.Value(i)))
		}
		copy(out[16*i:], u.Bytes[:])
	}
	return like(&arrow.FixedSizeBinaryType{ByteWidth: 16}, a, out), nil
}

// limited refuses texts that are longer than the column allows. Blanks at the end are no part of char(n).
func limited(f engines.Field, a arrow.Array) (arrow.Array, error) {
	texts := a.(*array.String)
	most, name := int(f.Typmod)-4, "character varying"
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range texts.Len() {
		if texts.IsNull(i) {
			b.AppendNull()
			continue
		}
		text := texts.Value(i)
		if f.OID == oidBpchar {
			text, name = strings.TrimRight(text, " "), "character"
		}
		if most >= 0 && len(text) > most && utf8.RuneCountInString(text) > most {
			return nil, inColumn(f, pgerr.New("22001", "value too long for type %s(%d)", name, most))
		}
		b.Append(text)
	}
	return b.NewArray(), nil
}
