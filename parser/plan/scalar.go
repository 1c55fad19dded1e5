package plan

import (
	"slices"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// truncations are the units that date_trunc cuts a timestamp to in the same way everywhere.
var truncations = []string{"second", "minute", "hour", "day", "week", "month", "quarter", "year"}

// scalar prints calls of plain functions over text and timestamp; known is false for any other function. A varchar is
// left to home: it may have a function of that type.
func (s *shipper) scalar(name string, f *pg_query.FuncCall, e *scope) (sql string, t typ, ok, known bool) {
	switch {
	case f.AggDistinct || f.AggFilter != nil || f.AggStar:
		return "", typ{}, false, false
	case len(f.Args) == 1 && (name == "length" || name == "char_length" || name == "character_length" || name == "octet_length"):
		sql, t, ok = s.length(name, f.Args[0], e)
	case len(f.Args) == 2 && name == "left", len(f.Args) == 3 && (name == "substr" || name == "substring"):
		sql, t, ok = s.part(name, f.Args, e)
	case len(f.Args) == 2 && name == "date_trunc":
		sql, t, ok = s.truncate(f.Args, e)
	default:
		return "", typ{}, false, false
	}
	return sql, t, ok, true
}

// length counts code points, or bytes.
func (s *shipper) length(name string, arg *pg_query.Node, e *scope) (string, typ, bool) {
	sql, t, ok := s.expression(arg, e)
	if !ok || t.oid != textOID {
		return s.unproven("function %s over this type", name)
	}
	function := "length"
	if name == "octet_length" {
		function = "strlen"
	}
	return "CAST(" + function + "(" + sql + ") AS INTEGER)", plainType(int4OID), true
}

// part prints left and substr where the numbers are written out and mean a part of the text: the engine has its own
// ideas of negative ones.
func (s *shipper) part(name string, args []*pg_query.Node, e *scope) (string, typ, bool) {
	sql, t, ok := s.expression(args[0], e)
	if !ok || t.oid != textOID {
		return s.unproven("function %s over this type", name)
	}
	least := int32(0)
	if name != "left" {
		least, name = 1, "substr"
	}
	numbers := make([]string, len(args)-1)
	for i, a := range args[1:] {
		n := a.GetAConst()
		if n.GetIval() == nil || n.GetIval().Ival < least {
			return s.unproven("function %s with these arguments", name)
		}
		numbers[i], least = strconv.Itoa(int(n.GetIval().Ival)), 0
	}
	return name + "(" + sql + ", " + strings.Join(numbers, ", ") + ")", t, true
}

func (s *shipper) truncate(args []*pg_query.Node, e *scope) (string, typ, bool) {
	unit := args[0].GetAConst().GetSval().GetSval()
	sql, t, ok := s.expression(args[1], e)
	if !ok || t.oid != timestampOID || !slices.Contains(truncations, unit) {
		return s.unproven("function date_trunc with these arguments")
	}
	return "date_trunc(" + s.d.Literal(unit) + ", " + sql + ")", t, true
}

// divide prints quotients and remainders by a number that is written out: by zero both raise an error at home and yield
// NULL on the engine, and by -1 the least number has no quotient.
func (s *shipper) divide(x *pg_query.A_Expr, name string, e *scope) (string, typ, bool) {
	sql, t, ok := s.expression(x.Lexpr, e)
	if !ok {
		return "", typ{}, false
	}
	n := x.Rexpr.GetAConst()
	if n.GetIval() == nil || n.GetIval().Ival == 0 || n.GetIval().Ival == -1 || !t.isInt() {
		return s.unproven("operator %s over these operands", name)
	}
	t = plainType(widerInt(t.oid, int4OID))
	if name == "/" {
		name = "//"
	}
	duck := s.d.Type(t.oid, -1)
	return "(CAST(" + sql + " AS " + duck + ") " + name + " CAST(" + strconv.Itoa(int(n.GetIval().Ival)) + " AS " + duck + "))", t, true
}

// concat prints text || text. Other types than text are turned into it at home.
func (s *shipper) concat(x *pg_query.A_Expr, e *scope) (string, typ, bool) {
	ls, lt, rs, rt, ok := s.pair(x.Lexpr, x.Rexpr, e)
	if !ok {
		return "", typ{}, false
	}
	if lt.oid != textOID || rt.oid != textOID {
		return s.unproven("operator || over these types")
	}
	t := plainType(textOID)
	t.bytewise, t.exact = lt.bytewise && rt.bytewise, lt.exact && rt.exact
	return "(" + ls + " || " + rs + ")", t, true
}
