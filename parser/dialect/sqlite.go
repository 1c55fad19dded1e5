package dialect

import (
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

// SQLite is the dialect of SQLite.
type SQLite struct{}

var _ Broad = SQLite{}

// Name returns "sqlite".
func (SQLite) Name() string { return "sqlite" }

// Type returns what CAST makes.
func (SQLite) Type(oid uint32, _ int32) string {
	switch {
	case Plain(oid).IsInt(), oid == boolOID:
		return "INTEGER"
	case Plain(oid).IsFloat():
		return "REAL"
	case oid == numericOID:
		return "NUMERIC"
	case oid == byteaOID:
		return "BLOB"
	}
	return "TEXT"
}

// Identifier quotes a name by backticks: between double quotes one that names nothing would be taken for a text.
func (SQLite) Identifier(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// Literal quotes a text.
func (SQLite) Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Column names a column, whose values the engine brings to the type at home.
func (d SQLite) Column(c *catalog.Column, alias string) string { return aliased(d, c, alias) }

// Relation returns the name of the remote table.
func (d SQLite) Relation(r *catalog.Relation) (string, error) {
	name := r.Options["table_name"]
	if name == "" {
		name = r.Name
	}
	return d.Identifier("main") + "." + d.Identifier(name), nil
}

// RowsSQL is empty: SQLite counts rows by reading them.
func (SQLite) RowsSQL(*catalog.Relation) string { return "" }

// RowID is empty: rows are not written.
func (SQLite) RowID() string { return "" }

// Ships says that whole statements go to the engine, if they are simple.
func (SQLite) Ships() Extent { return Statements }

// Verbatim is false.
func (SQLite) Verbatim() bool { return false }

// Table has integers alone: other values are compared by what they are and not by what their column says.
func (SQLite) Table() Index { return simpleIndex }

// Computes takes columns that prefer integers at both sides.
func (SQLite) Computes(c *catalog.Column) bool {
	return Plain(c.Type).IsInt() && strings.Contains(strings.ToUpper(c.Options["remote_type"]), "INT")
}

// Empty takes any column.
func (SQLite) Empty(*catalog.Column) bool { return true }

// Forms are those of standard SQL.
func (SQLite) Forms() Form { return Subselects | Unions | Joins | Members }

// Selected keeps the driver from reading a value by the declaration of its column.
func (SQLite) Selected(sql string) string { return "+" + sql }

// Sorted says where NULL is to be.
func (SQLite) Sorted(sql string, desc, nullsFirst bool) string {
	if desc {
		sql += " DESC"
	}
	if nullsFirst {
		return sql + " NULLS FIRST"
	}
	return sql + " NULLS LAST"
}
