package dialect

import (
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
)

// Databricks is the dialect of SQL warehouses of Databricks.
type Databricks struct{}

var brickTypes = map[uint32]string{
	boolOID: "BOOLEAN", byteaOID: "BINARY", int8OID: "BIGINT", int2OID: "SMALLINT", int4OID: "INT", float4OID: "FLOAT", float8OID: "DOUBLE",
	dateOID: "DATE", timestampOID: "TIMESTAMP_NTZ", timestamptzOID: "TIMESTAMP",
}

// Name returns "databricks".
func (Databricks) Name() string { return "databricks" }

// Ships says that home computes what is more than reading columns.
func (Databricks) Ships() Extent { return Columns }

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

// Literal quotes a text. A backslash escapes.
func (Databricks) Literal(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
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

// Table lists nothing.
func (Databricks) Table() Index { return nil }
