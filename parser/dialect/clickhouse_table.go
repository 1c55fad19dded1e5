package dialect

import "slices"

var (
	clickHouseTable = slices.Concat(
		comparisonsOf(Whole, "=", "<>", "<", "<=", ">", ">="),
		comparisonsOf(Date, "=", "<>", "<", "<=", ">", ">="),
		comparisonsOf(Zoned, "=", "<>", "<", "<=", ">", ">="),
		comparisonsOf(Equal, "=", "<>"),
		comparisonsOf(Ordered, "<", "<=", ">", ">="),
		comparisonsOf(UUID, "=", "<>"),
		clickHouseAggregates,
	)
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

// clickHouseAggregates are none of no rows but for counts: the server makes that of what may be NULL alone. Its own sums of
// integers wrap around.
var clickHouseAggregates = slices.Concat(Table{
	{Aggregate, "count", nil, is(Plain(int8OID)), "count()", ""},
	{Aggregate, "count", takes(Any), is(Plain(int8OID)), "count($1)", ""},
	{Aggregate, "sum", takes(Int2), is(Plain(int8OID)), "sum(toDecimal128(toNullable($1), 0))", ""},
	{Aggregate, "sum", takes(Int4), is(Plain(int8OID)), "sum(toDecimal128(toNullable($1), 0))", ""},
	{Aggregate, "sum", takes(Int8), is(Decimal(MostDigits, 0)), "sum(toDecimal128(toNullable($1), 0))", ""},
	{Aggregate, "sum", takes(Whole), totalResult, "sum(toDecimal128(toNullable($1), 0))", ""},
}, clickHouseExtremes("min"), clickHouseExtremes("max"))

func clickHouseExtremes(name string) Table {
	var t Table
	for _, c := range []Class{Whole, Date, Zoned, Ordered} {
		t = append(t, Entry{Aggregate, name, takes(c), sameText, name + "(toNullable($1))", ""})
	}
	return t
}
