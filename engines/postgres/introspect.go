package postgres

import (
	"context"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// tablesSQL lists what IMPORT FOREIGN SCHEMA of postgres_fdw takes: anything with rows of its own but partitions. Types
// are written under search_path pg_catalog, so that all others carry their schemas.
const tablesSQL = `SELECT c.relname, obj_description(c.oid, 'pg_class'), a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
 col_description(c.oid, a.attnum), pg_get_expr(d.adbin, d.adrelid), a.attgenerated,
 (SELECT quote_ident(n.nspname) || '.' || quote_ident(l.collname) FROM pg_collation l JOIN pg_namespace n ON n.oid = l.collnamespace
  JOIN pg_type t ON t.oid = a.atttypid WHERE l.oid = a.attcollation AND a.attcollation <> t.typcollation)
FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND c.relkind IN ('r', 'v', 'f', 'm', 'p') AND NOT c.relispartition
ORDER BY c.relname, a.attnum`

// Introspect lists the tables and views of a schema.
func (e *Engine) Introspect(ctx context.Context, schema string) ([]engines.Table, error) {
	known, err := e.texts(ctx, "SELECT FROM pg_namespace WHERE nspname = $1", schema)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, pgerr.AtServer(e.server, pgerr.New(pgerr.FdwSchemaNotFound, "schema %q is not present on foreign server %q", schema, e.server))
	}
	rows, err := e.texts(ctx, tablesSQL, schema)
	if err != nil {
		return nil, err
	}
	var tables []engines.Table
	for _, r := range rows {
		if n := len(tables); n == 0 || tables[n-1].Name != *r[0] {
			tables = append(tables, engines.Table{
				Name: *r[0], Comment: value(r[1]), Options: map[string]string{"schema_name": schema, "table_name": *r[0]},
			})
		}
		if r[2] == nil { // a table without columns
			continue
		}
		t := &tables[len(tables)-1]
		c := engines.Column{
			Name: *r[2], Type: *r[3], RemoteType: *r[3], NotNull: *r[4] == "t", Comment: value(r[5]),
			Options: map[string]string{"column_name": *r[2]}, Collation: value(r[8]),
		}
		if c.Default = value(r[6]); *r[7] != "" {
			c.Default, c.Generated = "", c.Default
		}
		t.Columns = append(t.Columns, c)
	}
	return tables, nil
}

// value is a text that may be NULL.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
