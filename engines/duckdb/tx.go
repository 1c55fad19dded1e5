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
		return nil, nameServer(e.server, e.readOnly())
	}
	c, err := e.connect()
	if err != nil {
		return nil, nameServer(e.server, err)
	}
	if _, err := c.exec(ctx, "BEGIN TRANSACTION"); err != nil {
		c.disconnect()
		return nil, nameServer(e.server, err)
	}
	return &tx{server: e.server, connection: c}, nil
}

func (e *Engine) readOnly() error {
	if e.config.directory != "" {
		return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q is a directory of files, which cannot be written to", e.server),
			`Use a server with option "database".`)
	}
	return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q is read-only", e.server),
		"Use ALTER SERVER … OPTIONS (SET read_only 'false') to allow writes.")
}

// Open starts q on the transaction's connection.
func (t *tx) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	cur, err := t.connection.execute(ctx, q.SQL, q.Args, onlyReads)
	if err != nil {
		return nil, nameServer(t.server, err)
	}
	s, err := newStream(t.server, t.connection, cur)
	if err != nil {
		cur.close()
		return nil, nameServer(t.server, err)
	}
	s.borrowed = true
	return s, nil
}

// Insert adds the rows, cast to the target's types.
func (t *tx) Insert(ctx context.Context, target engines.Target, columns []string, rows engines.Stream) (int64, error) {
	return t.write(ctx, target, columns, rows, columns, func(name, stage string, casts []string) string {
		return "INSERT INTO " + name + " (" + idents(columns) + ") SELECT " + strings.Join(casts, ", ") + " FROM " + stage + " AS s"
	})
}

// Update sets columns of the rows whose rowid the first field holds.
func (t *tx) Update(ctx context.Context, target engines.Target, columns []string, rows engines.Stream) (int64, error) {
	staged := append([]string{rowID}, columns...)
	return t.write(ctx, target, columns, rows, staged, func(name, stage string, casts []string) string {
		sets := make([]string, len(columns))
		for i, c := range columns {
			sets[i] = ident(c) + " = " + casts[i+1]
		}
		return "UPDATE " + name + " AS t SET " + strings.Join(sets, ", ") + " FROM " + stage + " AS s WHERE t.rowid = " + casts[0]
	})
}

// Delete removes the rows whose rowid the only field holds.
func (t *tx) Delete(ctx context.Context, target engines.Target, rows engines.Stream) (int64, error) {
	return t.write(ctx, target, nil, rows, []string{rowID}, func(name, stage string, casts []string) string {
		return "DELETE FROM " + name + " AS t WHERE t.rowid IN (SELECT " + casts[0] + " FROM " + stage + " AS s)"
	})
}

// Truncate removes all rows.
func (t *tx) Truncate(ctx context.Context, target engines.Target) error {
	if err := t.usable(); err != nil {
		return err
	}
	_, err := t.connection.exec(ctx, "TRUNCATE "+relation(target))
	return nameServer(t.server, err)
}

// Commit ends the transaction. One that cannot be committed is rolled back.
func (t *tx) Commit(ctx context.Context) error {
	if err := t.usable(); err != nil {
		return err
	}
	_, err := t.connection.exec(ctx, "COMMIT")
	if err != nil {
		err = nameServer(t.server, err)
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
		return nameServer(t.server, err)
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

// write stages rows and runs the statement that compose makes of the target's name, the stage's name, and one
// expression for each staged column.
func (t *tx) write(ctx context.Context, target engines.Target, columns []string, rows engines.Stream, staged []string,
	compose func(name, stage string, casts []string) string) (int64, error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	if len(staged) == 0 || len(rows.Fields()) != len(staged) {
		return 0, pgerr.New(pgerr.InternalError, "a write of %d columns got rows of %d", len(staged), len(rows.Fields()))
	}
	n, err := t.run(ctx, target, columns, rows, staged, compose)
	if err != nil {
		return 0, nameServer(t.server, err)
	}
	return n, nil
}

func (t *tx) run(ctx context.Context, target engines.Target, columns []string, rows engines.Stream, staged []string,
	compose func(name, stage string, casts []string) string) (int64, error) {
	types, err := t.types(ctx, target, columns)
	if err != nil {
		return 0, err
	}
	casts := make([]string, len(staged))
	lists := make([]bool, len(staged))
	for i, f := range rows.Fields() {
		typ := types[staged[i]]
		casts[i], lists[i] = cast("s."+stageColumn(i), f.OID, typ), isList(f.OID, typ)
	}
	stage, err := t.stage(ctx, rows, lists)
	if err != nil {
		return 0, err
	}
	n, err := t.connection.exec(ctx, compose(relation(target), stage, casts))
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
