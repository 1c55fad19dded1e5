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

// Binder is a Simple dialect whose engine takes parameters of more types than integers: texts, which are cast to the type.
type Binder interface {
	Simple
	// Binds reports whether there are parameters of a type.
	Binds(t Type) bool
}

// Typed is the dialect of an engine that is given values of more types than integers and texts, in spellings of its own.
type Typed interface {
	Simple
	// Constant prints a text, home's spelling of a value, as a value of a type, Parameter a placeholder; false where the engine has no such value.
	Constant(text string, t Type) (sql string, ok bool)
	// Parameter also says of which values it holds, nil for all. A numeric is one of MostDigits, 9 of them behind the point.
	Parameter(placeholder string, t Type) (sql string, takes func(value string) bool, ok bool)
}

// Folding is a Simple dialect that groups some values together which home tells apart, though it has words for comparing them.
type Folding interface {
	Simple
	// Folds reports whether it does so with values of a column that it computes with.
	Folds(c *catalog.Column) bool
}

// Form is what an engine reads beyond simple statements.
type Form uint

// The forms.
const (
	Expressions Form = 1 << iota // what the table lists, CASE, COALESCE and NULLIF wherever a value may stand, and FILTER
	Subselects                   // in FROM, and WITH
	Unions                       // UNION ALL
	Joins                        // inner and left ones
	Members                      // IN over a sub-select
	Scaled                       // decimals that are compared have one type
)

// Broad is the dialect of an engine that reads more.
type Broad interface {
	Simple
	Forms() Form
}

// Nester is the dialect of such an engine that joins two sub-selects at a time, by columns that both have under one name.
type Nester interface {
	Broad
	// Nullable prints a value of a type of values that may be NULL: it is NULL where a left join finds no partner.
	Nullable(sql string) string
	// Key prints a value in the type that it is joined and looked up in, false where there is none.
	Key(sql string, t Type) (string, bool)
}

// Quirky is the dialect of an engine that reads less of standard SQL alike. NULL is no more than not true to its AND and OR, so
// that NOT stands in front of a single comparison; IN is several; and a name in a select list means what it names everywhere, so
// that it is not one of another column.
type Quirky interface {
	Typed
	// Truth reports whether conditions are values, and Constant prints true and false.
	Truth() bool
}

// comparing are the operators that compare.
var comparing = []string{"=", "<>", "<", "<=", ">", ">="}

// extremesOf are the smallest, or the largest, of values that an engine has in the order of home.
func extremesOf(name, sql string, classes ...Class) Table {
	var t Table
	for _, c := range classes {
		t = append(t, Entry{Aggregate, name, takes(c), sameText, sql, ""})
	}
	return t
}

// simpleTable lists what any engine of standard SQL computes as Postgres does: integers have one order, and NULL is not
// compared.
func simpleTable(cases string) Table {
	var t Table
	for _, op := range comparing {
		t = append(t, Entry{Operator, op, takes(Integer, Integer), booleanResult, "($1 " + op + " $2)", cases})
	}
	return append(t,
		Entry{Aggregate, "count", nil, is(Plain(int8OID)), "count(*)", cases},
		Entry{Aggregate, "count", takes(Any), is(Plain(int8OID)), "count($d$1)", cases},
		Entry{Aggregate, "min", takes(Integer), firstResult, "min($1)", cases},
		Entry{Aggregate, "max", takes(Integer), firstResult, "max($1)", cases})
}
