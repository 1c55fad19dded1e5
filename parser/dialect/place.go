package dialect

import "github.com/sluicedb/sluice/catalog"

// PlaceOf returns the remote schema and table of a foreign table as another engine would name them; false where there are no such
// names.
func PlaceOf(d Dialect, r *catalog.Relation) (schema, table string, ok bool) {
	switch d.(type) {
	case Postgres:
		schema, table = postgresName(r)
	case MySQL:
		schema, table = mySQLName(r)
	case ClickHouse:
		schema, table = clickHouseName(r)
	case DuckDB:
		if r.Server.Options["directory"] == "" && r.Options["file"]+r.Options["glob"] == "" {
			schema, table = duckName(r)
		}
	}
	return schema, table, schema != ""
}

// Finite is the option of a column whose times are to be refused where they may be infinite: an engine that reads them of a Postgres
// has no such times, and makes other ones of them.
const Finite = "finite"

// Moves reports whether an engine that reads a column through another yields the values that the other has. Numbers without a scale and
// JSON it may spell in its own way.
func Moves(c *catalog.Column) bool {
	t := Type{OID: c.Type, Typmod: c.Typmod}
	if _, _, decimal := t.Decimal(); t.OID == numericOID {
		return decimal
	}
	return t.IsInt() || t.IsText() || t.IsFloat() || t.OID == bpcharOID || ordinary[t.OID]
}
