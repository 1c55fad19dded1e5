// Package pgtest runs scripts of wire messages against a Postgres and against whatever claims to be one.
//
// A script is a datadriven file. Its commands are send (frontend messages, one a line, all in one write), until (read
// backend messages until those named have come), sql (statements on an administrator's own connection to home), table
// (relations with rows, plain or foreign as the Target says), connect, close and cancel. A Target is where a script
// runs; Verify runs one and compares, and Postgres alone can rewrite.
//
// The one rule: Postgres is the specification. Expected output comes from bare Postgres only, and every other target
// must give the same; a known divergence is a file NAME.proxy-diff that says why.
package pgtest
