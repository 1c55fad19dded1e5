package parser

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// guardTests changes a tree so that it prints right: the printer leaves out the parentheses of (a OR b) IS NULL and of
// (a IS DISTINCT FROM b) = c, which a cast to boolean puts back and which changes nothing.
func guardTests(raw *pg_query.RawStmt) {
	Walk(raw, func(m proto.Message) bool {
		switch n := m.(type) {
		case *pg_query.NullTest:
			n.Arg = guarded(n.Arg)
		case *pg_query.BooleanTest:
			n.Arg = guarded(n.Arg)
		case *pg_query.A_Expr:
			n.Lexpr, n.Rexpr = guarded(n.Lexpr), guarded(n.Rexpr)
		}
		return true
	})
}

// guarded casts an expression that is boolean by its form to boolean.
func guarded(n *pg_query.Node) *pg_query.Node {
	switch e := n.GetNode().(type) {
	case *pg_query.Node_BoolExpr, *pg_query.Node_NullTest, *pg_query.Node_BooleanTest:
	case *pg_query.Node_AExpr:
		switch e.AExpr.Kind {
		case pg_query.A_Expr_Kind_AEXPR_OP, pg_query.A_Expr_Kind_AEXPR_NULLIF, pg_query.A_Expr_Kind_A_EXPR_KIND_UNDEFINED:
			return n
		}
	default:
		return n
	}
	name := &pg_query.TypeName{Names: []*pg_query.Node{pg_query.MakeStrNode("pg_catalog"), pg_query.MakeStrNode("bool")}, Typemod: -1}
	return &pg_query.Node{Node: &pg_query.Node_TypeCast{TypeCast: &pg_query.TypeCast{Arg: n, TypeName: name}}}
}

// sameTree reports whether two trees mean the same: they may differ in locations.
func sameTree(a, b proto.Message) bool {
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
