package dialect

import (
	"fmt"
	"strings"
)

// Shipped says in numbers what a dialect's engine is proven to compute as Postgres does.
func Shipped(d Dialect) string {
	if d.Verbatim() {
		return fmt.Sprintf("statements as they stand: %d functions, %d operators", len(shared), len(operators))
	}
	counts := map[Kind]int{}
	for _, list := range d.Table() {
		for _, e := range list {
			counts[e.Kind]++
		}
	}
	var parts []string
	for _, kind := range []Kind{Operator, Function, Cast, Aggregate, Window} {
		if n := counts[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %ss", n, kind))
		}
	}
	if len(parts) == 0 {
		return "columns alone"
	}
	text := strings.Join(parts, ", ")
	broad, _ := d.(Broad)
	if _, ok := d.(Simple); ok && (broad == nil || broad.Forms()&Joins == 0) {
		text += ", over one table"
	}
	return text
}
