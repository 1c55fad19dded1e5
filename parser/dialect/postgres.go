package dialect

import (
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

// Postgres is the dialect of another Postgres.
type Postgres struct{}

// builtInTypes are the types of pg_catalog whose values mean the same in any Postgres, as it spells them. Left out are
// those that stand for objects of one database (reg…, oids of its catalog), that depend on how a server was built (xml) or on
// settings of its own (money), and jsonpath, whose grammar has grown.
var builtInTypes = map[uint32]string{
	16: "boolean", 17: "bytea", 18: `"char"`, 19: "name", 20: "bigint", 21: "smallint", 23: "integer", 25: "text", 26: "oid", 114: "json",
	600: "point", 601: "lseg", 602: "path", 603: "box", 604: "polygon", 628: "line", 650: "cidr", 700: "real", 701: "double precision",
	718: "circle", 774: "macaddr8", 829: "macaddr", 869: "inet", 1042: "bpchar", 1043: "character varying", 1082: "date",
	1083: "time without time zone", 1114: "timestamp without time zone", 1184: "timestamp with time zone", 1186: "interval",
	1266: "time with time zone", 1560: `"bit"`, 1562: "bit varying", 1700: "numeric", 2950: "uuid", 3614: "tsvector", 3615: "tsquery",
	3802: "jsonb", 3904: "int4range", 3906: "numrange", 3908: "tsrange", 3910: "tstzrange", 3912: "daterange", 3926: "int8range",
	4451: "int4multirange", 4532: "nummultirange", 4533: "tsmultirange", 4534: "tstzmultirange", 4535: "datemultirange", 4536: "int8multirange",

	199: "json[]", 1000: "boolean[]", 1001: "bytea[]", 1002: `"char"[]`, 1003: "name[]", 1005: "smallint[]", 1007: "integer[]", 1009: "text[]",
	1014: "bpchar[]", 1015: "character varying[]", 1016: "bigint[]", 1017: "point[]", 1021: "real[]", 1022: "double precision[]",
	1028: "oid[]", 1040: "macaddr[]", 1041: "inet[]", 651: "cidr[]", 1115: "timestamp without time zone[]", 1182: "date[]",
	1183: "time without time zone[]", 1185: "timestamp with time zone[]", 1187: "interval[]", 1231: "numeric[]", 1270: "time with time zone[]",
	1561: `"bit"[]`, 1563: "bit varying[]", 2951: "uuid[]", 3643: "tsvector[]", 3807: "jsonb[]", 3905: "int4range[]", 3907: "numrange[]",
	3909: "tsrange[]", 3911: "tstzrange[]", 3913: "daterange[]", 3927: "int8range[]",
}

// typeWords are the names by which a parsed statement calls the built-in types that are no arrays.
var typeWords = words(`bool bytea char name int8 int2 int4 text oid json point lseg path box polygon line cidr float4 float8 circle macaddr8
macaddr inet bpchar varchar date time timestamp timestamptz interval timetz bit varbit numeric uuid tsvector tsquery jsonb int4range numrange
tsrange tstzrange daterange int8range int4multirange nummultirange tsmultirange tstzmultirange datemultirange int8multirange`)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// BuiltIn reports whether values of a type mean the same in any Postgres, in binary form too.
func BuiltIn(oid uint32) bool { return builtInTypes[oid] != "" }

// BuiltInName reports whether a name, as a parsed statement has it, is that of such a type.
func BuiltInName(name string) bool { return typeWords[name] }

// Name returns "postgres".
func (Postgres) Name() string { return "postgres" }

// Type returns the type itself where it is built in, else text: its values mean something only where it was made.
func (Postgres) Type(oid uint32, _ int32) string {
	if name := builtInTypes[oid]; name != "" {
		return name
	}
	return "text"
}

// Identifier quotes a name.
func (Postgres) Identifier(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Literal quotes a text.
func (Postgres) Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Column casts to the very type of the foreign table's column, which is no work where the remote column has it too.
func (d Postgres) Column(c *catalog.Column, alias string) string {
	name := d.Identifier(ColumnName(c))
	if alias != "" {
		name = d.Identifier(alias) + "." + name
	}
	if !BuiltIn(c.Type) {
		return "CAST(" + name + " AS text)"
	}
	return "CAST(" + name + " AS " + c.TypeName + ")"
}

// Relation returns the name of the remote table.
func (d Postgres) Relation(r *catalog.Relation) (string, error) {
	schema, name := postgresName(r)
	return d.Identifier(schema) + "." + d.Identifier(name), nil
}

func postgresName(r *catalog.Relation) (schema, name string) {
	schema, name = r.Options["schema_name"], r.Options["table_name"]
	if schema == "" {
		schema = r.Schema
	}
	if name == "" {
		name = r.Name
	}
	return schema, name
}

// RowsSQL has what planners go by: how large a table is, and how many rows a page had when it was last looked at.
func (d Postgres) RowsSQL(r *catalog.Relation) string {
	name, _ := d.Relation(r)
	table := "pg_catalog.to_regclass(" + d.Literal(name) + ")"
	return `SELECT pg_catalog.sum(pg_catalog.pg_relation_size(c.oid) OPERATOR(pg_catalog./) 8192 OPERATOR(pg_catalog.*)
 CASE WHEN c.relpages OPERATOR(pg_catalog.>) 0 THEN c.reltuples OPERATOR(pg_catalog./) c.relpages ELSE 100 END)::pg_catalog.int8
FROM pg_catalog.pg_class c WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{r,m}') AND (c.oid OPERATOR(pg_catalog.=) ` + table + `
 OR c.oid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree(` + table + `) WHERE isleaf)))`
}

// Table is empty: another Postgres gets statements as they stand, node by node.
func (Postgres) Table() Index { return nil }

// Verbatim is true.
func (Postgres) Verbatim() bool { return true }

// Ships says that whole statements go to the engine.
func (Postgres) Ships() Extent { return Statements }

// RowID numbers a row by its place.
func (Postgres) RowID() string {
	return "((ctid::text::point)[0]::bigint << 16 | (ctid::text::point)[1]::bigint)"
}

// Collations of pg_collation that every Postgres has.
const (
	defaultCollation = 100
	cCollation       = 950
	posixCollation   = 951
)

// Collated returns a column as Column does, under the collation that it has at home: what the remote column has does not
// matter then. False where the remote server may not have that collation.
func (d Postgres) Collated(c *catalog.Column) (string, bool) {
	sql := d.Column(c, "")
	switch {
	case c.Collation == 0:
		return sql, true
	case c.Collation == cCollation:
		return sql + ` COLLATE "C"`, true
	case c.Collation == posixCollation:
		return sql + ` COLLATE "POSIX"`, true
	case c.Collation == defaultCollation:
		return sql + ` COLLATE "default"`, true
	}
	return "", false
}

// Orders reports whether how a column's text is ordered, and what its letters are, hangs on a server.
func (Postgres) Orders(c *catalog.Column) bool {
	return c.Collation != 0 && c.Collation != cCollation && c.Collation != posixCollation
}
