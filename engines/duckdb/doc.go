// Package duckdb is the engine behind the foreign-data wrapper sluice_duckdb: a .duckdb file, or a directory of
// Parquet, CSV and JSON files, read by a DuckDB inside this process.
//
// Wrapper knows the options. An Engine holds one DuckDB instance of one server, opened at its first use and locked
// down to what the server's options name. Each Stream has a DuckDB connection of its own, since a second statement on
// a connection ends the first one's stream, and reads vectors straight into Arrow record batches. A Tx stages rows as
// text in a temporary table and lets DuckDB cast them.
//
// A Federation is a DuckDB of its own that computes over streams of others: a table function (feed.go) writes their
// batches straight into vectors, on DuckDB's threads.
//
// The one rule: results are only ever read through streaming execution (streaming.go). Any other way of running a
// statement that the bindings offer, and all of database/sql, collects the whole result first.
//
// Trap: nothing may hold a lock that Close needs while a statement is executed or a chunk fetched. A blocking operator
// (sort, aggregate) does its whole work inside the execute call, and only an interrupt ends it early.
package duckdb
