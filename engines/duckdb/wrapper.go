package duckdb

import (
	"context"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Wrapper is the code behind the foreign-data wrapper sluice_duckdb.
type Wrapper struct{}

var _ engines.Wrapper = Wrapper{}

// Name returns "sluice_duckdb".
func (Wrapper) Name() string { return "sluice_duckdb" }

// Options lists the options of an object kind; user mappings have none, as DuckDB knows no users.
func (Wrapper) Options(kind engines.ObjectKind) []engines.Option {
	switch kind {
	case engines.ServerObject:
		return serverOptions
	case engines.TableObject:
		return tableOptions
	case engines.ColumnObject:
		return columnOptions
	default:
		return nil
	}
}

// Check looks at options that exclude or need one another.
func (Wrapper) Check(kind engines.ObjectKind, options map[string]string) error {
	switch kind {
	case engines.ServerObject:
		_, err := parseConfig(options)
		return err
	case engines.TableObject:
		return checkTable(options)
	default:
		return nil
	}
}

// Open makes an Engine for s. Nothing is opened before the first use.
func (Wrapper) Open(_ context.Context, s engines.Server) (engines.Engine, error) {
	cfg, err := parseConfig(s.Options)
	if err != nil {
		return nil, pgerr.AtServer(s.Name, err)
	}
	return &Engine{server: s.Name, config: cfg}, nil
}
