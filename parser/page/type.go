package page

import (
	"regexp"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// types are the built-in types of keys, by OID, with the names under which their values are read.
var types = map[uint32]string{
	16: "bool", 21: "int2", 23: "int4", 20: "int8", 26: "oid", 1700: "numeric", 700: "float4", 701: "float8", 25: "text", 1043: "text",
	1042: "bpchar", 19: "name", 2950: "uuid", 1082: "date", 1114: "timestamp", 1184: "timestamptz", 1083: "time", 1266: "timetz",
	1186: "interval", 17: "bytea", 869: "inet", 650: "cidr", 829: "macaddr", 774: "macaddr8", 1562: "varbit",
}

// textOf prints a value as text that says all of it, whatever the session's settings.
func textOf(value string, oid uint32) string {
	switch oid {
	case 17:
		return "pg_catalog.encode(" + value + ", 'hex')"
	case 1082, 1114, 1184: // as in ISO 8601
		return "(pg_catalog.to_jsonb(" + value + ") OPERATOR(pg_catalog.#>>) '{}')"
	case 700, 701, 1186:
		return "sluice.page_text(" + value + ")"
	}
	return value + "::pg_catalog.text"
}

// valueOf prints what has the value again.
func valueOf(text string, oid uint32, typ string) string {
	if oid == 17 {
		return "pg_catalog.decode(" + text + ", 'hex')"
	}
	return text + "::" + typ
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// spelled is a name as a user would write it.
func spelled(name string) string {
	if plainName.MatchString(name) {
		if r, err := pg_query.Scan(name); err == nil && len(r.Tokens) == 1 && r.Tokens[0].KeywordKind == pg_query.KeywordKind_NO_KEYWORD {
			return name
		}
	}
	return quote(name)
}

var plainName = regexp.MustCompile("^[a-z_][a-z0-9_]*$")

// literal is a string constant that means the same whatever standard_conforming_strings says.
func literal(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.Contains(text, `\`) {
		return " E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}
