package dialect

import (
	"slices"
	"strings"
)

var (
	trinoTable = slices.Concat(trinoOperators, trinoFunctionEntries, trinoCasts, trinoAggregates, trinoWindows)
	trinoIndex = trinoTable.index()
)

// Table lists what Trino is proven to compute as Postgres does.
func (Trino) Table() Index { return trinoIndex }

// held is a rule's result where a decimal holds it: Trino rounds what takes more digits than that.
func held(r Result) Result {
	return Result{r.Words, func(args []Type) (Type, Fit) {
		t, fit := r.Of(args)
		if fit == Guarded {
			return Type{}, Misfit
		}
		return t, fit
	}}
}

// trinoBound is not for decimals that have all of their digits behind the point, of which Trino knows no power of ten.
var trinoBound = Result{roundedTo(0).Words, func(args []Type) (Type, Fit) {
	if _, s, _ := args[0].Digits(); s == MostDigits {
		return Type{}, Misfit
	}
	return held(roundedTo(0)).Of(args)
}}

// trinoProduct has no more than six digits behind the point where it has more in all than a decimal: so many Trino keeps.
var trinoProduct = Result{productResult.Words, func(args []Type) (Type, Fit) {
	t, fit := productResult.Of(args)
	if _, scale, _ := t.Decimal(); fit == Guarded && scale > 6 {
		return Type{}, Misfit
	}
	return t, fit
}}

func trinoComparisons(name string, text Class, cases string) Table {
	var list Table
	for _, c := range []Class{Bool, Integer, Exact, Numeric, text, Date, Timestamp, Zoned, UUID} {
		e := Entry{Operator, name, takes(c, c), booleanResult, "($1 " + name + " $2)", cases}
		if c == Numeric {
			e.SQL = "(sluice_numeric_key($1) " + name + " sluice_numeric_key($2))"
		}
		list = append(list, e)
	}
	return append(list,
		Entry{Operator, name, takes(Date, Timestamp), booleanResult, "(CAST($1 AS TIMESTAMP(6)) " + name + " $2)", cases},
		Entry{Operator, name, takes(Timestamp, Date), booleanResult, "($1 " + name + " CAST($2 AS TIMESTAMP(6)))", cases})
}

// matchable are patterns that Trino reads: an escape stands before what has a meaning.
var matchable = literal(Text, "a pattern whose escapes are of %, _ and \\", func(text string) bool {
	return isText(text) && !strings.Contains(strings.NewReplacer(`\\`, "", `\%`, "", `\_`, "").Replace(text), `\`)
})

func trinoLikes(name, word string) Table {
	var list Table
	for _, c := range []Class{Padded, Equal} {
		list = append(list, Entry{Operator, name, []Arg{{Class: c}, pattern}, booleanResult, "($1 " + word + " $2)", "texts"},
			Entry{Operator, name, []Arg{{Class: c}, matchable}, booleanResult, "($1 " + word + ` $2 ESCAPE '\')`, "texts"})
	}
	return list
}

var trinoOperators = slices.Concat(Table{
	{Operator, "+", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) + CAST($2 AS $t))", "numbers"},
	{Operator, "-", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) - CAST($2 AS $t))", "numbers"},
	{Operator, "*", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) * CAST($2 AS $t))", "numbers"},
	{Operator, "/", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) / CAST($2 AS $t))", "numbers"},
	{Operator, "%", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) % CAST($2 AS $t))", "numbers"},
	{Operator, "+", takes(Exact, Exact), held(sumResult), "($1 + $2)", "numbers"},
	{Operator, "-", takes(Exact, Exact), held(sumResult), "($1 - $2)", "numbers"},
	{Operator, "*", takes(Exact, Exact), trinoProduct, "($1 * $2)", "numbers"},
	{Operator, "+", takes(Numeric, Numeric), guarded(WideNumeric()), "sluice_numeric_add($1, $2)", "numerics"},
	{Operator, "-", takes(Numeric, Numeric), guarded(WideNumeric()), "sluice_numeric_subtract($1, $2)", "numerics"},
	{Operator, "*", takes(Numeric, Numeric), guarded(WideNumeric()), "sluice_numeric_multiply($1, $2)", "numerics"},
	{Operator, "/", takes(Numeric, Numeric), trinoQuotient, "sluice_numeric_divide($1, $2)", "numerics"},
	{Operator, "-", takes(Integer), firstResult, "(CAST(0 AS $t) - $1)", "numbers"},
	{Operator, "-", takes(Exact), firstResult, "(- $1)", "numbers"},
	{Operator, "||", takes(Text, Text), textResult, "($1 || $2)", "texts"},
},
	trinoLikes("~~", "LIKE"), trinoLikes("!~~", "NOT LIKE"),
	trinoComparisons("=", Equal, "comparisons"), trinoComparisons("<>", Equal, "comparisons"),
	trinoComparisons("<", Ordered, "comparisons"), trinoComparisons("<=", Ordered, "comparisons"),
	trinoComparisons(">", Ordered, "comparisons"), trinoComparisons(">=", Ordered, "comparisons"),
	trinoComparisons("IS DISTINCT FROM", Equal, "comparisons"), trinoComparisons("IS NOT DISTINCT FROM", Equal, "comparisons"),
)

// trinoQuotient has no more digits than a decimal.
var trinoQuotient = Result{quotientWords.Words, func(args []Type) (Type, Fit) {
	t, fit := division(args)
	if fit == Fits {
		fit = Guarded
	}
	return t, fit
}}

var trinoFunctionEntries = slices.Concat(Table{
	{Function, "length", takes(Text), is(Plain(int4OID)), "CAST(length($1) AS INTEGER)", "texts"},
	{Function, "char_length", takes(Text), is(Plain(int4OID)), "CAST(length($1) AS INTEGER)", "texts"},
	{Function, "character_length", takes(Text), is(Plain(int4OID)), "CAST(length($1) AS INTEGER)", "texts"},
	{Function, "octet_length", takes(Unpadded), is(Plain(int4OID)), "CAST(length(to_utf8($1)) AS INTEGER)", "texts"},
	{Function, "left", []Arg{{Class: Text}, count}, textResult, "substr($1, 1, $2)", "texts"},
	{Function, "substr", []Arg{{Class: Text}, place}, textResult, "substr($1, $2)", "texts"},
	{Function, "substr", []Arg{{Class: Text}, place, count}, textResult, "substr($1, $2, $3)", "texts"},
	{Function, "substring", []Arg{{Class: Text}, place}, textResult, "substr($1, $2)", "texts"},
	{Function, "substring", []Arg{{Class: Text}, place, count}, textResult, "substr($1, $2, $3)", "texts"},
	{Function, "btrim", takes(Text), textResult, "trim(BOTH ' ' FROM $1)", "texts"},
	{Function, "ltrim", takes(Text), textResult, "trim(LEADING ' ' FROM $1)", "texts"},
	{Function, "rtrim", takes(Text), textResult, "trim(TRAILING ' ' FROM $1)", "texts"},
	{Function, "starts_with", takes(Equal, Equal), booleanResult, "starts_with($1, $2)", "texts"},
	{Function, "strpos", takes(Equal, Equal), is(Plain(int4OID)), "CAST(strpos($1, $2) AS INTEGER)", "texts"},
	{Function, "position", takes(Equal, Equal), is(Plain(int4OID)), "CAST(strpos($1, $2) AS INTEGER)", "texts"},
	{Function, "replace", []Arg{{Class: Equal}, mark, {Class: Equal}}, textResult, "replace($1, $2, $3)", "texts"},
	{Function, "md5", takes(Text), textResult, "lower(to_hex(md5(to_utf8($1))))", "texts"},
	{Function, "lower", takes(Ordered), guardedText, trinoASCII("lower($1)"), "texts"},
	{Function, "upper", takes(Ordered), guardedText, trinoASCII("upper($1)"), "texts"},

	{Function, "abs", takes(Integer), firstResult, "abs(CAST($1 AS $t))", "numbers"},
	{Function, "abs", takes(Exact), firstResult, "abs($1)", "numbers"},
	{Function, "mod", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) % CAST($2 AS $t))", "numbers"},
	{Function, "round", takes(Fixed), held(roundedTo(0)), "CAST($1 AS $t)", "numbers"},
	{Function, "round", takes(Unfixed), guarded(WideNumeric()), "sluice_numeric_round($1, '0')", "numerics"},
	{Function, "round", []Arg{{Class: Exact}, scale}, held(roundedTo(1)), "CAST($1 AS $t)", "numbers"},
	{Function, "round", []Arg{{Class: Numeric}, scale}, guarded(WideNumeric()), "sluice_numeric_round($1, '$2')", "numerics"},
	{Function, "trunc", takes(Fixed), held(roundedTo(0)), "CAST(truncate($1) AS $t)", "numbers"},
	{Function, "ceil", takes(Fixed), trinoBound, "CAST(ceiling($1) AS $t)", "numbers"},
	{Function, "ceiling", takes(Fixed), trinoBound, "CAST(ceiling($1) AS $t)", "numbers"},
	{Function, "floor", takes(Fixed), trinoBound, "CAST(floor($1) AS $t)", "numbers"},

	{Function, "date_trunc", []Arg{units, {Class: Timestamp}}, is(Plain(timestampOID)), "date_trunc($1, $2)", "dates"},
},
	trinoParts("year", Date, 7, trinoYears), trinoParts("year", Timestamp, 7, trinoYears),
	trinoParts("quarter", Date, 1, "%s"), trinoParts("quarter", Timestamp, 1, "%s"),
	trinoParts("month", Date, 2, "%s"), trinoParts("month", Timestamp, 2, "%s"),
	trinoParts("day", Date, 2, "%s"), trinoParts("day", Timestamp, 2, "%s"),
	trinoParts("hour", Timestamp, 2, "%s"), trinoParts("minute", Timestamp, 2, "%s"),
)

func trinoParts(name string, of Class, digits int, within string) Table {
	sql := "CAST(" + strings.ReplaceAll(within, "%s", name+"($2)") + " AS $t)"
	return Table{{Function, "extract", []Arg{field(name), {Class: of}}, is(Decimal(digits, 0)), sql, "dates"}}
}

// trinoYears has no year 0 in front of our era.
const trinoYears = "CASE WHEN %s > 0 THEN %s ELSE %s - 1 END"

// trinoASCII leaves to home what is not ASCII: the two have their own tables of letters.
func trinoASCII(sql string) string {
	return "CASE WHEN length(to_utf8($1)) <> length($1) THEN fail('SQLSTATE 0A000: letters beyond ASCII') ELSE " + sql + " END"
}

var trinoCasts = Table{
	{Cast, "int2", takes(Integer), is(Plain(int2OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int4", takes(Integer), is(Plain(int4OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int8", takes(Integer), is(Plain(int8OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int2", takes(Exact), is(Plain(int2OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int4", takes(Exact), is(Plain(int4OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int8", takes(Exact), is(Plain(int8OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "int4", takes(Bool), is(Plain(int4OID)), "CAST($1 AS $t)", "casts"},
	{Cast, "numeric", takes(Exact), exactResult, "CAST($1 AS $t)", "casts"},
	{Cast, "numeric", takes(Numeric), wideResult, "$1", "casts"},
	{Cast, "text", takes(Integer), is(TextOf()), "CAST($1 AS $t)", "casts"},
	{Cast, "text", takes(Bool), is(TextOf()), "CAST($1 AS $t)", "casts"},
	{Cast, "text", takes(Numeric), displayedResult, "$1", "casts"},
	{Cast, "text", takes(Text), textResult, "$1", "casts"},
	{Cast, "timestamp", takes(Date), is(Plain(timestampOID)), "CAST($1 AS $t)", "casts"},
	{Cast, "date", takes(Timestamp), is(Plain(dateOID)), "CAST($1 AS $t)", "casts"},
	{Cast, "date", takes(Date), is(Plain(dateOID)), "$1", "casts"},
	{Cast, "timestamp", takes(Timestamp), is(Plain(timestampOID)), "$1", "casts"},
	{Cast, "bool", takes(Bool), is(Plain(boolOID)), "$1", "casts"},
	{Cast, "uuid", takes(UUID), is(Plain(uuidOID)), "$1", "casts"},
}

const trinoAverage = "sluice_numeric_divide(CAST(sum($d%)$f AS VARCHAR), CAST(count($d$1)$f AS VARCHAR))"

var trinoAggregates = Table{
	{Aggregate, "count", nil, is(Plain(int8OID)), "count(*)$f", "aggregates"},
	{Aggregate, "count", takes(Any), is(Plain(int8OID)), "count($d$1)$f", "aggregates"},
	{Aggregate, "min", takes(Sorted), sameText, "min($d$1)$f", "aggregates"},
	{Aggregate, "max", takes(Sorted), sameText, "max($d$1)$f", "aggregates"},
	{Aggregate, "sum", takes(Int2), is(Plain(int8OID)), "sum($d$1)$f", "aggregates"},
	{Aggregate, "sum", takes(Int4), is(Plain(int8OID)), "sum($d$1)$f", "aggregates"},
	{Aggregate, "sum", takes(Int8), is(Decimal(MostDigits, 0)), "sum($dCAST($1 AS DECIMAL(38,0)))$f", "aggregates"},
	{Aggregate, "sum", takes(Exact), totalResult, "sum($d$1)$f", "aggregates"},
	{Aggregate, "avg", takes(Integer), guarded(WideNumeric()), strings.ReplaceAll(trinoAverage, "%", "CAST($1 AS DECIMAL(38,0))"), "aggregates"},
	{Aggregate, "avg", takes(Exact), trinoAverageResult, strings.ReplaceAll(trinoAverage, "%", "$1"), "aggregates"},
	{Aggregate, "bool_and", takes(Bool), booleanResult, "bool_and($d$1)$f", "aggregates"},
	{Aggregate, "every", takes(Bool), booleanResult, "bool_and($d$1)$f", "aggregates"},
	{Aggregate, "bool_or", takes(Bool), booleanResult, "bool_or($d$1)$f", "aggregates"},
}

var trinoAverageResult = Result{averageResult.Words, func(args []Type) (Type, Fit) {
	t, fit := averageResult.Of(args)
	if fit == Fits {
		fit = Guarded
	}
	return t, fit
}}

var trinoWindows = Table{
	{Window, "row_number", nil, is(Plain(int8OID)), "row_number()$f", "windows"},
	{Window, "rank", nil, is(Plain(int8OID)), "rank()$f", "windows"},
	{Window, "dense_rank", nil, is(Plain(int8OID)), "dense_rank()$f", "windows"},
	{Window, "ntile", []Arg{place}, is(Plain(int4OID)), "CAST(ntile($1)$f AS INTEGER)", "windows"},
	{Window, "lag", takes(Any), carriedResult, "lag($1)$f", "windows"},
	{Window, "lag", []Arg{{Class: Any}, count}, carriedResult, "lag($1, $2)$f", "windows"},
	{Window, "lead", takes(Any), carriedResult, "lead($1)$f", "windows"},
	{Window, "lead", []Arg{{Class: Any}, count}, carriedResult, "lead($1, $2)$f", "windows"},
	{Window, "first_value", takes(Any), carriedResult, "first_value($1)$f", "windows"},
	{Window, "last_value", takes(Any), carriedResult, "last_value($1)$f", "windows"},
}
