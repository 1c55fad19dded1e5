package encode_test

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// connect opens a connection to a fresh database of a real Postgres.
func connect(t testing.TB) *pgconn.PgConn {
	t.Helper()
	home := hometest.Start(t)
	c, err := pgconn.Connect(t.Context(), home.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// arr makes an Arrow array of one type from Go values; nil is NULL.
func arr(t arrow.DataType, values ...any) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, t)
	for _, v := range values {
		add(b, v)
	}
	return b.NewArray()
}

func add(b array.Builder, v any) {
	if v == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.Int8Builder:
		b.Append(int8(v.(int)))
	case *array.Int16Builder:
		b.Append(int16(v.(int)))
	case *array.Int32Builder:
		b.Append(int32(v.(int)))
	case *array.Int64Builder:
		b.Append(int64(v.(int)))
	case *array.Uint8Builder:
		b.Append(uint8(v.(int)))
	case *array.Uint16Builder:
		b.Append(uint16(v.(int)))
	case *array.Uint32Builder:
		b.Append(uint32(v.(int)))
	case *array.Uint64Builder:
		b.Append(v.(uint64))
	case *array.Float32Builder:
		b.Append(float32(v.(float64)))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.BinaryBuilder:
		b.Append([]byte(v.(string)))
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte(v.(string)))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.(int)))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v.(int)))
	case *array.Time32Builder:
		b.Append(arrow.Time32(v.(int)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(int)))
	case *array.MonthDayNanoIntervalBuilder:
		b.Append(v.(arrow.MonthDayNanoInterval))
	case *array.Decimal32Builder:
		if err := b.AppendValueFromString(v.(string)); err != nil {
			panic(err)
		}
	case *array.Decimal64Builder:
		if err := b.AppendValueFromString(v.(string)); err != nil {
			panic(err)
		}
	case *array.Decimal128Builder:
		n := unscaled(v.(string)) // FromBigInt refuses the lowest value
		low := new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		b.Append(decimal128.New(new(big.Int).Rsh(n, 64).Int64(), low))
	case *array.Decimal256Builder:
		b.Append(decimal256.FromBigInt(unscaled(v.(string))))
	case *array.ListBuilder:
		b.Append(true)
		for _, e := range v.([]any) {
			add(b.ValueBuilder(), e)
		}
	default:
		panic(b.Type().String())
	}
}

// unscaled reads the digits of a decimal, the point left out.
func unscaled(s string) *big.Int {
	digits := ""
	for _, r := range s {
		if r != '.' {
			digits += string(r)
		}
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		panic(s)
	}
	return n
}

// wide makes a decimal of any 128 bits.
func wide(hi int64, lo uint64, scale int32) arrow.Array {
	b := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 38, Scale: scale})
	b.Append(decimal128.New(hi, lo))
	return b.NewArray()
}

func dec(precision, scale int32) arrow.DataType {
	return &arrow.Decimal128Type{Precision: precision, Scale: scale}
}

func interval(months, days int, micros int64) arrow.MonthDayNanoInterval {
	return arrow.MonthDayNanoInterval{Months: int32(months), Days: int32(days), Nanoseconds: micros * 1000}
}

var (
	plain    = &arrow.TimestampType{Unit: arrow.Microsecond}
	zoned    = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	seconds  = &arrow.TimestampType{Unit: arrow.Second}
	millis   = &arrow.TimestampType{Unit: arrow.Millisecond}
	nanos    = &arrow.TimestampType{Unit: arrow.Nanosecond}
	uuidType = &arrow.FixedSizeBinaryType{ByteWidth: 16}

	negZero = math.Copysign(0, -1)
	inf     = math.Inf(1)
	nan     = math.NaN()
)
