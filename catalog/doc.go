// Package catalog knows what stands in one database of home: foreign servers, foreign tables, views over them, and the
// tables of schema sluice. A Snapshot is immutable and carries the catalog version it was read at; Load reads one
// through a Querier, which is any way to run a statement at home, a client's session included.
//
// The one rule: catalog reads home and never a remote engine.
package catalog
