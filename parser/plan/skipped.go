package plan

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

// skips reports whether an engine of standard SQL may leave out an error that Postgres raises: where it finds an operand NULL, it does
// not come to those that it would compute behind it, while Postgres computes them all.
func (s *shipper) skips(list []operand) bool {
	null := false
	for _, o := range list {
		if null && o.raises {
			return true
		}
		null = null || !isValue(o.node)
	}
	return false
}

// isValue reports whether an expression is a constant that is not NULL.
func isValue(n *pg_query.Node) bool {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().Arg
	}
	return n.GetAConst() != nil && !n.GetAConst().Isnull
}

// turnable are the operators whose operands may be swapped.
var turnable = map[string]bool{"=": true, "<>": true, "+": true, "*": true}

// inOrder returns an entry's SQL such that no error is left out: with operands swapped, or the one that may raise it asked for first; false,
// with the reason noted, where there is none.
func (s *shipper) inOrder(entry *dialect.Entry, given []operand) (string, bool) {
	if s.standard == nil || strings.HasSuffix(entry.Name, "DISTINCT FROM") {
		return entry.SQL, true
	}
	list, turned := given, slices.Clone(given)
	slices.Reverse(turned)
	first, last := "$1", "$2"                                                        // in the order in which it computes two
	if entry.Kind == dialect.Operator && (entry.Name == ">" || entry.Name == ">=") { // as < and <=
		list, turned, first, last = turned, list, last, first
	}
	switch {
	case !s.skips(list):
		return entry.SQL, true
	case entry.Kind == dialect.Operator && turnable[entry.Name] && len(list) == 2 && !s.skips(turned):
		return strings.NewReplacer("$1", "$2", "$2", "$1").Replace(entry.SQL), true
	case entry.Kind != dialect.Aggregate && entry.Strict() && len(list) == 2:
		condition := last + " IS NULL"
		if list[0].raises { // it must come to both
			condition += " AND " + first + " IS NULL"
		}
		return "(CASE WHEN " + condition + " THEN NULL ELSE " + entry.SQL + " END)", true
	}
	s.skipped()
	return "", false
}

// skipped notes that an error might be left out.
func (s *shipper) skipped() {
	s.no("%s may leave out an error of an operand where another is NULL", s.d.Name())
}
