package plan

import pg_query "github.com/pganalyze/pg_query_go/v6"

// qualification prints the condition of WHERE or of a join, which lets a row through where it is true. Postgres knows while it
// plans where one part can be no more than NULL, and computes nothing of what then decides nothing. An engine may compute that,
// and raise an error.
func (s *shipper) qualification(n *pg_query.Node, e *scope) (string, typ, bool) {
	sql, t, ok := s.qualified(s.yes(n), e)
	if ok && !s.tests(sql, t) {
		return s.no("a condition that is decided is evaluated at home")
	}
	return sql, t, ok
}

func (s *shipper) qualified(n *pg_query.Node, e *scope) (string, typ, bool) {
	mark, before := len(s.params), s.raises
	s.raises = false
	sql, t, ok := s.judged(n, e)
	raises := s.raises
	s.raises = raises || before
	if !ok || !raises {
		return sql, t, ok
	}
	rest, can := s.satisfiable(n, false, e)
	switch {
	case !can:
		s.params = s.params[:mark]
		return "false", boolean, true
	case rest != n:
		s.params = s.params[:mark]
		return s.judged(rest, e)
	}
	return sql, t, true
}

// satisfiable says whether an expression, or NOT of it, can be true, and returns what is left of either without those parts of
// OR that cannot: the node itself where that is all.
func (s *shipper) satisfiable(n *pg_query.Node, not bool, e *scope) (*pg_query.Node, bool) {
	b := n.GetBoolExpr()
	switch {
	case b == nil && s.isNotIn(n.GetAExpr(), not):
		return s.distinctFrom(n, not, e)
	case b == nil:
		return n, !s.neverTrue(n, not, e)
	}
	if b.Boolop == pg_query.BoolExprType_NOT_EXPR {
		rest, can := s.satisfiable(b.Args[0], !not, e)
		if rest == b.Args[0] {
			rest = n
		}
		return rest, can
	}
	op := pg_query.BoolExprType_OR_EXPR
	if (b.Boolop == pg_query.BoolExprType_AND_EXPR) != not {
		op = pg_query.BoolExprType_AND_EXPR
	}
	var parts []*pg_query.Node
	same := true
	for _, a := range b.Args {
		rest, can := s.satisfiable(a, not, e)
		if !can && op == pg_query.BoolExprType_AND_EXPR {
			return nil, false
		}
		if same = same && can && rest == a; !can {
			continue
		}
		if rest == a && not {
			rest = pg_query.MakeBoolExprNode(pg_query.BoolExprType_NOT_EXPR, []*pg_query.Node{a}, -1)
		}
		parts = append(parts, rest)
	}
	switch {
	case same:
		return n, true
	case len(parts) == 0:
		return nil, false
	case len(parts) == 1:
		return parts[0], true
	}
	return pg_query.MakeBoolExprNode(op, parts, -1), true
}

// neverTrue reports whether an expression without AND, OR and NOT, or NOT of it, is false or NULL whatever a row holds.
func (s *shipper) neverTrue(n *pg_query.Node, not bool, e *scope) bool {
	switch x := n.Node.(type) {
	case *pg_query.Node_SubLink:
		return false
	case *pg_query.Node_AConst:
		if v := x.AConst.GetBoolval(); v != nil {
			return v.Boolval == not
		}
	}
	mark := len(s.params)
	_, t, ok := s.expression(n, e)
	s.params = s.params[:mark]
	return ok && t.Null
}

// isNotIn reports whether an expression is NOT IN, or NOT of it is.
func (s *shipper) isNotIn(x *pg_query.A_Expr, not bool) bool {
	return x.GetKind() == pg_query.A_Expr_Kind_AEXPR_IN && (lastName(x.Name) == "<>") != not && x.Lexpr.GetRowExpr() == nil
}

// distinctFrom is satisfiable for NOT IN, which is several comparisons. Values without columns are compared as one array, where
// there are several: with a NULL in it, nothing else is compared.
func (s *shipper) distinctFrom(n *pg_query.Node, not bool, e *scope) (*pg_query.Node, bool) {
	x := n.GetAExpr()
	mark := len(s.params)
	defer func() { s.params = s.params[:mark] }()
	_, lt, ok := s.expression(x.Lexpr, e)
	if !ok {
		return n, true
	}
	items := x.Rexpr.GetList().GetItems()
	var bare []*pg_query.Node
	var null, apart bool // the array has a NULL, and what is compared for itself is one
	for _, item := range items {
		m, ok := s.member(item, e, lt)
		if isNull := ok && m.isNull(); readsColumns(item) {
			apart = apart || isNull
		} else {
			bare = append(bare, item)
			null = null || isNull
		}
	}
	switch {
	case lt.Null || apart || null && len(bare) == 1:
		return nil, false
	case !null || len(bare) == len(items):
		return n, true
	}
	rest := pg_query.MakeAExprNode(x.Kind, x.Name, x.Lexpr, pg_query.MakeListNode(bare), -1)
	if not {
		rest = pg_query.MakeBoolExprNode(pg_query.BoolExprType_NOT_EXPR, []*pg_query.Node{rest}, -1)
	}
	return rest, true
}
