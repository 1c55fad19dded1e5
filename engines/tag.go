package engines

import "strings"

// Tag says on whose behalf a statement runs, for those who look on at the remote server. The zero value names nobody.
type Tag struct {
	Role string // the session's own, as it logged in
	ID   string // of the client's statement, as sluice.stat_activity shows it: lower-case letters, digits and hyphens
}

// Comment is a comment that names role and statement, with a space behind it, to be put before SQL; empty for the zero Tag. Bytes that
// mean anything to any parser are written as %XX.
func (t Tag) Comment() string {
	if t == (Tag{}) {
		return ""
	}
	return "/* sluice role=" + escapeTag(t.Role) + " id=" + escapeTag(t.ID) + " */ "
}

// String is the tag in one line, for engines that have a place for it beside the SQL.
func (t Tag) String() string {
	if t == (Tag{}) {
		return ""
	}
	return "sluice id=" + escapeTag(t.ID) + " role=" + escapeTag(t.Role)
}

func escapeTag(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '.', c == '-':
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}
