package oracle

import (
	"fmt"
	"strings"
)

// form says how values of one Postgres type get into DuckDB.
type form struct {
	duck string // the DuckDB type
	read string // home's expression for the text that travels, with %[1]s for the column
	cast string // DuckDB's expression for the value, with ? for the text
}

// intervalText spells an interval in the units that both systems keep apart.
const intervalText = "format('%%s months %%s days %%s microseconds', (extract(year from %[1]s) * 12 + extract(month from %[1]s))::int," +
	" extract(day from %[1]s)::int, (extract(hour from %[1]s) * 3600000000 + extract(minute from %[1]s) * 60000000 +" +
	" extract(microseconds from %[1]s))::bigint)"

// plainTypes are those that DuckDB has under some name and reads from Postgres' text.
var plainTypes = map[string]string{
	"smallint": "SMALLINT", "integer": "INTEGER", "bigint": "BIGINT", "real": "FLOAT", "double precision": "DOUBLE",
	"boolean": "BOOLEAN", "text": "VARCHAR", "date": "DATE", "timestamp without time zone": "TIMESTAMP",
	"timestamp with time zone": "TIMESTAMPTZ", "time without time zone": "TIME", "uuid": "UUID", "json": "JSON",
	"jsonb": "JSON", "character": "VARCHAR", "character varying": "VARCHAR", "time with time zone": "TIMETZ",
}

// textForm is that of types that DuckDB has no counterpart of: they travel as text.
var textForm = form{"VARCHAR", "%[1]s::text", "?"}

// formOf returns how values of a type, as format_type spells it, get into DuckDB.
func formOf(pgType string) form {
	if element, ok := strings.CutSuffix(pgType, "[]"); ok {
		f := formOf(element)
		if f == textForm {
			return f
		}
		return form{f.duck + "[]", "to_json(%[1]s)::text", "CAST(CAST(? AS JSON) AS " + f.duck + "[])"}
	}
	switch {
	case pgType == "bytea":
		return form{"BLOB", "encode(%[1]s, 'hex')", "unhex(?)"}
	case pgType == "interval":
		return form{"INTERVAL", intervalText, "CAST(? AS INTERVAL)"}
	case strings.HasPrefix(pgType, "numeric("):
		var precision, scale int
		if _, err := fmt.Sscanf(pgType, "numeric(%d,%d)", &precision, &scale); err != nil || precision > 38 || scale < 0 || scale > precision {
			return textForm
		}
		duck := "DECIMAL" + strings.TrimPrefix(pgType, "numeric")
		return form{duck, "%[1]s::text", "CAST(? AS " + duck + ")"}
	}
	// A modifier stands inside of the name for timestamps: timestamp(3) without time zone.
	base := pgType
	if open := strings.IndexByte(base, '('); open >= 0 {
		end := strings.IndexByte(base, ')')
		base = base[:open] + base[end+1:]
	}
	duck, ok := plainTypes[base]
	if !ok {
		return textForm
	}
	return form{duck, "%[1]s::text", "CAST(? AS " + duck + ")"}
}

// respell turns Postgres' text of a value into one that DuckDB reads: years before 1 are marked behind the date.
func respell(duck, text string) string {
	switch duck {
	case "DATE", "TIMESTAMP", "TIMESTAMPTZ":
		if rest, ok := strings.CutSuffix(text, " BC"); ok {
			date, time, _ := strings.Cut(rest, " ")
			return strings.TrimSuffix(date+" (BC) "+time, " ")
		}
	case "DATE[]":
		return strings.ReplaceAll(text, ` BC"`, ` (BC)"`)
	}
	return text
}
