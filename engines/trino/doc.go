// Package trino is the engine behind the foreign-data wrapper sluice_trino: clusters of Trino.
//
// A Client speaks Trino's own protocol over HTTP: a statement is handed in, and its rows come in pages of JSON, each of which names the
// next. A page is asked for when the one before it has been read, so that a client that stops reading stops the cluster. The values of a
// page go straight into columns of Arrow, of which columnar makes the stream.
//
// The one rule: a value that the column's type at home does not hold is an error that names the column. Nothing is rounded,
// cut or read as NULL.
package trino
