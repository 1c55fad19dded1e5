// Package oracle asks the same question twice: of plain tables at a bare Postgres, and of foreign tables with the same
// rows through the proxy. Answers must be equal in rows, column names, type OIDs, modifiers, command tag and SQLSTATE,
// on every route that can be forced and in every protocol form.
//
// A Lake copies home's tables into a DuckDB file, Parquet or CSV and declares foreign tables over them. An Oracle holds the connections
// and compares one Statement after another; Report says how many of them each route could take.
//
// The one rule: Postgres is right. The expected answer is asked anew each time and never written down. Of errors it means:
// the SQLSTATE must be the same, and an error must show where it shows at Postgres and nowhere else. One case is left to
// plans: where a statement is Free (it joins relations, has a sub-select, AND, OR or a LIMIT, so that which rows an expression
// comes to is not promised), and one of the two answers is an error that shows when an expression is evaluated (class 22, 21000, 42P22), nothing
// follows from the difference; such answers are counted. So are those where both are such errors of a generated statement but
// not the same one: several of its expressions raise some, and which comes first is not promised either. Where a statement has parameters, the error may also be that of Postgres' generic plan, which is asked for.
// A generated statement that takes Postgres itself more than a second is not compared: an engine might take for ever. What a route refuses with 0A000 when it is forced is counted, too, by reason.
//
// Where a Side has a Blind schema, no such error is left to plans: it must be there, too, word for word. A role that may not see all
// asks so whether an error depends on what is hidden.
//
// Shrink makes a statement that differs as small as it gets, in the form that a file of statements has.
package oracle
