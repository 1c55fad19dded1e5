package dialect

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

// SQLServer is the dialect of Microsoft SQL Server, and of what speaks T-SQL as it does, in a session with QUOTED_IDENTIFIER on.
// A condition is no value there.
type SQLServer struct{}

var (
	_ Quirky  = SQLServer{}
	_ Folding = SQLServer{}
	_ Limiter = SQLServer{}

	sqlServerTable = sqlServerEntries()
	sqlServerIndex = sqlServerTable.index()
)

// sqlServerEntries are what the documentation says to be as in Postgres. count() would be an integer, which a large table overflows, and
// so would sum() of integers.
func sqlServerEntries() Table {
	table := Table{
		{Aggregate, "count", nil, is(Plain(int8OID)), "count_big(*)", ""},
		{Aggregate, "count", takes(Any), is(Plain(int8OID)), "count_big($d$1)", ""},
		{Aggregate, "sum", takes(Int2), is(Plain(int8OID)), sqlServerSum, ""},
		{Aggregate, "sum", takes(Int4), is(Plain(int8OID)), sqlServerSum, ""},
		{Aggregate, "sum", takes(Int8), is(Decimal(MostDigits, 0)), sqlServerSum, ""},
		{Aggregate, "sum", takes(Fixed), totalResult, "CAST(sum($d$1) AS $t)", ""},
		// A literal is one of the database's collation, which that of a column goes before: an index over the column finds it.
		{Operator, "=", []Arg{{Class: Equal}, literal(Equal, "a literal", isText)}, booleanResult, "($1 = $2 AND " + sqlServerEqual + ")", ""},
		{Operator, "=", []Arg{{Class: Equal}, {Class: Equal, Words: "a parameter", Param: isText}}, booleanResult, "($1 = $2 AND " + sqlServerEqual + ")", ""},
		{Operator, "=", takes(Equal, Equal), booleanResult, "(" + sqlServerEqual + ")", ""},
		{Operator, "<>", takes(Equal, Equal), booleanResult, "(" + sqlServerDiffer + ")", ""},
	}
	for _, name := range []string{"min", "max"} {
		table = slices.Concat(table, extremesOf(name, name+"($1)", Integer, Date, Timestamp, Zoned), extremesOf(name, "CAST("+name+"($1) AS $t)", Fixed))
	}
	for _, c := range []Class{Sized, Date, Timestamp, Zoned, Bool} {
		table = append(table, comparisonsOf(c, comparing...)...)
	}
	return append(table, comparisonsOf(UUID, "=", "<>")...)
}

const (
	sqlServerSum = "CAST(sum($dCAST($1 AS DECIMAL(38,0))) AS DECIMAL(38,0))"
	// Texts are the same if their code points are, but for blanks at the end, and their lengths. A text of bytes is cast first: another
	// collation would have it in another code page.
	sqlServerEqual  = sqlServerBinary + " = " + sqlServerOther + " AND DATALENGTH(CAST($1 AS NVARCHAR(MAX))) = DATALENGTH(" + sqlServerOther + ")"
	sqlServerDiffer = sqlServerBinary + " <> " + sqlServerOther + " OR DATALENGTH(CAST($1 AS NVARCHAR(MAX))) <> DATALENGTH(" + sqlServerOther + ")"
	sqlServerBinary = "CAST($1 AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2"
	sqlServerOther  = "CAST($2 AS NVARCHAR(MAX))"
)

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

// Column names a column, whose values the engine brings to the type at home. What the driver has no value for is asked for as text, and
// times with a seventh digit as home has them: what is compared and grouped is what home sees.
func (d SQLServer) Column(c *catalog.Column, alias string) string {
	name := aliased(d, c, alias)
	switch base := remoteBase(c); base {
	case "geography", "geometry", "hierarchyid":
		return name + ".ToString()"
	case "sql_variant":
		return "CAST(" + name + " AS NVARCHAR(4000))"
	case "datetime2", "datetimeoffset":
		if digits := strings.TrimPrefix(strings.ToLower(c.Options["remote_type"]), base); digits == "" || digits > "(6)" {
			return "CAST(" + name + " AS " + strings.ToUpper(base) + "(6))"
		}
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

// Table lists what SQL Server computes as Postgres does.
func (SQLServer) Table() Index { return sqlServerIndex }

// sqlServerComputed are the types at home whose values, of columns of the same base type there, are computed with.
var sqlServerComputed = map[string]uint32{
	"bit": boolOID, "date": dateOID, "datetime2": timestampOID, "datetimeoffset": timestamptzOID, "uniqueidentifier": uuidOID,
}

// Computes takes columns whose values at the server are those at home.
func (SQLServer) Computes(c *catalog.Column) bool {
	t := Type{OID: c.Type, Typmod: c.Typmod}
	switch base := remoteBase(c); base {
	case "tinyint", "smallint", "int", "bigint":
		return t.IsInt()
	case "decimal", "numeric":
		_, scale, ok := t.Decimal()
		return ok && strings.HasSuffix(strings.ReplaceAll(c.Options["remote_type"], " ", ""), ","+strconv.Itoa(scale)+")")
	case "varchar", "nvarchar":
		return t.IsText()
	default:
		return sqlServerComputed[base] == t.OID
	}
}

// Folds is true of texts: most collations take letters of other cases for equal, and all of them blanks at the end.
func (SQLServer) Folds(c *catalog.Column) bool { return Plain(c.Type).IsText() }

// Empty takes any column.
func (SQLServer) Empty(*catalog.Column) bool { return true }

// Truth is false: T-SQL has no values that are conditions.
func (SQLServer) Truth() bool { return false }

// wholeZone is home's spelling of a zone that is so many hours away.
var wholeZone = regexp.MustCompile(`[+-]\d\d$`)

// Constant casts: a large integer would be a decimal, and a text is read by the type.
func (d SQLServer) Constant(text string, t Type) (string, bool) {
	switch {
	case t.IsInt():
	case t.OID == boolOID:
		text = strconv.Itoa(len(strings.TrimLeft(text[:1], "f")))
	case t.OID == timestamptzOID && wholeZone.MatchString(text):
		text = d.Literal(text + ":00")
	case sqlServerTypes[t.OID] != "" && t.OID != byteaOID && !t.IsFloat():
		text = d.Literal(text)
	default:
		return "", false
	}
	return "CAST(" + text + " AS " + d.Type(t.OID, -1) + ")", true
}

// Parameter casts the placeholder's value, which is a text.
func (d SQLServer) Parameter(placeholder string, t Type) (string, func(string) bool, bool) {
	cast := func(sql string) string { return "CAST(" + sql + " AS " + d.Type(t.OID, t.Typmod) + ")" }
	switch {
	case t.IsInt() || t.IsText() || t.OID == numericOID || t.OID == dateOID || t.OID == timestampOID || t.OID == uuidOID:
		return cast(placeholder), nil, true
	case t.OID == boolOID:
		return "CASE CAST(" + placeholder + " AS NVARCHAR(MAX)) WHEN N't' THEN CAST(1 AS BIT) WHEN N'f' THEN CAST(0 AS BIT) END", nil, true
	case t.OID == timestamptzOID: // which is to have minutes in its zone
		text := "CAST(" + placeholder + " AS NVARCHAR(MAX))"
		return cast("CASE WHEN RIGHT(" + text + ", 3) LIKE N':%' THEN " + text + " ELSE CONCAT(" + text + ", N':00') END"), nil, true
	}
	return "", nil, false
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
