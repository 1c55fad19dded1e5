package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

// alignFloats makes double precision of both operands where one is a float and the other a number of another type, as
// Postgres' operators do.
func (s *shipper) alignFloats(list []operand, e *scope) {
	a, b := list[0].typ, list[1].typ
	if a.OID == b.OID || !a.IsFloat() && !b.IsFloat() {
		return
	}
	for i := range list {
		list[i].sql, list[i].typ = s.double(list[i], e)
	}
}

// double makes double precision of an operand that is a number, and leaves any other as it is.
func (s *shipper) double(o operand, e *scope) (string, typ) {
	if sql, t, ok := s.apply(dialect.Cast, "float8", []operand{o}, e); ok {
		return sql, t
	}
	return o.sql, o.typ
}

// betweenFloats prints BETWEEN where one operand is a float and another is not: each bound is compared by an operator of its own.
func (s *shipper) betweenFloats(x *pg_query.A_Expr, e *scope) (string, typ, bool) {
	items := x.Rexpr.GetList().GetItems()
	low, _, ok := s.compare(x.Lexpr, items[0], ">=", e)
	if !ok {
		return "", typ{}, false
	}
	high, _, ok := s.compare(x.Lexpr, items[1], "<=", e)
	sql, decided := "("+low+" AND "+high+")", "false"
	if x.Kind == pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN {
		sql, decided = "NOT "+sql, "true"
	}
	if s.raises {
		return "(CASE WHEN NOT " + low + " THEN " + decided + " ELSE " + sql + " END)", boolean, ok
	}
	return "(" + sql + ")", boolean, ok
}

// mixedFloats reports whether operands are numbers of several types, double precision among them, which they are brought to.
func mixedFloats(list []operand) bool {
	double, mixed := false, false
	for _, o := range list {
		double = double || o.typ.OID == float8OID
		mixed = mixed || o.typ.OID != float8OID && o.typ.OID != unknownOID
		if o.typ.OID != unknownOID && !o.typ.IsFloat() && !o.typ.IsNumber() {
			return false
		}
	}
	return double && mixed
}
