package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2" // the driver that writes fixtures
	"github.com/jackc/pgx/v5"
)

// column of a home table.
type column struct {
	Name, Type string
	NotNull    bool
	Collation  string // with its schema; empty for the type's own
	form       form
}

// table is a home table, with what its foreign twin needs.
type table struct {
	Name    string
	Columns []column
}

// Lake is a DuckDB file with copies of home tables.
type Lake struct {
	File   string
	tables []table
}

// Copy writes the tables of a home schema into the DuckDB file, which it makes; all of them where names is empty. The
// file is closed when Copy returns, so that the proxy can open it.
func Copy(ctx context.Context, home *pgx.Conn, schema, file string, names ...string) (lake *Lake, err error) {
	for _, set := range []string{"SET datestyle = 'ISO'", "SET timezone = 'UTC'", "SET extra_float_digits = 1"} {
		if _, err := home.Exec(ctx, set); err != nil {
			return nil, err
		}
	}
	db, err := sql.Open("duckdb", file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "SET timezone = 'UTC'"); err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // the setting is the connection's
	lake = &Lake{File: file}
	if len(names) == 0 {
		if names, err = tableNames(ctx, home, schema); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		tb, err := describe(ctx, home, schema, name)
		if err != nil {
			return nil, err
		}
		if err := tb.copy(ctx, home, schema, db); err != nil {
			return nil, fmt.Errorf("table %s: %w", name, err)
		}
		lake.tables = append(lake.tables, tb)
	}
	return lake, nil
}

func tableNames(ctx context.Context, home *pgx.Conn, schema string) ([]string, error) {
	rows, err := home.Query(ctx, "SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' ORDER BY 1",
		schema)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func describe(ctx context.Context, home *pgx.Conn, schema, name string) (table, error) {
	rows, err := home.Query(ctx, `SELECT attname, format_type(atttypid, atttypmod), attnotnull,
			CASE WHEN attcollation <> typcollation THEN attcollation::regcollation::text ELSE '' END
		FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
		WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`, quote(schema)+"."+quote(name))
	if err != nil {
		return table{}, err
	}
	columns, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (column, error) {
		var c column
		if err := r.Scan(&c.Name, &c.Type, &c.NotNull, &c.Collation); err != nil {
			return c, err
		}
		c.form = formOf(c.Type)
		return c, nil
	})
	return table{name, columns}, err
}

// copy makes the table in DuckDB and fills it from home.
func (tb table) copy(ctx context.Context, home *pgx.Conn, schema string, db *sql.DB) error {
	var defs, reads, casts, ducks []string
	for _, c := range tb.Columns {
		def := quote(c.Name) + " " + c.form.duck
		if c.NotNull {
			def += " NOT NULL"
		}
		defs, ducks = append(defs, def), append(ducks, c.form.duck)
		reads = append(reads, fmt.Sprintf("CASE WHEN num_nulls(%[1]s) = 0 THEN "+c.form.read+" END", quote(c.Name)))
		casts = append(casts, c.form.cast)
	}
	if _, err := db.ExecContext(ctx, fmt.Sprintf("CREATE TABLE %s (%s)", quote(tb.Name), strings.Join(defs, ", "))); err != nil {
		return err
	}
	insert, err := db.PrepareContext(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%s)", quote(tb.Name), strings.Join(casts, ", ")))
	if err != nil {
		return err
	}
	defer insert.Close()
	rows, err := home.Query(ctx, fmt.Sprintf("SELECT %s FROM %s.%s", strings.Join(reads, ", "), quote(schema), quote(tb.Name)))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		args := make([]any, len(tb.Columns))
		for i, raw := range rows.RawValues() {
			if raw != nil {
				args[i] = respell(ducks[i], string(raw))
			}
		}
		if _, err := insert.ExecContext(ctx, args...); err != nil {
			return fmt.Errorf("row %v: %w", args, err)
		}
	}
	return rows.Err()
}

// Server returns the statement that declares the file as a foreign server.
func (l *Lake) Server(name string, writable bool) string {
	return fmt.Sprintf("CREATE SERVER %s FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database %s, read_only '%t')",
		quote(name), literal(l.File), !writable)
}

// Tables returns the statements that declare foreign tables with the names and types of home's, all of them where names is
// empty.
func (l *Lake) Tables(server, schema string, names ...string) []string {
	var out []string
	for _, tb := range l.tables {
		if len(names) > 0 && !slices.Contains(names, tb.Name) {
			continue
		}
		out = append(out, tb.declare(server, schema, "table_name "+literal(tb.Name)))
	}
	return out
}

// Spread returns the statements that make the tables once more, by turns as foreign ones of the servers given, which are
// over the lake's file, and as home's own with the rows of another schema.
func (l *Lake) Spread(schema, rows string, servers ...string) []string {
	var out []string
	for i, tb := range l.tables {
		if k := i % (len(servers) + 1); k < len(servers) {
			out = append(out, tb.declare(servers[k], schema, "table_name "+literal(tb.Name)))
			continue
		}
		from, to := quote(rows)+"."+quote(tb.Name), quote(schema)+"."+quote(tb.Name)
		out = append(out, "CREATE TABLE "+to+" (LIKE "+from+")", "INSERT INTO "+to+" SELECT * FROM "+from)
	}
	return out
}

// Export writes each table as a Parquet file into dir and returns the statements that declare foreign tables over them
// on a server of that directory. Tables with intervals are left out: Parquet has no negative ones.
func (l *Lake) Export(ctx context.Context, dir, server, schema string) (statements []string, err error) {
	db, err := sql.Open("duckdb", l.File)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, tb := range l.tables {
		if slices.ContainsFunc(tb.Columns, func(c column) bool { return c.form.duck == "INTERVAL" }) {
			continue
		}
		file := tb.Name + ".parquet"
		if _, err := db.ExecContext(ctx, fmt.Sprintf("COPY %s TO %s (FORMAT parquet)", quote(tb.Name), literal(dir+"/"+file))); err != nil {
			return nil, err
		}
		statements = append(statements, tb.declare(server, schema, "file "+literal(file)))
	}
	return statements, nil
}

func (tb table) declare(server, schema, options string) string {
	var defs []string
	for _, c := range tb.Columns {
		def := quote(c.Name) + " " + c.Type
		if c.Collation != "" {
			def += " COLLATE " + c.Collation
		}
		if c.NotNull {
			def += " NOT NULL"
		}
		defs = append(defs, def)
	}
	return fmt.Sprintf("CREATE FOREIGN TABLE %s.%s (%s) SERVER %s OPTIONS (%s)", quote(schema), quote(tb.Name),
		strings.Join(defs, ", "), quote(server), options)
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
