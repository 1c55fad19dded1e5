package bigquery

// named turns the parameters $1, $2 … of a statement into those that the service knows, by name. Texts, identifiers and comments
// stay as they are.
func named(sql string) string {
	out := make([]byte, 0, len(sql)+8)
	for i := 0; i < len(sql); {
		if n := quotedAt(sql[i:]); n > 0 {
			out = append(out, sql[i:i+n]...)
			i += n
			continue
		}
		if sql[i] == '$' && i+1 < len(sql) && sql[i+1] >= '1' && sql[i+1] <= '9' {
			out = append(out, "@p"...)
		} else {
			out = append(out, sql[i])
		}
		i++
	}
	return string(out)
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
