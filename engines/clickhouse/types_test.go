package clickhouse

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// TestTypes reads values at the limits of the types that the tests' server has.
func TestTypes(t *testing.T) {
	overEach(t, checkTypes)
}

func checkTypes(t *testing.T, s engines.Server) {
	e := open(t, s)
	for _, c := range []struct {
		sql    string
		oid    uint32
		typmod int32
		want   []string
	}{
		{"SELECT arrayJoin([toInt8(-128), toInt8(127)])", 21, -1, []string{"-128", "127"}},
		{"SELECT toUInt8(255)", 21, -1, []string{"255"}},
		{"SELECT toInt16(-32768)", 21, -1, []string{"-32768"}},
		{"SELECT toUInt16(65535)", 23, -1, []string{"65535"}},
		{"SELECT toInt32(-2147483648)", 23, -1, []string{"-2147483648"}},
		{"SELECT toUInt32(4294967295)", 20, -1, []string{"4294967295"}},
		{"SELECT toInt64(-9223372036854775808)", 20, -1, []string{"-9223372036854775808"}},
		{"SELECT arrayJoin([toUInt64(0), toUInt64(18446744073709551615)])", 1700, typmod(20, 0), []string{"0", "18446744073709551615"}},
		{"SELECT toFloat32(1.5)", 700, -1, []string{"1.5"}},
		{"SELECT arrayJoin([nan, inf, -inf, -0.0])", 701, -1, []string{"NaN", "+Inf", "-Inf", "-0"}},
		{"SELECT toDecimal32('-1234567.89', 2)", 1700, typmod(9, 2), []string{"-1234567.89"}},
		{"SELECT toDecimal64('-999999999999999999', 0)", 1700, typmod(18, 0), []string{"-999999999999999999"}},
		{"SELECT toDecimal128('-0.00000000000000000000000000000000000001', 38)", 1700, typmod(38, 38), []string{"-1e-38"}},
		{"SELECT arrayJoin([toDate('1970-01-01'), toDate('2105-12-31')])", 1082, -1, []string{"1970-01-01", "2105-12-31"}},
		{"SELECT arrayJoin([toDateTime(0), toDateTime(4294967295)])", 1184, -1, []string{"1970-01-01T00:00:00Z", "2106-02-07T06:28:15Z"}},
		{"SELECT toDateTime('2024-07-01 12:00:00', 'Asia/Tokyo')", 1184, -1, []string{"2024-07-01T03:00:00Z"}},
		{"SELECT 'a\\0b\\n\\'\\\\ä'", 25, -1, []string{"a\x00b\n'\\ä"}},
		{"SELECT toFixedString('ab', 3)", 17, -1, []string{"YWIA"}},
		{"SELECT toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0')", 2950, -1, []string{"YfDEBFyzEeeQe6YAatPboA=="}},
		{"SELECT CAST('b''\\\\' AS Enum8('a' = -128, 'b\\'\\\\' = 127))", 25, -1, []string{`b'\`}},
		{"SELECT CAST('x' AS Enum16('x' = -32768))", 25, -1, []string{"x"}},
		{"SELECT NULL", 25, -1, []string{"(null)"}},
		{"SELECT arrayJoin([toNullable(toInt32(1)), NULL])", 23, -1, []string{"1", "(null)"}},
		{"SELECT arrayJoin([[toNullable(1), NULL], []])", 1005, -1, []string{"[1,null]", "[]"}},
		{"SELECT [['a'], ['b', 'c']]", 1009, -1, []string{`[["a"],["b","c"]]`}},
		{"SELECT [toUInt64(18446744073709551615)]", 1231, typmod(20, 0), []string{"[\"18446744073709551615\"]"}},
		{"SELECT tuple(toUInt64(18446744073709551615), 'a\"ü', NULL, [1, 2], toDate('2024-02-29'), toDateTime(0), 1.5, toDecimal32('1.5', 2), tuple(nan))", 3802, -1,
			[]string{`[18446744073709551615,"a\"ü",null,[1,2],"2024-02-29","1970-01-01T00:00:00+00:00",1.5,1.50,["NaN"]]`}},
		{"SELECT toLowCardinality('x')", 25, -1, []string{"x"}},
		{"SELECT toLowCardinality(toString(number % 3)) FROM system.numbers LIMIT 7", 25, -1, []string{"0", "1", "2", "0", "1", "2", "0"}},
		{"SELECT toLowCardinality(toString(number * 7)) FROM system.numbers LIMIT 70000, 2", 25, -1, []string{"490000", "490007"}},
		{"SELECT toLowCardinality(if(number = 1, NULL, toFixedString(toString(number), 1))) FROM system.numbers LIMIT 3", 17, -1, []string{"MA==", "(null)", "Mg=="}},
		{"SELECT toLowCardinality(toDate(number)) FROM system.numbers LIMIT 2", 1082, -1, []string{"1970-01-01", "1970-01-02"}},
		{"SELECT tuple(toLowCardinality(toString(number)), toLowCardinality('b'), number) FROM system.numbers LIMIT 2", 3802, -1, []string{`["0","b",0]`, `["1","b",1]`}},
	} {
		s, err := e.Open(t.Context(), engines.Query{SQL: c.sql})
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		f := s.Fields()[0]
		if got := texts(t, s); f.OID != c.oid || f.Typmod != c.typmod || !slices.Equal(got, c.want) {
			t.Errorf("%s: %d(%d) %q; want %d(%d) %q", c.sql, f.OID, f.Typmod, got, c.oid, c.typmod, c.want)
		}
	}
}

// texts reads a stream's first column.
func texts(t *testing.T, s engines.Stream) (out []string) {
	t.Helper()
	defer s.Close()
	for {
		b, err := s.Next(t.Context())
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Error(err)
			return out
		}
		for i := range b.NumRows() {
			out = append(out, b.(engines.Columns).Record.Column(0).ValueStr(i))
		}
	}
}

func little(words ...uint64) (out []byte) {
	for _, w := range words {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

// TestNewTypes reads values of types that the tests' server is too old for, as the protocol's documentation spells them.
func TestNewTypes(t *testing.T) {
	const most = ^uint64(0)
	for _, c := range []struct {
		typ    string
		data   []byte
		rows   int
		oid    uint32
		postgr string
		want   []string
	}{
		{"Bool", []byte{1, 0, 1}, 3, 16, "boolean", []string{"true", "false", "true"}},
		{"Int128", little(0, 1<<63, most, most, most, most>>1), 3, 1700, "numeric(39,0)",
			[]string{"-170141183460469231731687303715884105728", "-1", "170141183460469231731687303715884105727"}},
		{"UInt128", little(most, most), 1, 1700, "numeric(39,0)", []string{"340282366920938463463374607431768211455"}},
		{"Int256", little(0, 0, 0, 1<<63), 1, 1700, "numeric(77,0)", []string{"-57896044618658097711785492504343953926634992332820282019728792003956564819968"}},
		{"UInt256", little(most, most, most, most), 1, 1700, "numeric(78,0)",
			[]string{"115792089237316195423570985008687907853269984665640564039457584007913129639935"}},
		{"Decimal(76, 2)", little(^uint64(4), most, most, most, 123, 0, 0, 0), 2, 1700, "numeric(76,2)", []string{"-0.05", "1.23"}},
		{"Date32", []byte{0x21, 0x9c, 0xff, 0xff}, 1, 1082, "date", []string{"1900-01-01"}},
		{"DateTime64(9, 'Asia/Tokyo')", little(1_234_567_890_123_456_789, ^uint64(1_499)), 2, 1184, "timestamp with time zone",
			[]string{"2009-02-13T23:31:30.123456Z", "1969-12-31T23:59:59.999999Z"}},
		{"DateTime64(3)", little(1500), 1, 1184, "timestamp with time zone", []string{"1970-01-01T00:00:01.5Z"}},
		{"IPv4", []byte{4, 3, 2, 1}, 1, 25, "inet", []string{"1.2.3.4"}},
		{"IPv6", append(make([]byte, 15), 1), 1, 25, "inet", []string{"::1"}},
		{"LowCardinality(Nullable(String))", []byte{0, 1, 1, 'a', 0}, 2, 25, "text", []string{"a", "(null)"}},
		{"Map(String, UInt8)", append(little(2), 1, 'a', 1, 'b', 1, 2), 1, 3802, "jsonb", []string{`{"a":1,"b":2}`}},
		{"Map(UInt8, Array(String))", append(append(little(1), 7), append(little(1), 1, 'x')...), 1, 3802, "jsonb", []string{`{"7":["x"]}`}},
		{"Tuple(a UInt8, `b c` Nullable(Int128))", append([]byte{5, 0}, little(7, 0)...), 1, 3802, "jsonb", []string{`{"a":5,"b c":7}`}},
		{"Nested(a UInt8, b String)", append(little(1), 9, 1, 'z'), 1, 3807, "jsonb[]", []string{`["{\"a\":9,\"b\":\"z\"}"]`}},
		{"SimpleAggregateFunction(sum, UInt16)", []byte{1, 1}, 1, 23, "integer", []string{"257"}},
		{"Point", make([]byte, 16), 1, 3802, "jsonb", []string{"[0,0]"}},
	} {
		col, err := newColumn("x", c.typ, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		r := &reader{Reader: bufio.NewReader(bytes.NewReader(c.data)), left: maxBlock}
		if err := col.values.read(r, c.rows); err != nil {
			t.Errorf("%s: %v", c.typ, err)
			continue
		}
		if _, err := r.ReadByte(); err != io.EOF {
			t.Errorf("%s leaves bytes behind", c.typ)
		}
		if got := valueStrings(col, c.rows); col.field.OID != c.oid || col.postgre != c.postgr || !slices.Equal(got, c.want) {
			t.Errorf("%s: %s (%d) %q; want %s (%d) %q", c.typ, col.postgre, col.field.OID, got, c.postgr, c.oid, c.want)
		}
	}
}

// TestUnmapped refuses types without a counterpart by name.
func TestUnmapped(t *testing.T) {
	for _, typ := range []string{
		"AggregateFunction(sum, Int32)", "Object('json')", "Variant(Int8, String)", "Dynamic", "IntervalDay", "Array(Dynamic)", "Tuple(a Dynamic)", "Map(String, Dynamic)",
		"Decimal(77, 1)", "DateTime64(10)", "Time64(10)", "FixedString(0)", "Enum8('a')", "", "(", "Tuple(", "Array()", "Nullable(Array(Nothing", "Map(String)",
	} {
		if c, err := newColumn("x", typ, 0); code(err) != "HV004" {
			t.Errorf("%s: %v, %v", typ, c, err)
		}
	}
}

// TestBlockLimits refuses blocks that would take too much memory before they do.
func TestBlockLimits(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<40)
	for _, c := range []struct {
		typ  string
		data []byte
		rows int
		want string
	}{
		{"Int64", nil, maxBlock / 4, "54000"},
		{"String", huge, 1, "54000"},
		{"Array(Int8)", little(1 << 40), 1, "54000"},
		{"Array(Int8)", little(3, 2), 2, "08P01"},
		{"FixedString(1000000)", nil, 1000, "54000"},
		{"String", []byte{5, 'a'}, 1, ""},
	} {
		col, err := newColumn("x", c.typ, 0)
		if err != nil {
			t.Fatal(err)
		}
		err = col.values.read(&reader{Reader: bufio.NewReader(bytes.NewReader(c.data)), left: maxBlock}, c.rows)
		if c.want == "" && errors.Is(err, io.ErrUnexpectedEOF) {
			continue
		}
		if code(err) != c.want {
			t.Errorf("%s: %v; want %s", c.typ, err, c.want)
		}
	}
}
