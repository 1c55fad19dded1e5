// Package clickbench makes a table of web analytics hits in the shape of ClickBench's, and the 43 queries of that
// benchmark in the form that Postgres reads.
//
// Columns describes the table, Write its rows, Queries the queries. Where a query's order leaves open which rows come
// within its LIMIT, keys were added to the order, so that each has one answer; the values are random ones of our own.
//
// The one rule: equal numbers of rows give equal rows.
package clickbench
