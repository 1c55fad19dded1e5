package plan

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// null prints a NULL that Postgres knows for one while it plans: it computes nothing of what stands beside it. An engine may
// compute that, and raise an error.
func (s *shipper) null(t typ) (string, typ, bool) {
	t.Null, t.Declared, t.Narrow, t.Loose, t.Dynamic = true, false, false, false, ""
	return "CAST(NULL AS " + s.d.Type(t.OID, t.Typmod) + ")", t, true
}

// folded is what stands for nodes of the statement. Where that is NULL, it lets go of the parameters that they were printed
// with, which are those behind a mark. An aggregate among them makes one row of many all the same.
func (s *shipper) folded(sql string, t typ, ok bool, mark int, nodes ...*pg_query.Node) (string, typ, bool) {
	if !ok || !t.Null {
		return sql, t, ok
	}
	if slices.ContainsFunc(nodes, s.ofAggregate) {
		return s.no("an aggregate beside NULL is left out at home")
	}
	s.params = s.params[:mark]
	return sql, t, true
}

func (o operand) isNull() bool { return o.typ.Null || o.node != nil && isNull(o.node) }

func anyNull(list []operand) bool { return slices.ContainsFunc(list, operand.isNull) }

// allNull reports whether operands are NULLs, one at least of a type.
func allNull(list []operand) bool {
	return slices.ContainsFunc(list, func(o operand) bool { return o.typ.Null }) && !slices.ContainsFunc(list, func(o operand) bool { return !o.isNull() })
}
