package fake

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluicedb/sluice/engines"
)

// shape is a column in the types that the service's rows come in.
type shape struct {
	typ  arrow.DataType
	make func(a arrow.Array) arrow.Array // nil where it is of that type
}

var (
	numericType = &arrow.Decimal128Type{Precision: 38, Scale: 9}
	bigType     = &arrow.Decimal256Type{Precision: 76, Scale: 38}
)

// byOID are the types of columns that no row says anything of.
var byOID = map[uint32]arrow.DataType{
	16: arrow.FixedWidthTypes.Boolean, 17: arrow.BinaryTypes.Binary, 20: arrow.PrimitiveTypes.Int64, 701: arrow.PrimitiveTypes.Float64, 25: arrow.BinaryTypes.String,
	1082: arrow.FixedWidthTypes.Date32, 1083: arrow.FixedWidthTypes.Time64us, 1114: &arrow.TimestampType{Unit: arrow.Microsecond},
	1184: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, 21: arrow.PrimitiveTypes.Int16, 23: arrow.PrimitiveTypes.Int32, 114: arrow.BinaryTypes.String,
}

func shapeOf(f engines.Field, t arrow.DataType) (shape, error) {
	if t == nil {
		t = byOID[f.OID]
		if p, s := int32(f.Typmod-4)>>16, int32(f.Typmod-4)&0x7ff; f.OID == 1700 && f.Typmod > 0 {
			t = &arrow.Decimal128Type{Precision: p, Scale: s}
		}
	}
	switch t := t.(type) {
	case *arrow.BooleanType, *arrow.Int64Type, *arrow.Float64Type, *arrow.StringType, *arrow.BinaryType, *arrow.Date32Type, *arrow.Time64Type, *arrow.TimestampType, *arrow.MonthDayNanoIntervalType:
		return shape{typ: t}, nil
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type:
		return shape{arrow.PrimitiveTypes.Int64, widened}, nil
	case *arrow.Float32Type:
		return shape{arrow.PrimitiveTypes.Float64, doubled}, nil
	case *arrow.Decimal128Type:
		if t.Scale > 9 || t.Precision-t.Scale > 29 {
			return shape{bigType, bigs}, nil
		}
		return shape{numericType, numerics}, nil
	case *arrow.ListType:
		element, err := shapeOf(f, t.Elem())
		if err != nil {
			return element, err
		}
		return shape{arrow.ListOf(element.typ), element.lists}, nil
	case *arrow.FixedSizeBinaryType:
		return shape{arrow.BinaryTypes.String, spelled}, nil
	case *arrow.StructType: // which is left as it is
		return shape{typ: t}, nil
	}
	return shape{}, unshaped(f, t)
}

// reshape makes a record batch of the service's types. Its memory is its own.
func reshape(schema *arrow.Schema, record arrow.RecordBatch, shapes []shape) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, len(shapes))
	for i, a := range record.Columns() {
		if s := shapes[i]; s.make != nil {
			columns[i] = s.make(a)
			continue
		}
		var err error
		if columns[i], err = array.Concatenate([]arrow.Array{a}, memory.DefaultAllocator); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(schema, columns, record.NumRows()), nil
}

// each builds an array value by value.
func each[B array.Builder](a arrow.Array, b B, put func(b B, i int)) arrow.Array {
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			put(b, i)
		}
	}
	return b.NewArray()
}

func widened(a arrow.Array) arrow.Array {
	return each(a, array.NewInt64Builder(memory.DefaultAllocator), func(b *array.Int64Builder, i int) {
		switch a := a.(type) {
		case *array.Int8:
			b.Append(int64(a.Value(i)))
		case *array.Int16:
			b.Append(int64(a.Value(i)))
		case *array.Int32:
			b.Append(int64(a.Value(i)))
		}
	})
}

func doubled(a arrow.Array) arrow.Array {
	return each(a, array.NewFloat64Builder(memory.DefaultAllocator), func(b *array.Float64Builder, i int) { b.Append(float64(a.(*array.Float32).Value(i))) })
}

func spelled(a arrow.Array) arrow.Array {
	return each(a, array.NewStringBuilder(memory.DefaultAllocator), func(b *array.StringBuilder, i int) { b.Append(a.ValueStr(i)) })
}

func numerics(a arrow.Array) arrow.Array {
	scale := a.DataType().(*arrow.Decimal128Type).Scale
	return each(a, array.NewDecimal128Builder(memory.DefaultAllocator, numericType), func(b *array.Decimal128Builder, i int) {
		b.Append(decimal128.Num(a.(*array.Decimal128).Value(i)).IncreaseScaleBy(numericType.Scale - scale))
	})
}

func bigs(a arrow.Array) arrow.Array {
	scale := a.DataType().(*arrow.Decimal128Type).Scale
	return each(a, array.NewDecimal256Builder(memory.DefaultAllocator, bigType), func(b *array.Decimal256Builder, i int) {
		b.Append(decimal256.FromDecimal128(a.(*array.Decimal128).Value(i)).IncreaseScaleBy(bigType.Scale - scale))
	})
}

func (s shape) lists(a arrow.Array) arrow.Array {
	list := a.(*array.List)
	values := list.ListValues()
	if s.make != nil {
		values = s.make(values)
	}
	data := list.Data()
	return array.NewListData(array.NewData(arrow.ListOf(s.typ), list.Len(), data.Buffers(), []arrow.ArrayData{values.Data()}, list.NullN(), data.Offset()))
}
