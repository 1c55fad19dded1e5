// Package keep has results of queries kept as tables by engines that have no transactions to make them in.
//
// An engine says by Rules which of its own types keeps the values of each of Postgres', and implements Store: tables are made,
// filled, listed and dropped by its SQL. Begin makes the engines.Tx of it, which makes tables and writes to those that it has made
// itself, and to no others. What is rolled back is dropped; what cannot be dropped then is found by who looks for tables without
// handles.
//
// The one rule: every value comes back as it went in, or is refused. What an engine has no type for is kept as the text that home
// writes, and then home alone compares and sorts it, as the column's type at home is another than text.
package keep
