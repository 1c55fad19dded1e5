package sqlgen

import "strings"

// values are of each type that expressions are made of, as text, awkward ones among them. Its keys are names in pg_type.
var values = map[string][]string{
	"bool":    {"true", "false"},
	"int2":    {"0", "1", "-1", "7", "32767", "-32768"},
	"int4":    {"0", "1", "-1", "2", "3", "7", "10", "100", "2147483647", "-2147483648"},
	"int8":    {"0", "1", "-5", "10000000000", "9223372036854775807", "-9223372036854775808"},
	"numeric": {"0.0", "1.5", "-1.50", "0.01", "2.5", "10", "99999999.99", "0.000001", "1e20", "12345678901234567890123456789012345678901234567890.5", "NaN", "Infinity"},
	"float4":  {"0", "-0", "1.5", "0.1", "NaN", "-Infinity", "1e-45", "16777217"},
	"float8":  {"0", "-0", "2.5", "-0.5", "0.1", "NaN", "Infinity", "-Infinity", "1e20", "1e308", "5e-324"},
	"text":    {"", "a", "A", "a ", " ", "é", "e\u0301", "ab", "eng", "it's", `a\b`, "10", "%", "a_b", "Note", "日本", "1.5", "2024-02-29", "a.c"},
	"varchar": {"", "a", "A ", "é", "9"},
	"bpchar":  {"", "a", "a  ", "A", "new"},
	"date":    {"2024-02-29", "1970-01-01", "infinity", "-infinity", "2024-11-03", "0001-01-01", "0044-03-15 BC", "12024-06-30"},
	"time":    {"00:00", "12:34:56.789", "23:59:59.999999", "24:00", "02:30"},
	"timetz":  {"12:00+00", "12:00:00.5-08", "02:30+05:30"},
	"timestamp": {"2024-02-29 12:34:56.789", "1969-12-31 23:59:59.999999", "-infinity", "infinity", "2024-03-10 02:30", "2024-01-31", "0044-03-15 12:00 BC",
		"12024-06-30 01:02:03"},
	"timestamptz": {"2024-03-10 07:30+00", "1970-01-01 00:00+00", "infinity", "2024-11-03 05:30+00", "2024-11-03 06:30+00", "0001-01-01 00:00+00"},
	"interval":    {"0", "1 day", "1 mon", "30 days", "-1 mon +2 days -03:00", "1 year 2 mons 3 days 04:05:06.789", "-00:00:00.000001", "100 years", "24:00"},
	"uuid":        {"00112233-4455-6677-8899-aabbccddeeff", "80000000-0000-0000-0000-000000000000"},
	"bytea":       {`\x`, `\x00`, `\xdeadbeef`, `\x616263`},
	"json":        {`{"a":1,"a":2}`, `[1,2,{"b":null}]`, "1.10", `"x"`, "null"},
	"jsonb":       {`{"a":1,"b":[1,{"c":null}]}`, `[1,2,3]`, "1.10", `"a"`, "null", "{}"},
	"_int4":       {"{}", "{1,2,3}", "{NULL}", "{{1,2},{3,4}}", "{5,NULL,6}", "[0:1]={7,8}"},
	"_text":       {"{}", "{a,NULL,\"\"}", "{{a,b},{c,d}}", "{\"b c\",é}"},
	"mood":        {"sad", "ok", "happy"},
	"pair":        {"(1,a,)", `(,"b c","{{1,2},{3,4}}")`},
}

// types are the names of values in a fixed order.
var types = []string{"bool", "int2", "int4", "int8", "numeric", "float4", "float8", "text", "varchar", "bpchar", "date", "time", "timetz", "timestamp",
	"timestamptz", "interval", "uuid", "bytea", "json", "jsonb", "_int4", "_text", "mood", "pair"}

// kindred are types that an expression may be made of in place of another's column.
var kindred = map[string][]string{"int8": {"int4", "int2"}, "int4": {"int2"}, "numeric": {"int4"}, "float8": {"float4"}, "text": {"varchar", "bpchar"}}

// typeName is how a type is written in a cast; enum and composite types are the fixture's own, in schema h.
func typeName(typ string) string {
	if typ == "mood" || typ == "pair" {
		return "h." + typ
	}
	return typ
}

// constant writes a value as SQL.
func constant(typ, value string) string {
	switch typ {
	case "bool":
		return value
	case "int4", "numeric":
		if strings.HasPrefix(value, "-") {
			return "(" + value + ")"
		}
		if strings.ContainsAny(value, "NI") {
			break
		}
		return value
	case "text":
		return quote(value)
	}
	return quote(value) + "::" + typeName(typ)
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// uniform writes an expression so that equal values look equal, and returns the type that it then has.
func uniform(sql, typ string) (expr, as string) {
	switch typ {
	case "float4", "float8":
		return "((" + sql + ") + 0::float8)", "float8"
	case "numeric":
		return "trim_scale(" + sql + ")", typ
	case "interval":
		return "justify_interval(" + sql + ")", typ
	case "bpchar", "json", "jsonb":
		return "(" + sql + ")::text", "text"
	}
	return sql, typ
}
