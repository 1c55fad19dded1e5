package trino

import (
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// statement is what is handed in for a query. One with parameters is executed with values apart from it, which are texts, or NULL: the
// SQL itself casts them.
func statement(q engines.Query) (string, error) {
	if len(q.Args) == 0 {
		return q.SQL, nil
	}
	sql, used, err := placed(q.SQL, len(q.Args))
	if err != nil || len(used) == 0 {
		return q.SQL, err
	}
	var b strings.Builder
	b.WriteString("EXECUTE IMMEDIATE ")
	writeText(&b, sql)
	for i, n := range used {
		b.WriteString([]string{" USING ", ", "}[min(i, 1)])
		if v := q.Args[n-1]; v != nil {
			writeText(&b, *v)
		} else {
			b.WriteString("NULL")
		}
	}
	return b.String(), nil
}

// writeText writes a text as SQL, in which only the quote means anything.
func writeText(b *strings.Builder, text string) {
	b.WriteByte('\'')
	b.WriteString(strings.ReplaceAll(text, "'", "''"))
	b.WriteByte('\'')
}

// placed returns SQL with a question mark for each parameter $n, and which these are, in order. Texts and identifiers stay as they are.
func placed(sql string, args int) (string, []int, error) {
	var b strings.Builder
	var used []int
	for i := 0; i < len(sql); {
		c := sql[i]
		if c == '\'' || c == '"' {
			end := len(sql)
			if n := strings.IndexByte(sql[i+1:], c); n >= 0 {
				end = i + n + 2
			}
			b.WriteString(sql[i:end])
			i = end
			continue
		}
		end := i + 1
		for c == '$' && end < len(sql) && sql[end] >= '0' && sql[end] <= '9' {
			end++
		}
		if end == i+1 {
			b.WriteByte(c)
			i = end
			continue
		}
		n, err := strconv.Atoi(sql[i+1 : end])
		if err != nil || n < 1 || n > args {
			return "", nil, pgerr.New(pgerr.InternalError, "there is no parameter %s", sql[i:end])
		}
		used = append(used, n)
		b.WriteByte('?')
		i = end
	}
	return b.String(), used, nil
}
