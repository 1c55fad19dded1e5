package dialect

import (
	"regexp"
	"strings"
)

// templateParts are the patterns of to_char that DuckDB's strftime has too, digits and English names. Between them stands what is
// neither a letter nor special, or letters in quotes.
var templateParts = map[string]string{
	"YYYY": "%Y", "MM": "%m", "DD": "%d", "HH24": "%H", "MI": "%M", "SS": "%S", "MS": "%g", "US": "%f", "Mon": "%b", "Dy": "%a",
	"FMMonth": "%B", "FMDay": "%A", "FMMM": "%-m", "FMDD": "%-d",
	"yyyy": "%Y", "mm": "%m", "dd": "%d", "hh24": "%H", "mi": "%M", "ss": "%S", "ms": "%g", "us": "%f",
}

var (
	templatePart  = regexp.MustCompile(`FMMonth|FMDay|FMMM|FMDD|YYYY|HH24|Mon|Dy|MM|DD|MI|SS|MS|US|yyyy|hh24|mm|dd|mi|ss|ms|us|"[A-Za-z ]*"|[-/:., _]`)
	wholeTemplate = regexp.MustCompile(`^(` + templatePart.String() + `)+$`)
	otherParts    = regexp.MustCompile(`(?i)ddd|sss|ddy`) // which Postgres reads first
)

func isTemplate(text string) bool {
	return wholeTemplate.MatchString(text) && !otherParts.MatchString(text) && len(text) <= 100
}

// strftime is a template in DuckDB's spelling.
func strftime(text string) string {
	return templatePart.ReplaceAllStringFunc(text, func(part string) string {
		if s := templateParts[part]; s != "" {
			return s
		}
		return strings.Trim(part, `"`)
	})
}
