package dialect

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

// MySQL is the dialect of MySQL and MariaDB in a session whose sql_mode has ANSI_QUOTES and NO_BACKSLASH_ESCAPES.
type MySQL struct{}

var (
	_ Broad = MySQL{}

	simpleEntries = simpleTable("")
	simpleIndex   = simpleEntries.index()
	mySQLIndex    = slices.Concat(simpleEntries, mySQLSums).index()
)

// mySQLSums are decimals there, which have place for any sum of integers.
var mySQLSums = Table{
	{Aggregate, "sum", takes(Int2), is(Plain(int8OID)), "sum($d$1)", ""},
	{Aggregate, "sum", takes(Int4), is(Plain(int8OID)), "sum($d$1)", ""},
	{Aggregate, "sum", takes(Int8), is(Decimal(MostDigits, 0)), "sum($d$1)", ""},
}

// Name returns "mysql".
func (MySQL) Name() string { return "mysql" }

// mySQLTypes are what CAST calls the types that a column's values come near to; all others are texts.
var mySQLTypes = map[uint32]string{
	int2OID: "SIGNED", int4OID: "SIGNED", int8OID: "SIGNED", float4OID: "FLOAT", float8OID: "DOUBLE", dateOID: "DATE", byteaOID: "BINARY",
	timestampOID: "DATETIME(6)", timestamptzOID: "DATETIME(6)", timeOID: "TIME(6)",
}

// Type returns the type that CAST makes.
func (MySQL) Type(oid uint32, typmod int32) string {
	if name := mySQLTypes[oid]; name != "" {
		return name
	}
	if precision, scale, ok := numericTypmod(typmod); ok && oid == numericOID && precision <= 65 && scale >= 0 && scale <= min(precision, 30) {
		return "DECIMAL(" + strconv.Itoa(precision) + "," + strconv.Itoa(scale) + ")"
	}
	return "CHAR"
}

// Identifier quotes a name.
func (MySQL) Identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Literal quotes a text.
func (MySQL) Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Column names a column, whose values the engine brings to the type at home.
func (d MySQL) Column(c *catalog.Column, alias string) string { return aliased(d, c, alias) }

func aliased(d Dialect, c *catalog.Column, alias string) string {
	name := d.Identifier(ColumnName(c))
	if alias != "" {
		name = d.Identifier(alias) + "." + name
	}
	return name
}

// Relation returns the name of the remote table.
func (d MySQL) Relation(r *catalog.Relation) (string, error) {
	schema, name := mySQLName(r)
	if schema == "" {
		return d.Identifier(name), nil
	}
	return d.Identifier(schema) + "." + d.Identifier(name), nil
}

func mySQLName(r *catalog.Relation) (schema, name string) {
	schema, name = r.Options["schema_name"], r.Options["table_name"]
	if schema == "" {
		schema = r.Server.Options["database"]
	}
	if name == "" {
		name = r.Name
	}
	return schema, name
}

// RowsSQL reads what the server's own planner goes by.
func (d MySQL) RowsSQL(r *catalog.Relation) string {
	schema, name := mySQLName(r)
	where := d.Literal(schema)
	if schema == "" {
		where = "DATABASE()"
	}
	return "SELECT CAST(table_rows AS SIGNED) FROM information_schema.tables WHERE table_schema = " + where + " AND table_name = " + d.Literal(name)
}

// RowID is empty: rows are not written.
func (MySQL) RowID() string { return "" }

// Ships says that whole statements go to the engine, if they are simple.
func (MySQL) Ships() Extent { return Statements }

// Verbatim is false.
func (MySQL) Verbatim() bool { return false }

// Table has integers alone. Texts are equal by collations that take letters of other cases, and blanks at the end, for equal.
func (MySQL) Table() Index { return mySQLIndex }

// wholeTypes are the remote types whose values compare as bigint does.
var wholeTypes = map[string]bool{
	"tinyint": true, "smallint": true, "mediumint": true, "int": true, "bigint": true,
	"tinyint unsigned": true, "smallint unsigned": true, "mediumint unsigned": true, "int unsigned": true,
}

// Computes takes integers that are such at the server too: a text would be compared as a float.
func (MySQL) Computes(c *catalog.Column) bool {
	name := strings.ToLower(c.Options["remote_type"])
	if before, after, ok := strings.Cut(name, "("); ok { // int(11), which tells how wide it is displayed
		_, after, _ = strings.Cut(after, ")")
		name = before + after
	}
	name = strings.TrimSuffix(name, " zerofill")
	return Plain(c.Type).IsInt() && wholeTypes[name]
}

// Empty leaves out dates, of which 0000-00-00 is NULL to IS NULL, and columns that may be some.
func (MySQL) Empty(c *catalog.Column) bool {
	name := strings.ToLower(c.Options["remote_type"])
	return name != "" && !strings.HasPrefix(name, "date") && !strings.HasPrefix(name, "timestamp")
}

// Forms are those of standard SQL, but for IN over a sub-select, which must have no LIMIT.
func (MySQL) Forms() Form { return Subselects | Unions | Joins }

// Selected is the expression itself.
func (MySQL) Selected(sql string) string { return sql }

// Sorted has NULL, which sorts before all values there, where it is to be.
func (MySQL) Sorted(sql string, desc, nullsFirst bool) string {
	key := sql
	if desc {
		key += " DESC"
	}
	switch {
	case nullsFirst == !desc:
		return key
	case nullsFirst:
		return sql + " IS NULL DESC, " + key
	}
	return sql + " IS NULL, " + key
}
