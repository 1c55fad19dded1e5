// Package engines defines what a remote system must offer to be queried through Sluice. It has no code that runs a
// query; each engine lives in a package below it and is proven by engines/enginetest.
//
// A Wrapper is the code behind one foreign-data wrapper (sluice_duckdb, …). It opens an Engine for one server. An
// Engine opens a Stream for one statement, and a Tx for writes. A Stream yields Batches. A Federation computes statements
// over the Streams of several Engines.
//
// The one rule: a Stream is lazy. Fields are known before a row is fetched, Next fetches one bounded batch, Close frees
// everything at the remote side at once. A driver call that collects a result is never used behind a Stream.
package engines
