package parser

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// parenthesize changes a tree so that it prints right: the printer leaves out the parentheses of (a OR b) IS NULL, of
// (a < b) IN (c), and of (CASE … END)[1].
func parenthesize(raw *pg_query.RawStmt) {
	Walk(raw, func(m proto.Message) bool {
		switch n := m.(type) {
		case *pg_query.NullTest:
			n.Arg = tested(n.Arg)
		case *pg_query.BooleanTest:
			n.Arg = tested(n.Arg)
		case *pg_query.SubLink:
			n.Testexpr = operand(n.Testexpr)
		case *pg_query.A_Expr:
			operands(n)
		case *pg_query.A_Indirection:
			if len(n.Indirection) == 0 { // one of our own
				return true
			}
			switch n.Arg.GetNode().(type) {
			case *pg_query.Node_CaseExpr, *pg_query.Node_CoalesceExpr, *pg_query.Node_MinMaxExpr, *pg_query.Node_SqlvalueFunction:
				n.Arg = parentheses(n.Arg)
			}
		}
		return true
	})
}

// operands puts parentheses around those of an operator that bind no tighter.
func operands(e *pg_query.A_Expr) {
	guard := operand
	switch e.Kind {
	case pg_query.A_Expr_Kind_AEXPR_OP: // the printer itself does it for those that are operators, too
		guard = tested
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg_query.A_Expr_Kind_AEXPR_BETWEEN_SYM,
		pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		bounds := e.Rexpr.GetList().GetItems()
		for i := range bounds {
			bounds[i] = operand(bounds[i])
		}
	}
	e.Lexpr, e.Rexpr = guard(e.Lexpr), guard(e.Rexpr)
}

// tested puts parentheses around an expression that is boolean by its form, but for plain operators.
func tested(n *pg_query.Node) *pg_query.Node {
	switch n.GetAExpr().GetKind() {
	case pg_query.A_Expr_Kind_AEXPR_OP, pg_query.A_Expr_Kind_AEXPR_NULLIF:
		return n
	}
	return operand(n)
}

// operand puts parentheses around an expression of operators.
func operand(n *pg_query.Node) *pg_query.Node {
	switch n.GetNode().(type) {
	case *pg_query.Node_BoolExpr, *pg_query.Node_NullTest, *pg_query.Node_BooleanTest, *pg_query.Node_AExpr:
		return parentheses(n)
	}
	return n
}

// parentheses wraps a node in two subscripts of nothing: the printer puts parentheses around what the outer one is of.
func parentheses(n *pg_query.Node) *pg_query.Node {
	for range 2 {
		n = &pg_query.Node{Node: &pg_query.Node_AIndirection{AIndirection: &pg_query.A_Indirection{Arg: n}}}
	}
	return n
}

// Same reports whether two trees mean the same: they may differ in locations.
func Same(a, b proto.Message) bool {
	a, b = proto.Clone(a), proto.Clone(b)
	clearLocations(a.ProtoReflect())
	clearLocations(b.ProtoReflect())
	return proto.Equal(a, b)
}

func clearLocations(m protoreflect.Message) {
	if m.Descriptor() != nodeDescriptor {
		for _, f := range shapeOf(m.Descriptor()).locations {
			m.Clear(f)
		}
	}
	Children(m, func(_ protoreflect.FieldDescriptor, child protoreflect.Message) { clearLocations(child) })
}
