package dialect

import (
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

// ClickHouse is the dialect of engine ClickHouse.
type ClickHouse struct{}

var (
	_ Quirky = ClickHouse{}
	_ Nester = ClickHouse{}
)

// Name returns "clickhouse".
func (ClickHouse) Name() string { return "clickhouse" }

// Ships says that whole statements go to the engine, if they are simple.
func (ClickHouse) Ships() Extent { return Statements }

// Verbatim is false.
func (ClickHouse) Verbatim() bool { return false }

// RowID is no name for a row: the engine takes no writes.
func (ClickHouse) RowID() string { return "NULL" }

// Identifier quotes a name.
func (ClickHouse) Identifier(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`", "\x00", `\0`).Replace(name) + "`"
}

// Literal quotes a text.
func (ClickHouse) Literal(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`).Replace(text) + "'"
}

// Column reads a column as it is, or as text where its type at home is one that has no counterpart, or its type there is
// another than String, or not known.
func (d ClickHouse) Column(c *catalog.Column, alias string) string {
	name := aliased(d, c, alias)
	if _, list := arrayTypes[c.Type]; list || readAs[c.Type] || TextOf().OID == c.Type && clickHouseBase(c) == "String" {
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

// Selected is the expression itself.
func (ClickHouse) Selected(sql string) string { return sql }

// Sorted says where NULL is to be.
func (ClickHouse) Sorted(sql string, desc, nullsFirst bool) string {
	if desc {
		sql += " DESC"
	}
	if nullsFirst {
		return sql + " NULLS FIRST"
	}
	return sql + " NULLS LAST"
}

// Forms are all: in a statement that its oldest versions read as well.
func (ClickHouse) Forms() Form {
	return Expressions | Subselects | Unions | Joins | Members | Scaled
}

// Nullable says so of a type.
func (ClickHouse) Nullable(sql string) string { return "toNullable(" + sql + ")" }

// Key takes types that have one form at the server.
func (d ClickHouse) Key(sql string, t Type) (string, bool) {
	switch {
	case t.IsInt():
		t = Plain(int8OID)
	case t.IsText():
	case t.OID != dateOID && t.OID != timestamptzOID && t.OID != uuidOID:
		return "", false
	}
	return "CAST(" + sql + " AS " + d.Type(t.OID, -1) + ")", true
}

// Table lists what ClickHouse is proven to compute as Postgres does.
func (ClickHouse) Table() Index { return clickHouseIndex }
