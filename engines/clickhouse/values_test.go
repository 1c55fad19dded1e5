package clickhouse

import "github.com/apache/arrow-go/v18/arrow/array"

// valueStrings are the values of a column in Arrow's text.
func valueStrings(c *column, rows int) (out []string) {
	a := array.MakeFromData(c.values.data(rows, nil))
	for i := range rows {
		out = append(out, a.ValueStr(i))
	}
	return out
}
