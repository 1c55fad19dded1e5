package dialect

import (
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
)

// Trino is the dialect of engine Trino, in a session whose time zone is UTC.
type Trino struct{}

var trinoTypes = map[uint32]string{
	boolOID: "BOOLEAN", byteaOID: "VARBINARY", int8OID: "BIGINT", int2OID: "SMALLINT", int4OID: "INTEGER", float4OID: "REAL", float8OID: "DOUBLE",
	dateOID: "DATE", timeOID: "TIME(6)", timestampOID: "TIMESTAMP(6)", timestamptzOID: "TIMESTAMP(6) WITH TIME ZONE", uuidOID: "UUID",
}

// Name returns "trino".
func (Trino) Name() string { return "trino" }

var (
	_ Standard = Trino{}
	_ Limiter  = Trino{}
)

// Ships says that whole statements go to the engine.
func (Trino) Ships() Extent { return Statements }

// Type returns the type that values of a Postgres type are shipped in. Types without a counterpart, and numeric beyond 38
// digits or without a precision, travel as text, which loses nothing.
func (Trino) Type(oid uint32, typmod int32) string {
	if precision, scale, ok := numericTypmod(typmod); oid == numericOID && ok && precision <= MostDigits && scale >= 0 && scale <= precision {
		return "DECIMAL(" + strconv.Itoa(precision) + "," + strconv.Itoa(scale) + ")"
	}
	if t := trinoTypes[oid]; t != "" {
		return t
	}
	return "VARCHAR"
}

// Identifier quotes a name.
func (Trino) Identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Literal quotes a text.
func (Trino) Literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Column casts a column to the type that it is shipped in, unless it is of that type. What nests is written as JSON, but for arrays that
// are arrays at home too; moments are told in UTC, as what a region's clocks show may stand for two.
func (d Trino) Column(c *catalog.Column, alias string) string {
	name := aliased(d, c, alias)
	remote, t := strings.ToLower(c.Options["remote_type"]), d.Type(c.Type, c.Typmod)
	if bounds := trinoBounds[c.Type]; bounds != "" && c.Options[Finite] != "" {
		return "CASE WHEN " + name + " NOT BETWEEN " + bounds + " THEN fail('SQLSTATE 0A000: a time that may be infinite') ELSE CAST(" + name + " AS " + t + ") END"
	}
	document := Plain(c.Type).OID == jsonbOID || Plain(c.Type).OID == jsonOID || c.Type == textOID
	switch {
	case remote == "json":
		return "json_format(" + name + ")"
	case strings.HasPrefix(remote, "array(") || strings.HasPrefix(remote, "map(") || strings.HasPrefix(remote, "row("):
		if document {
			return "json_format(CAST(" + name + " AS JSON))"
		}
		return name
	case strings.HasPrefix(remote, "interval "), strings.EqualFold(strings.ReplaceAll(remote, ", ", ","), t) && c.Type != timestamptzOID,
		t == "VARCHAR" && strings.HasPrefix(remote, "varchar"):
		return name
	case c.Type == timestamptzOID && strings.HasSuffix(remote, "with time zone"):
		return "CAST(" + name + " AT TIME ZONE 'UTC' AS " + t + ")"
	}
	return "CAST(" + name + " AS " + t + ")"
}

// trinoBounds are beyond all times but those that connectors may make of infinite ones.
var trinoBounds = map[uint32]string{
	timestampOID:   "TIMESTAMP '-4712-01-01 00:00:00' AND TIMESTAMP '70000-01-01 00:00:00'",
	timestamptzOID: "TIMESTAMP '-4712-01-01 00:00:00 UTC' AND TIMESTAMP '70000-01-01 00:00:00 UTC'",
}

// Relation returns the name of the remote table, which has three parts.
func (d Trino) Relation(r *catalog.Relation) (string, error) {
	part := func(option, server, other string) string {
		for _, name := range []string{r.Options[option], r.Server.Options[server], other} {
			if name != "" {
				return d.Identifier(name)
			}
		}
		return ""
	}
	catalog := part("catalog_name", "catalog", "")
	if catalog != "" {
		catalog += "."
	}
	return catalog + part("schema_name", "schema", r.Schema) + "." + part("table_name", "", r.Name), nil
}

// RowsSQL is empty: what connectors know of sizes is told by a statement that is no query.
func (Trino) RowsSQL(*catalog.Relation) string { return "" }

// RowID is no name for a row: the engine takes no writes.
func (Trino) RowID() string { return "NULL" }

// Verbatim is false.
func (Trino) Verbatim() bool { return false }

// Computes leaves floats, whose NaN and -0 the two order otherwise, JSON, and what is no text there to home.
func (Trino) Computes(c *catalog.Column) bool {
	remote := strings.ToLower(c.Options["remote_type"])
	return !Plain(c.Type).IsFloat() && c.Type != jsonOID && !strings.HasPrefix(remote, "interval ") && !strings.HasPrefix(remote, "array(")
}

// Stripped takes the blanks off the end of a text.
func (Trino) Stripped(sql string) string { return "trim(TRAILING ' ' FROM " + sql + ")" }

// Listed looks for a value in an array that is made of JSON, which has no uuid.
func (d Trino) Listed(placeholder, value string, of Type) (string, bool) {
	list := "CAST(json_parse(CAST(" + placeholder + " AS VARCHAR)) AS ARRAY(" + d.Type(of.OID, -1) + "))"
	return "(" + value + " IN (SELECT k FROM UNNEST(" + list + ") AS u (k)))", of.OID != uuidOID
}

// Lacks says that it has all.
func (Trino) Lacks() Lack { return 0 }

// Limit has OFFSET in front; a number that is a parameter is left to home.
func (Trino) Limit(rows, skipped string, _ bool) (string, bool) {
	out := ""
	if skipped != "" {
		out = " OFFSET " + skipped
	}
	if rows != "" {
		out += " LIMIT " + rows
	}
	return out, !strings.Contains(out, "$")
}
