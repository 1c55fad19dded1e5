package snowflake

import "strings"

// numbered turns the parameters $1, $2 … of a statement into those that the server knows by number. Texts, identifiers and comments
// stay as they are.
func numbered(sql string) string {
	var out strings.Builder
	for i := 0; i < len(sql); {
		if n := quotedAt(sql[i:]); n > 0 {
			out.WriteString(sql[i : i+n])
			i += n
			continue
		}
		if sql[i] == '$' && i+1 < len(sql) && sql[i+1] >= '1' && sql[i+1] <= '9' {
			out.WriteByte(':')
		} else {
			out.WriteByte(sql[i])
		}
		i++
	}
	return out.String()
}

// quotedAt is the length of the text, identifier or comment that begins here, 0 for none. A backslash escapes in texts alone.
func quotedAt(sql string) int {
	switch {
	case sql[0] == '\'' || sql[0] == '"':
		for i := 1; i < len(sql); i++ {
			switch {
			case sql[i] == '\\' && sql[0] == '\'':
				i++
			case sql[i] == sql[0]:
				return i + 1
			}
		}
		return len(sql)
	case strings.HasPrefix(sql, "--"):
		return endAt(sql, "\n")
	case strings.HasPrefix(sql, "/*"):
		return endAt(sql, "*/")
	}
	return 0
}

func endAt(sql, end string) int {
	if at := strings.Index(sql[2:], end); at >= 0 {
		return 2 + at + len(end)
	}
	return len(sql)
}
