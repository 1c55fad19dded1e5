// Package demo is the guided tour of `sluice demo`: real data in three places (home, a .duckdb database, a Parquet
// file) and some statements over them, printed with their results.
//
// Prepare lays the data out, Tour runs the statements through the proxy as any client would. The one rule: every result
// is compared with what home itself answers for the same statement over plain tables with the same rows.
package demo
