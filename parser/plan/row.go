package plan

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// rows compares two rows field by field, as the standard defines it, where both are written out.
func (s *shipper) rows(l, r *pg_query.Node, op string, e *scope) (string, typ, bool) {
	a, b := l.GetRowExpr().GetArgs(), r.GetRowExpr().GetArgs()
	if len(a) == 0 || len(a) != len(b) {
		return s.unproven("comparing rows by %s", op)
	}
	switch op {
	case "=", "<>":
		parts, nulls := make([]string, len(a)), 0
		for i := range a {
			var t typ
			var ok bool
			if parts[i], t, ok = s.compare(a[i], b[i], op, e); !ok {
				return "", typ{}, false
			}
			if t.Null {
				nulls++
			}
		}
		if nulls == len(parts) {
			return s.null(boolean)
		}
		return "(" + strings.Join(parts, map[string]string{"=": " AND ", "<>": " OR "}[op]) + ")", boolean, true
	case "<", "<=", ">", ">=":
		return s.rowOrder(a, b, op, e)
	}
	return s.unproven("comparing rows by %s", op)
}

// rowOrder is true where the first fields that differ are in that order.
func (s *shipper) rowOrder(a, b []*pg_query.Node, op string, e *scope) (string, typ, bool) {
	if len(a) == 1 {
		return s.compare(a[0], b[0], op, e)
	}
	before, t, ok := s.compare(a[0], b[0], op[:1], e)
	if !ok {
		return "", typ{}, false
	}
	if t.Null { // but Postgres computes what stands beside it
		return s.no("comparing rows with NULLs by %s is done at home", op)
	}
	same, _, ok := s.compare(a[0], b[0], "=", e)
	if !ok {
		return "", typ{}, false
	}
	raises := s.raises
	s.raises = false
	rest, _, ok := s.rowOrder(a[1:], b[1:], op, e)
	if ok && s.raises { // Postgres does not come to it where a field before it decides
		return s.unproven("comparing rows by %s, one field of which may raise an error,", op)
	}
	s.raises = raises
	return "(" + before + " OR (" + same + " AND " + rest + "))", boolean, ok
}

// rowIn prints IN over rows that are written out.
func (s *shipper) rowIn(x *pg_query.A_Expr, not bool, e *scope) (string, typ, bool) {
	var parts []string
	op, word := "=", " OR "
	if not && s.quirky != nil {
		op, word, not = "<>", " AND ", false
	}
	for _, item := range x.Rexpr.GetList().GetItems() {
		sql, _, ok := s.rows(x.Lexpr, item, op, e)
		if !ok {
			return "", typ{}, false
		}
		parts = append(parts, sql)
	}
	sql := "(" + strings.Join(parts, word) + ")"
	if not {
		sql = "(NOT " + sql + ")"
	}
	return sql, boolean, true
}
