package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// function prints the functions whose type and value are the same on the engine: those of scalar, and aggregates.
func (s *shipper) function(f *pg_query.FuncCall, e *scope) (string, typ, bool) {
	name := lastName(f.Funcname)
	if len(f.Funcname) > 1 && f.Funcname[0].GetString_().GetSval() != "pg_catalog" {
		return s.no("function %s is evaluated at home", name)
	}
	if len(f.Funcname) == 1 && s.shadowed(name) {
		return s.no("there are several functions %s", name)
	}
	if f.Over != nil || f.AggWithinGroup || len(f.AggOrder) > 0 || f.FuncVariadic {
		return s.no("function %s in this form is evaluated at home", name)
	}
	if f.AggStar && name == "count" {
		return s.filtered("count(*)", plainType(int8OID), f, e)
	}
	if sql, t, ok, known := s.scalar(name, f, e); known {
		return sql, t, ok
	}
	if len(f.Args) != 1 {
		return s.unproven("function %s", name)
	}
	arg, t, ok := s.expression(f.Args[0], e)
	if !ok {
		return "", typ{}, false
	}
	distinct := ""
	if f.AggDistinct {
		if !t.groupable() {
			return s.unproven("DISTINCT over this type")
		}
		distinct = "DISTINCT "
	}
	switch name {
	case "count":
		return s.filtered("count("+distinct+arg+")", plainType(int8OID), f, e)
	case "min", "max":
		if t.oid == boolOID || t.oid == uuidOID || !t.sortable() || t.isFloat() {
			return s.unproven("%s over this type, or under this collation,", name)
		}
		if t.isText() {
			t.oid = textOID
		}
		return s.filtered(name+"("+arg+")", t, f, e)
	case "sum":
		return s.sum(arg, distinct, t, f, e)
	case "bool_and", "bool_or", "every":
		if t.oid != boolOID {
			break
		}
		if name == "every" {
			name = "bool_and"
		}
		return s.filtered(name+"("+arg+")", boolean, f, e)
	}
	return s.unproven("function %s", name)
}

// sum prints sums that stay exact: DuckDB adds integers in 128 bits, and decimals in 38 digits.
func (s *shipper) sum(arg, distinct string, t typ, f *pg_query.FuncCall, e *scope) (string, typ, bool) {
	sum := "sum(" + distinct + arg + ")"
	switch t.oid {
	case int2OID, int4OID:
		sql, _, ok := s.filtered(sum, t, f, e)
		return "CAST(" + sql + " AS BIGINT)", plainType(int8OID), ok
	case int8OID:
		return s.filtered(sum, plainType(numericOID), f, e)
	}
	if p, _, ok := t.decimal(); ok && p <= 20 {
		return s.filtered(sum, plainType(numericOID), f, e)
	}
	return s.unproven("sum over this type")
}

// filtered adds the FILTER clause of an aggregate.
func (s *shipper) filtered(sql string, t typ, f *pg_query.FuncCall, e *scope) (string, typ, bool) {
	if f.AggFilter == nil {
		return sql, t, true
	}
	condition, ct, ok := s.expression(f.AggFilter, e)
	if !ok || ct.oid != boolOID {
		return s.no("this FILTER is evaluated at home")
	}
	return sql + " FILTER (WHERE " + condition + ")", t, true
}
