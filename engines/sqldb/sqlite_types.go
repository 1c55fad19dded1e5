package sqldb

import (
	"context"
	"database/sql/driver"
	"regexp"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// natural goes by the declaration of a table's column. Of an expression nothing is known but its values, which may differ:
// those that are no texts are errors.
func (l *sqLite) natural(rows driver.Rows, i int) engines.Field {
	f := engines.Field{OID: oidText, Typmod: -1}
	if t, ok := rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		switch sqLiteType(t.ColumnTypeDatabaseTypeName(i)) {
		case "bigint":
			f.OID = oidInt8
		case "double precision":
			f.OID = oidFloat8
		case "bytea":
			f.OID = oidBytea
		}
	}
	return f
}

const sqLiteTables = `SELECT l.name AS t, c.name AS c, c.type AS d, CAST(c."notnull" OR c.pk > 0 AND l.wr AS TEXT) AS n
FROM pragma_table_list l JOIN pragma_table_xinfo(l.name, l.schema) c ON c.hidden <> 1
WHERE l.schema = 'main' AND l.type IN ('table', 'view', 'virtual') AND l.name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY l.name, c.cid`

func (l *sqLite) introspect(ctx context.Context, ask asker, schema string) ([]engines.Table, error) {
	if schema != "main" {
		return nil, pgerr.Hint(pgerr.New(pgerr.FdwSchemaNotFound, "schema %q is not present on foreign server %q", schema, l.server),
			`A SQLite database has one schema, called "main".`)
	}
	rows, err := ask(ctx, sqLiteTables)
	if err != nil {
		return nil, err
	}
	var tables []engines.Table
	for _, r := range rows {
		if n := len(tables); n == 0 || tables[n-1].Name != *r[0] {
			tables = append(tables, engines.Table{Name: *r[0], Options: map[string]string{"table_name": *r[0]}})
		}
		t := &tables[len(tables)-1]
		t.Columns = append(t.Columns, engines.Column{
			Name: *r[1], RemoteType: value(r[2]), Type: sqLiteType(value(r[2])), NotNull: value(r[3]) == "1",
			Options: map[string]string{"column_name": *r[1], "remote_type": value(r[2])},
		})
	}
	return tables, nil
}

var (
	sqLiteDecimal = regexp.MustCompile(`^(?:DECIMAL|NUMERIC)\s*\((\d+)\s*,\s*(\d+)\)$`)
	sqLiteText    = regexp.MustCompile(`^(?:N?VARCHAR|VARYING CHARACTER)\s*\((\d+)\)$`)
)

// sqLiteNames are the types at home of declarations that mean more than their affinity says.
var sqLiteNames = map[string]string{
	"BOOLEAN": "boolean", "BOOL": "boolean", "DATE": "date", "DATETIME": "timestamp", "TIMESTAMP": "timestamp", "TIME": "time", "JSON": "json", "UUID": "uuid",
	"DECIMAL": "numeric", "NUMERIC": "numeric", "": "text", "ANY": "text",
}

// sqLiteType is the type at home of a declaration, by SQLite's own rules for what a column prefers to hold.
func sqLiteType(declared string) string {
	declared = strings.ToUpper(strings.TrimSpace(declared))
	if name, ok := sqLiteNames[declared]; ok {
		return name
	}
	if m := sqLiteDecimal.FindStringSubmatch(declared); m != nil {
		return "numeric(" + m[1] + "," + m[2] + ")"
	}
	if m := sqLiteText.FindStringSubmatch(declared); m != nil && m[1] != "0" {
		return "character varying(" + m[1] + ")"
	}
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(declared, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return "bigint"
	case has("CHAR", "CLOB", "TEXT"):
		return "text"
	case has("BLOB"):
		return "bytea"
	case has("REAL", "FLOA", "DOUB"):
		return "double precision"
	}
	return "numeric"
}
