package sqldb

import (
	"strconv"

	"github.com/sluicedb/sluice/engines/keep"
)

// sqlServerText keeps any text as it is. Its collation says nothing to who reads it.
const sqlServerText = "NVARCHAR(MAX)"

// sqlServerKept is the type for a type: values are bound as texts, of which the server makes numbers that are the same.
func sqlServerKept(t keep.Type) string {
	switch {
	case t.List:
	case t.Name == "smallint", t.Name == "bigint":
		return map[string]string{"smallint": "SMALLINT", "bigint": "BIGINT"}[t.Name]
	case t.Name == "integer":
		return "INT"
	case t.Decimal(mostDigits):
		return "DECIMAL(" + strconv.Itoa(t.Precision) + "," + strconv.Itoa(t.Scale) + ")"
	}
	return sqlServerText
}

func sqlServerBound(c keep.Column, text []byte) (any, error) {
	if c.Remote == sqlServerText {
		return string(text), nil
	}
	return decimalBound(c, text)
}

// keeping keeps results in schema dbo.
func (m *sqlServer) keeping() *keeping {
	return &keeping{
		rules:    keep.Rules{Engine: "SQL Server", Remote: sqlServerKept, Folds: true},
		writable: m.connect, name: doubled('"'), table: func(name string) string { return "dbo." + doubled('"')(name) }, bind: sqlServerBound, fill: fillSQLServer, most: 2000,
		read: keep.Type.Text, begin: "BEGIN TRANSACTION", commit: "COMMIT TRANSACTION",
		listed: "SELECT o.name FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id WHERE s.name = 'dbo' AND LEFT(o.name, LEN($1)) = $1 ORDER BY o.name",
	}
}
