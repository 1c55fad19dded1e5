// Package encode writes Arrow columns as rows of the Postgres protocol. An Encoder is made for one result: its target
// fields are what the client was told, its formats what the client asked for. Append adds DataRow messages, AppendCopy
// the same rows as CopyData messages of COPY BINARY, for home.
//
// What comes out is, byte for byte, what Postgres itself would send for the value. A value that the target type cannot
// hold is an error with Postgres' SQLSTATE.
//
// Conventions for Arrow values: date32 and timestamps hold infinity as their type's largest and -infinity as its lowest
// value. Timestamps with a time zone are timestamptz, without one timestamp. Nanoseconds are cut to microseconds
// towards zero, which is what DuckDB's own cast does, so that a filter sees what the client sees. Times with zone and
// bit strings are strings in Postgres' text form.
//
// The one rule: never truncate, never guess. A pair of types that is not in the tables is refused by name.
package encode
