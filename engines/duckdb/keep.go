package duckdb

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

var _ engines.Keeper = (*Engine)(nil)

// keepSchema is the schema of the database that results are kept in: the one that a foreign table means where no option says
// another.
const keepSchema = "main"

// Keeps says why the server keeps no results of queries.
func (e *Engine) Keeps() error {
	if e.config.handles {
		return nil
	}
	return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q does not take handles", e.server),
		"A server with options database, read_only 'false' and handles 'true' does; leave the server out for home.")
}

// Declare needs no options: the types of columns at home say what they are in DuckDB.
func (e *Engine) Declare(columns []engines.Column) ([]map[string]string, error) {
	if _, err := kept(columns); err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	return make([]map[string]string, len(columns)), nil
}

// Kept lists the tables whose names begin with prefix.
func (e *Engine) Kept(ctx context.Context, prefix string) ([]string, error) {
	c, err := e.connect()
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	defer c.disconnect()
	schema := keepSchema
	rows, err := c.texts(ctx, `SELECT table_name FROM duckdb_tables()
WHERE database_name = current_database() AND schema_name = $1 AND starts_with(table_name, $2) ORDER BY table_name`, &schema, &prefix)
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = *r[0]
	}
	return names, nil
}

// Forget drops a table.
func (e *Engine) Forget(ctx context.Context, table string) error {
	c, err := e.connect()
	if err != nil {
		return pgerr.AtServer(e.server, err)
	}
	defer c.disconnect()
	_, err = c.exec(ctx, "DROP TABLE IF EXISTS "+ident(keepSchema)+"."+ident(table))
	return pgerr.AtServer(e.server, err)
}

// Make makes a table.
func (t *tx) Make(ctx context.Context, table string, columns []engines.Column) error {
	if err := t.usable(); err != nil {
		return err
	}
	types, err := kept(columns)
	if err != nil {
		return pgerr.AtServer(t.server, err)
	}
	definitions := make([]string, len(columns))
	for i, c := range columns {
		definitions[i] = ident(c.Name) + " " + types[i]
	}
	_, err = t.connection.exec(ctx, "CREATE TABLE "+ident(keepSchema)+"."+ident(table)+" ("+strings.Join(definitions, ", ")+")")
	return pgerr.AtServer(t.server, err)
}

// Fill makes a table of the rows of a query, which does not leave DuckDB.
func (t *tx) Fill(ctx context.Context, table string, columns []engines.Column, q engines.Query) (rows int64, ok bool, err error) {
	if err := t.usable(); err != nil {
		return 0, false, err
	}
	rows, ok, err = t.fill(ctx, table, columns, q)
	return rows, ok, pgerr.AtServer(t.server, err)
}

func (t *tx) fill(ctx context.Context, table string, columns []engines.Column, q engines.Query) (rows int64, ok bool, err error) {
	types, err := kept(columns)
	if err != nil {
		return 0, false, err
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	name := ident(keepSchema) + "." + ident(table)
	source := " SELECT * FROM (" + q.SQL + ") AS q (" + idents(names) + ")"
	if _, err := t.connection.exec(ctx, "CREATE TABLE "+name+" AS"+source+" WITH NO DATA", q.Args...); err != nil {
		return 0, false, err
	}
	has, err := t.types(ctx, engines.Target{Relation: table}, names)
	if err != nil {
		return 0, false, err
	}
	for i, n := range names {
		if has[n] != types[i] {
			_, err := t.connection.exec(ctx, "DROP TABLE "+name)
			return 0, false, err
		}
	}
	rows, err = t.connection.exec(ctx, "INSERT INTO "+name+source, q.Args...)
	return rows, err == nil, err
}

// keptTypes are the DuckDB types that hold all values of a Postgres type but for those which DuckDB refuses, and of which Postgres makes
// that type again.
var keptTypes = map[string]string{
	"boolean": "BOOLEAN", "smallint": "SMALLINT", "integer": "INTEGER", "bigint": "BIGINT", "real": "FLOAT", "double precision": "DOUBLE",
	"text": "VARCHAR", "character varying": "VARCHAR", "character": "VARCHAR", "date": "DATE", "uuid": "UUID", "bytea": "BLOB",
	"time without time zone": "TIME", "time with time zone": "TIME WITH TIME ZONE", "interval": "INTERVAL",
	"timestamp without time zone": "TIMESTAMP", "timestamp with time zone": "TIMESTAMP WITH TIME ZONE",
	"json": "JSON", "jsonb": "JSON",
}

// keptTexts are types whose values DuckDB does not know and keeps as the text that home writes and reads: no condition on them, nor an
// order of theirs, is ever left to it. Numerics without a scale are like them.
var keptTexts = map[string]bool{
	"inet": true, "cidr": true, "macaddr": true, "macaddr8": true, "bit": true, "bit varying": true, "tsvector": true, engines.AnyEnum: true,
	"int4range": true, "int8range": true, "numrange": true, "daterange": true, "tsrange": true, "tstzrange": true,
}

// Modifiers of types: values have been brought to them before they are kept.
var (
	keptModifier = regexp.MustCompile(`^(character varying|character|time|timestamp|interval|bit varying|bit)\(\d+\)`)
	keptNumeric  = regexp.MustCompile(`^numeric\((\d+),(\d+)\)$`)
)

const mostDigits = 38

// keptType returns the DuckDB type for a type, false where there is none.
func keptType(typ string) (string, bool) {
	if element, ok := strings.CutSuffix(typ, "[]"); ok {
		kept, ok := keptType(element)
		if kept == "JSON" || keptTexts[keptModifier.ReplaceAllString(element, "$1")] { // which home reads as a whole
			return "VARCHAR", ok
		}
		return kept + "[]", ok
	}
	if m := keptNumeric.FindStringSubmatch(typ); m != nil {
		digits, _ := strconv.Atoi(m[1])
		scale, _ := strconv.Atoi(m[2])
		return "DECIMAL(" + m[1] + "," + m[2] + ")", digits <= mostDigits && scale <= digits
	}
	name := keptModifier.ReplaceAllString(typ, "$1")
	if name == "numeric" || keptTexts[name] {
		return "VARCHAR", true
	}
	kept, ok := keptTypes[name]
	return kept, ok
}

// kept returns the DuckDB types for columns.
func kept(columns []engines.Column) ([]string, error) {
	types := make([]string, len(columns))
	for i, c := range columns {
		typ, ok := keptType(c.Type)
		if !ok {
			return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "column %q of type %s cannot be kept by DuckDB as it is", c.Name, c.Type),
				"Cast it in the query, for instance to text, or keep the result at home.")
		}
		types[i] = typ
	}
	if len(columns) == 0 {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "DuckDB keeps no table without columns")
	}
	lower := make([]string, len(columns))
	for i, c := range columns {
		if lower[i] = strings.ToLower(c.Name); slices.Contains(lower[:i], lower[i]) {
			return nil, pgerr.Hint(pgerr.New(pgerr.DuplicateColumn, "DuckDB takes columns %q and %q for one", c.Name, columns[slices.Index(lower, lower[i])].Name),
				"Give one of them another name.")
		}
	}
	return types, nil
}
