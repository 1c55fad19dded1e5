package main

import (
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/engines/postgres"
)

// wrappers are the engines of this binary. This is the only place outside of tests that names them.
func wrappers() []engines.Wrapper {
	return []engines.Wrapper{duckdb.Wrapper{}, postgres.Wrapper{}}
}
