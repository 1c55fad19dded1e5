package encode_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/proxy/encode"
)

// value is one Arrow value and the SQL expression for the same at Postgres.
type value struct {
	sql    string
	arrow  arrow.Array
	target string // a type that the column has at home, for its OID and typmod; empty for the expression's own
}

func values() []value {
	return []value{
		{"true", arr(arrow.FixedWidthTypes.Boolean, true), ""},
		{"false", arr(arrow.FixedWidthTypes.Boolean, false), ""},
		{"null::bool", arr(arrow.FixedWidthTypes.Boolean, nil), ""},
		{"(-32768)::int2", arr(arrow.PrimitiveTypes.Int16, -32768), ""},
		{"(-5)::int2", arr(arrow.PrimitiveTypes.Int8, -5), ""},
		{"255::int2", arr(arrow.PrimitiveTypes.Uint8, 255), ""},
		{"(-2147483648)::int4", arr(arrow.PrimitiveTypes.Int32, math.MinInt32), ""},
		{"65535::int4", arr(arrow.PrimitiveTypes.Uint16, 65535), ""},
		{"7::int4", arr(arrow.PrimitiveTypes.Int64, 7), ""},
		{"'-9223372036854775808'::int8", arr(arrow.PrimitiveTypes.Int64, math.MinInt64), ""},
		{"4294967295::int8", arr(arrow.PrimitiveTypes.Uint32, math.MaxUint32), ""},
		{"9223372036854775807::int8", arr(arrow.PrimitiveTypes.Uint64, uint64(math.MaxInt64)), ""},
		{"'-9223372036854775808'::int8", arr(dec(38, 0), "-9223372036854775808"), ""},
		{"4294967295::oid", arr(arrow.PrimitiveTypes.Uint32, math.MaxUint32), ""},

		{"18446744073709551615::numeric", arr(arrow.PrimitiveTypes.Uint64, uint64(math.MaxUint64)), ""},
		{"10000::numeric", arr(dec(10, 0), "10000"), ""},
		{"100000000.000::numeric", arr(dec(20, 3), "100000000.000"), ""},
		{"1.23000::numeric", arr(dec(20, 5), "1.23000"), ""},
		{"-0.05678::numeric", arr(dec(20, 5), "-0.05678"), ""},
		{"0::numeric(10,2)", arr(dec(10, 2), "0.00"), ""},
		{"0.01::numeric(10,2)", arr(dec(10, 2), "0.01"), ""},
		{"0.1::numeric(10,2)", arr(dec(10, 1), "0.1"), ""},
		{"0.00005678::numeric", arr(dec(20, 8), "0.00005678"), ""},
		{"10000.0001::numeric", arr(dec(20, 4), "10000.0001"), ""},
		{"1.005::numeric(10,2)", arr(dec(10, 3), "1.005"), "numeric(10,2)"},
		{"-1.005::numeric(10,2)", arr(dec(10, 3), "-1.005"), "numeric(10,2)"},
		{"9.999::numeric(10,2)", arr(dec(10, 3), "9.999"), "numeric(10,2)"},
		{"-0.004::numeric(10,2)", arr(dec(10, 3), "-0.004"), "numeric(10,2)"},
		{"1250::numeric(5,-2)", arr(dec(10, 0), "1250"), "numeric(5,-2)"},
		{"49::numeric(5,-2)", arr(dec(10, 0), "49"), "numeric(5,-2)"},
		{"7::numeric(10,2)", arr(arrow.PrimitiveTypes.Int32, 7), "numeric(10,2)"},
		{"-170141183460469231731687303715884105728::numeric", arr(dec(38, 0), "-170141183460469231731687303715884105728"), ""},
		{"99999999999999999999999999999999999.999::numeric(38,3)", arr(dec(38, 3), "99999999999999999999999999999999999.999"), ""},
		{"340282366920938463463374607431768211455::numeric", arr(&arrow.Decimal256Type{Precision: 39}, "340282366920938463463374607431768211455"), ""},
		{"-1" + strings.Repeat("0", 70) + ".12345::numeric", arr(&arrow.Decimal256Type{Precision: 76, Scale: 5}, "-1"+strings.Repeat("0", 70)+".12345"), ""},
		{"6::numeric", arr(arrow.BinaryTypes.String, "6"), ""},
		{"-0.0010::numeric", arr(arrow.BinaryTypes.String, "-0.0010"), ""},
		{"1e20::numeric", arr(arrow.BinaryTypes.String, "1e+20"), ""},
		{"1.5e-7::numeric", arr(arrow.BinaryTypes.String, "1.5e-07"), ""},
		{"0.000::numeric", arr(arrow.BinaryTypes.String, "-0.000"), ""},
		{"'NaN'::numeric", arr(arrow.BinaryTypes.String, "nan"), ""},
		{"'Infinity'::numeric", arr(arrow.BinaryTypes.String, "inf"), ""},
		{"'-Infinity'::numeric", arr(arrow.BinaryTypes.String, "-Infinity"), ""},
		{"1.005::numeric(10,2)", arr(arrow.BinaryTypes.String, "1.005"), "numeric(10,2)"},
		{"'NaN'::numeric(10,2)", arr(arrow.BinaryTypes.String, "NaN"), "numeric(10,2)"},
		{"array[1.50, 2]::numeric[]", arr(arrow.ListOf(arrow.BinaryTypes.String), []any{"1.50", "2"}), ""},
		{"1" + strings.Repeat("0", 200) + ".5::numeric", arr(arrow.BinaryTypes.String, "1"+strings.Repeat("0", 200)+".5"), ""},
		{"123.45::numeric(9,2)", arr(&arrow.Decimal32Type{Precision: 9, Scale: 2}, "123.45"), ""},
		{"-123.45::numeric(18,2)", arr(&arrow.Decimal64Type{Precision: 18, Scale: 2}, "-123.45"), ""},

		{"'a'::text", arr(arrow.BinaryTypes.String, "a"), ""},
		{"''::text", arr(arrow.BinaryTypes.String, ""), ""},
		{"null::text", arr(arrow.BinaryTypes.String, nil), ""},
		{"'日本 é'::text", arr(arrow.BinaryTypes.String, "日本 é"), ""},
		{"'日本'::varchar(2)", arr(arrow.BinaryTypes.String, "日本"), "varchar(2)"},
		{"'abc   '::varchar(4)", arr(arrow.BinaryTypes.String, "abc   "), "varchar(4)"},
		{"'abc'::char(5)", arr(arrow.BinaryTypes.String, "abc"), "char(5)"},
		{"'日本 '::char(5)", arr(arrow.BinaryTypes.String, "日本"), "char(5)"},
		{"'abc'::name", arr(arrow.BinaryTypes.String, "abc"), ""},
		{`'{"a":1,"a":2, "b" : [1, 2]}'::json`, arr(arrow.BinaryTypes.String, `{"a":1,"a":2, "b" : [1, 2]}`), ""},
		{`'\xDEADbeef00'::bytea`, arr(arrow.BinaryTypes.Binary, "\xde\xad\xbe\xef\x00"), ""},
		{`'\x'::bytea`, arr(arrow.BinaryTypes.Binary, ""), ""},
		{`'a\\b~'::bytea`, arr(arrow.BinaryTypes.Binary, `a\b~`), ""},
		{"'00112233-4455-6677-8899-aabbccddeeff'::uuid", arr(uuidType, "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff"), ""},
		{"B'0101100101'::bit varying", arr(arrow.BinaryTypes.String, "0101100101"), ""},
		{"''::bit varying", arr(arrow.BinaryTypes.String, ""), ""},
		{"B'01011001'::bit(8)", arr(arrow.BinaryTypes.String, "01011001"), "bit(8)"},

		{"date '1970-01-01'", arr(arrow.FixedWidthTypes.Date32, 0), ""},
		{"date '2024-02-29'", arr(arrow.FixedWidthTypes.Date32, 19782), ""},
		{"date '0001-01-01'", arr(arrow.FixedWidthTypes.Date32, -719162), ""},
		{"date '0001-12-31 BC'", arr(arrow.FixedWidthTypes.Date32, -719163), ""},
		{"date '0001-02-29 BC'", arr(arrow.FixedWidthTypes.Date32, -719469), ""},
		{"date '4714-11-24 BC'", arr(arrow.FixedWidthTypes.Date32, -2440588), ""},
		{"date '5874897-12-31'", arr(arrow.FixedWidthTypes.Date32, 2147483493-2440588), ""},
		{"date 'infinity'", arr(arrow.FixedWidthTypes.Date32, math.MaxInt32), ""},
		{"date '-infinity'", arr(arrow.FixedWidthTypes.Date32, math.MinInt32), ""},
		{"time '00:00:00'", arr(arrow.FixedWidthTypes.Time64us, 0), ""},
		{"time '23:59:59.123456'", arr(arrow.FixedWidthTypes.Time64us, 86399123456), ""},
		{"time '24:00:00'", arr(arrow.FixedWidthTypes.Time64us, 86400000000), ""},
		{"time '12:00:00.5'", arr(arrow.FixedWidthTypes.Time64ns, 43200500000000), ""},
		{"time '12:00:00.5'", arr(arrow.FixedWidthTypes.Time32ms, 43200500), ""},
		{"time(2) '12:00:00.126'", arr(arrow.FixedWidthTypes.Time64us, 43200126000), "time(2)"},
		{"timetz '10:00:00.5+05:30'", arr(arrow.BinaryTypes.String, "10:00:00.5+05:30"), ""},
		{"timetz '10:00:00-08'", arr(arrow.BinaryTypes.String, "10:00:00-08"), ""},
		{"timetz '10:00:00+01:02:03'", arr(arrow.BinaryTypes.String, "10:00:00+01:02:03"), ""},
		{"timestamp '1970-01-01'", arr(plain, 0), ""},
		{"timestamp '2024-01-01 00:00:00.123457'", arr(plain, 1704067200123457), ""},
		{"timestamp '1969-12-31 23:59:59.999999'", arr(plain, -1), ""},
		{"timestamp '4714-11-24 00:00:00 BC'", arr(plain, -210866803200000000), ""},
		{"timestamp '0044-03-15 10:11:12.5 BC'", arr(plain, -63517787327500000), ""},
		{"timestamp '294247-01-10 04:00:54.775806'", arr(plain, math.MaxInt64-1), ""},
		{"timestamp 'infinity'", arr(plain, math.MaxInt64), ""},
		{"timestamp '-infinity'", arr(plain, math.MinInt64), ""},
		{"timestamp(3) '2024-01-01 00:00:00.9996'", arr(plain, 1704067200999600), "timestamp(3)"},
		{"timestamp(0) '1999-12-31 23:59:59.5'", arr(plain, 946684799500000), "timestamp(0)"},
		{"timestamp '2024-01-01 00:00:00'", arr(seconds, 1704067200), ""},
		{"timestamp '2024-01-01 00:00:00.5'", arr(millis, 1704067200500), ""},
		{"timestamp '2024-01-01 00:00:00.123456'", arr(nanos, 1704067200123456499), ""},
		{"timestamp 'infinity'", arr(nanos, math.MaxInt64), ""},
		{"timestamptz '2024-03-10 07:30+00'", arr(zoned, 1710055800000000), ""},
		{"timestamptz '2024-11-03 05:30+00'", arr(zoned, 1730611800000000), ""},
		{"timestamptz '2024-11-03 06:30+00'", arr(zoned, 1730615400000000), ""},
		{"timestamptz '1800-01-01 00:00+00'", arr(zoned, -5364662400000000), ""},
		{"timestamptz '0044-03-15 10:11:12.5+00 BC'", arr(zoned, -63517787327500000), ""},
		{"timestamptz '9999-12-31 23:59:59.999999+00'", arr(zoned, 253402300799999999), ""},
		{"timestamptz '200000-06-01 12:00+00'", arr(zoned, 6249236356800000000), ""},
		{"timestamptz 'infinity'", arr(zoned, math.MaxInt64), ""},
		{"interval '1 year 2 mons 3 days 04:05:06.789'", arr(arrow.FixedWidthTypes.MonthDayNanoInterval, interval(14, 3, 14706789000)), ""},
		{"interval '0'", arr(arrow.FixedWidthTypes.MonthDayNanoInterval, interval(0, 0, 0)), ""},
		{"interval '-10 year 22 months'", arr(arrow.FixedWidthTypes.MonthDayNanoInterval, interval(-98, 0, 0)), ""},
		{"interval '1 mon -1 day 00:00:01'", arr(arrow.FixedWidthTypes.MonthDayNanoInterval, interval(1, -1, 1000000)), ""},
		{"interval '-1 mon 1 day -00:00:01.5'", arr(arrow.FixedWidthTypes.MonthDayNanoInterval, interval(-1, 1, -1500000)), ""},
		{"interval '-00:00:00.000001'", arr(arrow.FixedWidthTypes.MonthDayNanoInterval, interval(0, 0, -1)), ""},
		{"interval '1000:00:00'", arr(arrow.FixedWidthTypes.MonthDayNanoInterval, interval(0, 0, 3600000000000)), ""},
		{"interval(0) '1.6 s'", arr(arrow.FixedWidthTypes.MonthDayNanoInterval, interval(0, 0, 1600000)), "interval(0)"},

		{"'{}'::int4[]", arr(arrow.ListOf(arrow.PrimitiveTypes.Int32), []any{}), ""},
		{"'{1,NULL,-3}'::int4[]", arr(arrow.ListOf(arrow.PrimitiveTypes.Int32), []any{1, nil, -3}), ""},
		{"null::int4[]", arr(arrow.ListOf(arrow.PrimitiveTypes.Int32), nil), ""},
		{`array['a', '', null, 'NULL', 'a b', 'a,b', 'a"b', 'a\b', '{x}', 'é', E'\t']`,
			arr(arrow.ListOf(arrow.BinaryTypes.String), []any{"a", "", nil, "NULL", "a b", "a,b", `a"b`, `a\b`, "{x}", "é", "\t"}), ""},
		{"array[1.50,2]::numeric(5,2)[]", arr(arrow.ListOf(dec(5, 2)), []any{"1.50", "2.00"}), ""},
		{"array[timestamp '2024-01-01']", arr(arrow.ListOf(plain), []any{1704067200000000}), ""},
		{"array[date '0044-03-15 BC', date '2024-01-01']", arr(arrow.ListOf(arrow.FixedWidthTypes.Date32), []any{-735160, 19723}), ""},
		{"array[true,false]", arr(arrow.ListOf(arrow.FixedWidthTypes.Boolean), []any{true, false}), ""},
		{"array[1.5::float8, 'NaN']", arr(arrow.ListOf(arrow.PrimitiveTypes.Float64), []any{1.5, nan}), ""},
		{`array['\x00ff'::bytea]`, arr(arrow.ListOf(arrow.BinaryTypes.Binary), []any{"\x00\xff"}), ""},
		{"array[[1,2],[3,null]]", arr(arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int32)), []any{[]any{1, 2}, []any{3, nil}}), ""},
		{"array[]::text[]", arr(arrow.ListOf(arrow.ListOf(arrow.BinaryTypes.String)), []any{[]any{}, []any{}}), ""},
		{"array['a b']::varchar(3)[]", arr(arrow.ListOf(arrow.BinaryTypes.String), []any{"a b"}), ""},
		{"null::text", arr(arrow.Null, nil), ""},
		{"null::int4[]", arr(arrow.Null, nil), ""},
	}
}

// jsonbs are compared as text and binary as well; what matters is that the engine's text may be laid out in any way.
var jsonbs = []string{
	`{"b":1,"a":1,"a":2, "b" : [1, 2]}`, `1.10`, `null`, `{"bb":1,"a":{"c":null}, "é":true}`, `[]`, `{}`, `""`,
	`"a\"b\\c\/d\b\f\n\r\t\u0001\u00e9\ud83d\ude00\u007f"`, `1e5`, `1E-3`, `-0`, `-0.0`, `1.5e3`, `1.234e1`, `12e-1`, `0e10`, `0.00e1`,
	`  [1,2.50,{"x" : [ ]}] `, `100000000000000000000000000000000000000.000`, `"\ufffd"`,
}

func floats() []float64 {
	out := []float64{
		0, negZero, 1, -1, 0.1, 0.30000000000000004, 1e20, 1e15, 1e14, 123456789012345, 1234567890123456, 1e-4, 1e-5, 1.5e-5,
		1.0 / 3, 1e23, 9007199254740993, 5e-324, math.MaxFloat64, -math.MaxFloat64, inf, -inf, nan, 100, 1e6, 123456, 1234567,
		float64(float32(0.1)), 4.35, 2e-7, 1e100, 1.7976931348623157e308, 2.2250738585072014e-308,
	}
	for e := -1074; e < 1024; e += 3 {
		out = append(out, math.Ldexp(1, e))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		if f := math.Float64frombits(r.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
			out = append(out, f)
		}
		out = append(out, math.Ldexp(float64(r.Int64N(1<<53)), r.IntN(80)), float64(r.Int64()), math.Pow(10, float64(r.IntN(30)))*float64(r.IntN(1000)))
	}
	for e := 15; e < 24; e++ { // halfway cases: 5^k with one bit too many
		out = append(out, math.Pow10(e), 3*math.Pow10(e), 7*math.Pow10(e), 9*math.Pow10(e))
	}
	return out
}

// answer is a value as Postgres sends it, with its type.
type answer struct {
	field engines.Field
	data  []byte
	null  bool
}

// ask evaluates expressions at Postgres, in one format.
func ask(t testing.TB, c *pgconn.PgConn, format int16, expressions ...string) []answer {
	t.Helper()
	var out []answer
	for len(expressions) > 0 {
		n := min(len(expressions), 1000)
		r := c.ExecParams(t.Context(), "SELECT "+strings.Join(expressions[:n], ", "), nil, nil, nil, []int16{format}).Read()
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		for i, f := range r.FieldDescriptions {
			v := r.Rows[0][i]
			out = append(out, answer{engines.Field{Name: "x", OID: f.DataTypeOID, Typmod: f.TypeModifier}, v, v == nil})
		}
		expressions = expressions[n:]
	}
	return out
}

func set(t testing.TB, c *pgconn.PgConn, sql string) {
	t.Helper()
	if _, err := c.Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// one encodes the only row of a column and takes the value out of its DataRow.
func one(t testing.TB, f engines.Field, format int16, a arrow.Array, s encode.Settings) (data []byte, null bool, err error) {
	t.Helper()
	rec := record(a)
	e, err := encode.New([]engines.Field{f}, []int16{format}, nil, s)
	if err != nil {
		return nil, false, err
	}
	out, err := e.Append(nil, rec, 0, 1)
	if err != nil {
		return nil, false, err
	}
	if out[0] != 'D' || int(binary.BigEndian.Uint32(out[1:])) != len(out)-1 || binary.BigEndian.Uint16(out[5:]) != 1 {
		t.Fatalf("not a DataRow: %x", out)
	}
	n := int32(binary.BigEndian.Uint32(out[7:]))
	if n < 0 {
		return nil, true, nil
	}
	if int(n) != len(out)-11 {
		t.Fatalf("length %d of %x", n, out)
	}
	return out[11:], false, nil
}

func record(columns ...arrow.Array) arrow.RecordBatch {
	fields := make([]arrow.Field, len(columns))
	for i, a := range columns {
		fields[i] = arrow.Field{Name: fmt.Sprintf("c%d", i), Type: a.DataType(), Nullable: true}
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len()))
}

func compare(t *testing.T, want answer, format int16, v value, s encode.Settings) {
	t.Helper()
	data, null, err := one(t, want.field, format, v.arrow, s)
	if err != nil {
		t.Errorf("%s format %d: %v", v.sql, format, err)
		return
	}
	if null != want.null || !bytes.Equal(data, want.data) {
		if format == encode.Text {
			t.Errorf("%s: got %q, Postgres says %q", v.sql, data, want.data)
		} else {
			t.Errorf("%s: got %x, Postgres says %x", v.sql, data, want.data)
		}
	}
}

func TestLikePostgres(t *testing.T) {
	c := connect(t)
	all := values()
	for _, j := range jsonbs {
		all = append(all, value{"'" + strings.ReplaceAll(j, "'", "''") + "'::jsonb", arr(arrow.BinaryTypes.String, j), ""})
	}
	expressions := make([]string, len(all))
	for i, v := range all {
		expressions[i] = v.sql
		if v.target != "" {
			expressions[i] = "(" + v.sql + ")::" + v.target
		}
	}
	for _, zone := range []string{"UTC", "America/New_York", "Asia/Kolkata", "Europe/Amsterdam", "Australia/Lord_Howe", "America/Sao_Paulo"} {
		set(t, c, "SET TimeZone = '"+zone+"'")
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		s := encode.Settings{TimeZone: location, ExtraFloatDigits: 1, DateStyle: "ISO, MDY", IntervalStyle: "postgres"}
		for _, format := range []int16{encode.Text, encode.Binary} {
			for i, want := range ask(t, c, format, expressions...) {
				compare(t, want, format, all[i], s)
			}
		}
	}
	set(t, c, "SET bytea_output = 'escape'")
	s := encode.Settings{ExtraFloatDigits: 1, ByteaEscape: true}
	for i, want := range ask(t, c, encode.Text, expressions...) {
		if want.field.OID == 17 {
			compare(t, want, encode.Text, all[i], s)
		}
	}
}

func TestFloatsLikePostgres(t *testing.T) {
	c := connect(t)
	all := floats()
	for _, digits := range []int{1, 3, 0, -5, -15} {
		set(t, c, fmt.Sprintf("SET extra_float_digits = %d", digits))
		for _, typ := range []string{"float8", "float4"} {
			var expressions []string
			var columns []value
			for _, f := range all {
				single := typ == "float4"
				if single && !math.IsInf(f, 0) && (math.Abs(f) > math.MaxFloat32 || f != 0 && math.Abs(f) < 1e-44) {
					continue
				}
				sql := fmt.Sprintf("'%v'::float8::%s", f, typ)
				expressions = append(expressions, sql)
				columns = append(columns, value{sql, arr(arrow.PrimitiveTypes.Float64, f), ""})
			}
			for i, want := range ask(t, c, encode.Text, expressions...) {
				compare(t, want, encode.Text, columns[i], encode.Settings{ExtraFloatDigits: digits})
			}
			if digits == 1 {
				for i, want := range ask(t, c, encode.Binary, expressions...) {
					compare(t, want, encode.Binary, columns[i], encode.Home)
				}
			}
		}
	}
}

// Timestamps over the whole range, in zones with odd offsets.
func TestTimestampsLikePostgres(t *testing.T) {
	c := connect(t)
	r := rand.New(rand.NewPCG(3, 4))
	var expressions []string
	var columns []value
	for range 2000 {
		us := r.Int64N(9011557843200000000) - 210866803200000000
		if r.IntN(2) == 0 {
			us = r.Int64N(10_000_000_000_000_000) - 5_000_000_000_000_000
		}
		sql := fmt.Sprintf("timestamptz '2000-01-01 00:00+00' + interval '%d microsecond'", us)
		expressions = append(expressions, sql)
		columns = append(columns, value{sql, arr(zoned, int(us+946684800000000)), ""})
	}
	for _, zone := range []string{"UTC", "Europe/Paris", "Africa/Monrovia", "Asia/Kathmandu"} {
		set(t, c, "SET TimeZone = '"+zone+"'")
		location, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range ask(t, c, encode.Text, expressions...) {
			compare(t, want, encode.Text, columns[i], encode.Settings{TimeZone: location, ExtraFloatDigits: 1})
		}
	}
}
