package dialect

import (
	"regexp"
	"slices"
)

// bigTable has no floats: NaN is equal to nothing there. Texts are ordered by code points, as under C at home.
var (
	bigTable = slices.Concat(
		comparisonsOf(Sized, bigAll...), comparisonsOf(Bool, bigAll...),
		comparisonsOf(Date, bigAll...), comparisonsOf(Timestamp, bigAll...), comparisonsOf(Zoned, bigAll...),
		comparisonsOf(Equal, "=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"), comparisonsOf(Ordered, "<", "<=", ">", ">="),
		Table{
			{Operator, "~~", []Arg{{Class: Equal}, bigPattern}, booleanResult, "($1 LIKE $2)", ""},
			{Operator, "~~", []Arg{{Class: Equal}, bigPatternGiven}, booleanResult, "($1 LIKE $2)", ""},
			{Operator, "!~~", []Arg{{Class: Equal}, bigPattern}, booleanResult, "($1 NOT LIKE $2)", ""},
			{Operator, "!~~", []Arg{{Class: Equal}, bigPatternGiven}, booleanResult, "($1 NOT LIKE $2)", ""},
		},
		bigAggregates,
		extremesOf("min", "min($1)", Sized, Date, Timestamp, Zoned, Ordered), extremesOf("max", "max($1)", Sized, Date, Timestamp, Zoned, Ordered),
	)
	bigIndex = bigTable.index()
	bigAll   = append(slices.Clone(comparing), "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
)

// The service refuses escapes of other characters than these.
var (
	bigPatternForm  = regexp.MustCompile(`^(?s:[^\\]|\\[\\%_])*$`)
	bigPatternWords = "a pattern with escapes of %, _ and \\ alone"
	bigPattern      = literal(Equal, bigPatternWords, func(text string) bool { return isText(text) && bigPatternForm.MatchString(text) })
	bigPatternGiven = Arg{Class: Equal, Words: "a parameter that is " + bigPatternWords, Param: bigPatternForm.MatchString}
)

// bigAggregates add up in a type that has place for any sum of its integers, and of decimals says where it has not.
var bigAggregates = Table{
	{Aggregate, "count", nil, is(Plain(int8OID)), "count(*)", ""},
	{Aggregate, "count", takes(Any), is(Plain(int8OID)), "count($d$1)", ""},
	{Aggregate, "sum", takes(Int2), is(Plain(int8OID)), "sum($d$1)", ""},
	{Aggregate, "sum", takes(Int4), is(Plain(int8OID)), "sum($d$1)", ""},
	{Aggregate, "sum", takes(Int8), is(Decimal(MostDigits, 0)), "sum($dCAST($1 AS BIGNUMERIC))", ""},
	{Aggregate, "sum", takes(Fixed), totalResult, "sum($dCAST($1 AS BIGNUMERIC))", ""},
	{Aggregate, "bool_and", takes(Bool), booleanResult, "logical_and($1)", ""},
	{Aggregate, "every", takes(Bool), booleanResult, "logical_and($1)", ""},
	{Aggregate, "bool_or", takes(Bool), booleanResult, "logical_or($1)", ""},
}
