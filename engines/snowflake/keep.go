package snowflake

import (
	"context"
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

var (
	_ engines.Keeper = (*Engine)(nil)
	_ keep.Store     = (*Engine)(nil)
	_ keep.Filler    = (*Engine)(nil)
)

// keepRules are those of Snowflake. A batch is one value that is bound.
var keepRules = keep.Rules{Engine: "Snowflake", Remote: keptType, Folds: true, BatchBytes: 1 << 20, Names: func(name string) bool {
	return name != "" && len(name) <= 255 && !strings.ContainsRune(name, 0)
}}

// keptTypes are the types that hold the values of a Postgres type: what they have not, a cast refuses. Those called VARCHAR, a name that
// the service's catalog has not, are texts that home reads.
var keptTypes = map[string]string{
	"boolean": "BOOLEAN", "smallint": "NUMBER(5,0)", "integer": "NUMBER(10,0)", "bigint": "NUMBER(19,0)", "real": "FLOAT", "double precision": "FLOAT",
	"numeric": "VARCHAR", "text": "VARCHAR", "character varying": "VARCHAR", "character": "VARCHAR", "uuid": "VARCHAR", "bytea": "BINARY", "date": "DATE",
	"timestamp without time zone": "TIMESTAMP_NTZ(6)", "timestamp with time zone": "TIMESTAMP_LTZ(6)",
}

func keptType(t keep.Type) string { return t.Remote("NUMBER", mostDigits, keptTypes) }

// Keeps says why the server keeps no results of queries.
func (e *Engine) Keeps() error {
	if e.handles {
		return nil
	}
	return keep.Unwilling(e.server, "option handles 'true'")
}

// Declare returns the options of columns.
func (e *Engine) Declare(columns []engines.Column) ([]map[string]string, error) {
	return keepRules.Declare(e.server, columns)
}

// Kept lists the tables whose names begin with prefix, in the server's schema.
func (e *Engine) Kept(ctx context.Context, prefix string) ([]string, error) {
	rows, err := e.texts(ctx, `SELECT "TABLE_NAME" FROM "INFORMATION_SCHEMA"."TABLES" WHERE "TABLE_SCHEMA" = $1 AND STARTSWITH("TABLE_NAME", $2) ORDER BY 1`, e.schema, prefix)
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r[0]
	}
	return names, err
}

// Forget drops a table.
func (e *Engine) Forget(ctx context.Context, table string) error {
	_, err := e.change(ctx, engines.Query{SQL: "DROP TABLE IF EXISTS " + e.keptName(table)})
	return err
}

// Create makes a table, of which the service keeps no history.
func (e *Engine) Create(ctx context.Context, table string, columns []keep.Column) error {
	_, err := e.change(ctx, engines.Query{SQL: "CREATE TRANSIENT TABLE " + e.keptName(table) + " " + keep.Definitions(columns, folded) + " DATA_RETENTION_TIME_IN_DAYS = 0"})
	return err
}

// Fill makes a table of what the service computes, where its types are those of the table: it would round to them else.
func (e *Engine) Fill(ctx context.Context, table string, columns []keep.Column, q engines.Query) (rows int64, ok bool, err error) {
	types, err := e.typesOf(ctx, q)
	if err != nil || len(types) != len(columns) {
		return 0, false, err
	}
	for i, t := range types {
		if !t.holds(columns[i].Remote) {
			return 0, false, nil
		}
	}
	if err := e.Create(ctx, table, columns); err != nil {
		return 0, false, err
	}
	q.SQL = "INSERT INTO " + e.keptName(table) + " " + q.SQL
	rows, err = e.change(ctx, q)
	return rows, err == nil, err
}

// typesOf returns the types of a query's columns.
func (e *Engine) typesOf(ctx context.Context, q engines.Query) ([]remoteColumn, error) {
	q.SQL = "SELECT * FROM (" + q.SQL + ") AS q LIMIT 0"
	s, loader, err := e.execute(ctx, q)
	if err != nil {
		return nil, err
	}
	e.release(s)
	var types []remoteColumn
	for _, t := range loader.RowTypes() {
		types = append(types, remoteColumn{name: t.Name, kind: t.Type, precision: int(t.Precision), scale: int(t.Scale)})
	}
	return types, nil
}

// holds reports whether a column of a type of keptTypes takes all values of this one as they are.
func (c remoteColumn) holds(remote string) bool {
	base, digits, _ := strings.Cut(strings.TrimSuffix(remote, ")"), "(")
	precision, scale, _ := strings.Cut(digits, ",")
	most, _ := strconv.Atoi(precision)
	if base == "NUMBER" {
		return c.kind == "fixed" && c.precision <= most && strconv.Itoa(c.scale) == scale
	}
	kind := map[string]string{"BOOLEAN": "boolean", "FLOAT": "real", "VARCHAR": "text", "BINARY": "binary", "DATE": "date", "TIMESTAMP_NTZ": "timestamp_ntz", "TIMESTAMP_LTZ": "timestamp_ltz"}[base]
	return c.kind == kind && (digits == "" || c.scale <= most)
}

// Insert begins to add rows. Each batch is a statement of its own.
func (e *Engine) Insert(_ context.Context, table string, columns []keep.Column) (keep.Sink, error) {
	names, values := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		value := `CAST("u"."VALUE"[` + strconv.Itoa(i) + "] AS VARCHAR)"
		names[i], values[i] = folded(c.Name), "CAST("+value+" AS "+c.Remote+")"
		if c.Remote == "BINARY" {
			values[i] = "TO_BINARY(" + value + ", 'HEX')"
		}
	}
	sql := "INSERT INTO " + e.keptName(table) + " (" + strings.Join(names, ", ") + ") SELECT " + strings.Join(values, ", ") +
		` FROM TABLE(FLATTEN(INPUT => PARSE_JSON($1))) AS "u"`
	return keep.Documents{Engine: "Snowflake", Columns: columns, UTC: "+00:00", Spell: spelled, Run: func(ctx context.Context, document string) error {
		_, err := e.change(ctx, engines.Query{SQL: sql, Args: []*string{&document}})
		return err
	}}.Sink(), nil
}

// spelled is a number as a double: the digits of a real are fewer than that needs.
func spelled(text string, c keep.Column) (string, error) {
	if c.Remote != "FLOAT" {
		return text, nil
	}
	bits := 64
	if c.Type.Name == "real" {
		bits = 32
	}
	f, err := strconv.ParseFloat(text, bits)
	if err != nil {
		return "", pgerr.New(pgerr.InvalidTextRepr, "invalid input syntax for type %s: %q", c.Type.Name, text)
	}
	return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'g', -1, 64)), "+"), nil
}

func (e *Engine) keptName(table string) string {
	return quoted(e.database) + "." + quoted(e.schema) + "." + quoted(table)
}

// quoted is a name as SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// folded is a column's name as SQL, in the case that the service gives names.
func folded(name string) string { return quoted(upper(name)) }

// change runs a statement that yields no rows, and returns how many it has written.
func (e *Engine) change(ctx context.Context, q engines.Query) (rows int64, err error) {
	s, done, err := perform(ctx, e, q, func(ctx context.Context, conn driver.Conn, sql string, args []driver.NamedValue) (driver.Result, error) {
		return conn.(driver.ExecerContext).ExecContext(ctx, sql, args)
	})
	if err != nil {
		return 0, err
	}
	e.release(s)
	if rows, err = done.RowsAffected(); err != nil { // of what makes or drops a table
		rows = 0
	}
	return rows, nil
}
