package databricks

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

var (
	_ engines.Keeper = (*Engine)(nil)
	_ keep.Store     = (*Engine)(nil)
	_ keep.Filler    = (*Engine)(nil)
)

// keepRules are those of tables in Delta's format, whose columns cannot have any name. A batch is one parameter of a statement.
var keepRules = keep.Rules{Engine: "Databricks", Remote: keptType, Folds: true, BatchBytes: 1 << 20, Names: func(name string) bool {
	return name != "" && !strings.ContainsAny(name, " ,;{}()\n\t=\x00")
}}

// keptTypes are the types that hold the values of a Postgres type: what they have not, a cast refuses.
var keptTypes = map[string]string{
	"boolean": "BOOLEAN", "smallint": "SMALLINT", "integer": "INT", "bigint": "BIGINT", "real": "FLOAT", "double precision": "DOUBLE", "numeric": "STRING",
	"text": "STRING", "character varying": "STRING", "character": "STRING", "date": "DATE", "timestamp without time zone": "TIMESTAMP_NTZ",
	"timestamp with time zone": "TIMESTAMP", "uuid": "STRING", "bytea": "BINARY",
}

// mostDigits is how many digits a decimal has at most; other numerics are kept as their text.
const mostDigits = 38

func keptType(t keep.Type) string { return t.Remote("DECIMAL", mostDigits, keptTypes) }

// Keeps says why the server keeps no results of queries.
func (e *Engine) Keeps() error {
	if e.handles {
		return nil
	}
	return keep.Unwilling(e.server, "options handles 'true' and schema")
}

// Declare returns the options of columns, of which there are none: types at home say what is kept.
func (e *Engine) Declare(columns []engines.Column) ([]map[string]string, error) {
	if _, err := keepRules.Columns(columns); err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	return make([]map[string]string, len(columns)), nil
}

// Kept lists the tables whose names begin with prefix, in the server's schema.
func (e *Engine) Kept(ctx context.Context, prefix string) ([]string, error) {
	rows, err := e.texts(ctx, engines.Query{SQL: "SELECT table_name FROM information_schema.tables WHERE lower(table_schema) = lower($1) AND startswith(table_name, $2) ORDER BY 1", Args: []*string{&e.schema, &prefix}})
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r[0]
	}
	return names, pgerr.AtServer(e.server, err)
}

// Forget drops a table.
func (e *Engine) Forget(ctx context.Context, table string) error {
	return e.run(ctx, engines.Query{SQL: "DROP TABLE IF EXISTS " + e.keptName(table)})
}

// Create makes a table.
func (e *Engine) Create(ctx context.Context, table string, columns []keep.Column) error {
	return e.run(ctx, engines.Query{SQL: "CREATE TABLE " + e.keptName(table) + " " + keep.Definitions(columns, quoted)})
}

// Fill makes a table of what the warehouse computes, which takes values into columns that hold all of them, and refuses others.
func (e *Engine) Fill(ctx context.Context, table string, columns []keep.Column, q engines.Query) (rows int64, ok bool, err error) {
	if err := e.settle(ctx); err != nil {
		return 0, false, err
	}
	if err := e.Create(ctx, table, columns); err != nil {
		return 0, false, err
	}
	q.SQL = "INSERT INTO " + e.keptName(table) + " " + q.SQL
	err = e.run(ctx, q)
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Code == "42804" {
		return 0, false, e.Forget(ctx, table)
	}
	if err != nil {
		return 0, false, err
	}
	count, err := e.texts(ctx, engines.Query{SQL: "SELECT CAST(count(*) AS STRING) FROM " + e.keptName(table)})
	if err == nil && len(count) == 1 {
		rows, err = strconv.ParseInt(count[0][0], 10, 64)
	}
	return rows, err == nil, err
}

// Insert begins to add rows. Each batch is a statement of its own.
func (e *Engine) Insert(ctx context.Context, table string, columns []keep.Column) (keep.Sink, error) {
	if err := e.settle(ctx); err != nil {
		return nil, err
	}
	names, values := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		value := "element_at(r, " + strconv.Itoa(i+1) + ")"
		names[i], values[i] = quoted(c.Name), "CAST("+value+" AS "+c.Remote+")"
		if c.Remote == "BINARY" {
			values[i] = "unhex(" + value + ")"
		}
	}
	sql := "INSERT INTO " + e.keptName(table) + " (" + strings.Join(names, ", ") + ") SELECT " + strings.Join(values, ", ") +
		" FROM (SELECT explode(from_json(CAST($1 AS STRING), 'ARRAY<ARRAY<STRING>>')) AS r) AS u"
	return keep.Documents{Engine: "Databricks", Columns: columns, UTC: "+00:00", Run: func(ctx context.Context, document string) error {
		return e.run(ctx, engines.Query{SQL: sql, Args: []*string{&document}})
	}}.Sink(), nil
}

func (e *Engine) keptName(table string) string {
	return quoted(e.catalog) + "." + quoted(e.schema) + "." + quoted(table)
}

// quoted is a name as SQL.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// run runs a statement that changes something to its end. One that nobody waits for any more is cancelled.
func (e *Engine) run(ctx context.Context, q engines.Query) error {
	_, err := e.execute(ctx, q)
	return err
}
