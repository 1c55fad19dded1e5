package fake

import (
	"regexp"
	"strings"
)

// toDuckDB are the words of a statement that DuckDB has others for, and none for the order of a range, which comes in it.
var toDuckDB = strings.NewReplacer("information_schema.", "fake_information.", "TIMESTAMP_NTZ", "timestamp", "TIMESTAMP", "timestamptz", " div ", " // ",
	"startswith(", "starts_with(", "octet_length(", "strlen(", "explode(", "unnest(", "element_at(", "list_extract(", "raise_error(", "error(", " AS t (i) ORDER BY i", " AS t (i)")

var (
	parameterNames = regexp.MustCompile(`:p(\d+)`)
	listsOfJSON    = regexp.MustCompile(`from_json\(CAST\((:p\d+) AS STRING\), 'ARRAY<(\w+)>'\)`)
	rowsOfJSON     = regexp.MustCompile(`from_json\(CAST\((:p\d+) AS STRING\), 'ARRAY<ARRAY<STRING>>'\)`)
	// parts are what quotes hold, and what stands between them.
	parts    = regexp.MustCompile("'(?:[^'\\\\]|\\\\.)*'|`(?:[^`]|``)*`|[^'`]+")
	changing = regexp.MustCompile(`^(/\*[^*]*\*/ )?(CREATE|INSERT|DROP) `)
	// escapes within a text. A backslash before any other character than those of the service's manual stands for that character.
	escapes = regexp.MustCompile(`\\(.)`)
)

// translate makes a statement of DuckDB of one of the service.
func (f *Workspace) translate(sql string) string {
	zone, common := "Etc/UTC", "bigint"
	if z := f.TimeZone.Load(); z != nil {
		zone = *z
	}
	if f.NoANSI.Load() {
		common = "string"
	}
	sql = strings.NewReplacer("current_timezone()", "'"+zone+"'", "typeof(coalesce('1', 1))", "'"+common+"'", "version()", "'"+Version+"'").Replace(sql)
	sql = rowsOfJSON.ReplaceAllString(sql, "CAST(CAST($1 AS JSON) AS VARCHAR[][])")
	sql = listsOfJSON.ReplaceAllString(sql, "CAST(CAST($1 AS JSON) AS $2[])")
	return parts.ReplaceAllStringFunc(sql, func(part string) string {
		switch part[0] {
		case '\'':
			text := escapes.ReplaceAllStringFunc(part[1:len(part)-1], func(e string) string {
				if e == `\%` || e == `\_` { // which stay as they are, for patterns
					return e
				}
				return e[1:]
			})
			return "'" + strings.ReplaceAll(text, "'", "''") + "'"
		case '`':
			name := strings.ReplaceAll(part[1:len(part)-1], "``", "`")
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
		return parameterNames.ReplaceAllString(toDuckDB.Replace(part), "$$$1")
	})
}
