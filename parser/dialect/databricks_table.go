package dialect

import "slices"

var (
	brickTable = slices.Concat(brickOperators, brickFunctions, brickCasts, brickAggregates, trinoWindows)
	brickIndex = brickTable.index()
)

// Table lists what a warehouse is proven to compute as Postgres does.
func (Databricks) Table() Index { return brickIndex }

// brickProduct is a rule for a product whose type the engine gives one digit more than it needs: beyond those of a decimal it rounds.
var brickProduct = Result{productResult.Words, func(args []Type) (Type, Fit) {
	w, s, ok := decimals(args)
	if t, fit := productResult.Of(args); ok && fit == Fits && w[0]+w[1]+s[0]+s[1] < MostDigits {
		return t, Fits
	}
	return Type{}, Misfit
}}

func brickComparisons(name string, text Class, cases string) Table {
	var list Table
	for _, c := range []Class{Bool, Integer, Exact, Float4, Float8, text, Date, Timestamp, Zoned} {
		list = append(list, Entry{Operator, name, takes(c, c), booleanResult, "($1 " + name + " $2)", cases})
	}
	return append(list,
		Entry{Operator, name, takes(Date, Timestamp), booleanResult, "(CAST($1 AS TIMESTAMP_NTZ) " + name + " $2)", cases},
		Entry{Operator, name, takes(Timestamp, Date), booleanResult, "($1 " + name + " CAST($2 AS TIMESTAMP_NTZ))", cases})
}

func brickLikes(name, word string) Table {
	var list Table
	for _, c := range []Class{Padded, Equal} {
		list = append(list, Entry{Operator, name, []Arg{{Class: c}, pattern}, booleanResult, "($1 " + word + " $2)", "texts"},
			Entry{Operator, name, []Arg{{Class: c}, matchable}, booleanResult, "($1 " + word + ` $2 ESCAPE '\\')`, "texts"})
	}
	return list
}

var brickOperators = slices.Concat(Table{
	{Operator, "+", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) + CAST($2 AS $t))", "numbers"},
	{Operator, "-", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) - CAST($2 AS $t))", "numbers"},
	{Operator, "*", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) * CAST($2 AS $t))", "numbers"},
	{Operator, "/", takes(Integer, Integer), widerResult, "CAST((CAST($1 AS $t) div CAST($2 AS $t)) AS $t)", "numbers"},
	{Operator, "%", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) % CAST($2 AS $t))", "numbers"},
	{Operator, "+", takes(Exact, Exact), held(sumResult), "($1 + $2)", "numbers"},
	{Operator, "-", takes(Exact, Exact), held(sumResult), "($1 - $2)", "numbers"},
	{Operator, "*", takes(Exact, Exact), brickProduct, "CAST(($1 * $2) AS $t)", "numbers"},
	{Operator, "-", takes(Integer), firstResult, "(CAST(0 AS $t) - $1)", "numbers"},
	{Operator, "-", takes(Exact), firstResult, "(- $1)", "numbers"},
	{Operator, "||", takes(Text, Text), textResult, "($1 || $2)", "texts"},
},
	brickLikes("~~", "LIKE"), brickLikes("!~~", "NOT LIKE"),
	brickComparisons("=", Equal, "comparisons"), brickComparisons("<>", Equal, "comparisons"),
	brickComparisons("<", Ordered, "comparisons"), brickComparisons("<=", Ordered, "comparisons"),
	brickComparisons(">", Ordered, "comparisons"), brickComparisons(">=", Ordered, "comparisons"),
	brickComparisons("IS DISTINCT FROM", Equal, "comparisons"), brickComparisons("IS NOT DISTINCT FROM", Equal, "comparisons"),
)

var brickFunctions = slices.Concat(Table{
	{Function, "length", takes(Text), is(Plain(int4OID)), "length($1)", "texts"},
	{Function, "char_length", takes(Text), is(Plain(int4OID)), "length($1)", "texts"},
	{Function, "character_length", takes(Text), is(Plain(int4OID)), "length($1)", "texts"},
	{Function, "octet_length", takes(Unpadded), is(Plain(int4OID)), "octet_length($1)", "texts"},
	{Function, "left", []Arg{{Class: Text}, count}, textResult, "substr($1, 1, $2)", "texts"},
	{Function, "substr", []Arg{{Class: Text}, place}, textResult, "substr($1, $2)", "texts"},
	{Function, "substr", []Arg{{Class: Text}, place, count}, textResult, "substr($1, $2, $3)", "texts"},
	{Function, "substring", []Arg{{Class: Text}, place}, textResult, "substr($1, $2)", "texts"},
	{Function, "substring", []Arg{{Class: Text}, place, count}, textResult, "substr($1, $2, $3)", "texts"},
	{Function, "btrim", takes(Text), textResult, "trim(BOTH ' ' FROM $1)", "texts"},
	{Function, "ltrim", takes(Text), textResult, "trim(LEADING ' ' FROM $1)", "texts"},
	{Function, "rtrim", takes(Text), textResult, "trim(TRAILING ' ' FROM $1)", "texts"},
	{Function, "starts_with", takes(Equal, Equal), booleanResult, "startswith($1, $2)", "texts"},
	{Function, "strpos", takes(Equal, Equal), is(Plain(int4OID)), "instr($1, $2)", "texts"},
	{Function, "position", takes(Equal, Equal), is(Plain(int4OID)), "instr($1, $2)", "texts"},
	{Function, "replace", []Arg{{Class: Equal}, mark, {Class: Equal}}, textResult, "replace($1, $2, $3)", "texts"},
	{Function, "md5", takes(Text), textResult, "md5($1)", "texts"},
	{Function, "lower", takes(Ordered), guardedText, brickASCII("lower($1)"), "texts"},
	{Function, "upper", takes(Ordered), guardedText, brickASCII("upper($1)"), "texts"},

	{Function, "abs", takes(Integer), firstResult, "abs(CAST($1 AS $t))", "numbers"},
	{Function, "abs", takes(Exact), firstResult, "abs($1)", "numbers"},
	{Function, "mod", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) % CAST($2 AS $t))", "numbers"},
	{Function, "round", takes(Fixed), held(roundedTo(0)), "CAST($1 AS $t)", "numbers"},
	{Function, "round", []Arg{{Class: Exact}, scale}, held(roundedTo(1)), "CAST($1 AS $t)", "numbers"},
	{Function, "ceil", takes(Fixed), held(roundedTo(0)), "CAST(ceil($1) AS $t)", "numbers"},
	{Function, "ceiling", takes(Fixed), held(roundedTo(0)), "CAST(ceil($1) AS $t)", "numbers"},
	{Function, "floor", takes(Fixed), held(roundedTo(0)), "CAST(floor($1) AS $t)", "numbers"},

	{Function, "date_trunc", []Arg{units, {Class: Timestamp}}, is(Plain(timestampOID)), "CAST(date_trunc($1, $2) AS $t)", "dates"},
},
	trinoParts("year", Date, 7, trinoYears), trinoParts("year", Timestamp, 7, trinoYears),
	trinoParts("quarter", Date, 1, "%s"), trinoParts("quarter", Timestamp, 1, "%s"),
	trinoParts("month", Date, 2, "%s"), trinoParts("month", Timestamp, 2, "%s"),
	trinoParts("day", Date, 2, "%s"), trinoParts("day", Timestamp, 2, "%s"),
	trinoParts("hour", Timestamp, 2, "%s"), trinoParts("minute", Timestamp, 2, "%s"),
)

// brickASCII leaves to home what is not ASCII: the two have their own tables of letters.
func brickASCII(sql string) string {
	return "CASE WHEN octet_length($1) <> length($1) THEN raise_error('SQLSTATE 0A000: letters beyond ASCII') ELSE " + sql + " END"
}

var brickCasts = Table{
	{Cast, "int2", takes(Integer), is(Plain(int2OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int4", takes(Integer), is(Plain(int4OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int8", takes(Integer), is(Plain(int8OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int2", takes(Exact), is(Plain(int2OID)), "CAST(round($1) AS $t)", "casts"},
	{Cast, "int4", takes(Exact), is(Plain(int4OID)), "CAST(round($1) AS $t)", "casts"},
	{Cast, "int8", takes(Exact), is(Plain(int8OID)), "CAST(round($1) AS $t)", "casts"},
	{Cast, "int4", takes(Bool), is(Plain(int4OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "numeric", takes(Exact), exactResult, "CAST($1 AS $t)", "casts"},
	{Cast, "float8", takes(Integer), is(Plain(float8OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "float8", takes(Float4), is(Plain(float8OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "float8", takes(Float8), is(Plain(float8OID)), "$1", "casts"},
	{Cast, "text", takes(Integer), is(TextOf()), "CAST($1 AS $t)", "casts"},
	{Cast, "text", takes(Bool), is(TextOf()), "CAST($1 AS $t)", "casts"},
	{Cast, "text", takes(Text), textResult, "$1", "casts"},
	{Cast, "timestamp", takes(Date), is(Plain(timestampOID)), "CAST($1 AS $t)", "casts"},
	{Cast, "date", takes(Timestamp), is(Plain(dateOID)), "CAST($1 AS $t)", "casts"},
	{Cast, "date", takes(Date), is(Plain(dateOID)), "$1", "casts"},
	{Cast, "timestamp", takes(Timestamp), is(Plain(timestampOID)), "$1", "casts"},
	{Cast, "bool", takes(Bool), is(Plain(boolOID)), "$1", "casts"},
}

var brickAggregates = Table{
	{Aggregate, "count", nil, is(Plain(int8OID)), "count(*)$f", "aggregates"},
	{Aggregate, "count", takes(Any), is(Plain(int8OID)), "count($d$1)$f", "aggregates"},
	{Aggregate, "min", takes(Sorted), sameText, "min($d$1)$f", "aggregates"},
	{Aggregate, "max", takes(Sorted), sameText, "max($d$1)$f", "aggregates"},
	{Aggregate, "sum", takes(Int2), is(Plain(int8OID)), "sum($d$1)$f", "aggregates"},
	{Aggregate, "sum", takes(Int4), is(Plain(int8OID)), "sum($d$1)$f", "aggregates"},
	{Aggregate, "sum", takes(Int8), is(Decimal(MostDigits, 0)), "sum($dCAST($1 AS $t))$f", "aggregates"},
	{Aggregate, "sum", takes(Exact), totalResult, "sum($dCAST($1 AS $w))$f", "aggregates"},
	{Aggregate, "bool_and", takes(Bool), booleanResult, "bool_and($d$1)$f", "aggregates"},
	{Aggregate, "every", takes(Bool), booleanResult, "bool_and($d$1)$f", "aggregates"},
	{Aggregate, "bool_or", takes(Bool), booleanResult, "bool_or($d$1)$f", "aggregates"},
}
