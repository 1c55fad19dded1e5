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

// likes lists a comparison with a pattern. Where it has escapes, or may, it is said which character that is: DuckDB has none of
// its own.
func likes(name, sql string) []Entry {
	plain, escaping := "($1 "+sql+" $2)", "($1 "+sql+` $2 ESCAPE '\')`
	var list []Entry
	for _, c := range []Class{Padded, Equal} {
		list = append(list, Entry{Operator, name, []Arg{{Class: c}, pattern}, booleanResult, plain, "like"},
			Entry{Operator, name, []Arg{{Class: c}, escaped}, booleanResult, escaping, "like"},
			Entry{Operator, name, []Arg{{Class: c}, given}, booleanResult, escaping, "like"})
	}
	return list
}

// lettered lists a comparison with a pattern in which letters are the same whatever their case.
func lettered(name, sql string) []Entry {
	return []Entry{{Operator, name, []Arg{{Class: Letters}, letters}, guarded(Plain(boolOID)), asciiOnly("$1 " + sql + ` $2 ESCAPE '\'`), "letter_case"}}
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
	{Operator, "+", takes(Float8, Float8), is(Plain(float8OID)), "sluice_float8_add($1, $2)", "float_arithmetic"},
	{Operator, "-", takes(Float8, Float8), is(Plain(float8OID)), "sluice_float8_subtract($1, $2)", "float_arithmetic"},
	{Operator, "*", takes(Float8, Float8), is(Plain(float8OID)), "sluice_float8_multiply($1, $2)", "float_arithmetic"},
	{Operator, "/", takes(Float8, Float8), is(Plain(float8OID)), "sluice_float8_divide($1, $2)", "float_arithmetic"},
	{Operator, "-", takes(Float8), is(Plain(float8OID)), "(- $1)", "float_arithmetic"},
	{Operator, "+", takes(Date, Interval), guarded(Plain(timestampOID)), "($1 + $2)", "date_interval"},
	{Operator, "-", takes(Date, Interval), guarded(Plain(timestampOID)), "($1 - $2)", "date_interval"},
	{Operator, "+", takes(Timestamp, Interval), guarded(Plain(timestampOID)), "($1 + $2)", "date_interval"},
	{Operator, "-", takes(Timestamp, Interval), guarded(Plain(timestampOID)), "($1 - $2)", "date_interval"},
	{Operator, "||", takes(Text, Text), textResult, "($1 || $2)", "text_operators"},
},
	likes("~~", "LIKE"), likes("!~~", "NOT LIKE"), lettered("~~*", "ILIKE"), lettered("!~~*", "NOT ILIKE"),
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
