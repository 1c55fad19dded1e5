package plan

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

// An engine with quirks takes NULL for no more than not true where AND and OR join conditions. Where a condition only lets rows
// through, that is all that matters, as long as NOT stands before single comparisons alone. Where its value shows, it is asked for
// what is true and for what is false.

// reads reports whether an engine that gets simple statements reads a form beyond these.
func (s *shipper) reads(f dialect.Form) bool { return s.forms&f != 0 }

// judged prints a condition of which only matters whether it is true.
func (s *shipper) judged(n *pg_query.Node, e *scope) (string, typ, bool) {
	if s.quirky == nil {
		return s.expression(n, e)
	}
	mark := len(s.params)
	sql, t, ok := s.truth(n, false, e)
	return s.folded(sql, t, ok, mark, n)
}

// truth prints what is true where a condition is, or (not) where it is false.
func (s *shipper) truth(n *pg_query.Node, not bool, e *scope) (string, typ, bool) {
	if s.simple != nil && !s.isSimple(n) {
		return s.unproven("%s", describe(n))
	}
	switch n = s.yes(n); x := n.GetNode().(type) {
	case *pg_query.Node_BoolExpr:
		return s.joint(x.BoolExpr, not, e)
	case *pg_query.Node_AConst:
		if x.AConst.GetBoolval() != nil {
			return s.decided(x.AConst.GetBoolval().Boolval != not)
		}
	case *pg_query.Node_AExpr:
		if isCompound(n) {
			return s.operator(turned(x.AExpr, not), e)
		}
	case *pg_query.Node_BooleanTest:
		return s.tested(x.BooleanTest, not, e)
	case *pg_query.Node_SubLink:
		if not {
			return s.unproven("NOT IN over a sub-select")
		}
		return s.subLink(x.SubLink, e)
	}
	sql, t, ok := s.expression(n, e)
	if ok && !s.tests(sql, t) {
		return s.no("a condition that is decided is evaluated at home")
	}
	if ok && not {
		sql = "(NOT " + sql + ")"
	}
	return sql, t, ok
}

// joint prints AND, OR and NOT.
func (s *shipper) joint(b *pg_query.BoolExpr, not bool, e *scope) (string, typ, bool) {
	if b.Boolop == pg_query.BoolExprType_NOT_EXPR {
		return s.truth(b.Args[0], !not, e)
	}
	word := " OR "
	if (b.Boolop == pg_query.BoolExprType_AND_EXPR) != not {
		word = " AND "
	}
	parts := make([]string, len(b.Args))
	nulls := 0
	for i, a := range b.Args {
		sql, t, ok := s.truth(a, not, e)
		if !ok {
			return "", typ{}, false
		}
		if t.Null {
			nulls++
		}
		parts[i] = sql
	}
	if nulls == len(parts) {
		return s.null(boolean)
	}
	return "(" + strings.Join(parts, word) + ")", boolean, true
}

// tested prints IS TRUE and IS FALSE, and NOT of them, none of which is NULL.
func (s *shipper) tested(b *pg_query.BooleanTest, not bool, e *scope) (string, typ, bool) {
	opposite := false
	switch b.Booltesttype {
	case pg_query.BoolTestType_IS_TRUE, pg_query.BoolTestType_IS_FALSE:
	case pg_query.BoolTestType_IS_NOT_TRUE, pg_query.BoolTestType_IS_NOT_FALSE:
		opposite = true
	default:
		return s.unproven("IS UNKNOWN")
	}
	isFalse := b.Booltesttype == pg_query.BoolTestType_IS_FALSE || b.Booltesttype == pg_query.BoolTestType_IS_NOT_FALSE
	sql, t, ok := s.truth(b.Arg, isFalse, e)
	if ok && t.Null {
		return s.unproven("IS TRUE of NULL")
	}
	if opposite != not {
		sql = "(CASE WHEN " + sql + " THEN 0 ELSE 1 END = 1)"
	}
	return sql, boolean, ok
}

// decided prints a condition that hangs on nothing.
func (s *shipper) decided(is bool) (string, typ, bool) {
	if s.quirky != nil && s.quirky.Truth() {
		text := "false"
		if is {
			text = "true"
		}
		if sql, ok := s.quirky.Constant(text, boolean); ok {
			return sql, boolean, true
		}
	}
	return s.no("a condition that is decided is evaluated at home")
}

// isCompound reports whether an operator is printed as several comparisons.
func isCompound(n *pg_query.Node) bool {
	switch n.GetAExpr().GetKind() {
	case pg_query.A_Expr_Kind_AEXPR_IN, pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return true
	case pg_query.A_Expr_Kind_AEXPR_OP:
		return n.GetAExpr().Lexpr.GetRowExpr() != nil
	}
	return false
}

// opposites are operators that are false where others are true, also of rows, and NULL where these are.
var opposites = map[string]string{"=": "<>", "<>": "=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

// turned is such an operator, or (not) the opposite one.
func turned(x *pg_query.A_Expr, not bool) *pg_query.A_Expr {
	if !not {
		return x
	}
	opposite := pg_query.MakeAExprNode(x.Kind, x.Name, x.Lexpr, x.Rexpr, x.Location).GetAExpr()
	name := "NOT BETWEEN"
	switch x.Kind {
	case pg_query.A_Expr_Kind_AEXPR_IN, pg_query.A_Expr_Kind_AEXPR_OP:
		name = opposites[lastName(x.Name)]
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN:
		opposite.Kind = pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN
	default:
		opposite.Kind, name = pg_query.A_Expr_Kind_AEXPR_BETWEEN, "BETWEEN"
	}
	opposite.Name = []*pg_query.Node{pg_query.MakeStrNode(name)}
	return opposite
}

// valued prints a condition of several parts for its value.
func (s *shipper) valued(n *pg_query.Node, e *scope) (string, typ, bool) {
	if !s.quirky.Truth() || !s.reads(dialect.Expressions) {
		return s.unproven("%s for its value", describe(n))
	}
	is, t, ok := s.truth(n, false, e)
	if !ok || t.Null {
		return is, t, ok
	}
	isNot, _, ok := s.truth(n, true, e)
	if !ok {
		return "", typ{}, false
	}
	yes, _, _ := s.decided(true)
	no, _, ok := s.decided(false)
	return "(CASE WHEN " + is + " THEN " + yes + " WHEN " + isNot + " THEN " + no + " ELSE NULL END)", boolean, ok
}
