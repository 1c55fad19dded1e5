package clickhouse

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// columnsSQL lists the columns of a database's tables in order.
const columnsSQL = "SELECT table, name, type FROM system.columns WHERE database = $1"

// Introspect lists the tables and views of a database. Tables that materialized views keep their rows in are left out.
func (e *Engine) Introspect(ctx context.Context, schema string) ([]engines.Table, error) {
	known, err := e.texts(ctx, "SELECT name FROM system.databases WHERE name = $1", schema)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, pgerr.AtServer(e.server, pgerr.New(pgerr.FdwSchemaNotFound, "database %q is not present on foreign server %q", schema, e.server))
	}
	names, err := e.texts(ctx, "SELECT name FROM system.tables WHERE database = $1 AND NOT startsWith(name, '.inner') ORDER BY name", schema)
	if err != nil {
		return nil, err
	}
	rows, err := e.texts(ctx, columnsSQL, schema)
	if err != nil {
		return nil, err
	}
	tables := make([]engines.Table, len(names))
	places := map[string]int{}
	for i, n := range names {
		tables[i] = engines.Table{Name: n[0], Options: map[string]string{"schema_name": schema, "table_name": n[0]}}
		places[n[0]] = i
	}
	for _, r := range rows {
		if i, ok := places[r[0]]; ok {
			tables[i].Columns = append(tables[i].Columns, e.describe(r[1], r[2]))
		}
	}
	return tables, nil
}

// describe says what a column is in Postgres. Over the native protocol documents come in a form that is not read.
func (e *Engine) describe(name, remote string) engines.Column {
	out := engines.Column{Name: name, RemoteType: remote, Options: map[string]string{"remote_type": remote}}
	if c, err := newColumn(name, remote, 0); err == nil && (e.config.http || !parseType(remote).has("JSON")) {
		out.Type = c.postgre
	}
	_, nullable := parseType(remote).plain()
	out.NotNull = !nullable
	return out
}

// texts runs a statement whose columns are all text that is never NULL.
func (e *Engine) texts(ctx context.Context, sql string, args ...string) ([][]string, error) {
	q := engines.Query{SQL: sql}
	for i := range args {
		q.Args = append(q.Args, &args[i])
	}
	return e.table(ctx, q)
}

// table is texts for any statement.
func (e *Engine) table(ctx context.Context, q engines.Query) ([][]string, error) {
	return e.textsOf(ctx, q)
}

// textsOf is texts of a query.
func (e *Engine) textsOf(ctx context.Context, q engines.Query) ([][]string, error) {
	s, err := e.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var out [][]string
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		record := b.(engines.Columns).Record
		for i := range b.NumRows() {
			row := make([]string, record.NumCols())
			for k := range row {
				column, ok := record.Column(k).(*array.String)
				if !ok {
					return nil, pgerr.AtServer(e.server, malformed())
				}
				row[k] = string(append([]byte(nil), column.Value(i)...))
			}
			out = append(out, row)
		}
	}
}
