package dialect

import (
	"slices"
)

// In an aggregate's SQL, $d is DISTINCT where the statement has it, $o is its ORDER BY, which it
// must have where its SQL has, and $f stands for its FILTER and OVER.

var duckAggregates = slices.Concat(Table{
	{Aggregate, "count", nil, is(Plain(int8OID)), "count(*)$f", "aggregates"},
	{Aggregate, "count", takes(Any), is(Plain(int8OID)), "count($d$1)$f", "aggregates"},
	{Aggregate, "min", takes(Sorted), sameText, "min($d$1)$f", "aggregates"},
	{Aggregate, "max", takes(Sorted), sameText, "max($d$1)$f", "aggregates"},
	{Aggregate, "min", takes(Float8), guarded(Plain(float8OID)), signed("min", "signbit($1)"), "float_arithmetic"},
	{Aggregate, "max", takes(Float8), guarded(Plain(float8OID)), signed("max", "$1 = 0 AND signbit($1)"), "float_arithmetic"},
	{Aggregate, "min", takes(Float4), guarded(Plain(float4OID)), signed("min", "signbit($1)"), "float_arithmetic"},
	{Aggregate, "max", takes(Float4), guarded(Plain(float4OID)), signed("max", "$1 = 0 AND signbit($1)"), "float_arithmetic"},
	{Aggregate, "sum", takes(Int2), is(Plain(int8OID)), "CAST(sum($d$1)$f AS BIGINT)", "aggregates"},
	{Aggregate, "sum", takes(Int4), is(Plain(int8OID)), "CAST(sum($d$1)$f AS BIGINT)", "aggregates"},
	{Aggregate, "sum", takes(Int8), is(Decimal(MostDigits, 0)), "CAST(sum($d$1)$f AS $t)", "aggregates"},
	{Aggregate, "sum", takes(Exact), totalResult, "CAST(sum($d$1)$f AS $t)", "numeric_aggregates"},
	{Aggregate, "avg", takes(Integer), wideResult, "sluice_numeric_divide(CAST(sum($d$1)$f AS VARCHAR), CAST(count($d$1)$f AS VARCHAR))", "numeric_aggregates"},
	{Aggregate, "avg", takes(Exact), averageResult, "sluice_numeric_divide(CAST(sum($d$1)$f AS VARCHAR), CAST(count($d$1)$f AS VARCHAR))", "numeric_aggregates"},

	{Aggregate, "string_agg", []Arg{{Class: Text}, separator}, textResult, "string_agg($d$1, $2$o)$f", "ordered_aggregates"},
	{Aggregate, "bool_and", takes(Bool), booleanResult, "bool_and($d$1)$f", "aggregates"},
	{Aggregate, "every", takes(Bool), booleanResult, "bool_and($d$1)$f", "aggregates"},
	{Aggregate, "bool_or", takes(Bool), booleanResult, "bool_or($d$1)$f", "aggregates"},
	{Aggregate, "array_agg", takes(Element), arrayResult, "array_agg($d$1$o)$f", "ordered_aggregates"},
},
	variances("var_samp", "nullif(count($1)$f, 1)"), variances("variance", "nullif(count($1)$f, 1)"), variances("var_pop", "count($1)$f"),
	variances("stddev_samp", "nullif(count($1)$f, 1)"), variances("stddev", "nullif(count($1)$f, 1)"), variances("stddev_pop", "count($1)$f"),
)

// signed leaves it to home which of 0 and -0, that are equal, stands for an extreme; negative says that there may be one of the latter.
func signed(function, negative string) string {
	extreme := function + "($d$1)$f"
	return "CASE WHEN " + extreme + " = 0 AND bool_or(" + negative + ")$f THEN error('SQLSTATE 0A000: zeros of both signs') ELSE " + extreme + " END"
}

// variances has an aggregate of the squares of what values are apart, made of the exact number of values, their sum and that
// of their squares.
func variances(name, count string) Table {
	function := map[string]string{"variance": "var_samp", "stddev": "stddev_samp"}[name]
	if function == "" {
		function = name
	}
	sql := "sluice_numeric_" + function + "(CAST(" + count + " AS VARCHAR), CAST(sum($1)$f AS VARCHAR), CAST(sum(CAST($1 AS $w) * $1)$f AS VARCHAR))"
	return Table{{Aggregate, name, takes(Exact), squaresResult, sql, "variances"}}
}

// squaresResult is for sums of squares that the engine holds.
var squaresResult = Result{"numeric, scale by select_div_scale", func(args []Type) (Type, Fit) {
	w, s, ok := args[0].Digits()
	if !ok || args[0].Loose {
		return Type{}, Misfit
	}
	_, fit := bounded(2*w+18, 2*s)
	return WideNumeric(), fit
}}

// arrayResult is an array of the argument's type.
var arrayResult = Result{"an array of the argument's type", func(args []Type) (Type, Fit) {
	for array, element := range arrayTypes {
		if element == args[0].OID {
			return Plain(array), Fits
		}
	}
	return Type{}, Misfit
}}

// The functions of windows. A scale that depends on the row is out of sight behind them.
var duckWindows = Table{
	{Window, "row_number", nil, is(Plain(int8OID)), "row_number()$f", "windows"},
	{Window, "rank", nil, is(Plain(int8OID)), "rank()$f", "windows"},
	{Window, "dense_rank", nil, is(Plain(int8OID)), "dense_rank()$f", "windows"},
	{Window, "ntile", []Arg{place}, is(Plain(int4OID)), "CAST(ntile($1)$f AS INTEGER)", "windows"},
	{Window, "percent_rank", nil, is(Plain(float8OID)), "percent_rank()$f", "windows"},
	{Window, "cume_dist", nil, is(Plain(float8OID)), "cume_dist()$f", "windows"},
	{Window, "lag", takes(Any), carriedResult, "lag($1)$f", "windows"},
	{Window, "lag", []Arg{{Class: Any}, count}, carriedResult, "lag($1, $2)$f", "windows"},
	{Window, "lead", takes(Any), carriedResult, "lead($1)$f", "windows"},
	{Window, "lead", []Arg{{Class: Any}, count}, carriedResult, "lead($1, $2)$f", "windows"},
	{Window, "first_value", takes(Any), carriedResult, "first_value($1)$f", "windows"},
	{Window, "last_value", takes(Any), carriedResult, "last_value($1)$f", "windows"},
	{Window, "nth_value", []Arg{{Class: Any}, place}, carriedResult, "nth_value($1, $2)$f", "windows"},
}

var carriedResult = Result{"that of the argument", func(args []Type) (Type, Fit) {
	if args[0].Loose || args[0].OID == UnknownOID {
		return Type{}, Misfit
	}
	return args[0], Fits
}}

var averageResult = Result{"numeric, scale by select_div_scale", func(args []Type) (Type, Fit) {
	t, fit := total(args)
	if t.Loose {
		return Type{}, Misfit
	}
	if fit == Misfit {
		return Type{}, Misfit
	}
	return WideNumeric(), fit
}}
