package dialect

import "github.com/sluicedb/sluice/catalog"

// Standard is the dialect of an engine that gets statements of any form, but in the words of the standard where DuckDB has
// some of its own.
type Standard interface {
	Dialect
	// Computes reports whether the engine may compute with a column's values, and not only yield them.
	Computes(c *catalog.Column) bool
	// Stripped takes the blanks off the end of a text.
	Stripped(sql string) string
	// Listed looks for a value of a type in a list of such values, which a placeholder stands for as JSON; false where it cannot.
	Listed(placeholder, value string, of Type) (sql string, ok bool)
	// Lacks says what the engine does without.
	Lacks() Lack
	// Declared is a statement with the definitions of the functions of ours that it calls in front.
	Declared(sql string) string
}

// Lack is a set of what an engine of the standard may do without.
type Lack int

// Functions that spell numerics as Postgres displays them; comparisons by ANY and ALL with what a sub-select yields; and connectors,
// through which it reads tables of other servers.
const (
	Spelling Lack = 1 << iota
	Quantifiers
	Connectors
)

// Declared is a statement as a server gets it: with what it calls that the server's engine does not have.
func Declared(s *catalog.Server, sql string) string {
	if d, ok := dialects[s.Wrapper].(Standard); ok {
		return d.Declared(sql)
	}
	return sql
}
