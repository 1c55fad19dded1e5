// Package tpch makes the data and the 22 queries of the TPC-H benchmark (TPC-H specification 3.0, chapters 1, 2 and 4),
// in the form that Postgres reads.
//
// Tables lists the eight tables, Table.Write their rows at a scale factor, Queries the queries with the parameters of
// the specification's validation run. The data have the specification's distributions, keys and correlations, but their
// texts are words of our own; so answers agree with no published ones, and are compared with Postgres' over the same rows.
//
// The one rule: equal scale factors give equal rows, whatever is written first or alone.
package tpch
