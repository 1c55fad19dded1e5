package encode_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/proxy/encode"
)

// What does not fit is an error with Postgres' own code and message, asked from it where it has the same value.
func TestErrors(t *testing.T) {
	c := connect(t)
	str := arrow.BinaryTypes.String
	for _, tc := range []struct {
		oid    uint32
		typmod int32
		arrow  arrow.Array
		sql    string // that fails at Postgres in the same way; empty where it cannot hold the value at all
		code   string
	}{
		{23, -1, arr(arrow.PrimitiveTypes.Int64, math.MaxInt32+1), "2147483648::int8::int4", "22003"},
		{21, -1, arr(arrow.PrimitiveTypes.Uint16, 32768), "32768::int4::int2", "22003"},
		{20, -1, arr(arrow.PrimitiveTypes.Uint64, uint64(math.MaxInt64)+1), "9223372036854775808::numeric::int8", "22003"},
		{20, -1, arr(dec(38, 0), "-9223372036854775809"), "(-9223372036854775809)::numeric::int8", "22003"},
		{26, -1, arr(arrow.PrimitiveTypes.Int64, -1), "(-1)::int8::oid", "22003"},
		{1700, 4<<16 | 2 + 4, arr(dec(10, 2), "100.00"), "100.00::numeric(4,2)", "22003"},
		{1700, 4<<16 | 2 + 4, arr(dec(10, 3), "99.995"), "99.995::numeric(4,2)", "22003"},
		{1700, 2<<16 | 2 + 4, arr(dec(10, 0), "1"), "1::numeric(2,2)", "22003"},
		{1700, -1, arr(str, "1x"), "'1x'::numeric", "22P02"},
		{1700, -1, arr(str, ""), "''::numeric", "22P02"},
		{1700, -1, arr(str, "1e"), "'1e'::numeric", "22P02"},
		{1700, -1, arr(str, "1e200000"), "'1e200000'::numeric", "22003"},
		{1700, 4<<16 | 2 + 4, arr(str, "inf"), "'inf'::numeric(4,2)", "22003"},
		{1043, 7, arr(str, "abcd"), "", "22001"},
		{1042, 7, arr(str, "日本語x"), "", "22001"},
		{25, -1, arr(str, "a\x00b"), "", "22021"},
		{25, -1, arr(str, "a\xff\xfe"), "", "22021"},
		{25, -1, arr(arrow.BinaryTypes.Binary, "\xe6\x97"), "", "22021"},
		{1043, 7, arr(str, "\xff"), "", "22021"},
		{700, -1, arr(arrow.PrimitiveTypes.Float64, 1e40), "", "22003"},
		{1082, -1, arr(arrow.FixedWidthTypes.Date32, -2440589), "date '4714-11-24 BC' - 1", "22008"},
		{1082, -1, arr(arrow.FixedWidthTypes.Date32, 2147483494-2440588), "date '5874897-12-31' + 1", "22008"},
		{1114, -1, arr(plain, -210866803200000001), "timestamp '4714-11-24 BC' - interval '1 us'", "22008"},
		{1114, -1, arr(seconds, math.MaxInt64/2), "", "22008"},
		{1560, 4, arr(str, "01"), "", "22026"},
		{1562, 4 - 1, arr(str, "0101"), "", "22001"},
		{1562, -1, arr(str, "012"), "'012'::varbit", "22P02"},
		{114, -1, arr(str, "{a}"), "'{a}'::json", "22P02"},
		{3802, -1, arr(str, "[1,]"), "'[1,]'::jsonb", "22P02"},
		{3802, -1, arr(str, `"\u0000"`), `'"\u0000"'::jsonb`, "22P05"},
		{3802, -1, arr(str, `"\ud800"`), `'"\ud800"'::jsonb`, "22P02"},
		{3802, -1, arr(str, `1e200000`), `'1e200000'::jsonb`, "22003"},
		{1266, -1, arr(str, "late"), "'late'::timetz", "22007"},
		{1007, -1, arr(arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int32)), []any{[]any{1}, []any{2, 3}}), "array[array[1],array[2,3]]", "2202E"},
		{1007, -1, arr(arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int32)), []any{[]any{1}, nil}), "", "2202E"},
		{1007, -1, arr(arrow.ListOf(arrow.PrimitiveTypes.Int64), []any{math.MaxInt32 + 1}), "2147483648::int8::int4", "22003"},
	} {
		for _, format := range []int16{encode.Text, encode.Binary} {
			f := engines.Field{Name: "amount", OID: tc.oid, Typmod: tc.typmod}
			_, _, err := one(t, f, format, tc.arrow, encode.Home)
			var pe *pgconn.PgError
			if !errors.As(err, &pe) || pe.Code != tc.code {
				t.Errorf("%v as %d: got %v, want %s", tc.arrow, tc.oid, err, tc.code)
				continue
			}
			if !strings.Contains(pe.Where, "amount") {
				t.Errorf("the error does not name the column: %+v", pe)
			}
			if tc.sql == "" {
				continue
			}
			_, err = c.Exec(t.Context(), "SELECT "+tc.sql).ReadAll()
			var want *pgconn.PgError
			if !errors.As(err, &want) || want.Code != pe.Code || !strings.HasPrefix(want.Message, pe.Message) || want.Detail != pe.Detail && want.Code == "22003" {
				t.Errorf("%s: got %s %q %q, Postgres says %v %q", tc.sql, pe.Code, pe.Message, pe.Detail, err, want.Detail)
			}
		}
	}
}

// An error leaves the whole rows before it.
func TestErrorKeepsRowsBefore(t *testing.T) {
	rec := record(arr(arrow.PrimitiveTypes.Int32, 1, 2, 3, 4), arr(arrow.PrimitiveTypes.Int64, 1, 2, 1<<40, 4))
	target := []engines.Field{{Name: "a", OID: 23, Typmod: -1}, {Name: "b", OID: 23, Typmod: -1}}
	for _, format := range []int16{encode.Text, encode.Binary} {
		e, err := encode.New(target, []int16{format}, nil, encode.Home)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := e.Append(nil, rec, 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Append(nil, rec, 0, 4)
		if err == nil || string(got) != string(whole) {
			t.Errorf("got %x, want %x (%v)", got, whole, err)
		}
	}
	e, err := encode.New(target, []int16{encode.Binary}, nil, encode.Home)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := e.AppendCopy(nil, rec, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.AppendCopy(nil, rec, 0, 4); err == nil || string(got) != string(whole) {
		t.Errorf("got %x, want %x (%v)", got, whole, err)
	}
}

func TestNewRefuses(t *testing.T) {
	code := func(_ any, err error) string {
		var pe *pgconn.PgError
		if !errors.As(err, &pe) {
			return ""
		}
		return pe.Code
	}
	date, iv, int4 := engines.Field{OID: 1082, Typmod: -1}, engines.Field{OID: 1186, Typmod: -1}, engines.Field{OID: 23, Typmod: -1}
	german := encode.Settings{DateStyle: "German, DMY", ExtraFloatDigits: 1}
	verbose := encode.Settings{IntervalStyle: "postgres_verbose", ExtraFloatDigits: 1}
	for _, tc := range []struct {
		name    string
		target  []engines.Field
		formats []int16
		source  []engines.Field
		s       encode.Settings
		want    string
	}{
		{"DateStyle", []engines.Field{date}, nil, nil, german, "0A000"},
		{"DateStyle of an array", []engines.Field{{OID: 1182, Typmod: -1}}, nil, nil, german, "0A000"},
		{"DateStyle in binary", []engines.Field{date}, []int16{1}, nil, german, ""},
		{"DateStyle without dates", []engines.Field{int4}, nil, nil, german, ""},
		{"IntervalStyle", []engines.Field{iv}, nil, nil, verbose, "0A000"},
		{"unknown type in binary", []engines.Field{{OID: 869, Typmod: -1}}, []int16{1}, nil, encode.Home, "0A000"},
		{"pair in binary", []engines.Field{int4}, []int16{1}, []engines.Field{date}, encode.Home, "0A000"},
		{"limited interval", []engines.Field{{OID: 1186, Typmod: 6<<16 | 0xffff}}, []int16{1}, nil, encode.Home, "0A000"},
		{"number of formats", []engines.Field{int4, int4, int4}, []int16{1, 0}, nil, encode.Home, "08P01"},
		{"format", []engines.Field{int4}, []int16{2}, nil, encode.Home, "22023"},
		{"number of columns", []engines.Field{int4}, nil, []engines.Field{int4, int4}, encode.Home, "XX000"},
	} {
		if got := code(encode.New(tc.target, tc.formats, tc.source, tc.s)); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestSupports(t *testing.T) {
	for _, tc := range []struct {
		oid  uint32
		t    arrow.DataType
		want bool
	}{
		{20, arrow.PrimitiveTypes.Int32, true},
		{23, arrow.PrimitiveTypes.Float64, false},
		{20, dec(38, 0), true},
		{20, dec(38, 2), false},
		{25, arrow.BinaryTypes.String, true},
		{25, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}, true},
		{1114, zoned, false},
		{1184, plain, false},
		{1007, arrow.ListOf(arrow.PrimitiveTypes.Int32), true},
		{1007, arrow.PrimitiveTypes.Int32, false},
		{23, arrow.ListOf(arrow.PrimitiveTypes.Int32), false},
		{869, arrow.BinaryTypes.String, false},
		{23, arrow.Null, true},
	} {
		if got := encode.Supports(tc.oid, tc.t); got != tc.want {
			t.Errorf("%d from %s: %v", tc.oid, tc.t, got)
		}
	}
}
