package plan

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
)

// harmlessOperators and harmlessFunctions raise no error, whatever value of their types they look at.
var (
	harmlessOperators = map[string]bool{
		"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true, "~~": true, "!~~": true, "~~*": true, "!~~*": true,
		"@>": true, "<@": true, "&&": true, "?": true, "?|": true, "?&": true, "->": true, "->>": true, "^@": true,
	}
	harmlessFunctions = map[string]bool{
		"lower": true, "upper": true, "length": true, "char_length": true, "btrim": true, "ltrim": true, "rtrim": true, "strpos": true,
		"position": true, "starts_with": true, "cardinality": true, "isfinite": true, "octet_length": true,
	}
)

// harmless reports whether a condition cannot fail. At the server it is evaluated on every row of the table; home may not
// come to some of them, as what it finds elsewhere decides.
func harmless(n *pg_query.Node) bool {
	ok := true
	parser.Walk(n, func(m proto.Message) bool {
		ok = ok && harmlessNode(m)
		return ok
	})
	return ok
}

func harmlessNode(m proto.Message) bool {
	switch n := m.(type) {
	case *pg_query.FuncCall:
		return harmlessFunctions[lastName(n.Funcname)] || clocks[lastName(n.Funcname)]
	case *pg_query.TypeCast:
		return !hasColumn(n.Arg)
	case *pg_query.A_Expr:
		switch n.Kind {
		case pg_query.A_Expr_Kind_AEXPR_OP, pg_query.A_Expr_Kind_AEXPR_OP_ANY, pg_query.A_Expr_Kind_AEXPR_OP_ALL:
		case pg_query.A_Expr_Kind_AEXPR_LIKE, pg_query.A_Expr_Kind_AEXPR_ILIKE:
		case pg_query.A_Expr_Kind_AEXPR_SIMILAR:
			return false
		default:
			return true // comparisons under other names
		}
		name := lastName(n.Name)
		switch {
		case name == "+" || name == "-":
			return !hasColumn(n.Lexpr) && !hasColumn(n.Rexpr)
		case strings.Contains(name, "~~"): // a pattern may end within an escape
			s := n.Rexpr.GetAConst().GetSval()
			return s != nil && !strings.Contains(s.Sval, `\`)
		}
		return harmlessOperators[name]
	}
	return true
}

func hasColumn(n *pg_query.Node) (found bool) {
	if n == nil {
		return false
	}
	parser.Walk(n, func(m proto.Message) bool {
		if _, ok := m.(*pg_query.ColumnRef); ok {
			found = true
		}
		return !found
	})
	return found
}
