package plan

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// IN and BETWEEN are several comparisons, of which Postgres makes none once one has decided. An engine makes all of them, so
// where a later one may raise an error, the others stand in a CASE before it.

// member is a value that another is compared with.
type member struct {
	node   *pg_query.Node
	sql    string
	typ    typ
	raises bool // it may raise an error where Postgres does
}

// member prints a value to be compared with one of a type.
func (s *shipper) member(n *pg_query.Node, e *scope, with typ) (member, bool) {
	before := s.raises
	s.raises = false
	sql, t, ok := s.typed(n, e, with)
	m := member{n, sql, t, s.raises}
	s.raises = s.raises || before
	return m, ok
}

func (m member) isNull() bool { return m.typ.Null || isNull(m.node) }

// inList prints IN, and of an array, whose values are all computed first, = ANY.
func (s *shipper) inList(x *pg_query.A_Expr, not, array bool, e *scope) (string, typ, bool) {
	if x.Lexpr.GetRowExpr() != nil {
		return s.rowIn(x, not, e)
	}
	ls, lt, ok := s.expression(x.Lexpr, e)
	if !ok {
		return "", typ{}, false
	}
	items := x.Rexpr.GetList().GetItems()
	list := make([]member, len(items))
	for i, n := range items {
		if list[i], ok = s.member(n, e, lt); !ok {
			return "", typ{}, false
		}
		m := &list[i]
		t := m.typ
		if lt.OID == float8OID {
			m.sql, t = s.double(operand{node: n, sql: m.sql, typ: t}, e)
		}
		if m.sql != "NULL" && (!s.alongside(lt, m) || !comparableTypes(lt, t, false)) {
			return s.unproven("IN over %s and %s", lt.Name(), t.Name())
		}
	}
	raise := slices.ContainsFunc(list, func(m member) bool { return m.raises })
	switch {
	case s.quirky != nil:
		return s.alternatives(operand{node: x.Lexpr, sql: ls, typ: lt}, not, list, e)
	case s.standard != nil && raise && !isValue(x.Lexpr):
		s.skipped()
		return "", typ{}, false
	case array:
		return "(" + printIn(ls, not, list) + ")", boolean, true
	case lt.Null || len(list) == 1 && list[0].isNull(): // of several without columns, home makes an array
		return s.null(boolean)
	case len(list) > 1 && raise:
		return inTurns(ls, not, list), boolean, true
	}
	return "(" + printIn(ls, not, list) + ")", boolean, true
}

func printIn(value string, not bool, list []member) string {
	op := " IN ("
	if not {
		op = " NOT IN ("
	}
	all := make([]string, len(list))
	for i, m := range list {
		all[i] = m.sql
	}
	return value + op + strings.Join(all, ", ") + ")"
}

// inTurns prints IN so that no value is computed before those in front of it are found to differ.
func inTurns(value string, not bool, list []member) string {
	decided := "true"
	if not {
		decided = "false"
	}
	list = inOrder(list)
	var out strings.Builder
	out.WriteString("(CASE")
	for _, m := range list[:len(list)-1] {
		out.WriteString(" WHEN " + value + " = " + m.sql + " THEN " + decided)
	}
	return out.String() + " ELSE " + printIn(value, not, list) + " END)"
}

// inOrder puts what Postgres compares with first before the rest: values without columns, where there are several.
func inOrder(list []member) []member {
	var bare, others []member
	for _, m := range list {
		if readsColumns(m.node) {
			others = append(others, m)
		} else {
			bare = append(bare, m)
		}
	}
	if len(bare) < 2 {
		return list
	}
	return append(bare, others...)
}

func (s *shipper) between(x *pg_query.A_Expr, e *scope) (string, typ, bool) {
	items := x.Rexpr.GetList().GetItems()
	ls, lt, ok := s.expression(x.Lexpr, e)
	if !ok {
		return "", typ{}, false
	}
	var bounds [2]member
	for i := range bounds {
		if bounds[i], ok = s.member(s.beside(items[i], lt.OID), e, lt); !ok {
			return "", typ{}, false
		}
		m := &bounds[i]
		t := m.typ
		if sql, ok := s.midnight(m.sql, lt); ok {
			m.sql, t = sql, lt
		}
		if t.OID != lt.OID && (t.IsFloat() || lt.IsFloat()) {
			return s.betweenFloats(x, e)
		}
		if m.sql != "NULL" && (!s.alongside(lt, m) || !comparableTypes(lt, t, true)) || s.quirky != nil && lt.OID == uuidOID {
			return s.unproven("BETWEEN over %s and %s", lt.Name(), t.Name())
		}
	}
	if lt.Null || bounds[0].isNull() && bounds[1].isNull() {
		return s.null(boolean)
	}
	if s.quirky != nil {
		return s.bounded(ls, x.Kind == pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN, bounds)
	}
	op, decided := " BETWEEN ", "false"
	if x.Kind == pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN {
		op, decided = " NOT BETWEEN ", "true"
	}
	sql := ls + op + bounds[0].sql + " AND " + bounds[1].sql
	if s.standard != nil && bounds[1].raises && !isValue(x.Lexpr) {
		s.skipped()
		return "", typ{}, false
	}
	if bounds[1].raises {
		return "(CASE WHEN " + ls + " < " + bounds[0].sql + " THEN " + decided + " ELSE " + sql + " END)", boolean, true
	}
	return "(" + sql + ")", boolean, true
}
