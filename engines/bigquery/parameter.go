package bigquery

import (
	"regexp"
	"strconv"

	rest "google.golang.org/api/bigquery/v2"
)

// placeholder is one of a statement, in the cast that says its type.
var placeholder = regexp.MustCompile(`^\$([1-9][0-9]*)( AS (INT64|BOOL|DATE|DATETIME|TIMESTAMP|NUMERIC|BIGNUMERIC)\))?`)

// named turns the parameters $1, $2 … of a statement into those that the service knows, by name, and returns the types that they are
// cast to wherever they stand; those without one are texts. Texts, identifiers and comments stay as they are.
func named(sql string) (string, map[int]string) {
	out := make([]byte, 0, len(sql)+8)
	types := map[int]string{}
	for i := 0; i < len(sql); {
		if n := quotedAt(sql[i:]); n > 0 {
			out = append(out, sql[i:i+n]...)
			i += n
			continue
		}
		if m := placeholder.FindStringSubmatch(sql[i:]); m != nil {
			n, _ := strconv.Atoi(m[1])
			if was, seen := types[n]; seen && was != m[3] {
				m[3] = ""
			}
			types[n] = m[3]
			out = append(out, "@p"...)
		} else {
			out = append(out, sql[i])
		}
		i++
	}
	return string(out), types
}

// parameter binds a value in home's spelling, which is the service's but for Booleans.
func parameter(n int, v *string, typ string) *rest.QueryParameter {
	if typ == "" {
		typ = "STRING"
	}
	p := &rest.QueryParameter{Name: "p" + strconv.Itoa(n), ParameterType: &rest.QueryParameterType{Type: typ}, ParameterValue: &rest.QueryParameterValue{}}
	if v == nil {
		p.ParameterValue.NullFields = []string{"Value"}
		return p
	}
	p.ParameterValue.Value, p.ParameterValue.ForceSendFields = *v, []string{"Value"}
	if truth := map[string]string{"t": "true", "f": "false"}[*v]; typ == "BOOL" && truth != "" {
		p.ParameterValue.Value = truth
	}
	return p
}

// quotedAt is the length of the text, identifier or comment that begins here, 0 for none. In all but comments a backslash escapes.
func quotedAt(sql string) int {
	var end byte
	switch {
	case sql[0] == '\'' || sql[0] == '"' || sql[0] == '`':
		end = sql[0]
	case sql[0] == '#', len(sql) > 1 && sql[:2] == "--":
		end = '\n'
	default:
		return 0
	}
	for i := 1; i < len(sql); i++ {
		switch {
		case sql[i] == '\\' && end != '\n':
			i++
		case sql[i] == end:
			return i + 1
		}
	}
	return len(sql)
}
