package plan

import (
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

// function prints calls of functions and aggregates by the dialect's table.
func (s *shipper) function(f *pg_query.FuncCall, e *scope) (string, typ, bool) {
	name := lastName(f.Funcname)
	if len(f.Funcname) > 1 {
		switch schema := f.Funcname[0].GetString_().GetSval(); schema {
		case "pg_catalog":
		case "sluice": // the table has its functions by their whole names
			name = schema + "." + name
		default:
			return s.no("function %s is evaluated at home", name)
		}
	}
	if len(f.Funcname) == 1 && s.shadowed(name) {
		return s.no("there are several functions %s", name)
	}
	if f.AggWithinGroup || f.FuncVariadic {
		return s.unproven("function %s in this form", name)
	}
	aggregate := 0
	if s.isAggregate(f) {
		aggregate = 1
	}
	s.aggregated += aggregate
	raised := s.raises
	s.raises = false
	list, ok := s.operands(f.Args, e)
	raises := s.raises
	s.raises = s.raises || raised
	s.aggregated -= aggregate
	if !ok {
		return "", typ{}, false
	}
	if plainCall(f) {
		for i := range list {
			list[i].unwrap()
		}
		if sql, t, ok := s.apply(dialect.Function, name, list, e); ok {
			return sql, t, true
		}
	}
	condition, ok := s.filter(f, e)
	if !ok {
		return "", typ{}, false
	}
	for i := range list {
		if condition != "" && (raises && !list[i].plain || s.simple != nil) {
			list[i].sql = within(condition, list[i].sql)
		}
	}
	if s.simple != nil && condition != "" { // it has no FILTER
		if len(list) == 0 {
			list = []operand{{node: f.AggFilter, sql: within(condition, "1"), typ: dialect.Plain(int4OID)}}
		}
		condition = ""
	}
	return s.aggregate(name, f, list, condition, e)
}

// within has an expression computed only where a condition is true, as what stands in an aggregate with FILTER is: engines may
// compute that for all rows.
func within(condition, sql string) string { return "CASE WHEN " + condition + " THEN " + sql + " END" }

// unwrap takes a literal that is cast to a type of its own kind, as Postgres prints it in rules and views, for a literal.
func (o *operand) unwrap() {
	c := o.node.GetTypeCast()
	if c == nil {
		return
	}
	text, ok := literalText(c.Arg)
	if _, isText := c.Arg.GetAConst().GetVal().(*pg_query.A_Const_Sval); ok && isText == o.typ.IsText() {
		o.literal, o.plain = text, true
	}
}

// plainCall reports whether a call has nothing that only aggregates and window functions take.
func plainCall(f *pg_query.FuncCall) bool {
	return !f.AggDistinct && f.AggFilter == nil && !f.AggStar && len(f.AggOrder) == 0 && f.Over == nil
}

// filter prints the condition in FILTER; empty for none.
func (s *shipper) filter(f *pg_query.FuncCall, e *scope) (string, bool) {
	if f.AggFilter == nil {
		return "", true
	}
	end := s.level() // it is a condition
	condition, t, ok := s.judged(f.AggFilter, e)
	end()
	if !ok || t.OID != boolOID {
		s.no("this FILTER is evaluated at home")
		return "", false
	}
	return condition, true
}

// aggregate prints an aggregate, or a function of a window.
func (s *shipper) aggregate(name string, f *pg_query.FuncCall, list []operand, condition string, e *scope) (string, typ, bool) {
	if f.AggDistinct && !list[0].typ.Groupable() {
		return s.unproven("DISTINCT over %s", list[0].typ.Name())
	}
	if !e.owns(f.Args) {
		return s.no("an aggregate of an outer query is evaluated at home")
	}
	sql, t, ok := s.apply(dialect.Aggregate, name, list, e)
	if !ok && f.Over != nil {
		sql, t, ok = s.apply(dialect.Window, name, list, e)
	}
	if !ok || len(f.AggOrder) > 0 != strings.Contains(sql, "$o") || f.AggDistinct && !strings.Contains(sql, "$d") {
		return s.unproven("function %s(%s)", name, typeNames(list))
	}
	if s.standard != nil && f.Over != nil && condition != "" {
		return s.unproven("FILTER over a window")
	}
	order, ok := s.sorted(f, condition, e)
	if !ok {
		return "", typ{}, false
	}
	suffix, ok := s.suffix(f, condition, e)
	if !ok {
		return "", typ{}, false
	}
	distinct := ""
	if f.AggDistinct {
		distinct = "DISTINCT "
	}
	if t.Loose && t.Dynamic != "" { // the largest scale of what is summed up
		t.Dynamic = "max(CASE WHEN " + list[0].sql + " IS NOT NULL THEN " + t.Dynamic + " END)" + suffix
	}
	return strings.NewReplacer("$d", distinct, "$o", order, "$f", suffix).Replace(sql), t, true
}

// sorted prints the ORDER BY inside of an aggregate.
func (s *shipper) sorted(f *pg_query.FuncCall, condition string, e *scope) (string, bool) {
	var keys []string
	for _, n := range f.AggOrder {
		sql, t, ok := s.expression(n.GetSortBy().Node, e)
		if condition != "" {
			sql = within(condition, sql)
		}
		if ok {
			sql, ok = s.ordered(n.GetSortBy(), sql, t)
		}
		if !ok {
			return "", false
		}
		keys = append(keys, sql)
	}
	if len(keys) == 0 {
		return "", true
	}
	return " ORDER BY " + strings.Join(keys, ", "), true
}

// suffix prints FILTER and OVER.
func (s *shipper) suffix(f *pg_query.FuncCall, condition string, e *scope) (string, bool) {
	suffix := ""
	if condition != "" {
		suffix = " FILTER (WHERE " + condition + ")"
	}
	if f.Over == nil {
		return suffix, true
	}
	over, ok := s.over(f.Over, e)
	return suffix + over, ok
}
