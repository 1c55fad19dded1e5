package sqldb

import (
	"database/sql/driver"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// placed returns a query's text with a placeholder for each parameter, and the values in the order of these. Quotes are
// doubled inside of quotes, as the dialects have it, and nothing is escaped otherwise.
func placed(q engines.Query, placeholder func(n int) string) (string, []driver.NamedValue, error) {
	if !strings.ContainsRune(q.SQL, '$') {
		return q.SQL, nil, nil
	}
	var b strings.Builder
	var args []driver.NamedValue
	text := q.SQL
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"' || c == '`':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				end = len(text) - i - 2
			}
			b.WriteString(text[i : i+end+2])
			i += end + 2
		case c == '$' && i+1 < len(text) && isDigit(text[i+1]):
			end := i + 1
			for end < len(text) && isDigit(text[end]) {
				end++
			}
			n, err := strconv.Atoi(text[i+1 : end])
			if err != nil || n < 1 || n > len(q.Args) {
				return "", nil, pgerr.New(pgerr.InternalError, "there is no parameter %s", text[i:end])
			}
			args = append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: valueOf(q.Args[n-1])})
			b.WriteString(placeholder(len(args)))
			i = end
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), args, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func valueOf(arg *string) driver.Value {
	if arg == nil {
		return nil
	}
	return *arg
}
