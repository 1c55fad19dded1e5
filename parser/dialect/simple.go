package dialect

import "github.com/sluicedb/sluice/catalog"

// Simple is the dialect of an engine that gets simple statements alone, for which standard SQL will do: columns or aggregates of
// one table, where conditions by the dialect's table hold, grouped, in order, so many rows. Its engine brings values to the
// types that home has for them, so that nothing is cast.
type Simple interface {
	Dialect
	// Computes reports whether the engine may compute with a column's values, and not only yield them: what they are there
	// must be known.
	Computes(c *catalog.Column) bool
	// Empty reports whether IS NULL of a column is true there where it is at home.
	Empty(c *catalog.Column) bool
	// Selected is what stands in a select list for an expression.
	Selected(sql string) string
	// Sorted prints a key of ORDER BY.
	Sorted(sql string, desc, nullsFirst bool) string
}

// Quirky is the dialect of an engine that reads less of standard SQL alike. NULL is no more than not true to its AND and OR, so
// that NOT stands in front of a single comparison; IN is several; and a name in a select list means what it names everywhere, so
// that it is not one of another column.
type Quirky interface {
	Simple
	// Constant prints a text as a value of a type, Parameter a placeholder; false where the engine has no such value.
	Constant(text string, t Type) (sql string, ok bool)
	// Parameter also says of which values it holds, nil for all.
	Parameter(placeholder string, t Type) (sql string, takes func(value string) bool, ok bool)
	// Truth reports whether true, false and NULL are conditions.
	Truth() bool
}

// simpleTable lists what any engine of standard SQL computes as Postgres does: integers have one order, and NULL is not
// compared.
func simpleTable(cases string) Table {
	var t Table
	for _, op := range []string{"=", "<>", "<", "<=", ">", ">="} {
		t = append(t, Entry{Operator, op, takes(Integer, Integer), booleanResult, "($1 " + op + " $2)", cases})
	}
	return append(t,
		Entry{Aggregate, "count", nil, is(Plain(int8OID)), "count(*)", cases},
		Entry{Aggregate, "count", takes(Any), is(Plain(int8OID)), "count($1)", cases},
		Entry{Aggregate, "min", takes(Integer), firstResult, "min($1)", cases},
		Entry{Aggregate, "max", takes(Integer), firstResult, "max($1)", cases})
}
