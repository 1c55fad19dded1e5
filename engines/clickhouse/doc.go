// Package clickhouse is the engine behind the foreign-data wrapper sluice_clickhouse: a ClickHouse server, asked in its
// native protocol or over HTTP.
//
// Rows come as blocks of columns, which become Arrow columns as they are. A connection carries one statement at a time, and a
// block is read from the socket when it is asked for, so that the server is held back while nobody reads. The native protocol
// is spoken in the revision of 2018 that all servers since know; over HTTP come the same blocks, in which dictionaries are not
// resolved. A transport knows either protocol, and a stream neither.
//
// The one rule: what a block holds is either the value that Postgres would call by that type, or refused by name.
package clickhouse
