package govern

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
)

// plainText writes constants of the types for text that are not text itself as engines know them: constants of type name,
// as current_user is one, and varchar as text, and what is compared with bpchar as a literal, of the other side's type.
// Equality is the same for names and text; names are ordered by bytes.
func plainText(n *pg_query.Node) {
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
			if comparing(m) {
				unpadded(m.Lexpr)
				unpadded(m.Rexpr)
				for _, item := range m.Rexpr.GetList().GetItems() {
					unpadded(item)
				}
			}
		case *pg_query.TypeCast:
			if isName(m) || isVarchar(m) {
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

// isVarchar reports whether a cast is to varchar of any length, which leaves text as it is.
func isVarchar(c *pg_query.TypeCast) bool {
	t := c.GetTypeName()
	return len(t.GetNames()) > 0 && len(t.ArrayBounds) == 0 && len(t.Typmods) == 0 && t.Names[len(t.Names)-1].GetString_().GetSval() == "varchar"
}

var comparisons = map[string]bool{"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true}

func comparing(e *pg_query.A_Expr) bool {
	return e.Lexpr != nil && (e.Kind == pg_query.A_Expr_Kind_AEXPR_OP || e.Kind == pg_query.A_Expr_Kind_AEXPR_IN) &&
		comparisons[e.Name[len(e.Name)-1].GetString_().GetSval()]
}

// unpadded takes the cast to bpchar from a literal. Trailing spaces are nothing to bpchar, and go where it becomes text.
func unpadded(n *pg_query.Node) {
	c := n.GetTypeCast()
	t, text := c.GetTypeName(), c.GetArg().GetAConst().GetSval()
	if text == nil || len(t.ArrayBounds) > 0 || len(t.Typmods) > 0 || t.Names[len(t.Names)-1].GetString_().GetSval() != "bpchar" {
		return
	}
	n.Node = c.Arg.Node
	text.Sval = strings.TrimRight(text.Sval, " ")
}

func bytewise(n *pg_query.Node) {
	if c := n.GetTypeCast(); isName(c) {
		n.Node = &pg_query.Node_CollateClause{CollateClause: &pg_query.CollateClause{
			Arg: &pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: c}}, Collname: []*pg_query.Node{pg_query.MakeStrNode("C")},
		}}
	}
}
