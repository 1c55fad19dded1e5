package dialect

// In an aggregate's SQL, $d is DISTINCT where the statement has it, and $f stands for its FILTER and OVER.

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
	{Aggregate, "bool_and", takes(Bool), booleanResult, "bool_and($1)$f", "aggregates"},
	{Aggregate, "every", takes(Bool), booleanResult, "bool_and($1)$f", "aggregates"},
	{Aggregate, "bool_or", takes(Bool), booleanResult, "bool_or($1)$f", "aggregates"},
}

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
