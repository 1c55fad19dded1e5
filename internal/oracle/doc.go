// Package oracle asks the same question twice: of plain tables at a bare Postgres, and of foreign tables with the same
// rows through the proxy. Answers must be equal in rows, column names, type OIDs, modifiers, command tag and SQLSTATE,
// on every route that can be forced and in every protocol form.
//
// A Lake copies home's tables into a DuckDB file, Parquet or CSV and declares foreign tables over them. An Oracle holds the connections
// and compares one Statement after another; Report says how many of them each route could take.
//
// The one rule: Postgres is right. The expected answer is asked anew each time and never written down.
package oracle
