package clickhouse

import (
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/pgerr"
)

// Old servers take no parameters, so that values are written into the statement: quoted by escape, which leaves nothing of a
// value outside of its quotes.

var escaped = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`, "\f", `\f`)

// quote writes a text as a literal.
func quote(text string) string { return "'" + escaped.Replace(text) + "'" }

// bind writes the values of $1…$n into a statement. What stands in quotes is no placeholder.
func bind(sql string, args []*string) (string, error) {
	var out strings.Builder
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; c {
		case '\'', '`', '"':
			end := closing(sql, i)
			out.WriteString(sql[i : end+1])
			i = end
		case '$':
			end := i + 1
			for end < len(sql) && sql[end] >= '0' && sql[end] <= '9' {
				end++
			}
			n, err := strconv.Atoi(sql[i+1 : end])
			if err != nil || n < 1 || n > len(args) {
				return "", pgerr.New(pgerr.InternalError, "statement for ClickHouse has no value for %s", sql[i:end])
			}
			out.WriteString(literal(args[n-1]))
			i = end - 1
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), nil
}

func literal(v *string) string {
	if v == nil {
		return "NULL"
	}
	return quote(*v)
}
