package ddl

import (
	"maps"
	"slices"
	"strings"
)

// ident quotes a name.
func ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// literal quotes a string so that it reads the same under either value of standard_conforming_strings.
func literal(s string) string {
	s = strings.ReplaceAll(s, "'", "''")
	if strings.Contains(s, `\`) {
		return "E'" + strings.ReplaceAll(s, `\`, `\\`) + "'"
	}
	return "'" + s + "'"
}

// OptionList writes an OPTIONS clause with a space before it, sorted by name; nothing for no options.
func OptionList(options map[string]string) string {
	if len(options) == 0 {
		return ""
	}
	list := make([]string, 0, len(options))
	for _, name := range slices.Sorted(maps.Keys(options)) {
		list = append(list, ident(name)+" "+literal(options[name]))
	}
	return " OPTIONS (" + strings.Join(list, ", ") + ")"
}
