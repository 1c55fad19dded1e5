package main

import (
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/bigquery"
	"github.com/sluicedb/sluice/engines/clickhouse"
	"github.com/sluicedb/sluice/engines/databricks"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/engines/postgres"
	"github.com/sluicedb/sluice/engines/snowflake"
	"github.com/sluicedb/sluice/engines/sqldb"
	"github.com/sluicedb/sluice/engines/trino"
)

// wrappers are the engines of this binary. This is the only place outside of tests that names them.
func wrappers() []engines.Wrapper {
	return []engines.Wrapper{duckdb.Wrapper{}, postgres.Wrapper{}, clickhouse.Wrapper{}, bigquery.Wrapper{}, databricks.Wrapper{}, snowflake.Wrapper{}, trino.Wrapper{},
		sqldb.Wrapper{}, sqldb.SQLServer{}}
}

// federation is the engine for statements over several servers, with server options that bound it; an empty one is left
// to the engine.
func federation(options map[string]*string) (engines.Federation, error) {
	set := map[string]string{}
	for name, value := range options {
		if *value != "" {
			set[name] = *value
		}
	}
	return duckdb.NewFederation(set)
}
