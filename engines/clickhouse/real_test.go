package clickhouse

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/internal/chdbtest"
)

// current returns the objects for an engine on a current ClickHouse.
func current(t *testing.T, statements ...string) engines.Server {
	t.Helper()
	s := chdbtest.Start(t)
	s.Run(t, statements...)
	return engines.Server{
		Name: "events", Options: map[string]string{"host": s.Host, "port": s.Port, "protocol": overHTTP},
		Mapping: map[string]string{"user": chdbtest.User, "password": chdbtest.Password},
	}
}

// overNew runs a test on each current ClickHouse that there is.
func overNew(t *testing.T, test func(t *testing.T, s engines.Server), statements ...string) {
	t.Run("library", func(t *testing.T) { test(t, current(t, statements...)) })
	overCurrent(t, test, statements...)
}

// TestRealTypes reads values at the limits of types from a current ClickHouse, also those that TestTypes reads from an old one.
func TestRealTypes(t *testing.T) { overNew(t, checkNewTypes) }

func checkNewTypes(t *testing.T, s engines.Server) {
	t.Run("old", func(t *testing.T) { checkTypes(t, s) })
	e := open(t, s)
	for _, c := range []struct {
		sql    string
		oid    uint32
		typmod int32
		want   []string
	}{
		{"SELECT true", 16, -1, []string{"true"}},
		{"SELECT arrayJoin([toUInt64(0), toUInt64('18446744073709551615')])", 1700, typmod(20, 0), []string{"0", "18446744073709551615"}},
		{"SELECT arrayJoin([toInt128('-170141183460469231731687303715884105728'), toInt128('170141183460469231731687303715884105727')])", 1700, typmod(39, 0),
			[]string{"-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"}},
		{"SELECT toUInt128('340282366920938463463374607431768211455')", 1700, typmod(39, 0), []string{"340282366920938463463374607431768211455"}},
		{"SELECT toInt256('-57896044618658097711785492504343953926634992332820282019728792003956564819968')", 1700, typmod(77, 0),
			[]string{"-57896044618658097711785492504343953926634992332820282019728792003956564819968"}},
		{"SELECT toUInt256('115792089237316195423570985008687907853269984665640564039457584007913129639935')", 1700, typmod(78, 0),
			[]string{"115792089237316195423570985008687907853269984665640564039457584007913129639935"}},
		{"SELECT toDecimal256('-1234567890123456789012345678901234567890.0123456789', 10)", 1700, typmod(76, 10), []string{"-1234567890123456789012345678901234567890.0123456789"}},
		{"SELECT toDecimal256('0.00000000000000000000000000000000000000000000000000000000000000000000000001', 74)", 1700, typmod(76, 74),
			[]string{"0.00000000000000000000000000000000000000000000000000000000000000000000000001"}},
		{"SELECT arrayJoin([toDate32('1900-01-01'), toDate32('2299-12-31')])", 1082, -1, []string{"1900-01-01", "2299-12-31"}},
		{"SELECT toDateTime('2024-07-01 12:00:00', 'Asia/Tokyo')", 1184, -1, []string{"2024-07-01T03:00:00Z"}},
		{"SELECT toDateTime64('2024-07-01 12:00:00.123456789', 0, 'Asia/Tokyo')", 1184, -1, []string{"2024-07-01T03:00:00Z"}},
		{"SELECT toDateTime64('2024-07-01 12:00:00.123456789', 3, 'Asia/Tokyo')", 1184, -1, []string{"2024-07-01T03:00:00.123Z"}},
		{"SELECT toDateTime64('2024-07-01 12:00:00.123456789', 6, 'America/New_York')", 1184, -1, []string{"2024-07-01T16:00:00.123456Z"}},
		{"SELECT toDateTime64('2024-07-01 12:00:00.123456789', 9, 'UTC')", 1184, -1, []string{"2024-07-01T12:00:00.123456Z"}},
		{"SELECT arrayJoin([toDateTime64('1900-01-01 00:00:00', 6, 'UTC'), toDateTime64('2299-12-31 23:59:59.999999', 6, 'UTC')])", 1184, -1, []string{"1900-01-01T00:00:00Z", "2299-12-31T23:59:59.999999Z"}},
		{"SELECT toIPv4('255.0.0.1')", 25, -1, []string{"255.0.0.1"}},
		{"SELECT toIPv6('2001:db8::1')", 25, -1, []string{"2001:db8::1"}},
		{"SELECT CAST('b' AS Enum8('a' = -128, 'b' = 127))", 25, -1, []string{"b"}},
		{"SELECT CAST('x' AS Enum16('x' = 32767))", 25, -1, []string{"x"}},
		{"SELECT [[toNullable(1), NULL], []]", 1005, -1, []string{"[[1,null],[]]"}},
		{"SELECT map('a', toUInt64('18446744073709551615'), 'b', 0)", 3802, -1, []string{`{"a":18446744073709551615,"b":0}`}},
		{"SELECT map(toUInt8(1), [true]), 1", 3802, -1, []string{`{"1":[true]}`}},
		{"SELECT CAST(tuple(1, 'x', NULL) AS Tuple(a Int32, `b c` String, d Nullable(Date)))", 3802, -1, []string{`{"a":1,"b c":"x","d":null}`}},
		{"SELECT tuple(toInt128(-1), toDate32('1900-01-01'), toDateTime64(0, 3), toIPv4('1.2.3.4'), true, toDecimal256('1.5', 2))", 3802, -1,
			[]string{`[-1,"1900-01-01","1970-01-01T00:00:00+00:00","1.2.3.4",true,1.50]`}},
		{"SELECT arrayMap(x -> toLowCardinality(toString(x % 2)), range(3))", 1009, -1, []string{`["0","1","0"]`}},
		{"SELECT CAST(['a', NULL, 'a'] AS Array(LowCardinality(Nullable(String))))", 1009, -1, []string{`["a",null,"a"]`}},
		{"SELECT CAST(map('k', 'v') AS Map(LowCardinality(String), LowCardinality(String)))", 3802, -1, []string{`{"k":"v"}`}},
		{"SELECT [toFloat32(1.5)::BFloat16]", 1021, -1, []string{"[1.5]"}},
		{"SELECT arrayJoin(['-999:59:59', '12:34:56']::Array(Time))", 1186, -1, []string{`{"months":0,"days":0,"nanoseconds":-3599999000000000}`, `{"months":0,"days":0,"nanoseconds":45296000000000}`}},
		{"SELECT '123:34:56.789012345'::Time64(9)", 1186, -1, []string{`{"months":0,"days":0,"nanoseconds":444896789012345}`}},
		{"SELECT '-0:00:00.5'::Time64(1)", 1186, -1, []string{`{"months":0,"days":0,"nanoseconds":-500000000}`}},
		{"SELECT tuple('-123:34:56.7890'::Time64(6), '00:00:01'::Time)", 3802, -1, []string{`["-123:34:56.789","00:00:01"]`}},
		{`SELECT '{"a":9007199254740993,"b":{"c":[1,"x",null]}}'::JSON`, 3802, -1, []string{`{"a":9007199254740993,"b":{"c":[1,"x",null]}}`}},
		{`SELECT '{"a":1}'::Nullable(JSON(a Int8, max_dynamic_paths = 3))`, 3802, -1, []string{`{"a":1}`}},
		{`SELECT [NULL, '{"a":"\\u0001ü"}']::Array(Nullable(JSON))`, 3807, -1, []string{`[null,"{\"a\":\"\\u0001ü\"}"]`}},
		{`SELECT tuple('{}'::JSON, 1)`, 3802, -1, []string{`[{},1]`}},
		{"SELECT (1., 2.)::Point", 3802, -1, []string{"[1,2]"}},
	} {
		rows, err := e.Open(t.Context(), engines.Query{SQL: c.sql})
		if s.Options["protocol"] == overNative && strings.Contains(c.sql, "JSON") {
			if err == nil {
				_, err = rows.Next(t.Context())
				_ = rows.Close()
			}
			if code(err) != "0A000" && code(err) != "HV004" { // its form there is not known
				t.Errorf("%s: %v", c.sql, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		f := rows.Fields()[0]
		if got := texts(t, rows); f.OID != c.oid || f.Typmod != c.typmod || !slices.Equal(got, c.want) {
			t.Errorf("%s: %d(%d) %q; want %d(%d) %q", c.sql, f.OID, f.Typmod, got, c.oid, c.typmod, c.want)
		}
	}
}

// TestRealBooleans reads what a current ClickHouse says of values of LowCardinality, whose types are such, where home has Booleans.
func TestRealBooleans(t *testing.T) {
	e := open(t, current(t))
	rows, err := e.Open(t.Context(), engines.Query{
		SQL:    "SELECT toLowCardinality(if(number = 2, NULL, toString(number))) = '1' AS x FROM system.numbers LIMIT 3",
		Fields: []engines.Field{{Name: "x", OID: oidBool, Typmod: -1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(t, rows); !slices.Equal(got, []string{"false", "true", "(null)"}) {
		t.Errorf("%q", got)
	}
}

// TestRealUnmapped refuses the types of a current ClickHouse that have no counterpart, and lists them so.
func TestRealUnmapped(t *testing.T) {
	overNew(t, checkUnmapped, "CREATE DATABASE IF NOT EXISTS odd",
		"CREATE TABLE IF NOT EXISTS odd.t (i Int128, v Variant(Int8, String), d Dynamic, a AggregateFunction(sum, Int8), r Ring, l LowCardinality(Nullable(String))) ENGINE = MergeTree ORDER BY i")
}

func checkUnmapped(t *testing.T, s engines.Server) {
	e := open(t, s)
	tables, err := e.Introspect(t.Context(), "odd")
	if err != nil || len(tables) != 1 {
		t.Fatal(tables, err)
	}
	for _, c := range tables[0].Columns {
		want := map[string]string{"i": "numeric(39,0)", "l": "text"}[c.Name]
		if c.Type != want {
			t.Errorf("%s is %q, not %q", c.Name, c.Type, want)
		}
		err := failure(t.Context(), e, "SELECT "+c.Name+" FROM odd.t")
		if want == "" && code(err) != "HV004" || want != "" && err != io.EOF {
			t.Errorf("%s: %v", c.Name, err)
		}
		if err := failure(t.Context(), e, "SELECT toString("+c.Name+") FROM odd.t"); err != io.EOF && c.Name != "a" {
			t.Errorf("%s as text: %v", c.Name, err)
		}
	}
}

// TestRealErrors has statements of a current ClickHouse fail, before rows and behind some.
func TestRealErrors(t *testing.T) { overNew(t, checkErrors) }

func checkErrors(t *testing.T, s engines.Server) {
	e := open(t, s)
	for sql, want := range map[string]string{
		"SELEKT 1": "42601", "SELECT * FROM nope": "42P01", "SELECT * FROM nope.nope": "3F000", "SELECT nope FROM system.one": "42703", "SELECT nope(1)": "42883",
		"SELECT intDiv(1, 0)": "22012", "CREATE TABLE t (a Int32) ENGINE = Memory": "25006", "SELECT throwIf(number = 100000) FROM system.numbers": "22000",
		"SELECT toInt64(if(number < 100000, toString(number), 'x')) FROM system.numbers": "22P02",
	} {
		rows, err := count(t, e, sql)
		if code(err) != want || strings.Contains(sql, "100000") != (rows > 0) {
			t.Errorf("%s: %d rows, %v; want %s", sql, rows, err, want)
		}
	}
	if s.Options["protocol"] == overNative { // where clickhouse-local ends when it lets nobody in
		return
	}
	s.Mapping["password"] = "wrong"
	if err := failure(t.Context(), open(t, s), "SELECT 1"); code(err) != "28P01" {
		t.Error(err)
	}
	s.Mapping["password"], s.Options["database"] = chdbtest.Password, "nope"
	if err := failure(t.Context(), open(t, s), "SELECT 1"); code(err) != "3F000" {
		t.Error(err)
	}
}

// TestRealArguments has a current ClickHouse take values beside the statement, those that are long within it.
func TestRealArguments(t *testing.T) { overNew(t, checkNewArguments) }

func checkNewArguments(t *testing.T, s engines.Server) {
	checkArguments(t, s, awkward[:len(awkward)-1])
	e := open(t, s)
	for _, n := range []int{10, mostBeside + 1} {
		v := strings.Repeat("ä'", n)
		rows, err := e.Open(t.Context(), engines.Query{SQL: "SELECT $1 || $2 AS x WHERE length($1) > 1", Args: []*string{&v, &v}})
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(t, rows); len(got) != 1 || got[0] != v+v {
			t.Errorf("%d: %.40q", n, got)
		}
	}
	none := ""
	rows, err := e.Open(t.Context(), engines.Query{SQL: "SELECT $1 AS x WHERE $1 <> ''", Args: []*string{&none}})
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(t, rows); len(got) != 0 || rows.Fields()[0].OID != 25 {
		t.Errorf("%q %+v", got, rows.Fields())
	}
}

// TestRealKeep keeps results in a current ClickHouse, which reads the blocks that it is sent.
func TestRealKeep(t *testing.T) {
	overNew(t, func(t *testing.T, s engines.Server) {
		s.Options["database"], s.Options["handles"] = "keeper", "true"
		keepIn(t, open(t, s))
	}, "CREATE DATABASE IF NOT EXISTS keeper")
}
