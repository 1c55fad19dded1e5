package dialect

import (
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

// SQLServer is the dialect of Microsoft SQL Server, and of what speaks T-SQL as it does, in a session with QUOTED_IDENTIFIER on.
// A condition is no value there.
type SQLServer struct{}

var (
	_ Quirky  = SQLServer{}
	_ Limiter = SQLServer{}

	sqlServerTable = sqlServerEntries()
	sqlServerIndex = sqlServerTable.index()
)

// sqlServerEntries are those of any engine, but that count() would be an integer, which a large table overflows.
func sqlServerEntries() Table {
	table := simpleTable("")
	for i := range table {
		table[i].SQL = strings.Replace(table[i].SQL, "count(", "count_big(", 1)
	}
	return table
}

// Name returns "mssql".
func (SQLServer) Name() string { return "mssql" }

var sqlServerTypes = map[uint32]string{
	boolOID: "BIT", int2OID: "SMALLINT", int4OID: "INT", int8OID: "BIGINT", float4OID: "REAL", float8OID: "FLOAT", byteaOID: "VARBINARY(MAX)", uuidOID: "UNIQUEIDENTIFIER",
	dateOID: "DATE", timeOID: "TIME(6)", timestampOID: "DATETIME2(6)", timestamptzOID: "DATETIMEOFFSET(6)",
}

// Type returns the type that CAST makes.
func (SQLServer) Type(oid uint32, typmod int32) string {
	if name := sqlServerTypes[oid]; name != "" {
		return name
	}
	if precision, scale, ok := numericTypmod(typmod); ok && oid == numericOID && precision <= MostDigits && scale >= 0 && scale <= precision {
		return "DECIMAL(" + strconv.Itoa(precision) + "," + strconv.Itoa(scale) + ")"
	}
	return "NVARCHAR(MAX)"
}

// Identifier quotes a name.
func (SQLServer) Identifier(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Literal quotes a text of Unicode.
func (SQLServer) Literal(text string) string { return "N'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Column names a column, whose values the engine brings to the type at home. What the driver has no value for is asked for as text.
func (d SQLServer) Column(c *catalog.Column, alias string) string {
	name := aliased(d, c, alias)
	switch remoteBase(c) {
	case "geography", "geometry", "hierarchyid":
		return name + ".ToString()"
	case "sql_variant":
		return "CAST(" + name + " AS NVARCHAR(4000))"
	}
	return name
}

// remoteBase is the remote type of a column without what stands in brackets.
func remoteBase(c *catalog.Column) string {
	name, _, _ := strings.Cut(strings.ToLower(c.Options["remote_type"]), "(")
	return name
}

// Relation returns the name of the remote table.
func (d SQLServer) Relation(r *catalog.Relation) (string, error) {
	schema, name := sqlServerName(r)
	out := d.Identifier(schema) + "." + d.Identifier(name)
	if database := r.Options["catalog_name"]; database != "" {
		out = d.Identifier(database) + "." + out
	}
	return out, nil
}

func sqlServerName(r *catalog.Relation) (schema, name string) {
	schema, name = r.Options["schema_name"], r.Options["table_name"]
	if schema == "" {
		schema = "dbo"
	}
	if name == "" {
		name = r.Name
	}
	return schema, name
}

// RowsSQL adds up what the partitions of a table have. Of one in another database nothing is known.
func (d SQLServer) RowsSQL(r *catalog.Relation) string {
	if r.Options["catalog_name"] != "" {
		return ""
	}
	schema, name := sqlServerName(r)
	return "SELECT SUM(p.rows) FROM sys.partitions p JOIN sys.objects o ON o.object_id = p.object_id JOIN sys.schemas s ON s.schema_id = o.schema_id" +
		" WHERE p.index_id IN (0, 1) AND s.name = " + d.Literal(schema) + " AND o.name = " + d.Literal(name) + " HAVING COUNT(*) > 0"
}

// RowID is empty: rows are not written.
func (SQLServer) RowID() string { return "" }

// Ships says that whole statements go to the engine, if they are simple.
func (SQLServer) Ships() Extent { return Statements }

// Verbatim is false.
func (SQLServer) Verbatim() bool { return false }

// Table has integers alone. Texts are equal by collations that take letters of other cases, and blanks at the end, for equal.
func (SQLServer) Table() Index { return sqlServerIndex }

// Computes takes integers that are such at the server too.
func (SQLServer) Computes(c *catalog.Column) bool {
	switch remoteBase(c) {
	case "tinyint", "smallint", "int", "bigint":
		return Plain(c.Type).IsInt()
	}
	return false
}

// Empty takes any column.
func (SQLServer) Empty(*catalog.Column) bool { return true }

// Truth is false: T-SQL has no values that are conditions.
func (SQLServer) Truth() bool { return false }

// Constant casts integers: a large one would be a decimal.
func (d SQLServer) Constant(text string, t Type) (string, bool) {
	return "CAST(" + text + " AS " + d.Type(t.OID, -1) + ")", t.IsInt()
}

// Parameter takes integers. The placeholder's value is a text.
func (d SQLServer) Parameter(placeholder string, t Type) (string, func(string) bool, bool) {
	return "CAST(" + placeholder + " AS " + d.Type(t.OID, -1) + ")", nil, t.IsInt()
}

// Selected is the expression itself.
func (SQLServer) Selected(sql string) string { return sql }

// Sorted has NULL, which sorts before all values there, where it is to be.
func (SQLServer) Sorted(sql string, desc, nullsFirst bool) string {
	key := sql
	if desc {
		key += " DESC"
	}
	switch {
	case nullsFirst == !desc:
		return key
	case nullsFirst:
		return "CASE WHEN " + sql + " IS NULL THEN 0 ELSE 1 END, " + key
	}
	return "CASE WHEN " + sql + " IS NULL THEN 1 ELSE 0 END, " + key
}

// Limit prints OFFSET and FETCH, which are a part of ORDER BY. No rows at all cannot be asked for.
func (SQLServer) Limit(rows, skipped string, ordered bool) (string, bool) {
	out := ""
	if !ordered {
		out = " ORDER BY (SELECT NULL)"
	}
	if skipped == "" {
		skipped = "0"
	}
	out += " OFFSET " + skipped + " ROWS"
	if rows != "" {
		out += " FETCH NEXT " + rows + " ROWS ONLY"
	}
	return out, rows != "0"
}
