package duckdb

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Introspect lists the tables and views of a schema of the database, or the files of the directory, whose only schema
// is called main or files.
func (e *Engine) Introspect(ctx context.Context, schema string) ([]engines.Table, error) {
	tables, err := e.introspect(ctx, schema)
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	return tables, nil
}

func (e *Engine) introspect(ctx context.Context, schema string) ([]engines.Table, error) {
	c, err := e.connect()
	if err != nil {
		return nil, err
	}
	defer c.disconnect()
	if e.config.directory != "" {
		if !slices.Contains([]string{"", "main", "files"}, schema) {
			return nil, pgerr.Hint(noSchema(schema), `A directory has one schema, called "files".`)
		}
		return filesOf(ctx, c, e.config.directory)
	}
	known, err := c.texts(ctx, "SELECT schema_name FROM duckdb_schemas() WHERE database_name = current_database() AND schema_name = $1", &schema)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, noSchema(schema)
	}
	return tablesOf(ctx, c, schema)
}

func noSchema(schema string) *pgconn.PgError {
	return pgerr.New(pgerr.FdwSchemaNotFound, "schema %q does not exist at the remote side", schema)
}

const tablesSQL = `
SELECT r.name, coalesce(r.comment, ''), c.column_name, c.data_type, (NOT c.is_nullable)::VARCHAR, coalesce(c.comment, '')
FROM (SELECT database_oid, schema_name, table_name AS name, comment FROM duckdb_tables()
        WHERE database_name = current_database() AND NOT internal AND NOT temporary
      UNION ALL
      SELECT database_oid, schema_name, view_name, comment FROM duckdb_views()
        WHERE database_name = current_database() AND NOT internal AND NOT temporary) r
JOIN duckdb_columns() c ON c.database_oid = r.database_oid AND c.schema_name = r.schema_name AND c.table_name = r.name
WHERE r.schema_name = $1
ORDER BY r.name, c.column_index`

func tablesOf(ctx context.Context, c *connection, schema string) ([]engines.Table, error) {
	rows, err := c.texts(ctx, tablesSQL, &schema)
	if err != nil {
		return nil, err
	}
	var tables []engines.Table
	for _, r := range rows {
		name := *r[0]
		if len(tables) == 0 || tables[len(tables)-1].Name != name {
			tables = append(tables, engines.Table{
				Name: name, Comment: *r[1],
				Options: map[string]string{"schema_name": schema, "table_name": name},
			})
		}
		t := &tables[len(tables)-1]
		t.Columns = append(t.Columns, engines.Column{
			Name: *r[2], Type: postgresName(*r[3]), RemoteType: *r[3], NotNull: *r[4] == "true", Comment: *r[5],
		})
	}
	return tables, nil
}

// filesOf lists the data files that stand in dir itself. Links that lead out of it are left out.
func filesOf(ctx context.Context, c *connection, dir string) ([]engines.Table, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fileError("directory", dir, err)
	}
	names := map[string]int{}
	var files []string
	for _, entry := range entries {
		if formatOf(entry.Name()) != "" && staysInside(dir, entry) {
			files = append(files, entry.Name())
			names[baseName(entry.Name())]++
		}
	}
	var tables []engines.Table
	for _, file := range files {
		t := engines.Table{Name: baseName(file), Options: map[string]string{"file": file}}
		if names[t.Name] > 1 {
			t.Name = file // a.csv beside a.parquet
		}
		if t.Columns, err = describe(ctx, c, filepath.Join(dir, file)); err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	slices.SortFunc(tables, func(a, b engines.Table) int { return strings.Compare(a.Name, b.Name) })
	return tables, nil
}

func baseName(file string) string {
	file = trimCompression(file)
	return strings.TrimSuffix(file, filepath.Ext(file))
}

func staysInside(dir string, entry fs.DirEntry) bool {
	if entry.Type().IsRegular() {
		return true
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(filepath.Join(dir, entry.Name()))
	if err != nil {
		return false
	}
	info, err := os.Stat(target)
	return err == nil && info.Mode().IsRegular() && strings.HasPrefix(target, root+string(filepath.Separator))
}

var readers = map[string]string{parquet: "read_parquet", csv: "read_csv", json: "read_json"}

// describe returns the columns of a file as DuckDB's reader finds them.
func describe(ctx context.Context, c *connection, path string) ([]engines.Column, error) {
	sql := "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM " + readers[formatOf(path)] + "(" + literal(globless(path)) + "))"
	rows, err := c.texts(ctx, sql)
	if err != nil {
		return nil, nameFile(path, err)
	}
	columns := make([]engines.Column, len(rows))
	for i, r := range rows {
		columns[i] = engines.Column{Name: *r[0], Type: postgresName(*r[1]), RemoteType: *r[1]}
	}
	return columns, nil
}

// globless makes a path that DuckDB takes for that one file even when its name has characters of a pattern.
func globless(path string) string {
	var b strings.Builder
	for _, r := range path {
		if strings.ContainsRune("*?[", r) {
			b.WriteString("[" + string(r) + "]")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func nameFile(path string, err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) && !strings.Contains(pe.Message, filepath.Base(path)) {
		pe.Message = `could not read file "` + path + `": ` + pe.Message
	}
	return err
}
