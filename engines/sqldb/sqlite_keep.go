package sqldb

import (
	"context"

	"github.com/mattn/go-sqlite3"

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

// writable opens the file, which must be there.
func (l *sqLite) writable(ctx context.Context) (*connection, error) {
	conn, err := (&sqlite3.SQLiteDriver{}).Open(l.written)
	if err != nil {
		return nil, l.unable(err)
	}
	c := &connection{Conn: conn}
	if err := c.execute(ctx, "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON", "SELECT 1 FROM sqlite_schema LIMIT 1"); err != nil {
		_ = c.Close()
		return nil, l.unable(err)
	}
	return c, nil
}
