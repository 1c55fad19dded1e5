package dialect

import (
	"slices"
	"strings"
)

var (
	clickHouseTable = slices.Concat(clickHouseOperators, clickHouseFunctions, clickHouseAggregates)
	clickHouseIndex = clickHouseTable.index()
)

// comparisonsOf are operators by which an engine compares values of a class as Postgres does.
func comparisonsOf(c Class, operators ...string) Table {
	var t Table
	for _, op := range operators {
		t = append(t, Entry{Operator, op, takes(c, c), booleanResult, "($1 " + op + " $2)", ""})
	}
	return t
}

// wholeNumbers are those that are compared as they are: an unsigned one and a decimal of fewer digits are not.
var wholeNumbers = Result{booleanResult.Words, func(args []Type) (Type, Fit) {
	for _, a := range args {
		if !a.IsInt() && a.Typmod != Decimal(20, 0).Typmod {
			return Type{}, Misfit
		}
	}
	return Plain(boolOID), Fits
}}

// commonDecimal compares numbers that the widest decimal holds in the larger scale.
var commonDecimal = Result{booleanResult.Words, func(args []Type) (Type, Fit) {
	whole, scale, ok := decimals(args)
	if !ok || max(whole[0], whole[1])+max(scale[0], scale[1]) > MostDigits {
		return Type{}, Misfit
	}
	return Plain(boolOID), Fits
}}

func clickHouseNumbers() Table {
	var t Table
	for _, op := range comparing {
		t = append(t, Entry{Operator, op, takes(Whole, Whole), wholeNumbers, "($1 " + op + " $2)", ""},
			Entry{Operator, op, takes(Exact, Exact), commonDecimal, "($w1 " + op + " $w2)", ""})
	}
	return t
}

// clickHouseDistinct are never NULL.
func clickHouseDistinct() Table {
	const is, isNot = "(isNull($1) <> isNull($2) OR ifNull(a <> b, 0))", "(isNull($1) = isNull($2) AND ifNull(a = b, 1))"
	var t Table
	for _, x := range []struct {
		class Class
		gives Result
		a, b  string
	}{
		{Whole, wholeNumbers, "$1", "$2"}, {Exact, commonDecimal, "$w1", "$w2"}, {Date, booleanResult, "$1", "$2"}, {Zoned, booleanResult, "$1", "$2"},
		{Equal, booleanResult, "$1", "$2"}, {UUID, booleanResult, "$1", "$2"}, {Bool, booleanResult, "$1", "$2"},
	} {
		of := func(sql string) string {
			return strings.NewReplacer("(a ", "("+x.a+" ", " b,", " "+x.b+",").Replace(sql)
		}
		t = append(t, Entry{Operator, "IS DISTINCT FROM", takes(x.class, x.class), x.gives, of(is), ""},
			Entry{Operator, "IS NOT DISTINCT FROM", takes(x.class, x.class), x.gives, of(isNot), ""})
	}
	return t
}

var clickHouseOperators = slices.Concat(
	clickHouseNumbers(),
	comparisonsOf(Date, comparing...),
	comparisonsOf(Zoned, comparing...),
	comparisonsOf(Bool, comparing...),
	comparisonsOf(Equal, "=", "<>"),
	comparisonsOf(Ordered, "<", "<=", ">", ">="),
	comparisonsOf(UUID, "=", "<>"),
	clickHouseDistinct(),
	Table{
		{Operator, "~~", []Arg{{Class: Equal}, matchable}, booleanResult, "($1 LIKE $2)", ""},
		{Operator, "!~~", []Arg{{Class: Equal}, matchable}, booleanResult, "($1 NOT LIKE $2)", ""},
		{Operator, "||", takes(Text, Text), textResult, "concat($1, $2)", ""},
	},
	clickHouseArithmetic("+", sumResult), clickHouseArithmetic("-", sumResult), clickHouseArithmetic("*", productResult),
)

// clickHouseArithmetic is that of decimals, which raise an error where they overflow. Integers wrap around.
func clickHouseArithmetic(op string, r Result) Table {
	return Table{
		{Operator, op, takes(Fixed, Exact), exactly(r), "(CAST($1 AS $w) " + op + " $2)", ""},
		{Operator, op, takes(Integer, Fixed), exactly(r), "(CAST($1 AS $w) " + op + " $2)", ""},
	}
}

// exactly is a rule's result where a decimal holds what comes of it.
func exactly(r Result) Result {
	return Result{r.Words, func(args []Type) (Type, Fit) {
		t, fit := r.Of(args)
		if fit != Fits {
			return Type{}, Misfit
		}
		return t, fit
	}}
}

// clickHouseFunctions count characters, of which all texts that home reads are made.
var clickHouseFunctions = Table{
	{Function, "length", takes(Text), is(Plain(int4OID)), "lengthUTF8($1)", ""},
	{Function, "char_length", takes(Text), is(Plain(int4OID)), "lengthUTF8($1)", ""},
	{Function, "octet_length", takes(Unpadded), is(Plain(int4OID)), "length($1)", ""},
	{Function, "substr", []Arg{{Class: Text}, place, count}, textResult, "substringUTF8($1, $2, $3)", ""},
	{Function, "substring", []Arg{{Class: Text}, place, count}, textResult, "substringUTF8($1, $2, $3)", ""},
	{Function, "starts_with", []Arg{{Class: Equal}, mark}, booleanResult, "startsWith($1, $2)", ""},
	{Function, "replace", []Arg{{Class: Equal}, mark, {Class: Equal}}, textResult, "replaceAll($1, $2, $3)", ""},
	{Function, "extract", []Arg{field("year"), {Class: Date}}, is(Decimal(4, 0)), "CAST(toYear($2) AS $t)", ""},
	{Function, "extract", []Arg{field("quarter"), {Class: Date}}, is(Decimal(1, 0)), "CAST(toQuarter($2) AS $t)", ""},
	{Function, "extract", []Arg{field("month"), {Class: Date}}, is(Decimal(2, 0)), "CAST(toMonth($2) AS $t)", ""},
	{Function, "extract", []Arg{field("day"), {Class: Date}}, is(Decimal(2, 0)), "CAST(toDayOfMonth($2) AS $t)", ""},
	{Function, "extract", []Arg{field("isodow"), {Class: Date}}, is(Decimal(1, 0)), "CAST(toDayOfWeek($2) AS $t)", ""},
}

// clickHouseAggregates are none of no rows but for counts: the server makes that of what may be NULL alone. Its own sums of
// integers wrap around.
var clickHouseAggregates = slices.Concat(Table{
	{Aggregate, "count", nil, is(Plain(int8OID)), "count()", ""},
	{Aggregate, "count", takes(Grouped), is(Plain(int8OID)), "ifNull(count($d$1), 0)", ""}, // which is NULL of none that differ
	{Aggregate, "count", takes(Any), is(Plain(int8OID)), "count($1)", ""},
	{Aggregate, "sum", takes(Int2), is(Plain(int8OID)), "sum(toDecimal128(toNullable($1), 0))", ""},
	{Aggregate, "sum", takes(Int4), is(Plain(int8OID)), "sum(toDecimal128(toNullable($1), 0))", ""},
	{Aggregate, "sum", takes(Int8), is(Decimal(MostDigits, 0)), "sum(toDecimal128(toNullable($1), 0))", ""},
	{Aggregate, "sum", takes(Exact), exactly(totalResult), "sum(CAST($1 AS $w))", ""},
	{Aggregate, "bool_and", takes(Bool), booleanResult, "min(toNullable($1))", ""},
	{Aggregate, "every", takes(Bool), booleanResult, "min(toNullable($1))", ""},
	{Aggregate, "bool_or", takes(Bool), booleanResult, "max(toNullable($1))", ""},
}, extremesOf("min", "min(toNullable($1))", Whole, Fixed, Date, Zoned, Ordered), extremesOf("max", "max(toNullable($1))", Whole, Fixed, Date, Zoned, Ordered))
