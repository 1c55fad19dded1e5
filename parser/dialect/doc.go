// Package dialect prints plan fragments in an engine's own SQL. Each dialect is one file and has one table of what may
// be shipped to it; the types here are those that the planner knows.
//
// The one rule: what the table does not list is not shipped.
package dialect
