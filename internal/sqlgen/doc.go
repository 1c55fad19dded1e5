// Package sqlgen makes random SELECT statements over the tables of a schema: expressions of every type, joins, grouping,
// windows, set operations, common table expressions, parameters. Tables come from home's catalog, and so do operators,
// functions and casts; what the catalog does not have (CASE, IN, LIKE, EXTRACT …) is written down in forms.go.
//
// The rule: a statement's answer is one. Where Postgres leaves a choice, none is left: LIMIT stands behind a total order,
// aggregates that depend on the order of rows have one, and where equal values may look different (0 and -0, 1.0 and
// 1.00, 1 month and 30 days) what is grouped, united or made distinct is written in one form first. Nothing volatile is
// called. Whether an error shows may still be the plan's affair; Statement.Free says so.
package sqlgen
