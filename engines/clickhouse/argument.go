package clickhouse

import (
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/pgerr"
)

// Values are written into the statement, quoted by escape, which leaves nothing of a value outside of its quotes; or, where the
// server takes parameters, stand beside it.

var escaped = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`, "\f", `\f`)

// quote writes a text as a literal.
func quote(text string) string { return "'" + escaped.Replace(text) + "'" }

// mostBeside is how long values may be in all, with what names them, that stand beside a statement: what is on the way bounds addresses.
const mostBeside = 2 << 10

// bind puts the values of $1…$n into a statement or, if they may, beside it. What stands in quotes is no placeholder.
func bind(sql string, args []*string, beside bool) (bound string, parameters []string, err error) {
	length := 0
	for i, v := range args {
		length += len("&param_=" + parameterName(i))
		if v != nil {
			length += len(*v)
			parameters = append(parameters, escaped.Replace(*v))
		} else {
			parameters = append(parameters, "")
		}
	}
	if !beside || length > mostBeside {
		parameters = nil
	}
	bound, err = placed(sql, func(n int) (string, bool) {
		switch {
		case n < 0 || n >= len(args):
			return "", false
		case args[n] == nil:
			return "NULL", true
		case parameters != nil:
			return "{" + parameterName(n) + ":String}", true
		}
		return quote(*args[n]), true
	})
	return bound, parameters, err
}

func parameterName(i int) string { return "p" + strconv.Itoa(i+1) }

// placed writes something in place of each placeholder.
func placed(sql string, value func(i int) (string, bool)) (string, error) {
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
			text, ok := value(n - 1)
			if err != nil || n < 1 || !ok {
				return "", pgerr.New(pgerr.InternalError, "statement for ClickHouse has no value for %s", sql[i:end])
			}
			out.WriteString(text)
			i = end - 1
		default:
			out.WriteByte(c)
		}
	}
	return out.String(), nil
}
