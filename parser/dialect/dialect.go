package dialect

import (
	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/pgerr"
)

// Dialect is the SQL of one engine.
type Dialect interface {
	// Name is what reasons and pages call the engine: "duckdb".
	Name() string
	// Type returns the engine's type whose values a column of a Postgres type is shipped in.
	Type(oid uint32, typmod int32) string
	// Identifier quotes a name, Literal a text.
	Identifier(name string) string
	Literal(text string) string
	// Column returns the expression that yields a column of the relation aliased alias (empty: no alias) in the type it
	// is shipped in.
	Column(c *catalog.Column, alias string) string
	// Relation returns the FROM item that reads a foreign table.
	Relation(r *catalog.Relation) (string, error)
	// RowsSQL returns a query for about how many rows a foreign table has, as a bigint; it has no row, or NULL, where the engine
	// does not know. Empty where no engine knows without reading.
	RowsSQL(r *catalog.Relation) string
	// RowID is the expression that names a row of a table for UPDATE and DELETE.
	RowID() string
	// Verbatim reports that the engine is a Postgres: statements are shipped as they stand, and its rows are home's frames.
	Verbatim() bool
	// Ships says how much of a statement the engine may be sent, where it is none that takes statements as they stand.
	Ships() Extent
	// Table lists what may be shipped beyond the bare structure of a query; empty where another rule says so.
	Table() Index
}

var dialects = map[string]Dialect{
	"sluice_duckdb": DuckDB{}, "sluice_postgres": Postgres{}, "sluice_clickhouse": ClickHouse{}, "sluice_bigquery": BigQuery{}, "sluice_databricks": Databricks{}, "sluice_snowflake": Snowflake{}, "sluice_trino": Trino{}, "sluice_mssql": SQLServer{},
	"sluice_sql mysql": MySQL{}, "sluice_sql sqlite": SQLite{},
}

// Of returns the dialect of a server: that of its wrapper, or of the driver that the wrapper's option names.
func Of(s *catalog.Server) (Dialect, error) {
	for _, name := range []string{s.Wrapper, s.Wrapper + " " + s.Options["driver"]} {
		if d := dialects[name]; d != nil {
			return pushing(d, s), nil
		}
	}
	return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q needs wrapper %q, which this Sluice does not have", s.Name, s.Wrapper),
		"Run a build of Sluice that has this engine.")
}

// Feeds reports whether values of a column come in the type that DuckDB has for it.
func Feeds(d Dialect, c *catalog.Column) bool {
	texts, ok := d.(interface{ AsText(*catalog.Column) bool })
	return !ok || !texts.AsText(c)
}

// ColumnName returns the remote name of a column.
func ColumnName(c *catalog.Column) string {
	if name := c.Options["column_name"]; name != "" {
		return name
	}
	return c.Name
}
