package trino

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
)

var (
	_ engines.Keeper = (*Engine)(nil)
	_ keep.Store     = (*Engine)(nil)
	_ keep.Filler    = (*Engine)(nil)
)

// keepRules are those of Trino. A batch stands in the text of a statement, which has a million characters at most.
var keepRules = keep.Rules{Engine: "Trino", Remote: keptType, Folds: true, BatchBytes: 256 << 10, Names: func(name string) bool { return name != "" && !strings.ContainsRune(name, 0) }}

// keptTypes are the types that hold the values of a Postgres type: what they have not, a cast refuses.
var keptTypes = map[string]string{
	"boolean": "boolean", "smallint": "smallint", "integer": "integer", "bigint": "bigint", "real": "real", "double precision": "double", "numeric": "varchar", "text": "varchar",
	"character varying": "varchar", "character": "varchar", "date": "date", "timestamp without time zone": "timestamp(6)", "timestamp with time zone": "timestamp(6) with time zone",
	"uuid": "uuid", "bytea": "varbinary",
}

func keptType(t keep.Type) string { return t.Remote("decimal", mostDigits, keptTypes) }

// mostDigits is how many digits a decimal has at most; other numerics are kept as their text.
const mostDigits = 38

// Keeps says why the server keeps no results of queries.
func (e *Engine) Keeps() error {
	if e.handles {
		return nil
	}
	return keep.Unwilling(e.server, "options handles 'true', catalog and schema")
}

// Declare returns the options of columns.
func (e *Engine) Declare(columns []engines.Column) ([]map[string]string, error) {
	return keepRules.Declare(e.server, columns)
}

// Kept lists the tables whose names begin with prefix, in the server's schema.
func (e *Engine) Kept(ctx context.Context, prefix string) ([]string, error) {
	rows, err := e.texts(ctx, "SELECT CAST(table_name AS varchar) FROM "+quoted(e.catalog)+".information_schema.tables WHERE table_schema = CAST($1 AS varchar) AND starts_with(table_name, CAST($2 AS varchar)) ORDER BY 1",
		strings.ToLower(e.schema), prefix)
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r[0]
	}
	return names, err
}

// Forget drops a table.
func (e *Engine) Forget(ctx context.Context, table string) error {
	_, err := e.run(ctx, engines.Query{SQL: "DROP TABLE IF EXISTS " + e.keptName(table)})
	return err
}

// Create makes a table.
func (e *Engine) Create(ctx context.Context, table string, columns []keep.Column) error {
	_, err := e.run(ctx, engines.Query{SQL: "CREATE TABLE " + e.keptName(table) + " " + keep.Definitions(columns, quoted)})
	return err
}

// Fill makes a table of what the cluster computes. It takes values into a wider type of the same kind, and no others.
func (e *Engine) Fill(ctx context.Context, table string, columns []keep.Column, q engines.Query) (rows int64, ok bool, err error) {
	if err := e.Create(ctx, table, columns); err != nil {
		return 0, false, err
	}
	q.SQL = "INSERT INTO " + e.keptName(table) + " " + q.SQL
	rows, err = e.run(ctx, q)
	var pe *pgconn.PgError
	if errors.As(err, &pe) && pe.Code == "42804" {
		return 0, false, e.Forget(ctx, table)
	}
	return rows, err == nil, err
}

// Insert begins to add rows. Each batch is a statement of its own.
func (e *Engine) Insert(_ context.Context, table string, columns []keep.Column) (keep.Sink, error) {
	names, values := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		names[i], values[i] = quoted(c.Name), "CAST(r["+strconv.Itoa(i+1)+"] AS "+c.Remote+")"
		if c.Remote == "varbinary" {
			values[i] = "from_hex(r[" + strconv.Itoa(i+1) + "])"
		}
	}
	sql := "INSERT INTO " + e.keptName(table) + " (" + strings.Join(names, ", ") + ") SELECT " + strings.Join(values, ", ") +
		" FROM UNNEST(CAST(json_parse(CAST($1 AS varchar)) AS array(array(varchar)))) AS u (r)"
	return keep.Documents{Engine: "Trino", Columns: columns, UTC: " UTC", Run: func(ctx context.Context, document string) error {
		_, err := e.run(ctx, engines.Query{SQL: sql, Args: []*string{&document}})
		return err
	}}.Sink(), nil
}

func (e *Engine) keptName(table string) string {
	return quoted(e.catalog) + "." + quoted(e.schema) + "." + quoted(table)
}

// quoted is a name as SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// run runs a statement to its end, and returns how many rows it has written.
func (e *Engine) run(ctx context.Context, q engines.Query) (rows int64, err error) {
	s, err := e.Open(ctx, q)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for {
		b, err := s.Next(ctx)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return 0, err
		}
		if counts, ok := b.(engines.Columns).Record.Column(0).(*array.Int64); ok && counts.Len() == 1 && counts.IsValid(0) {
			rows = counts.Value(0)
		}
	}
}
