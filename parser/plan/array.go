package plan

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

// plainArray is an array literal whose elements are what stands between the commas. NULL is none of these.
var plainArray = regexp.MustCompile(`^\{[^{}",\\\s]+(,[^{}",\\\s]+)*\}$`)

// elementTypes are the types of elements by those of the arrays whose parameters are shipped.
var elementTypes = map[uint32]uint32{1005: int2OID, 1007: int4OID, 1016: int8OID, 1009: textOID, 1015: varcharOID, 2951: uuidOID}

// quantified prints = ANY and <> ALL over an array: one that is written out as IN and NOT IN, and a parameter as a list.
func (s *shipper) quantified(x *pg_query.A_Expr, name string, e *scope) (string, typ, bool) {
	all := x.Kind == pg_query.A_Expr_Kind_AEXPR_OP_ALL
	if name != "=" && !all || name != "<>" && all || s.shadowed(name) {
		return s.unproven("%s over an array", name)
	}
	if n := parameterOf(x.Rexpr); n > 0 && n <= len(s.b.req.Params) && len(x.Rexpr.GetTypeCast().GetTypeName().GetTypmods()) == 0 {
		return s.inParameter(x.Lexpr, n, all, e)
	}
	items := x.Rexpr.GetAArrayExpr().GetElements()
	if text, ok := literalText(x.Rexpr); ok && plainArray.MatchString(text) && !strings.Contains(strings.ToLower(text), "null") {
		for part := range strings.SplitSeq(strings.Trim(text, "{}"), ",") {
			items = append(items, pg_query.MakeAConstStrNode(part, -1))
		}
	}
	if len(items) == 0 {
		return s.unproven("%s over this array", name)
	}
	list := &pg_query.Node{Node: &pg_query.Node_List{List: &pg_query.List{Items: items}}}
	return s.inList(&pg_query.A_Expr{Lexpr: x.Lexpr, Rexpr: list}, all, true, e)
}

// inParameter prints = ANY, or <> ALL, over a parameter. Home writes it as a list without NULLs that is not empty.
func (s *shipper) inParameter(l *pg_query.Node, n int, all bool, e *scope) (string, typ, bool) {
	arg, t, ok := s.expression(l, e)
	if !ok {
		return "", typ{}, false
	}
	element := dialect.Plain(elementTypes[s.b.req.Params[n-1]])
	element.Bytewise, element.Exact = true, true
	if element.IsInt() {
		element.OID = int8OID
	}
	if element.OID == 0 || s.b.req.HoldParams || t.IsInt() != element.IsInt() || !comparableTypes(t, element, false) {
		return s.no("parameter $%d is an array that is read at home", n)
	}
	if s.standard != nil {
		if _, ok := s.standard.Listed("", "", element); !ok {
			return s.no("parameter $%d is an array that is read at home", n)
		}
	}
	number := s.b.momentOf(Moment{
		SQL: "(SELECT pg_catalog.json_agg(u) FROM pg_catalog.unnest($" + strconv.Itoa(n) + ") AS u)", Type: listOID,
	})
	not := ""
	if all {
		not = "NOT "
	}
	of := s.d.Type(element.OID, -1)
	if s.standard != nil {
		sql, _ := s.standard.Listed("$"+s.place(number), arg, element)
		return "(" + not + sql + ")", boolean, true
	}
	return "(" + not + "list_contains(CAST(CAST($" + s.place(number) + " AS JSON) AS " + of + "[]), CAST(" + arg + " AS " + of + ")))", boolean, true
}

// listOID is the type of such a list: json.
const listOID = 114

// mostElements is how many elements an array may have that an engine looks through for each row.
const mostElements = 10_000

// listed reports whether home has written a list of an array whose elements an engine can look for.
func listed(text *string) bool {
	if text == nil {
		return false
	}
	var list []json.RawMessage
	if json.Unmarshal([]byte(*text), &list) != nil || len(list) > mostElements {
		return false
	}
	for _, item := range list {
		if string(item) == "null" {
			return false
		}
	}
	return true
}
