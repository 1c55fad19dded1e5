package dialect

import (
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
)

// Databricks is the dialect of SQL warehouses of Databricks, and so of Apache Spark, in ANSI mode and a session whose time zone is UTC.
type Databricks struct{}

var (
	_ Standard = Databricks{}
	_ Limiter  = Databricks{}
)

var brickTypes = map[uint32]string{
	boolOID: "BOOLEAN", byteaOID: "BINARY", int8OID: "BIGINT", int2OID: "SMALLINT", int4OID: "INT", float4OID: "FLOAT", float8OID: "DOUBLE",
	dateOID: "DATE", timestampOID: "TIMESTAMP_NTZ", timestamptzOID: "TIMESTAMP",
}

// Name returns "databricks".
func (Databricks) Name() string { return "databricks" }

// Ships says that whole statements go to the engine.
func (Databricks) Ships() Extent { return Statements }

// Type returns the type that values of a Postgres type are shipped in. Types without a counterpart travel as text, which loses
// nothing.
func (Databricks) Type(oid uint32, typmod int32) string {
	if precision, scale, ok := numericTypmod(typmod); oid == numericOID && ok && precision <= MostDigits && scale >= 0 && scale <= precision {
		return "DECIMAL(" + strconv.Itoa(precision) + "," + strconv.Itoa(scale) + ")"
	}
	if t := brickTypes[oid]; t != "" {
		return t
	}
	return "STRING"
}

// Identifier quotes a name.
func (Databricks) Identifier(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// Literal quotes a text. A backslash escapes; ${name} would be replaced by a setting before the statement is parsed.
func (Databricks) Literal(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, `${`, `$\{`).Replace(text) + "'"
}

// Column casts a column to the type that it is shipped in; what is nested is written as JSON.
func (d Databricks) Column(c *catalog.Column, alias string) string {
	name := d.Identifier(ColumnName(c))
	if alias != "" {
		name = d.Identifier(alias) + "." + name
	}
	if nested(c) {
		return "to_json(" + name + ")"
	}
	return "CAST(" + name + " AS " + d.Type(c.Type, c.Typmod) + ")"
}

// nested reports whether the remote column is written as JSON.
func nested(c *catalog.Column) bool {
	is, err := engines.ParseBool(c.Options["nested"], false)
	return is && err == nil
}

// AsText reports whether values of a column come as text, though DuckDB has a type for them.
func (d Databricks) AsText(c *catalog.Column) bool {
	fed := DuckDB{}.Type(c.Type, c.Typmod)
	return d.Type(c.Type, c.Typmod) == "STRING" && fed != "VARCHAR" && fed != "JSON"
}

// Relation returns the name of the remote table, which has three parts.
func (d Databricks) Relation(r *catalog.Relation) (string, error) {
	catalog, schema, name := r.Options["catalog_name"], r.Options["schema_name"], r.Options["table_name"]
	if catalog == "" {
		catalog = r.Server.Options["catalog"]
	}
	if catalog == "" {
		catalog = "main"
	}
	if schema == "" {
		schema = r.Server.Options["schema"]
	}
	if schema == "" {
		schema = r.Schema
	}
	if name == "" {
		name = r.Name
	}
	return d.Identifier(catalog) + "." + d.Identifier(schema) + "." + d.Identifier(name), nil
}

// RowsSQL is empty: the catalog does not know how many rows a table has.
func (Databricks) RowsSQL(*catalog.Relation) string { return "" }

// RowID is no name for a row: the engine takes no writes.
func (Databricks) RowID() string { return "NULL" }

// Verbatim is false.
func (Databricks) Verbatim() bool { return false }

// Computes leaves to home what is read as JSON, which no column of a text is.
func (Databricks) Computes(c *catalog.Column) bool { return !nested(c) && c.Type != jsonOID }

// Stripped takes the blanks off the end of a text.
func (Databricks) Stripped(sql string) string { return Trino{}.Stripped(sql) }

// Listed looks for a value in an array that is made of JSON, whose integers and texts alone are such in it.
func (d Databricks) Listed(placeholder, value string, of Type) (string, bool) {
	list := "from_json(CAST(" + placeholder + " AS STRING), 'ARRAY<" + d.Type(of.OID, -1) + ">')"
	return "array_contains(" + list + ", CAST(" + value + " AS " + d.Type(of.OID, -1) + "))", of.IsInt() || of.IsText()
}

// Lacks names what no statement of its brings along.
func (Databricks) Lacks() Lack { return Spelling | Quantifiers | Connectors }

// Declared is the statement itself.
func (Databricks) Declared(sql string) string { return sql }

// Limit prints numbers that are integers; a NULL, or a larger one, is an error, upon which home computes.
func (Databricks) Limit(rows, skipped string, _ bool) (string, bool) {
	out := ""
	for _, part := range [][2]string{{" LIMIT ", rows}, {" OFFSET ", skipped}} {
		switch number := part[1]; {
		case strings.Contains(number, "$"):
			out += part[0] + "coalesce(CAST(" + number + " AS INT), CAST('NULL' AS INT))"
		case number != "":
			out += part[0] + number
		}
	}
	return out, true
}
