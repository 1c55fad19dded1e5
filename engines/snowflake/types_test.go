package snowflake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/snowflakedb/gosnowflake"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/snowflake/fake"
	"github.com/sluicedb/sluice/pgerr"
)

// values makes an array of a type by a JSON list.
func values(t *testing.T, typ arrow.DataType, json string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(arrowMemory, typ, strings.NewReader(json))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func number(precision, scale int) fake.Column {
	return fake.Column{Type: "fixed", Precision: precision, Scale: scale}
}

var (
	seconds2 = arrow.StructOf(arrow.Field{Name: "epoch", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "fraction", Type: arrow.PrimitiveTypes.Int32})
	zoned3   = arrow.StructOf(arrow.Field{Name: "epoch", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "fraction", Type: arrow.PrimitiveTypes.Int32},
		arrow.Field{Name: "timezone", Type: arrow.PrimitiveTypes.Int32})
	zoned2 = arrow.StructOf(arrow.Field{Name: "epoch", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "timezone", Type: arrow.PrimitiveTypes.Int32})
	int8s  = arrow.PrimitiveTypes.Int8
	int64s = arrow.PrimitiveTypes.Int64
	texts  = arrow.BinaryTypes.String
)

func numeric(precision, scale int32) (uint32, int32) { return oidNumeric, precision<<16 | scale + 4 }

// TestValues reads values at the limits of their types as types at home: what does not fit is an error that names the column.
func TestValues(t *testing.T) {
	f := fake.Start(t)
	e := open(t, server(f))
	n102, m102 := numeric(10, 2)
	_, m104 := numeric(10, 4)
	_, m100 := numeric(10, 0)
	_, m50 := numeric(50, 10)
	for i, c := range []struct {
		column fake.Column
		typ    arrow.DataType
		json   string
		oid    uint32
		typmod int32
		want   string // or a SQLSTATE
	}{
		{number(38, 0), int8s, `[1, null, -128]`, oidInt8, -1, "1|(null)|-128"},
		{number(38, 0), &arrow.Decimal128Type{Precision: 38}, `["9223372036854775807", "-9223372036854775808", null]`, oidInt8, -1, "9223372036854775807|-9223372036854775808|(null)"},
		{number(38, 0), &arrow.Decimal128Type{Precision: 38}, `["9223372036854775808"]`, oidInt8, -1, "22003"},
		{number(9, 0), int64s, `[32767, -32768, null]`, oidInt2, -1, "32767|-32768|(null)"},
		{number(9, 0), int64s, `[32768]`, oidInt2, -1, "22003"},
		{number(18, 0), int64s, `[2147483648]`, oidInt4, -1, "22003"},
		{number(10, 2), int64s, `[1200]`, oidInt4, -1, "12"},
		{number(10, 2), int64s, `[1250]`, oidInt4, -1, "22003"},
		{number(10, 2), arrow.PrimitiveTypes.Int16, `[0, 1250, -1, null]`, n102, m102, "0|12.5|-0.01|(null)"},
		{number(10, 2), int64s, `[1250]`, oidNumeric, m104, "12.5"},
		{number(10, 2), int64s, `[99999999]`, oidNumeric, m104, "999999.99"},
		{number(10, 2), int64s, `[100000000]`, oidNumeric, m104, "22003"},
		{number(10, 2), int64s, `[1250]`, oidNumeric, m100, "22003"},
		{number(38, 37), &arrow.Decimal128Type{Precision: 38, Scale: 37}, `["-9.9999999999999999999999999999999999999"]`, oidNumeric, -1, "-9.9999999999999999999999999999999999999"},
		{number(10, 2), int8s, `[0, -5, null]`, oidNumeric, -1, "0.00|-0.05|(null)"},
		{number(10, 2), int8s, `[5]`, oidNumeric, m50, "0.05"},
		{number(10, 2), int8s, `[5]`, oidText, -1, "0.05"},
		{number(10, 2), int8s, `[5]`, oidFloat8, -1, "HV004"},
		{number(10, 0), texts, `["5"]`, oidInt8, -1, "08P01"},
		{fake.Column{Type: "real"}, arrow.PrimitiveTypes.Float64, `[0.5, null]`, oidFloat4, -1, "0.5|(null)"},
		{fake.Column{Type: "real"}, arrow.PrimitiveTypes.Float64, `[0.1]`, oidFloat4, -1, "22003"},
		{fake.Column{Type: "real"}, arrow.PrimitiveTypes.Float64, `[0.1]`, oidNumeric, -1, "HV004"},
		{fake.Column{Type: "timestamp_ntz", Scale: 9}, seconds2, `[{"epoch":1,"fraction":123456499}, {"epoch":1,"fraction":123456500}, {"epoch":1,"fraction":123457500}, {"epoch":-1,"fraction":999999500}, null]`, oidTimestamp, -1,
			"1970-01-01T00:00:01.123456|1970-01-01T00:00:01.123456|1970-01-01T00:00:01.123458|1970-01-01T00:00:00|(null)"},
		{fake.Column{Type: "timestamp_ntz", Scale: 9}, seconds2, `[{"epoch":null,"fraction":null}, {"epoch":0,"fraction":0}]`, oidTimestamp, -1, "(null)|1970-01-01T00:00:00"},
		{fake.Column{Type: "timestamp_ntz", Scale: 7}, int64s, `[-1, 19999996, 5]`, oidTimestamp, -1, "1970-01-01T00:00:00|1970-01-01T00:00:02|1970-01-01T00:00:00"},
		{fake.Column{Type: "timestamp_ntz", Scale: 3}, int64s, `[1500]`, oidTimestamp, -1, "1970-01-01T00:00:01.5"},
		{fake.Column{Type: "timestamp_ntz", Scale: 0}, int64s, `[9223372036854775807]`, oidTimestamp, -1, "22008"},
		{fake.Column{Type: "timestamp_ntz", Scale: 9}, seconds2, `[{"epoch":9223372036854775807,"fraction":0}]`, oidTimestamp, -1, "22008"},
		{fake.Column{Type: "timestamp_ntz", Scale: 9}, seconds2, `[]`, oidTimestampTZ, -1, "HV004"},
		{fake.Column{Type: "timestamp_ltz", Scale: 9}, seconds2, `[{"epoch":0,"fraction":1000}]`, oidTimestampTZ, -1, "1970-01-01T00:00:00.000001Z"},
		{fake.Column{Type: "timestamp_tz", Scale: 9}, zoned3, `[{"epoch":0,"fraction":1000,"timezone":1500}, null]`, oidTimestampTZ, -1, "1970-01-01T00:00:00.000001Z|(null)"},
		{fake.Column{Type: "timestamp_tz", Scale: 3}, zoned2, `[{"epoch":1500,"timezone":0}]`, oidTimestampTZ, -1, "1970-01-01T00:00:01.5Z"},
		{fake.Column{Type: "time", Scale: 9}, int64s, `[86399999999499, 1500, null]`, oidTime, -1, "23:59:59.999999|00:00:00.000002|(null)"},
		{fake.Column{Type: "time", Scale: 0}, arrow.PrimitiveTypes.Int32, `[86399]`, oidTime, -1, "23:59:59.000000"},
		{fake.Column{Type: "text"}, texts, `["00112233-4455-6677-8899-AABBCCDDEEFF", null]`, oidUUID, -1, "ABEiM0RVZneImaq7zN3u/w==|(null)"},
		{fake.Column{Type: "text"}, texts, `["00112233-4455-6677-8899-AABBCCDDEEF"]`, oidUUID, -1, "22P02"},
		{fake.Column{Type: "text"}, texts, `["0011-2233-4455-6677-8899-AABBCCDDEEFF"]`, oidUUID, -1, "22P02"},
		{fake.Column{Type: "text"}, texts, `["été", null]`, oidVarchar, 3 + 4, "été|(null)"},
		{fake.Column{Type: "text"}, texts, `["étés"]`, oidVarchar, 3 + 4, "22001"},
		{fake.Column{Type: "text"}, texts, `["é", null, "abc"]`, oidBpchar, 3 + 4, "é  |(null)|abc"},
		{fake.Column{Type: "text"}, texts, `["1 day"]`, oidInterval, -1, "HV004"},
		{fake.Column{Type: "text"}, texts, `["127.0.0.1"]`, 869, -1, "127.0.0.1"}, // inet, which home reads
		{fake.Column{Type: "text"}, texts, `["1"]`, oidInt4, -1, "HV004"},
		{fake.Column{Type: "variant"}, texts, `["{\"a\":1}", null]`, oidJSONB, -1, `{"a":1}|(null)`},
		{fake.Column{Type: "geography"}, texts, `["{}"]`, oidJSON, -1, "{}"},
		{fake.Column{Type: "variant"}, texts, `["1"]`, oidInt4, -1, "HV004"},
		{fake.Column{Type: "boolean"}, arrow.FixedWidthTypes.Boolean, `[true]`, oidInt4, -1, "HV004"},
	} {
		sql := fmt.Sprintf("SELECT %d", i)
		a := values(t, c.typ, c.json)
		c.column.Name = "X"
		f.Script(sql, fake.Answer{Columns: []fake.Column{c.column},
			Record: array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "X", Type: c.typ, Nullable: true}}, nil), []arrow.Array{a}, int64(a.Len()))})
		rows, err := readAs(t, e, engines.Query{SQL: sql, Fields: []engines.Field{{Name: "x", OID: c.oid, Typmod: c.typmod}}})
		got := code(err)
		if err == nil {
			var list []string
			for _, r := range rows {
				list = append(list, r[0])
			}
			got = strings.Join(list, "|")
		} else if pe := pgerr.From(err); !strings.Contains(strings.ToLower(pe.Message), `column "x"`) {
			t.Errorf("%v: the error names no column: %v", c.column, err)
		}
		if got != c.want {
			t.Errorf("%v as %d: %s (%v), want %s", c.column, c.oid, got, err, c.want)
		}
	}
}

// TestRows refuses rows that are none by Arrow, and describes columns without rows.
func TestRows(t *testing.T) {
	f := fake.Start(t)
	e := open(t, server(f))
	f.Script("SHOW TABLES", fake.Answer{Columns: []fake.Column{{Name: "name", Type: "text"}}, JSON: [][]*string{{text("x")}}})
	if _, err := read(t, e, "SHOW TABLES"); code(err) != "0A000" {
		t.Error(err)
	}
	f.Script("NONE", fake.Answer{Columns: []fake.Column{{Name: "a", Type: "timestamp_tz", Scale: 9}, number(38, 5)}})
	s, err := e.Open(t.Context(), engines.Query{SQL: "NONE"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if rows, err := drain(t.Context(), s); err != nil || len(rows) != 0 || s.Fields()[0].OID != oidTimestampTZ || s.Fields()[1].Typmod != 38<<16|5+4 {
		t.Errorf("%v %v %v", rows, err, s.Fields())
	}
}

// TestErrors gives errors of the server their SQLSTATE, and a remedy where there is one.
func TestErrors(t *testing.T) {
	f := fake.Start(t)
	e := open(t, server(f))
	for number, c := range map[string]struct{ state, code, hint string }{
		"000606": {"57P03", "55000", "warehouse"}, "000608": {"57014", "57P03", "RESUME"}, "090073": {"", "53000", "resource monitor"}, "000630": {"57014", "57014", "statement_timeout"},
		"100051": {"22012", "22012", ""}, "003001": {"42501", "42501", "Grant"}, "001044": {"42P13", "42883", ""}, "000625": {"57014", "53400", "later"},
		"100078": {"22000", "HV000", ""}, "123456": {"22003", "22003", ""}, "390318": {"", "28000", "expired"}, "390999": {"", "28000", "USER MAPPING"},
	} {
		f.Script(number, fake.Answer{Number: number, State: c.state, Message: "SQL compilation error:\nwhat is  wrong"})
		_, err := read(t, e, number)
		if pe := pgerr.From(err); pe == nil || pe.Code != c.code || pe.Message != "what is wrong" || !strings.Contains(pe.Hint, c.hint) || !strings.Contains(pe.Detail, number) {
			t.Errorf("%s: %+v", number, pe)
		}
	}
	for _, c := range []struct {
		err  error
		code string
	}{
		{fmt.Errorf("timeout after 30s and 4 attempts. HTTP Status: 503. Hanging?"), "57P03"},
		{&gosnowflake.SnowflakeError{Number: 260008, Message: "failed. HTTP: %v, URL: %v", MessageArgs: []any{403, "http://secret"}}, "08001"},
		{fmt.Errorf("unexpected EOF"), "08006"},
	} {
		if err := failed(t.Context(), &trouble{}, c.err); code(err) != c.code || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}
