// Command interop runs real, unmodified Postgres clients against a home Postgres, directly and through Sluice, on plain
// and on foreign tables, compares what they print, and makes docs/clients.md. README.md says what a client is.
//
// The main types: client is a client.json, rig the home and the proxy, stage a client's own database, transcript what one
// run printed by check, verdict what became of a client. The one rule: what a client prints at home is right by
// definition, and nothing but accepted.txt excuses a difference.
package main
