package snowflake

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

const (
	schemataSQL = ` AS "s" FROM "INFORMATION_SCHEMA"."SCHEMATA" WHERE "SCHEMA_NAME" = $1 OR "SCHEMA_NAME" = $2`
	columnsSQL  = `SELECT "T"."TABLE_NAME", COALESCE("T"."COMMENT", ''), "C"."COLUMN_NAME", "C"."DATA_TYPE", COALESCE(CAST("C"."NUMERIC_PRECISION" AS VARCHAR), ''),
 COALESCE(CAST("C"."NUMERIC_SCALE" AS VARCHAR), ''), "C"."IS_NULLABLE", COALESCE("C"."COMMENT", '')
FROM "INFORMATION_SCHEMA"."TABLES" AS "T" JOIN "INFORMATION_SCHEMA"."COLUMNS" AS "C" ON "C"."TABLE_SCHEMA" = "T"."TABLE_SCHEMA" AND "C"."TABLE_NAME" = "T"."TABLE_NAME"
WHERE "T"."TABLE_SCHEMA" = $1 ORDER BY "T"."TABLE_NAME", "C"."ORDINAL_POSITION"`
)

// Introspect lists the tables and views of a schema of the server's database. Names in capitals, which are those that were written
// without quotes, become lower case, unless there is another of that name.
func (e *Engine) Introspect(ctx context.Context, schema string) ([]engines.Table, error) {
	known, err := e.texts(ctx, `SELECT "SCHEMA_NAME"`+schemataSQL, schema, upper(schema))
	if err != nil {
		return nil, err
	}
	switch {
	case len(known) == 0:
		return nil, pgerr.AtServer(e.server, pgerr.New(pgerr.FdwSchemaNotFound, "schema %q does not exist in database %q at the remote side", schema, e.database))
	case len(known) == 1: // as it is, or in capitals
		schema = known[0][0]
	}
	rows, err := e.texts(ctx, columnsSQL, schema)
	if err != nil {
		return nil, err
	}
	var tables []engines.Table
	for _, r := range rows {
		if len(tables) == 0 || tables[len(tables)-1].Name != r[0] {
			tables = append(tables, engines.Table{Name: r[0], Comment: r[1],
				Options: map[string]string{"database_name": e.database, "schema_name": schema, "table_name": r[0]}})
		}
		t := &tables[len(tables)-1]
		t.Columns = append(t.Columns, e.catalogColumn(r[2:]))
	}
	local(tables, func(t *engines.Table) *string { return &t.Name })
	for _, t := range tables {
		local(t.Columns, func(c *engines.Column) *string { return &c.Name })
	}
	slices.SortFunc(tables, func(a, b engines.Table) int { return cmp.Compare(a.Name, b.Name) })
	return tables, nil
}

// catalogColumn reads a row of the information schema, without the table.
func (e *Engine) catalogColumn(r []string) engines.Column {
	precision, _ := strconv.Atoi(r[2]) // none where the type has none
	scale, _ := strconv.Atoi(r[3])
	remote := r[1]
	switch {
	case remote == "NUMBER":
		remote += "(" + strconv.Itoa(precision) + "," + strconv.Itoa(scale) + ")"
	case remote == "TEXT" && e.binary: // the catalog has no collations
		remote += "(BINARY)"
	}
	return engines.Column{Name: r[0], Type: postgresName(r[1], precision, scale), RemoteType: remote, NotNull: r[4] == "NO", Comment: r[5],
		Options: map[string]string{"column_name": r[0], "remote_type": remote}}
}

// upper is a name without capitals as the server has it that was written without quotes.
func upper(name string) string {
	if strings.ToLower(name) == name {
		return strings.ToUpper(name)
	}
	return name
}

// local gives names in capitals their lower case, where that is nobody's name.
func local[T any](list []T, name func(*T) *string) {
	taken := map[string]bool{}
	for i := range list {
		taken[*name(&list[i])] = true
	}
	for i := range list {
		n := name(&list[i])
		if lower := strings.ToLower(*n); upper(lower) == *n && !taken[lower] {
			*n = lower
		}
	}
}

// texts runs a catalog query, whose columns must all be strings, and returns its rows. It is for bounded results only.
func (e *Engine) texts(ctx context.Context, sql string, args ...string) ([][]string, error) {
	q := engines.Query{SQL: sql}
	for i := range args {
		q.Args = append(q.Args, &args[i])
	}
	s, err := e.Open(ctx, q)
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
					return nil, malformed("a name is no text")
				}
				row[j] = strings.Clone(text.Value(i))
			}
			rows = append(rows, row)
		}
	}
}
