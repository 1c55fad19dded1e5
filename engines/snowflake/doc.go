// Package snowflake reads Snowflake through gosnowflake, as streams of Arrow.
//
// A Wrapper opens an Engine for one server. A session is one login, on which one statement runs at a time; the Engine keeps some
// that nobody uses. What the library sends goes through a gate, which lets nothing pass but requests of the protocol and of
// results, bounds how long they take and makes sure that failures come back at once. A stream reads the parts of a result
// one after another, from their network connections; columns brings the values to the types of home.
//
// The one rule: no rows are read by the library's own cursor, which decodes whole parts ahead of the reader.
package snowflake
