package catalog

import (
	"strconv"
	"strings"
)

// textArray writes an array of Postgres in its text form.
func textArray(elements []string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, e := range elements {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		for j := range len(e) {
			if e[j] == '"' || e[j] == '\\' {
				b.WriteByte('\\')
			}
			b.WriteByte(e[j])
		}
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}

// number writes an OID in text form.
func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// literal writes a string constant that means the same whatever standard_conforming_strings says.
func literal(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if strings.Contains(s, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

// identifier quotes a name.
func identifier(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
