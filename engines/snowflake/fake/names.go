package fake

import (
	"regexp"
	"strings"
)

var (
	overSelect = regexp.MustCompile(`^SELECT ("[^"]+"(?:, "[^"]+")*) FROM \((SELECT .*)\) AS "v"`)
	quotedName = regexp.MustCompile(`"[^"]+"`)
)

// misnamed returns a column of a sub-select that a statement reads under a name which stands nowhere in it; empty for none. DuckDB takes
// names that differ by case alone for one, and Snowflake does not where they are quoted.
func misnamed(sql string) string {
	m := overSelect.FindStringSubmatch(sql)
	if m == nil {
		return ""
	}
	for _, name := range quotedName.FindAllString(m[1], -1) {
		if !strings.Contains(m[2], name) {
			return name
		}
	}
	return ""
}
