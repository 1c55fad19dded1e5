package trino

import (
	"context"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

const (
	schemaSQL = "SELECT table_schem FROM system.jdbc.schemas WHERE table_catalog = $1 AND table_schem = $2"
	// Columns of views that are broken have no table; tables without columns are none.
	columnsSQL = `SELECT c.table_name, c.column_name, c.type_name, c.is_nullable, c.remarks
FROM system.jdbc.columns c WHERE c.table_cat = $1 AND c.table_schem = $2 ORDER BY c.table_name, c.ordinal_position`
	commentsSQL = "SELECT table_name, comment FROM system.metadata.table_comments WHERE catalog_name = $1 AND schema_name = $2 AND comment IS NOT NULL"
)

// Introspect lists the tables and views of a schema of the server's catalog.
func (e *Engine) Introspect(ctx context.Context, schema string) ([]engines.Table, error) {
	if e.catalog == "" {
		return nil, pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FdwOptionNotFound, `IMPORT FOREIGN SCHEMA needs option "catalog"`),
			`ALTER SERVER … OPTIONS (ADD catalog 'NAME').`))
	}
	known, err := e.texts(ctx, schemaSQL, e.catalog, schema)
	if err == nil && len(known) == 0 {
		err = pgerr.AtServer(e.server, pgerr.New(pgerr.FdwSchemaNotFound, "schema %q is not present in catalog %q", schema, e.catalog))
	}
	if err != nil {
		return nil, err
	}
	rows, err := e.texts(ctx, columnsSQL, e.catalog, schema)
	if err != nil {
		return nil, err
	}
	notes, err := e.texts(ctx, commentsSQL, e.catalog, schema)
	if err != nil {
		return nil, err
	}
	comments := map[string]string{}
	for _, n := range notes {
		comments[n[0]] = n[1]
	}
	var tables []engines.Table
	for _, r := range rows {
		if len(tables) == 0 || tables[len(tables)-1].Name != r[0] {
			tables = append(tables, engines.Table{Name: r[0], Comment: comments[r[0]],
				Options: map[string]string{"catalog_name": e.catalog, "schema_name": schema, "table_name": r[0]}})
		}
		t := &tables[len(tables)-1]
		t.Columns = append(t.Columns, engines.Column{Name: r[1], RemoteType: r[2], Type: postgresName(r[2]), NotNull: r[3] == "NO",
			Comment: r[4], Options: map[string]string{"remote_type": r[2]}})
	}
	return tables, nil
}
