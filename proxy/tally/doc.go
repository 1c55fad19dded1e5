// Package tally has statements that count the rows of a counted table read its counters. Rewrite puts a query in the place of
// count(*) that takes the count from function sluice.exact_count, or exact_counts for groups, where that is sure of it for this very
// statement, and counts the rows itself where it is not. Home decides which, in the snapshot of the statement: what a proxy
// knows of tables may be old, so that it decides only which statements are worth asking.
//
// The one rule: a statement that is rewritten has the rows, names and types of the one that the client wrote, whatever has become
// of the table.
package tally
