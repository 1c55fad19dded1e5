// Package migrations holds the schema sluice as golang-migrate files. catalog.Install runs them inside the transaction
// of the client that says CREATE EXTENSION sluice.
//
// The one rule: a migration that was released is never edited; functions that may change stand in package sql.
package migrations
