package clickbench

import (
	_ "embed"
	"strings"
)

//go:embed queries.sql
var text string

// Queries returns the 43 queries in order. Their table is hits, named without a schema.
func Queries() []string {
	var list []string
	for query := range strings.SplitSeq(text, ";\n") {
		if query = strings.TrimSpace(query); query != "" {
			list = append(list, query)
		}
	}
	return list
}
