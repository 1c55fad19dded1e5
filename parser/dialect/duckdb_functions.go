package dialect

import (
	"slices"
	"strings"
)

var duckFunctions = slices.Concat(Table{
	{Function, "length", takes(Text), is(Plain(int4OID)), "CAST(length($1) AS INTEGER)", "text_functions"},
	{Function, "char_length", takes(Text), is(Plain(int4OID)), "CAST(length($1) AS INTEGER)", "text_functions"},
	{Function, "character_length", takes(Text), is(Plain(int4OID)), "CAST(length($1) AS INTEGER)", "text_functions"},
	{Function, "octet_length", takes(Unpadded), is(Plain(int4OID)), "CAST(strlen($1) AS INTEGER)", "text_functions"},
	{Function, "left", []Arg{{Class: Text}, count}, textResult, "left($1, $2)", "text_functions"},
	{Function, "right", []Arg{{Class: Text}, count}, textResult, "right($1, $2)", "text_functions"},
	{Function, "substr", []Arg{{Class: Text}, place}, textResult, "substr($1, $2)", "text_functions"},
	{Function, "substr", []Arg{{Class: Text}, place, count}, textResult, "substr($1, $2, $3)", "text_functions"},
	{Function, "substring", []Arg{{Class: Text}, place}, textResult, "substr($1, $2)", "text_functions"},
	{Function, "substring", []Arg{{Class: Text}, place, count}, textResult, "substr($1, $2, $3)", "text_functions"},
	{Function, "btrim", takes(Text), textResult, "trim($1, ' ')", "text_functions"},
	{Function, "ltrim", takes(Text), textResult, "ltrim($1, ' ')", "text_functions"},
	{Function, "rtrim", takes(Text), textResult, "rtrim($1, ' ')", "text_functions"},
	{Function, "starts_with", takes(Equal, Equal), booleanResult, "starts_with($1, $2)", "text_functions"},
	{Function, "md5", takes(Text), textResult, "md5($1)", "text_functions"},
	{Function, "lower", takes(Ordered), guardedText, asciiOnly("lower($1)"), "letter_case"},
	{Function, "upper", takes(Ordered), guardedText, asciiOnly("upper($1)"), "letter_case"},

	{Function, "abs", takes(Integer), firstResult, "abs(CAST($1 AS $t))", "numeric_functions"},
	{Function, "abs", takes(Exact), firstResult, "abs($1)", "numeric_functions"},
	{Function, "abs", takes(Float8), firstResult, "abs($1)", "float_arithmetic"},
	{Function, "abs", takes(Float4), firstResult, "abs($1)", "float_arithmetic"},
	{Function, "floor", takes(Float8), firstResult, "floor($1)", "float_arithmetic"},
	{Function, "ceil", takes(Float8), firstResult, "ceil($1)", "float_arithmetic"},
	{Function, "ceiling", takes(Float8), firstResult, "ceil($1)", "float_arithmetic"},
	{Function, "trunc", takes(Float8), firstResult, "trunc($1)", "float_arithmetic"},
	{Function, "sign", takes(Float8), firstResult, "CAST(sign($1) AS DOUBLE)", "float_arithmetic"},
	{Function, "sqrt", takes(Float8), firstResult,
		"CASE WHEN $1 < 0 THEN error('SQLSTATE 2201F: cannot take square root of a negative number') ELSE sqrt($1) END", "float_arithmetic"},
	{Function, "mod", takes(Integer, Integer), widerResult, remainder, "integer_division"},
	{Function, "round", takes(Fixed), roundedTo(0), "CAST($1 AS $t)", "numeric_functions"},
	{Function, "round", takes(Unfixed), wideResult, "sluice_numeric_round($1, '0')", "numeric_rounding"},
	{Function, "round", []Arg{{Class: Exact}, scale}, roundedTo(1), "CAST($1 AS $t)", "numeric_rounding"},
	{Function, "round", []Arg{{Class: Numeric}, scale}, wideResult, "sluice_numeric_round($1, '$2')", "numeric_rounding"},
	{Function, "trunc", takes(Unfixed), wideResult, "sluice_numeric_trunc($1, '0')", "numeric_rounding"},
	{Function, "trunc", takes(Fixed), roundedTo(0), "CAST(trunc($1) AS $t)", "numeric_rounding"},
	{Function, "trunc", []Arg{{Class: Numeric}, scale}, wideResult, "sluice_numeric_trunc($1, '$2')", "numeric_rounding"},
	{Function, "ceil", takes(Fixed), roundedTo(0), "CAST(ceil($1) AS $t)", "numeric_rounding"},
	{Function, "ceiling", takes(Fixed), roundedTo(0), "CAST(ceil($1) AS $t)", "numeric_rounding"},
	{Function, "floor", takes(Fixed), roundedTo(0), "CAST(floor($1) AS $t)", "numeric_rounding"},

	{Function, "to_char", []Arg{{Class: Date}, template}, guardedText, dated("DATE", "strftime($1, $2)"), "to_char"},
	{Function, "to_char", []Arg{{Class: Timestamp}, template}, guardedText, dated("TIMESTAMP", "strftime($1, $2)"), "to_char"},
	{Function, "date_trunc", []Arg{units, {Class: Timestamp}}, is(Plain(timestampOID)), truncated("$1", "$2"), "date_functions"},
},
	duckTexts,
	parts("year", Date, 4, inYears("DATE")), parts("year", Timestamp, 4, inYears("TIMESTAMP")),
	parts("quarter", Date, 1, "%s"), parts("quarter", Timestamp, 1, "%s"),
	parts("month", Date, 2, "%s"), parts("month", Timestamp, 2, "%s"),
	parts("day", Date, 2, "%s"), parts("day", Timestamp, 2, "%s"),
	parts("doy", Date, 3, "%s"), parts("doy", Timestamp, 3, "%s"),
	parts("dow", Date, 1, "%s"), parts("dow", Timestamp, 1, "%s"),
	parts("hour", Timestamp, 2, "%s"), parts("minute", Timestamp, 2, "%s"),
)

// parts has extract and date_part of a field that is a whole number of so many digits. In within, %s is the engine's
// value, which is Postgres' there.
func parts(name string, of Class, digits int, within string) Table {
	sql := strings.ReplaceAll(within, "%s", "CAST(date_part($1, $2) AS $t)")
	numeric, double := is(Decimal(digits, 0)), is(Plain(float8OID))
	if within != "%s" {
		numeric, double = guarded(Decimal(digits, 0)), guarded(Plain(float8OID))
	}
	args := []Arg{field(name), {Class: of}}
	return Table{
		{Function, "extract", args, numeric, sql, "date_functions"},
		{Function, "date_part", args, double, sql, "date_functions"},
	}
}

// truncated cuts a time off. Bare, DuckDB takes its comparison with what no such time can be for one that NULL decides too.
func truncated(unit, time string) string {
	return "CASE WHEN " + time + " IS NOT NULL THEN date_trunc(" + unit + ", " + time + ") END"
}

// inYears leaves years that the two count differently, and infinity, to home.
func inYears(typ string) string { return strings.ReplaceAll(dated(typ, "%s"), "$1", "$2") }

// dated is inYears of an expression over the first argument.
func dated(typ, sql string) string {
	return "CASE WHEN $1 < " + typ + " '0001-01-01' OR $1 > " + typ + " '9999-12-31' THEN error('SQLSTATE 0A000: a year out of range') ELSE " + sql + " END"
}

// asciiOnly leaves to home what is not ASCII: the two have their own tables of letters.
func asciiOnly(sql string) string {
	return "CASE WHEN strlen($1) <> length($1) THEN error('SQLSTATE 0A000: letters beyond ASCII') ELSE " + sql + " END"
}
