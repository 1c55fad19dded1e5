package plan

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
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
		if ordered, ok := comparisons[name]; ok && x.Lexpr != nil {
			return s.compare(x.Lexpr, x.Rexpr, name, ordered, e)
		}
		return s.arithmetic(x, name, e)
	case pg_query.A_Expr_Kind_AEXPR_DISTINCT:
		return s.compare(x.Lexpr, x.Rexpr, "IS DISTINCT FROM", false, e)
	case pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return s.compare(x.Lexpr, x.Rexpr, "IS NOT DISTINCT FROM", false, e)
	case pg_query.A_Expr_Kind_AEXPR_IN:
		return s.inList(x, name == "<>", e)
	case pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		return s.between(x, e)
	case pg_query.A_Expr_Kind_AEXPR_LIKE:
		return s.like(x, name == "!~~", e)
	case pg_query.A_Expr_Kind_AEXPR_NULLIF:
		return s.nullIf(x, e)
	}
	return s.unproven("operator %s", name)
}

// pair prints two operands, an untyped literal taking the other's type.
func (s *shipper) pair(l, r *pg_query.Node, e *scope) (ls string, lt typ, rs string, rt typ, ok bool) {
	if isLiteral(l) && !isLiteral(r) {
		if rs, rt, ok = s.expression(r, e); ok {
			ls, lt, ok = s.typed(l, e, rt)
		}
		return
	}
	if ls, lt, ok = s.expression(l, e); !ok {
		return
	}
	rs, rt, ok = s.typed(r, e, lt)
	return
}

func isLiteral(n *pg_query.Node) bool {
	return n.GetAConst() != nil && (n.GetAConst().GetSval() != nil || n.GetAConst().Isnull)
}

func (s *shipper) compare(l, r *pg_query.Node, op string, ordered bool, e *scope) (string, typ, bool) {
	ls, lt, rs, rt, ok := s.pair(l, r, e)
	if !ok {
		return "", typ{}, false
	}
	if op == "!=" {
		op = "<>"
	}
	if ls == "NULL" || rs == "NULL" {
		return s.no("comparing with NULL depends on transform_null_equals")
	}
	if !comparableTypes(lt, rt, ordered) {
		return s.unproven("comparing these types by %s, or under this collation,", op)
	}
	return "(" + ls + " " + op + " " + rs + ")", boolean, true
}

func (s *shipper) inList(x *pg_query.A_Expr, not bool, e *scope) (string, typ, bool) {
	ls, lt, ok := s.expression(x.Lexpr, e)
	if !ok {
		return "", typ{}, false
	}
	items := x.Rexpr.GetList().GetItems()
	parts := make([]string, len(items))
	for i, n := range items {
		var t typ
		if parts[i], t, ok = s.typed(n, e, lt); !ok {
			return "", typ{}, false
		}
		if parts[i] != "NULL" && !comparableTypes(lt, t, false) {
			return s.unproven("IN over these types")
		}
	}
	op := " IN ("
	if not {
		op = " NOT IN ("
	}
	return "(" + ls + op + strings.Join(parts, ", ") + "))", boolean, true
}

func (s *shipper) between(x *pg_query.A_Expr, e *scope) (string, typ, bool) {
	items := x.Rexpr.GetList().GetItems()
	ls, lt, ok := s.expression(x.Lexpr, e)
	if !ok {
		return "", typ{}, false
	}
	var bounds [2]string
	for i := range bounds {
		var t typ
		if bounds[i], t, ok = s.typed(items[i], e, lt); !ok {
			return "", typ{}, false
		}
		if bounds[i] != "NULL" && !comparableTypes(lt, t, true) {
			return s.unproven("BETWEEN over these types, or under this collation,")
		}
	}
	op := " BETWEEN "
	if x.Kind == pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN {
		op = " NOT BETWEEN "
	}
	return "(" + ls + op + bounds[0] + " AND " + bounds[1] + ")", boolean, true
}

// like prints LIKE with a constant pattern that has no escapes.
func (s *shipper) like(x *pg_query.A_Expr, not bool, e *scope) (string, typ, bool) {
	ls, lt, ok := s.expression(x.Lexpr, e)
	if !ok {
		return "", typ{}, false
	}
	c := x.Rexpr.GetAConst()
	if c == nil || c.GetSval() == nil || !lt.isText() || !lt.exact || strings.ContainsAny(c.GetSval().Sval, "\\\x00") {
		return s.unproven("LIKE with this pattern, or under this collation,")
	}
	op := " LIKE "
	if not {
		op = " NOT LIKE "
	}
	return "(" + ls + op + s.d.Literal(c.GetSval().Sval) + ")", boolean, true
}

func (s *shipper) nullIf(x *pg_query.A_Expr, e *scope) (string, typ, bool) {
	ls, lt, rs, rt, ok := s.pair(x.Lexpr, x.Rexpr, e)
	if !ok {
		return "", typ{}, false
	}
	if lt.oid != rt.oid || !comparableTypes(lt, rt, false) {
		return s.unproven("NULLIF over these types")
	}
	return "nullif(" + ls + ", " + rs + ")", lt, true
}

// arithmetic prints operators that compute. These are + - * over integers, where both raise on overflow of the result type, and unary minus.
func (s *shipper) arithmetic(x *pg_query.A_Expr, name string, e *scope) (string, typ, bool) {
	switch {
	case x.Lexpr != nil && (name == "/" || name == "%"):
		return s.divide(x, name, e)
	case x.Lexpr != nil && name == "||":
		return s.concat(x, e)
	case name != "+" && name != "-" && name != "*" || x.Rexpr == nil:
		return s.unproven("operator %s", name)
	case x.Lexpr == nil:
		return s.unary(x, name, e)
	}
	ls, lt, rs, rt, ok := s.pair(x.Lexpr, x.Rexpr, e)
	if !ok {
		return "", typ{}, false
	}
	if !lt.isInt() || !rt.isInt() {
		return s.unproven("operator %s over these types", name)
	}
	t := plainType(widerInt(lt.oid, rt.oid))
	cast := " AS " + s.d.Type(t.oid, -1) + ")"
	return "(CAST(" + ls + cast + " " + name + " CAST(" + rs + cast + ")", t, true
}

func (s *shipper) unary(x *pg_query.A_Expr, name string, e *scope) (string, typ, bool) {
	if c := x.Rexpr.GetAConst(); name == "-" && c != nil && c.GetIval() == nil && c.GetFval() == nil {
		return s.no("a negated literal is read at home")
	}
	sql, t, ok := s.expression(x.Rexpr, e)
	if !ok || name != "-" {
		return s.unproven("operator %s", name)
	}
	if _, _, exact := t.digits(); !exact {
		return s.unproven("negating this type")
	}
	if t.isInt() { // a negation's overflow does not say of which type
		return "(CAST(0 AS " + s.d.Type(t.oid, -1) + ") - " + sql + ")", t, true
	}
	return "(- " + sql + ")", t, true
}

func widerInt(a, b uint32) uint32 {
	for _, oid := range []uint32{int8OID, int4OID} {
		if a == oid || b == oid {
			return oid
		}
	}
	return int2OID
}
