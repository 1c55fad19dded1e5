package govern

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
)

// withoutNames makes constants of type name, as current_user is one, constants of type text, which engines know. Equality
// is the same for both; names are ordered by bytes.
func withoutNames(n *pg_query.Node) {
	parser.Walk(n, func(m proto.Message) bool {
		switch m := m.(type) {
		case *pg_query.A_Expr:
			if orders(m) {
				bytewise(m.Lexpr)
				bytewise(m.Rexpr)
				for _, item := range m.Rexpr.GetList().GetItems() {
					bytewise(item)
				}
			}
		case *pg_query.TypeCast:
			if isName(m) {
				m.TypeName = &pg_query.TypeName{Names: []*pg_query.Node{pg_query.MakeStrNode("text")}, Typemod: -1}
			}
		}
		return true
	})
}

// orders reports whether an operator looks at more of its operands than whether they are equal.
func orders(e *pg_query.A_Expr) bool {
	switch e.Kind {
	case pg_query.A_Expr_Kind_AEXPR_OP, pg_query.A_Expr_Kind_AEXPR_OP_ANY, pg_query.A_Expr_Kind_AEXPR_OP_ALL:
		name := e.Name[len(e.Name)-1].GetString_().GetSval()
		return name == "<" || name == "<=" || name == ">" || name == ">="
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pg_query.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return true
	}
	return false
}

func isName(c *pg_query.TypeCast) bool {
	names := c.GetTypeName().GetNames()
	return c.GetArg().GetAConst() != nil && len(names) > 0 && len(c.TypeName.ArrayBounds) == 0 &&
		names[len(names)-1].GetString_().GetSval() == "name"
}

func bytewise(n *pg_query.Node) {
	if c := n.GetTypeCast(); isName(c) {
		n.Node = &pg_query.Node_CollateClause{CollateClause: &pg_query.CollateClause{
			Arg: &pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: c}}, Collname: []*pg_query.Node{pg_query.MakeStrNode("C")},
		}}
	}
}
