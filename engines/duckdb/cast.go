package duckdb

import "strings"

const (
	oidBytea = 17
	oidJSONB = 3802
)

// isList says whether values of a column are staged as lists: the target is one, and the source is a Postgres array.
func isList(oid uint32, typ string) bool {
	return listSuffix.MatchString(typ) && oid != oidJSON && oid != oidJSONB
}

// cast returns the expression that turns staged text of a Postgres type into a value of a DuckDB type. Lists are staged
// as JSON arrays of text, whose elements are cast one by one.
func cast(expr string, oid uint32, typ string) string {
	switch {
	case isList(oid, typ):
		element := listSuffix.ReplaceAllString(typ, "")
		list := "from_json(" + expr + `, '["VARCHAR"]')`
		one := castText("x", oid, element)
		return "CAST(list_transform(" + list + ", lambda x: " + one + ") AS " + typ + ")"
	case isNested(typ), listSuffix.MatchString(typ):
		return "CAST(CAST(" + expr + " AS JSON) AS " + typ + ")"
	default:
		return castText(expr, oid, typ)
	}
}

// castText mends the four text forms that Postgres and DuckDB write differently. DuckDB would read '0044-03-15 BC' as
// a date of our era without a word.
func castText(expr string, oid uint32, typ string) string {
	switch {
	case typ == "BLOB" && (oid == oidBytea || oid == scalarArray(oidBytea)):
		return "unhex(substr(" + expr + ", 3))"
	case typ == "BLOB":
		return "encode(" + expr + ")"
	case typ == "INTERVAL":
		return "CAST(replace(" + expr + ", ' +', ' ') AS INTERVAL)"
	case typ == "DATE" || strings.HasPrefix(typ, "TIMESTAMP"):
		return `CAST(regexp_replace(` + expr + `, '^(\S+)(.*) BC$', '\1 (BC)\2') AS ` + typ + `)`
	default:
		return "CAST(" + expr + " AS " + typ + ")"
	}
}

func scalarArray(oid uint32) uint32 {
	for _, s := range scalars {
		if s.oid == oid {
			return s.array
		}
	}
	return 0
}
