package dialect

import (
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

// ClickHouse is the dialect of engine ClickHouse.
type ClickHouse struct{}

// clickHouseTypes are the types that values of Postgres' types are shipped in.
var clickHouseTypes = map[uint32]string{
	int2OID: "Int16", int4OID: "Int32", int8OID: "Int64", float4OID: "Float32", float8OID: "Float64", textOID: "String",
	varcharOID: "String", dateOID: "Date", timestamptzOID: "DateTime('UTC')", uuidOID: "UUID",
}

// readAs are the types whose columns are read as they are: the values come in the server's own type, and are checked against
// the foreign table's column one by one. A cast would cut off what does not fit.
var readAs = map[uint32]bool{
	boolOID: true, byteaOID: true, int8OID: true, int2OID: true, int4OID: true, jsonOID: true, float4OID: true, float8OID: true,
	dateOID: true, timestamptzOID: true, numericOID: true, uuidOID: true, jsonbOID: true, 3807: true, 199: true,
}

// Name returns "clickhouse".
func (ClickHouse) Name() string { return "clickhouse" }

// Ships says how much of a statement goes to the server.
func (ClickHouse) Ships() Extent { return Columns }

// Type returns the type of NULLs and of values that are cast; all others are text.
func (ClickHouse) Type(oid uint32, _ int32) string {
	t := clickHouseTypes[oid]
	if t == "" {
		t = "String"
	}
	return "Nullable(" + t + ")"
}

// Identifier quotes a name.
func (ClickHouse) Identifier(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`", "\x00", `\0`).Replace(name) + "`"
}

// Literal quotes a text.
func (ClickHouse) Literal(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`).Replace(text) + "'"
}

// Column reads a column as it is, or as text where its type at home is one that has no counterpart.
func (d ClickHouse) Column(c *catalog.Column, alias string) string {
	name := d.Identifier(ColumnName(c))
	if alias != "" {
		name = d.Identifier(alias) + "." + name
	}
	if _, list := arrayTypes[c.Type]; list || readAs[c.Type] {
		return name
	}
	return "toString(" + name + ")"
}

// Relation returns the name of the remote table.
func (d ClickHouse) Relation(r *catalog.Relation) (string, error) {
	database, name := clickHouseName(r)
	return d.Identifier(database) + "." + d.Identifier(name), nil
}

func clickHouseName(r *catalog.Relation) (database, name string) {
	database, name = r.Options["schema_name"], r.Options["table_name"]
	if database == "" {
		database = r.Server.Options["database"]
	}
	if database == "" {
		database = "default"
	}
	if name == "" {
		name = r.Name
	}
	return database, name
}

// RowsSQL adds up what the parts of a table have, for engines that keep parts.
func (d ClickHouse) RowsSQL(r *catalog.Relation) string {
	database, name := clickHouseName(r)
	return "SELECT toInt64(sum(rows)) FROM system.parts WHERE active AND database = " + d.Literal(database) + " AND table = " + d.Literal(name) + " HAVING count() > 0"
}

// RowID is no name for a row: the engine takes no writes.
func (ClickHouse) RowID() string { return "NULL" }

// Verbatim is false.
func (ClickHouse) Verbatim() bool { return false }

// Table lists nothing.
func (ClickHouse) Table() Index { return nil }
