package plan

import (
	"fmt"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
)

// kinds are what reasons call kinds of node. Others have the parser's own name.
var kinds = map[string]string{
	"AArrayExpr": "an array", "AIndirection": "a part of a value", "BoolExpr": "AND, OR or NOT", "BooleanTest": "IS TRUE or IS FALSE", "CaseExpr": "CASE",
	"CoalesceExpr": "COALESCE", "CollateClause": "COLLATE", "ColumnRef": "a column", "AConst": "a constant", "MinMaxExpr": "GREATEST or LEAST", "NullTest": "IS NULL of an expression",
	"ParamRef": "a parameter", "RowExpr": "a row", "SqlvalueFunction": "the time or the user", "SubLink": "a sub-select", "TypeCast": "a cast", "XmlExpr": "XML",
	"RangeSubselect": "a sub-select", "RangeFunction": "a function", "RangeTableSample": "TABLESAMPLE", "RangeTableFunc": "XMLTABLE", "JoinExpr": "a join", "RangeVar": "a table",
}

// words are what reasons call kinds of operator, but those that have a name of their own.
var words = map[pg_query.A_Expr_Kind]string{
	pg_query.A_Expr_Kind_AEXPR_OP_ANY: "ANY", pg_query.A_Expr_Kind_AEXPR_OP_ALL: "ALL", pg_query.A_Expr_Kind_AEXPR_DISTINCT: "IS DISTINCT FROM",
	pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT: "IS NOT DISTINCT FROM", pg_query.A_Expr_Kind_AEXPR_NULLIF: "NULLIF", pg_query.A_Expr_Kind_AEXPR_IN: "IN",
	pg_query.A_Expr_Kind_AEXPR_LIKE: "LIKE", pg_query.A_Expr_Kind_AEXPR_ILIKE: "ILIKE", pg_query.A_Expr_Kind_AEXPR_SIMILAR: "SIMILAR TO",
	pg_query.A_Expr_Kind_AEXPR_BETWEEN: "BETWEEN", pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN: "NOT BETWEEN",
	pg_query.A_Expr_Kind_AEXPR_BETWEEN_SYM: "BETWEEN SYMMETRIC", pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM: "NOT BETWEEN SYMMETRIC",
}

// describe says for a reason what a node is.
func describe(n *pg_query.Node) string {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_FuncCall:
		return "function " + lastName(n.FuncCall.Funcname) + "()"
	case *pg_query.Node_AExpr:
		if word := words[n.AExpr.Kind]; word != "" {
			return word + " of such operands"
		}
		return "operator " + lastName(n.AExpr.Name) + " of such operands"
	}
	name := strings.TrimPrefix(fmt.Sprintf("%T", n.GetNode()), "*pg_query.Node_")
	if word := kinds[name]; word != "" {
		return word
	}
	return strings.ToLower(name)
}
