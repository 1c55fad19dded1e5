package duckdb

import (
	"context"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// tx is one DuckDB transaction on a connection of its own. Rows are staged as text in a temporary table, which DuckDB
// spills when it grows, and go from there into the target by one statement.
type tx struct {
	server     string
	connection *connection // nil when the transaction is over
	staged     int         // how many temporary tables were made, for their names
}

// Begin starts a write transaction; 0A000 where the server is read-only.
func (e *Engine) Begin(ctx context.Context) (engines.Tx, error) {
	if e.config.readOnly {
		return nil, pgerr.AtServer(e.server, e.readOnly())
	}
	c, err := e.connect()
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	if _, err := c.exec(ctx, "BEGIN TRANSACTION"); err != nil {
		c.disconnect()
		return nil, pgerr.AtServer(e.server, err)
	}
	return &tx{server: e.server, connection: c}, nil
}

func (e *Engine) readOnly() error {
	if e.config.directory != "" {
		return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q is a directory of files, which cannot be written to", e.server),
			`Use a server with option "database".`)
	}
	return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q is read-only", e.server),
		"ALTER SERVER %s OPTIONS (ADD read_only 'false') allows writes, or SET instead of ADD where the option is there.", ident(e.server))
}

// Open starts q on the transaction's connection.
func (t *tx) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	cur, err := t.connection.execute(ctx, q.SQL, q.Args, onlyReads)
	if err != nil {
		return nil, pgerr.AtServer(t.server, err)
	}
	s, err := newStream(t.server, t.connection, cur)
	if err != nil {
		cur.close()
		return nil, pgerr.AtServer(t.server, err)
	}
	s.borrowed = true
	return s, nil
}

// Insert adds the rows, cast to the target's types.
func (t *tx) Insert(ctx context.Context, target engines.Target, columns []string, rows engines.Stream) (int64, error) {
	skip := ""
	if unique, err := t.unique(ctx, target); err != nil {
		return 0, err
	} else if unique { // DuckDB refuses the clause for a table in which nothing conflicts
		skip = " ON CONFLICT DO NOTHING"
	}
	return t.write(ctx, target, columns, rows, func(name, stage string, values []value) string {
		names, casts := make([]string, len(values)), make([]string, len(values))
		for i, v := range values {
			names[i], casts[i] = v.column, v.sql
		}
		return "INSERT INTO " + name + " (" + idents(names) + ") SELECT " + strings.Join(casts, ", ") + " FROM " + stage + " AS s" + skip
	})
}

// unique reports whether rows are to be skipped that conflict with others, and the table has a key by which they can.
func (t *tx) unique(ctx context.Context, target engines.Target) (bool, error) {
	if err := t.usable(); err != nil || !target.Skip {
		return false, err
	}
	schema, name := remoteName(target)
	rows, err := t.connection.texts(ctx, `SELECT 1 FROM duckdb_constraints() WHERE database_name = current_database() AND schema_name = $1 AND table_name = $2 AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')
UNION ALL SELECT 1 FROM duckdb_indexes() WHERE database_name = current_database() AND schema_name = $1 AND table_name = $2 AND is_unique`, &schema, &name)
	return len(rows) > 0, pgerr.AtServer(t.server, err)
}

// Update sets columns of the rows whose rowid the first field holds.
func (t *tx) Update(ctx context.Context, target engines.Target, columns []string, rows engines.Stream) (int64, error) {
	staged := append([]string{rowID}, columns...)
	return t.write(ctx, target, staged, rows, func(name, stage string, values []value) string {
		sets := make([]string, len(values)-1)
		for i, v := range values[1:] {
			sets[i] = ident(v.column) + " = " + v.sql
		}
		return "UPDATE " + name + " AS t SET " + strings.Join(sets, ", ") + " FROM " + stage + " AS s WHERE t.rowid = " + values[0].sql
	})
}

// Delete removes the rows whose rowid the only field holds.
func (t *tx) Delete(ctx context.Context, target engines.Target, rows engines.Stream) (int64, error) {
	return t.write(ctx, target, []string{rowID}, rows, func(name, stage string, values []value) string {
		return "DELETE FROM " + name + " AS t WHERE t.rowid IN (SELECT " + values[0].sql + " FROM " + stage + " AS s)"
	})
}

// Truncate removes all rows.
func (t *tx) Truncate(ctx context.Context, target engines.Target) error {
	if err := t.usable(); err != nil {
		return err
	}
	_, err := t.connection.exec(ctx, "TRUNCATE "+relation(target))
	return pgerr.AtServer(t.server, err)
}

// Commit ends the transaction. One that cannot be committed is rolled back.
func (t *tx) Commit(ctx context.Context) error {
	if err := t.usable(); err != nil {
		return err
	}
	_, err := t.connection.exec(ctx, "COMMIT")
	if err != nil {
		err = pgerr.AtServer(t.server, err)
		_ = t.Rollback() // the commit's error says what went wrong
		return err
	}
	t.end()
	return nil
}

// Rollback undoes everything; after the end it does nothing.
func (t *tx) Rollback() error {
	if t.connection == nil {
		return nil
	}
	_, err := t.connection.exec(context.Background(), "ROLLBACK")
	t.end()
	if err != nil {
		return pgerr.AtServer(t.server, err)
	}
	return nil
}

func (t *tx) end() {
	t.connection.disconnect()
	t.connection = nil
}

func (t *tx) usable() error {
	if t.connection == nil {
		return pgerr.New(codeTransactionState, "the transaction on server %q is over", t.server)
	}
	return nil
}

// value is one staged column: where it goes, and the expression over the stage (aliased s) that has the target's type.
type value struct{ column, sql string }

// composed makes the statement that writes, of the target's name, the stage's name and the staged values.
type composed func(name, stage string, values []value) string

// write stages rows and runs the statement that compose makes.
func (t *tx) write(ctx context.Context, target engines.Target, columns []string, rows engines.Stream, compose composed) (int64, error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	if len(columns) == 0 || len(rows.Fields()) != len(columns) {
		return 0, pgerr.New(pgerr.InternalError, "a write of %d columns got rows of %d", len(columns), len(rows.Fields()))
	}
	n, err := t.run(ctx, target, columns, rows, compose)
	if err != nil {
		return 0, pgerr.AtServer(t.server, err)
	}
	return n, nil
}

func (t *tx) run(ctx context.Context, target engines.Target, columns []string, rows engines.Stream, compose composed) (int64, error) {
	types, err := t.types(ctx, target, columns)
	if err != nil {
		return 0, err
	}
	values := make([]value, len(columns))
	lists := make([]bool, len(columns))
	for i, f := range rows.Fields() {
		typ := types[columns[i]]
		values[i] = value{columns[i], cast("s."+stageColumn(i), f.OID, typ)}
		lists[i] = isList(f.OID, typ)
	}
	stage, err := t.stage(ctx, rows, lists)
	if err != nil {
		return 0, err
	}
	if values, err = t.withoutComputed(ctx, target, stage, values); err != nil {
		return 0, err
	}
	n, err := t.connection.exec(ctx, compose(relation(target), stage, values))
	if err != nil {
		return 0, err
	}
	_, err = t.connection.exec(ctx, "DROP TABLE "+stage)
	return n, err
}

// rowID stands for DuckDB's row identity among column names. No column can be called so, as a name is never empty.
const rowID = ""

// types returns the DuckDB types of the target's columns.
func (t *tx) types(ctx context.Context, target engines.Target, columns []string) (map[string]string, error) {
	schema, name := remoteName(target)
	rows, err := t.connection.texts(ctx, `SELECT column_name, data_type FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = $1 AND table_name = $2`, &schema, &name)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, pgerr.New(pgerr.UndefinedTable, "remote table %s of foreign table %q does not exist", relation(target), target.Relation)
	}
	types := map[string]string{rowID: "BIGINT"}
	for _, r := range rows {
		types[*r[0]] = *r[1]
	}
	for _, c := range columns {
		if types[c] == "" {
			return nil, pgerr.New(pgerr.UndefinedColumn, "column %q of remote table %s does not exist", c, relation(target))
		}
	}
	return types, nil
}

// remoteName returns schema and name of the table that a foreign table stands for.
func remoteName(t engines.Target) (schema, name string) {
	schema, name = t.Options["schema_name"], t.Options["table_name"]
	if schema == "" {
		schema = "main"
	}
	if name == "" {
		name = t.Relation
	}
	return schema, name
}

func relation(t engines.Target) string {
	schema, name := remoteName(t)
	return ident(schema) + "." + ident(name)
}

func idents(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = ident(n)
	}
	return strings.Join(quoted, ", ")
}
