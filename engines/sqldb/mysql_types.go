package sqldb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// mySQLResults are the types at home of a result's columns, by the driver's names.
var mySQLResults = map[string]uint32{
	"TINYINT": oidInt2, "UNSIGNED TINYINT": oidInt2, "SMALLINT": oidInt2, "UNSIGNED SMALLINT": oidInt4, "MEDIUMINT": oidInt4, "UNSIGNED MEDIUMINT": oidInt4,
	"INT": oidInt4, "UNSIGNED INT": oidInt8, "BIGINT": oidInt8, "UNSIGNED BIGINT": oidNumeric, "DECIMAL": oidNumeric, "FLOAT": oidFloat4, "DOUBLE": oidFloat8,
	"YEAR": oidInt2, "BIT": oidVarbit, "DATE": oidDate, "DATETIME": oidTimestamp, "TIMESTAMP": oidTimestampTZ, "TIME": oidTime,
	"BINARY": oidBytea, "VARBINARY": oidBytea, "TINYBLOB": oidBytea, "BLOB": oidBytea, "MEDIUMBLOB": oidBytea, "LONGBLOB": oidBytea, "JSON": oidJSON,
}

func (m *mySQL) natural(rows driver.Rows, i int) engines.Field {
	f := engines.Field{OID: oidText, Typmod: -1}
	if t, ok := rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		if oid, ok := mySQLResults[t.ColumnTypeDatabaseTypeName(i)]; ok {
			f.OID = oid
		}
	}
	return f
}

// mySQLTables lists columns of tables and views. Names in the catalog may differ by case between MySQL and MariaDB, so that all are given.
const mySQLTables = `SELECT t.table_name, CASE WHEN t.table_type = 'VIEW' THEN '' ELSE t.table_comment END, c.column_name, c.data_type, c.column_type, c.is_nullable,
 c.numeric_precision, c.numeric_scale, c.character_maximum_length, c.datetime_precision, c.column_comment, c.column_key
FROM information_schema.tables t JOIN information_schema.columns c ON c.table_schema = t.table_schema AND c.table_name = t.table_name
WHERE t.table_schema = $1 AND t.table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED') ORDER BY BINARY t.table_name, c.ordinal_position`

func (m *mySQL) introspect(ctx context.Context, ask asker, schema string) ([]engines.Table, error) {
	known, err := ask(ctx, "SELECT schema_name FROM information_schema.schemata WHERE schema_name = $1", schema)
	if err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, pgerr.Hint(pgerr.New(pgerr.FdwSchemaNotFound, "database %q is not present on foreign server %q", schema, m.server),
			"The remote schema is a database that the mapped user may see.")
	}
	rows, err := ask(ctx, mySQLTables, schema)
	if err != nil {
		return nil, err
	}
	var tables []engines.Table
	for _, r := range rows {
		if n := len(tables); n == 0 || tables[n-1].Name != *r[0] {
			tables = append(tables, engines.Table{Name: *r[0], Comment: value(r[1]), Options: map[string]string{"schema_name": schema, "table_name": *r[0]}})
		}
		t := &tables[len(tables)-1]
		c := engines.Column{
			Name: *r[2], RemoteType: value(r[4]), NotNull: value(r[5]) == "NO", Comment: value(r[10]),
			Options: map[string]string{"column_name": *r[2], "remote_type": value(r[4])},
		}
		c.Type = mySQLType(value(r[3]), value(r[4]), value(r[6]), value(r[7]), value(r[8]), value(r[9]))
		t.Columns = append(t.Columns, c)
	}
	return tables, nil
}

// mySQLNames are the types at home of those that need nothing but their name.
var mySQLNames = map[string]string{
	"tinyint": "smallint", "smallint": "smallint", "mediumint": "integer", "int": "integer", "bigint": "bigint", "float": "real", "double": "double precision",
	"year": "smallint", "date": "date", "tinytext": "text", "text": "text", "mediumtext": "text", "longtext": "text", "enum": "text", "set": "text",
	"binary": "bytea", "varbinary": "bytea", "tinyblob": "bytea", "blob": "bytea", "mediumblob": "bytea", "longblob": "bytea", "json": "json", "uuid": "uuid",
	"inet4": "inet", "inet6": "inet",
}

// mySQLWider are the types at home of unsigned integers.
var mySQLWider = map[string]string{"smallint": "integer", "int": "bigint", "bigint": "numeric(20,0)"}

// mySQLType is the type at home of a column, empty for none. A column of binary(16) stays bytea: what it means is not known.
func mySQLType(data, column, precision, scale, length, fraction string) string {
	data = strings.ToLower(data)
	switch data {
	case "decimal":
		return fmt.Sprintf("numeric(%s,%s)", precision, scale)
	case "char", "varchar":
		name := map[string]string{"char": "character", "varchar": "character varying"}[data]
		if length == "0" {
			return "text"
		}
		return name + "(" + length + ")"
	case "bit":
		return "bit(" + precision + ")"
	case "time":
		return "time(" + fraction + ")"
	case "datetime":
		return "timestamp(" + fraction + ")"
	case "timestamp":
		return "timestamp(" + fraction + ") with time zone"
	}
	if wider := mySQLWider[data]; wider != "" && strings.Contains(strings.ToLower(column), "unsigned") {
		return wider
	}
	return mySQLNames[data]
}

// value is a text that may be NULL.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
