package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
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

// asciiLiteral is literal for text in UTF-8, whatever client_encoding says.
func asciiLiteral(s string) string {
	quoted := literal(s)
	if utf8.RuneCountInString(s) == len(s) {
		return quoted
	}
	var b strings.Builder
	if quoted[0] != 'E' {
		b.WriteByte('E')
	}
	for _, r := range quoted {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	return b.String()
}

// identifier quotes a name.
func identifier(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
