package duckdb

import (
	"regexp"
	"strings"
)

// postgresNames maps the spelling of DuckDB's types to Postgres'. STRUCT, MAP, UNION and lists of anything that has no
// array type in Postgres are json, to which DuckDB casts them. BIT is bit varying: it has the same text form and any
// length.
var postgresNames = map[string]string{
	"BOOLEAN": "boolean", "TINYINT": "smallint", "UTINYINT": "smallint", "SMALLINT": "smallint", "USMALLINT": "integer",
	"INTEGER": "integer", "UINTEGER": "bigint", "BIGINT": "bigint", "UBIGINT": "numeric(20,0)", "HUGEINT": "numeric",
	"UHUGEINT": "numeric", "FLOAT": "real", "DOUBLE": "double precision", "VARCHAR": "text", "JSON": "json",
	"BLOB": "bytea", "DATE": "date", "TIME": "time without time zone", "TIME_NS": "time without time zone",
	"TIME WITH TIME ZONE": "time with time zone", "TIMESTAMP": "timestamp without time zone",
	"TIMESTAMP_S": "timestamp without time zone", "TIMESTAMP_MS": "timestamp without time zone",
	"TIMESTAMP_NS": "timestamp without time zone", "TIMESTAMP WITH TIME ZONE": "timestamp with time zone",
	"INTERVAL": "interval", "UUID": "uuid", "BIT": "bit varying",
}

var (
	decimalName = regexp.MustCompile(`^DECIMAL\((\d+),\s*(\d+)\)$`)
	listSuffix  = regexp.MustCompile(`\[\d*\]$`)
)

// postgresName returns the Postgres type for a DuckDB type as duckdb_columns() and DESCRIBE spell it, empty for none.
func postgresName(typ string) string {
	if name, ok := postgresNames[typ]; ok {
		return name
	}
	if m := decimalName.FindStringSubmatch(typ); m != nil {
		return "numeric(" + m[1] + "," + m[2] + ")"
	}
	if suffix := listSuffix.FindString(typ); suffix != "" {
		return listName(strings.TrimSuffix(typ, suffix))
	}
	switch {
	case strings.HasPrefix(typ, "ENUM("):
		return "text"
	case isNested(typ):
		return "json"
	default:
		return ""
	}
}

func listName(element string) string {
	name := postgresName(element)
	if name == "" || listSuffix.MatchString(element) || isNested(element) {
		if name == "" {
			return ""
		}
		return "json"
	}
	return name + "[]"
}

func isNested(typ string) bool {
	return strings.HasPrefix(typ, "STRUCT(") || strings.HasPrefix(typ, "MAP(") || strings.HasPrefix(typ, "UNION(")
}
