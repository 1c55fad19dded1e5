// Package postgres is the engine behind the foreign-data wrapper sluice_postgres: another Postgres, asked in its own
// protocol.
//
// Rows are handed on as the frames that came, in the format that was asked for: nothing is decoded on the way. A
// statement is executed whole, so that the remote planner may work in parallel, and the socket holds it back while nobody
// reads. Statements outside of a Tx run in read-only transactions of their own.
//
// The one rule: what a statement means must not depend on the remote role's own settings. Each connection fixes those
// that bear on values and names, and takes the session's own styles before each statement.
package postgres
