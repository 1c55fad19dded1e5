package plan

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

var comparisons = map[string]bool{"=": false, "<>": false, "!=": false, "<": true, "<=": true, ">": true, ">=": true}

func (s *shipper) operator(x *pg_query.A_Expr, e *scope) (string, typ, bool) {
	name := lastName(x.Name)
	if len(x.Name) > 1 {
		return s.no("operator %s is named with a schema", name)
	}
	if s.shadowed(name) || strings.HasSuffix(name, "BETWEEN") && (s.shadowed("<") || s.shadowed("<=") || s.shadowed(">") || s.shadowed(">=")) {
		return s.no("there are several operators %s", name)
	}
	switch x.Kind {
	case pg_query.A_Expr_Kind_AEXPR_OP:
		if name == "!=" {
			name = "<>"
		}
		if _, ok := comparisons[name]; ok && x.Lexpr != nil {
			return s.compare(x.Lexpr, x.Rexpr, name, e)
		}
		return s.compute(x, name, e)
	case pg_query.A_Expr_Kind_AEXPR_DISTINCT:
		return s.compare(x.Lexpr, x.Rexpr, "IS DISTINCT FROM", e)
	case pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return s.compare(x.Lexpr, x.Rexpr, "IS NOT DISTINCT FROM", e)
	case pg_query.A_Expr_Kind_AEXPR_IN:
		return s.inList(x, name == "<>", false, e)
	case pg_query.A_Expr_Kind_AEXPR_OP_ANY, pg_query.A_Expr_Kind_AEXPR_OP_ALL:
		return s.quantified(x, name, e)
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return s.between(x, e)
	case pg_query.A_Expr_Kind_AEXPR_LIKE, pg_query.A_Expr_Kind_AEXPR_ILIKE:
		return s.like(x, name, e)
	case pg_query.A_Expr_Kind_AEXPR_NULLIF:
		return s.nullIf(x, e)
	}
	return s.unproven("operator %s", name)
}

// pair prints two operands, an untyped literal taking the other's type.
func (s *shipper) pair(l, r *pg_query.Node, e *scope) (list []operand, ok bool) {
	if list, ok = s.operands([]*pg_query.Node{l, r}, e); !ok {
		return nil, false
	}
	for i := range list {
		if o, other := &list[i], list[1-i].typ; o.typ.OID == unknownOID {
			if o.sql, o.typ, ok = s.typed(o.node, e, other); !ok {
				return nil, false
			}
		}
	}
	return list, true
}

func isLiteral(n *pg_query.Node) bool {
	return n.GetAConst() != nil && (n.GetAConst().GetSval() != nil || n.GetAConst().Isnull)
}

func (s *shipper) compare(l, r *pg_query.Node, op string, e *scope) (string, typ, bool) {
	if l.GetRowExpr() != nil {
		return s.rows(l, r, op, e)
	}
	if isNull(l) || isNull(r) {
		return s.no("comparing with NULL depends on transform_null_equals")
	}
	l, r = s.pairBeside(l, r, e)
	mark := len(s.params)
	list, ok := s.pair(l, r, e)
	if !ok {
		return "", typ{}, false
	}
	s.atMidnight(list)
	s.alignDecimals(list)
	s.rescale(list)
	s.alignFloats(list, e)
	if sql, t, ok := s.apply(dialect.Operator, op, list, e); ok {
		return s.folded(sql, t, true, mark, l, r)
	}
	return s.notCompared(op, list)
}

// notCompared says why values are compared at home.
func (s *shipper) notCompared(op string, list []operand) (string, typ, bool) {
	a, b := list[0].typ, list[1].typ
	if dialect.Text.Takes(a) && dialect.Text.Takes(b) {
		return s.unproven("comparing text by %s under its collation", op)
	}
	return s.unproven("comparing %s and %s by %s", a.Name(), b.Name(), op)
}

func isNull(n *pg_query.Node) bool { return n.GetAConst() != nil && n.GetAConst().Isnull }

// alignDecimals brings numbers whose common decimal would be too wide to one that an engine checks, and does not round.
func (s *shipper) alignDecimals(list []operand) {
	w0, s0, ok0 := list[0].typ.Digits()
	w1, s1, ok1 := list[1].typ.Digits()
	if s.reads(dialect.Scaled) || !ok0 || !ok1 || max(w0, w1)+max(s0, s1) <= 38 {
		return
	}
	s.expose(list...)
	s.guarded = true
	t := dialect.Decimal(38, max(s0, s1))
	for i := range list {
		list[i].sql = "CAST(" + list[i].sql + " AS " + s.d.Type(t.OID, t.Typmod) + ")"
		list[i].typ = t
	}
}

func (s *shipper) nullIf(x *pg_query.A_Expr, e *scope) (string, typ, bool) {
	list, ok := s.pair(x.Lexpr, x.Rexpr, e)
	if !ok {
		return "", typ{}, false
	}
	lt, rt := list[0].typ, list[1].typ
	if lt.OID != rt.OID || lt.Loose || !comparableTypes(lt, rt, false) {
		return s.unproven("NULLIF over %s and %s", lt.Name(), rt.Name())
	}
	if lt.Null {
		return s.null(lt)
	}
	if s.standard != nil && s.skips(list) {
		s.skipped()
		return "", typ{}, false
	}
	lt.NotNull = false
	if s.quirky != nil {
		return "(CASE WHEN " + list[0].sql + " = " + list[1].sql + " THEN NULL ELSE " + list[0].sql + " END)", lt, true
	}
	return "nullif(" + list[0].sql + ", " + list[1].sql + ")", lt, true
}

// compute prints the operators of the table that are no comparisons.
func (s *shipper) compute(x *pg_query.A_Expr, name string, e *scope) (string, typ, bool) {
	if sql, t, ok := s.foldDate(x, name); ok {
		return sql, t, true
	}
	if x.Rexpr == nil {
		return s.unproven("operator %s", name)
	}
	if x.Lexpr == nil {
		if c := x.Rexpr.GetAConst(); c != nil && c.GetIval() == nil && c.GetFval() == nil {
			return s.no("a literal behind operator %s is read at home", name)
		}
		list, ok := s.operands([]*pg_query.Node{x.Rexpr}, e)
		if !ok {
			return "", typ{}, false
		}
		return s.applied(name, list, e)
	}
	list, ok := s.pair(x.Lexpr, x.Rexpr, e)
	if !ok {
		return "", typ{}, false
	}
	s.alignFloats(list, e)
	return s.applied(name, list, e)
}

func (s *shipper) applied(name string, list []operand, e *scope) (string, typ, bool) {
	if sql, t, ok := s.apply(dialect.Operator, name, list, e); ok {
		return sql, t, true
	}
	return s.unproven("operator %s over %s", name, typeNames(list))
}
