package databricks

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

const (
	schemaSQL  = "SELECT schema_name FROM information_schema.schemata WHERE schema_name = $1"
	columnsSQL = `SELECT t.table_name, COALESCE(t.comment, ''), c.column_name, c.full_data_type, c.is_nullable, COALESCE(c.comment, '')
FROM information_schema.tables t JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name
WHERE t.table_schema = $1 ORDER BY t.table_name, c.ordinal_position`
)

// Introspect lists the tables and views of a schema of the server's catalog.
func (e *Engine) Introspect(ctx context.Context, schema string) ([]engines.Table, error) {
	if err := e.settle(ctx); err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	known, err := e.texts(ctx, engines.Query{SQL: schemaSQL, Args: []*string{&schema}})
	if err == nil && len(known) == 0 {
		err = pgerr.New(pgerr.FdwSchemaNotFound, "schema %q does not exist at the remote side", schema)
	}
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	rows, err := e.texts(ctx, engines.Query{SQL: columnsSQL, Args: []*string{&schema}})
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	var tables []engines.Table
	for _, r := range rows {
		if len(tables) == 0 || tables[len(tables)-1].Name != r[0] {
			tables = append(tables, engines.Table{Name: r[0], Comment: r[1], Options: map[string]string{"schema_name": schema, "table_name": r[0]}})
		}
		c := engines.Column{Name: r[2], RemoteType: r[3], NotNull: r[4] == "NO", Comment: r[5]}
		var nested bool
		if c.Type, nested = postgresName(r[3]); nested {
			c.Options = map[string]string{"nested": "true"}
		}
		t := &tables[len(tables)-1]
		t.Columns = append(t.Columns, c)
	}
	return tables, nil
}

// texts runs a catalog query, whose columns must all be strings, and returns its rows. It is for bounded results only.
func (e *Engine) texts(ctx context.Context, q engines.Query) ([][]string, error) {
	s, err := e.open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var rows [][]string
	for {
		b, err := s.Next(ctx)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		record := b.(engines.Columns).Record
		for i := range int(record.NumRows()) {
			row := make([]string, record.NumCols())
			for j, column := range record.Columns() {
				text, ok := column.(array.StringLike)
				if !ok {
					return nil, malformed(errNoText)
				}
				row[j] = text.Value(i)
			}
			rows = append(rows, row)
		}
	}
}
