package sqldb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// sqlServerResults are the types at home of a result's columns, by the driver's names.
var sqlServerResults = map[string]uint32{
	"TINYINT": oidInt2, "SMALLINT": oidInt2, "INT": oidInt4, "BIGINT": oidInt8, "BIT": oidBool, "DECIMAL": oidNumeric, "MONEY": oidNumeric, "SMALLMONEY": oidNumeric,
	"REAL": oidFloat4, "FLOAT": oidFloat8, "DATE": oidDate, "TIME": oidTime, "DATETIME": oidTimestamp, "SMALLDATETIME": oidTimestamp, "DATETIME2": oidTimestamp,
	"DATETIMEOFFSET": oidTimestampTZ, "UNIQUEIDENTIFIER": oidUUID, "BINARY": oidBytea, "VARBINARY": oidBytea, "IMAGE": oidBytea,
}

// sqlServerTables lists columns of tables and views, with the descriptions that they have.
const sqlServerTables = `SELECT o.name, CAST(od.value AS NVARCHAR(4000)), c.name, COALESCE(b.name, t.name), CAST(c.max_length AS INT), CAST(c.precision AS INT), CAST(c.scale AS INT),
 CAST(c.is_nullable AS INT), CAST(cd.value AS NVARCHAR(4000))
FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id JOIN sys.columns c ON c.object_id = o.object_id
JOIN sys.types t ON t.user_type_id = c.user_type_id
LEFT JOIN sys.types b ON b.user_type_id = t.system_type_id AND t.is_user_defined = 1 AND t.is_assembly_type = 0
LEFT JOIN sys.extended_properties od ON od.class = 1 AND od.major_id = o.object_id AND od.minor_id = 0 AND od.name = N'MS_Description'
LEFT JOIN sys.extended_properties cd ON cd.class = 1 AND cd.major_id = o.object_id AND cd.minor_id = c.column_id AND cd.name = N'MS_Description'
WHERE s.name = $1 AND o.type IN ('U', 'V') AND o.is_ms_shipped = 0 ORDER BY o.object_id, c.column_id`

func (m *sqlServer) introspect(ctx context.Context, ask asker, schema string) ([]engines.Table, error) {
	known, err := ask(ctx, "SELECT name FROM sys.schemas WHERE name = $1", schema)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, pgerr.Hint(pgerr.New(pgerr.FdwSchemaNotFound, "schema %q is not present on foreign server %q", schema, m.server),
			"The remote schema is one of the server's database, dbo for instance.")
	}
	rows, err := ask(ctx, sqlServerTables, schema)
	if err != nil {
		return nil, err
	}
	var tables []engines.Table
	for _, r := range rows {
		if n := len(tables); n == 0 || tables[n-1].Name != *r[0] {
			tables = append(tables, engines.Table{Name: *r[0], Comment: value(r[1]), Options: map[string]string{"schema_name": schema, "table_name": *r[0]}})
		}
		t := &tables[len(tables)-1]
		typ, remote := sqlServerType(value(r[3]), value(r[4]), value(r[5]), value(r[6]))
		t.Columns = append(t.Columns, engines.Column{
			Name: *r[2], Type: typ, RemoteType: remote, NotNull: value(r[7]) == "0", Comment: value(r[8]),
			Options: map[string]string{"column_name": *r[2], "remote_type": remote},
		})
	}
	slices.SortFunc(tables, func(a, b engines.Table) int { return strings.Compare(a.Name, b.Name) })
	return tables, nil
}

// sqlServerNames are the types at home of those that need nothing but their name.
var sqlServerNames = map[string]string{
	"bit": "boolean", "tinyint": "smallint", "smallint": "smallint", "int": "integer", "bigint": "bigint", "real": "real", "float": "double precision",
	"money": "numeric(19,4)", "smallmoney": "numeric(10,4)", "date": "date", "smalldatetime": "timestamp(0)", "datetime": "timestamp(3)",
	"text": "text", "ntext": "text", "xml": "text", "sysname": "character varying(128)", "uniqueidentifier": "uuid", "json": "json",
	"binary": "bytea", "varbinary": "bytea", "image": "bytea", "timestamp": "bytea", "rowversion": "bytea",
	"sql_variant": "text", "geography": "text", "geometry": "text", "hierarchyid": "text",
}

// sqlServerType is the type at home of a column, empty for none, and how the server spells its own. Bytes of Unicode texts are two a
// character. Fractions of seconds are at most of six digits at home: the seventh is rounded.
func sqlServerType(name, length, precision, scale string) (home, remote string) {
	switch name {
	case "decimal", "numeric":
		digits := "(" + precision + "," + scale + ")"
		return "numeric" + digits, name + digits
	case "char", "nchar", "varchar", "nvarchar":
		return characters(name, length)
	case "time", "datetime2", "datetimeoffset":
		remote, scale = name+"("+scale+")", min(scale, "6")
		return fmt.Sprintf(map[string]string{"time": "time(%s)", "datetime2": "timestamp(%s)", "datetimeoffset": "timestamp(%s) with time zone"}[name], scale), remote
	}
	return sqlServerNames[name], name
}

// characters is the type at home of texts whose length in bytes is given, -1 for those without bounds.
func characters(name, length string) (home, remote string) {
	if length == "-1" {
		return "text", name + "(max)"
	}
	if strings.HasPrefix(name, "n") {
		n := 0
		_, _ = fmt.Sscan(length, &n) // the catalog's own number
		length = fmt.Sprint(n / 2)
	}
	home = "character varying"
	if strings.HasSuffix(name, "char") && !strings.Contains(name, "var") {
		home = "character"
	}
	return home + "(" + length + ")", name + "(" + length + ")"
}
