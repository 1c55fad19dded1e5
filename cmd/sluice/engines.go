package main

import (
	"fmt"

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

// federationFlags are the flags that set options of the engine for statements over several servers.
var federationFlags = map[string]string{"memory_limit": "federation-memory", "temp_directory": "federation-temp"}

// federation is the engine for statements over several servers, with server options that bound it; an empty one is left
// to the engine.
func federation(options map[string]*string) (engines.Federation, error) {
	set := map[string]string{}
	for _, o := range (duckdb.Wrapper{}).Options(engines.ServerObject) {
		value, ok := options[o.Name]
		if !ok || *value == "" {
			continue
		}
		if err := o.Check(*value); err != nil {
			return nil, fmt.Errorf("--%s %s: %w", federationFlags[o.Name], *value, err)
		}
		set[o.Name] = *value
	}
	return duckdb.NewFederation(set)
}
