package tpch

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed queries/*.sql
var queryFiles embed.FS

// Queries returns the 22 queries in order: queries[0] is query 1. Their tables are named without a schema.
func Queries() [22]string {
	var queries [22]string
	for i := range queries {
		text, err := queryFiles.ReadFile(fmt.Sprintf("queries/%02d.sql", i+1))
		if err != nil {
			panic(err) // embedded: it is there or the program is not built
		}
		queries[i] = strings.TrimSpace(string(text))
	}
	return queries
}
