package dialect

import "slices"

// comparisons lists, for an operator, the types that it compares.
func comparisons(name, sql string, text Class, cases string) []Entry {
	var list []Entry
	for _, c := range []Class{Bool, Integer, Exact, Numeric, text, Float4, Float8, Date, Timestamp, Zoned, UUID} {
		e := Entry{Operator, name, takes(c, c), booleanResult, "($1 " + sql + " $2)", cases}
		if c == Numeric {
			e.SQL = "(sluice_numeric_key($1) " + sql + " sluice_numeric_key($2))"
		}
		list = append(list, e)
	}
	return append(list,
		Entry{Operator, name, takes(Date, Timestamp), guarded(Plain(boolOID)), "(CAST($1 AS TIMESTAMP) " + sql + " $2)", "date_interval"},
		Entry{Operator, name, takes(Timestamp, Date), guarded(Plain(boolOID)), "($1 " + sql + " CAST($2 AS TIMESTAMP))", "date_interval"})
}

var duckOperators = slices.Concat(Table{
	{Operator, "+", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) + CAST($2 AS $t))", "integer_arithmetic"},
	{Operator, "-", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) - CAST($2 AS $t))", "integer_arithmetic"},
	{Operator, "*", takes(Integer, Integer), widerResult, "(CAST($1 AS $t) * CAST($2 AS $t))", "integer_arithmetic"},
	{Operator, "/", []Arg{{Class: Integer}, divisor}, widerResult, "(CAST($1 AS $t) // CAST($2 AS $t))", "integer_division"},
	{Operator, "%", []Arg{{Class: Integer}, divisor}, widerResult, "(CAST($1 AS $t) % CAST($2 AS $t))", "integer_division"},
	{Operator, "/", takes(Integer, Integer), widerResult, quotient, "integer_division"},
	{Operator, "%", takes(Integer, Integer), widerResult, remainder, "integer_division"},
	{Operator, "+", takes(Exact, Exact), sumResult, "($1 + $2)", "numeric_arithmetic"},
	{Operator, "-", takes(Exact, Exact), sumResult, "($1 - $2)", "numeric_arithmetic"},
	{Operator, "*", takes(Exact, Exact), productResult, "($1 * $2)", "numeric_arithmetic"},
	{Operator, "+", takes(Numeric, Numeric), wideResult, "sluice_numeric_add($1, $2)", "numeric_division"},
	{Operator, "-", takes(Numeric, Numeric), wideResult, "sluice_numeric_subtract($1, $2)", "numeric_division"},
	{Operator, "*", takes(Numeric, Numeric), wideResult, "sluice_numeric_multiply($1, $2)", "numeric_division"},
	{Operator, "/", takes(Numeric, Numeric), quotientWords, "sluice_numeric_divide($1, $2)", "numeric_division"},
	{Operator, "-", takes(Integer), firstResult, "(CAST(0 AS $t) - $1)", "integer_arithmetic"},
	{Operator, "-", takes(Exact), firstResult, "(- $1)", "numeric_arithmetic"},
	{Operator, "+", takes(Date, Interval), guarded(Plain(timestampOID)), "($1 + $2)", "date_interval"},
	{Operator, "-", takes(Date, Interval), guarded(Plain(timestampOID)), "($1 - $2)", "date_interval"},
	{Operator, "+", takes(Timestamp, Interval), guarded(Plain(timestampOID)), "($1 + $2)", "date_interval"},
	{Operator, "-", takes(Timestamp, Interval), guarded(Plain(timestampOID)), "($1 - $2)", "date_interval"},
	{Operator, "||", takes(Text, Text), textResult, "($1 || $2)", "text_operators"},
	{Operator, "~~", []Arg{{Class: Padded}, pattern}, booleanResult, "($1 LIKE $2)", "like"},
	{Operator, "!~~", []Arg{{Class: Padded}, pattern}, booleanResult, "($1 NOT LIKE $2)", "like"},
	{Operator, "~~", []Arg{{Class: Equal}, pattern}, booleanResult, "($1 LIKE $2)", "like"},
	{Operator, "!~~", []Arg{{Class: Equal}, pattern}, booleanResult, "($1 NOT LIKE $2)", "like"},
},
	comparisons("=", "=", Equal, "comparisons"),
	comparisons("<>", "<>", Equal, "comparisons"),
	comparisons("<", "<", Ordered, "comparisons"),
	comparisons("<=", "<=", Ordered, "comparisons"),
	comparisons(">", ">", Ordered, "comparisons"),
	comparisons(">=", ">=", Ordered, "comparisons"),
	comparisons("IS DISTINCT FROM", "IS DISTINCT FROM", Equal, "comparisons"),
	comparisons("IS NOT DISTINCT FROM", "IS NOT DISTINCT FROM", Equal, "comparisons"),
)

// quotient and remainder raise what Postgres raises for 0, where DuckDB yields NULL; but nothing of NULL. The least number
// has no quotient by -1, but a remainder.
const (
	quotient  = "CASE WHEN $1 IS NULL THEN NULL WHEN $2 = 0 THEN error('SQLSTATE 22012: division by zero') ELSE (CAST($1 AS $t) // CAST($2 AS $t)) END"
	remainder = "CASE WHEN $1 IS NULL THEN NULL WHEN $2 = 0 THEN error('SQLSTATE 22012: division by zero') WHEN $2 = -1 THEN 0 * CAST($1 AS $t) ELSE (CAST($1 AS $t) % CAST($2 AS $t)) END"
)
