package plan

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

// function prints calls of functions and aggregates by the dialect's table.
func (s *shipper) function(f *pg_query.FuncCall, e *scope) (string, typ, bool) {
	name := lastName(f.Funcname)
	if len(f.Funcname) > 1 && f.Funcname[0].GetString_().GetSval() != "pg_catalog" {
		return s.no("function %s is evaluated at home", name)
	}
	if len(f.Funcname) == 1 && s.shadowed(name) {
		return s.no("there are several functions %s", name)
	}
	if f.AggWithinGroup || f.FuncVariadic || len(f.AggOrder) > 0 || f.Over != nil {
		return s.unproven("function %s in this form", name)
	}
	list, ok := s.operands(f.Args, e)
	if !ok {
		return "", typ{}, false
	}
	if f.AggDistinct && !list[0].typ.Groupable() {
		return s.unproven("DISTINCT over %s", list[0].typ.Name())
	}
	if !f.AggDistinct && f.AggFilter == nil && !f.AggStar {
		if sql, t, ok := s.apply(dialect.Function, name, list, e); ok {
			return sql, t, true
		}
	}
	if !e.owns(f.Args) {
		return s.no("an aggregate of an outer query is evaluated at home")
	}
	sql, t, ok := s.apply(dialect.Aggregate, name, list, e)
	if !ok {
		return s.unproven("function %s(%s)", name, typeNames(list))
	}
	distinct, suffix := "", ""
	if f.AggDistinct {
		distinct = "DISTINCT "
	}
	if f.AggFilter != nil {
		condition, ct, ok := s.expression(f.AggFilter, e)
		if !ok || ct.OID != boolOID {
			return s.no("this FILTER is evaluated at home")
		}
		suffix = " FILTER (WHERE " + condition + ")"
	}
	if t.Loose && t.Dynamic != "" { // the largest scale of what is summed up
		t.Dynamic = "max(CASE WHEN " + list[0].sql + " IS NOT NULL THEN " + t.Dynamic + " END)" + suffix
	}
	return strings.NewReplacer("$d", distinct, "$f", suffix).Replace(sql), t, true
}
