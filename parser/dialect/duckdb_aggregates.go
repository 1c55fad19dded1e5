package dialect

// In an aggregate's SQL, $d is DISTINCT where the statement has it, $o is its ORDER BY, which it
// must have where its SQL has, and $f stands for its FILTER and OVER.

var duckAggregates = Table{
	{Aggregate, "count", nil, is(Plain(int8OID)), "count(*)$f", "aggregates"},
	{Aggregate, "count", takes(Any), is(Plain(int8OID)), "count($d$1)$f", "aggregates"},
	{Aggregate, "min", takes(Sorted), sameText, "min($1)$f", "aggregates"},
	{Aggregate, "max", takes(Sorted), sameText, "max($1)$f", "aggregates"},
	{Aggregate, "sum", takes(Int2), is(Plain(int8OID)), "CAST(sum($d$1)$f AS BIGINT)", "aggregates"},
	{Aggregate, "sum", takes(Int4), is(Plain(int8OID)), "CAST(sum($d$1)$f AS BIGINT)", "aggregates"},
	{Aggregate, "sum", takes(Int8), is(Decimal(mostDigits, 0)), "CAST(sum($d$1)$f AS $t)", "aggregates"},
	{Aggregate, "sum", takes(Exact), totalResult, "CAST(sum($d$1)$f AS $t)", "numeric_aggregates"},
	{Aggregate, "avg", takes(Integer), wideResult, "sluice_numeric_divide(CAST(sum($d$1)$f AS VARCHAR), CAST(count($d$1)$f AS VARCHAR))", "numeric_aggregates"},
	{Aggregate, "avg", takes(Exact), averageResult, "sluice_numeric_divide(CAST(sum($d$1)$f AS VARCHAR), CAST(count($d$1)$f AS VARCHAR))", "numeric_aggregates"},
	{Aggregate, "string_agg", []Arg{{Class: Text}, separator}, textResult, "string_agg($1, $2$o)$f", "ordered_aggregates"},
	{Aggregate, "bool_and", takes(Bool), booleanResult, "bool_and($1)$f", "aggregates"},
	{Aggregate, "every", takes(Bool), booleanResult, "bool_and($1)$f", "aggregates"},
	{Aggregate, "bool_or", takes(Bool), booleanResult, "bool_or($1)$f", "aggregates"},
}

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
