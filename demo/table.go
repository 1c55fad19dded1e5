package demo

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
)

// title prints the heading of a step.
func title(out io.Writer, text string) {
	const width = 78
	_, _ = fmt.Fprintf(out, "\n── %s %s\n", text, strings.Repeat("─", max(3, width-utf8.RuneCountInString(text))))
}

// printTable prints rows as psql does, but for long lines of plans.
func printTable(out io.Writer, r result) {
	shown := r
	if len(r.fields) == 1 && r.fields[0].name == "QUERY PLAN" {
		shown = r.wrapped()
	}
	widths := make([]int, len(r.fields))
	for i, f := range r.fields {
		widths[i] = utf8.RuneCountInString(f.name)
		for _, row := range shown.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
	}
	heads, rules := make([]string, len(widths)), make([]string, len(widths))
	for i, f := range r.fields {
		left := (widths[i] - utf8.RuneCountInString(f.name)) / 2
		heads[i] = pad(strings.Repeat(" ", left)+f.name, widths[i], false)
		rules[i] = strings.Repeat("-", widths[i]+2)
	}
	_, _ = fmt.Fprintf(out, " %s\n%s\n", strings.TrimRight(strings.Join(heads, " | "), " "), strings.Join(rules, "+"))
	for _, row := range shown.rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = pad(v.text, widths[i], numeric(r.fields[i].oid))
		}
		_, _ = fmt.Fprintf(out, " %s\n", strings.TrimRight(strings.Join(cells, " | "), " "))
	}
	noun := "rows"
	if len(r.rows) == 1 {
		noun = "row"
	}
	_, _ = fmt.Fprintf(out, "(%d %s)\n", len(r.rows), noun)
}

func pad(s string, width int, right bool) string {
	space := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if right {
		return space + s
	}
	return s + space
}

// numeric reports whether psql aligns values of the type to the right.
func numeric(oid uint32) bool {
	switch oid {
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.Float4OID, pgtype.Float8OID, pgtype.NumericOID, pgtype.OIDOID:
		return true
	}
	return false
}
