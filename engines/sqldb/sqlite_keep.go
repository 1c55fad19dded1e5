package sqldb

import (
	"context"

	"github.com/sluicedb/sluice/engines/keep"
)

// sqLiteKept is the declaration for a type. A column of TEXT changes no text; one of numbers would.
func sqLiteKept(t keep.Type) string {
	switch {
	case t.List:
	case keptWhole[t.Name]:
		return "INTEGER"
	case t.Name == "boolean":
		return "BOOLEAN"
	case t.Name == "bytea":
		return "BLOB"
	}
	return "TEXT"
}

func (l *sqLite) keeping() *keeping {
	return &keeping{
		rules: keep.Rules{Engine: "SQLite", Remote: sqLiteKept, Folds: true},
		read:  readable, writable: l.writable, name: doubled('`'), table: func(name string) string { return "main." + doubled('`')(name) }, bind: bound, fill: fillSQLite, most: 32766,
		begin: "BEGIN IMMEDIATE", commit: "COMMIT",
		listed: "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND substr(name, 1, length($1)) = $1 ORDER BY name",
	}
}

// writable opens the file, which must be there, for writing.
func (l *sqLite) writable(ctx context.Context) (*connection, error) { return l.open(ctx, l.written) }
