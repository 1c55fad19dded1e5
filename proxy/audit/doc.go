// Package audit keeps a row of what each governed statement has done, on its way to the table sluice.audit of its database.
// Rows are queued, in bounded memory, and written in batches on a connection that is no session's: what a session rolls back
// has been read all the same.
//
// The one rule: no row is lost while it can be kept. A full queue makes the end of a statement wait; rows are given up where
// the audit cannot be written and need not be, and where its table is gone, and then they are counted.
package audit
