package plan

import (
	"math"
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/dialect"
)

// isSimple reports whether an engine gets simple statements alone.
func isSimple(d dialect.Dialect) bool {
	_, ok := d.(dialect.Simple)
	return ok
}

// isSimple reports whether a node is one that standard SQL spells as Postgres does. Whether its operands are proven to be
// computed alike, the dialect's table says.
func (s *shipper) isSimple(n *pg_query.Node) bool {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef, *pg_query.Node_AConst, *pg_query.Node_ParamRef:
		return true
	case *pg_query.Node_BoolExpr:
		for _, a := range n.BoolExpr.Args {
			if !isCondition(a) || s.quirky != nil && (a.GetAConst() != nil || n.BoolExpr.Boolop == pg_query.BoolExprType_NOT_EXPR && !isSingle(a)) {
				return false
			}
		}
		return true
	case *pg_query.Node_TypeCast:
		return isTypedLiteral(n.TypeCast) || s.quirky != nil && isLiteral(n.TypeCast.Arg)
	case *pg_query.Node_NullTest:
		return n.NullTest.Arg.GetColumnRef() != nil
	case *pg_query.Node_AExpr:
		return isComparison(n.AExpr)
	case *pg_query.Node_FuncCall:
		f := n.FuncCall
		return s.isAggregate(f) && !f.AggDistinct && f.AggFilter == nil && len(f.AggOrder) == 0
	}
	return false
}

// isComparison reports whether an operator compares columns, literals and parameters.
func isComparison(x *pg_query.A_Expr) bool {
	switch x.Kind {
	case pg_query.A_Expr_Kind_AEXPR_OP:
		_, known := comparisons[lastName(x.Name)]
		return known && isOperand(x.Lexpr) && isOperand(x.Rexpr)
	case pg_query.A_Expr_Kind_AEXPR_IN, pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		for _, n := range x.Rexpr.GetList().GetItems() {
			if !isOperand(n) {
				return false
			}
		}
		return isOperand(x.Lexpr)
	}
	return false
}

func isOperand(n *pg_query.Node) bool {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef, *pg_query.Node_AConst, *pg_query.Node_ParamRef:
		return true
	case *pg_query.Node_TypeCast:
		return isTypedLiteral(n.TypeCast) || isLiteral(n.TypeCast.Arg) // which is looked at once more by itself
	}
	return false
}

// literalTypes are the types of literals that any engine spells alike, with the greatest number of those that have one.
var literalTypes = map[string]int64{"int2": math.MaxInt16, "int4": math.MaxInt32, "int8": math.MaxInt64, "text": 0, "varchar": 0}

// isTypedLiteral reports whether a cast only says which type a literal has, as Postgres prints it in rules.
func isTypedLiteral(c *pg_query.TypeCast) bool {
	name := lastName(c.TypeName.Names)
	most, known := literalTypes[name]
	if !known || len(c.TypeName.ArrayBounds)+len(c.TypeName.Typmods) > 0 {
		return false
	}
	if c.Arg.GetAConst().GetSval() != nil {
		return true
	}
	n, err := numberOf(c.Arg)
	return err == nil && n <= most && n >= -most
}

func numberOf(n *pg_query.Node) (int64, error) {
	if f := n.GetAConst().GetFval(); f != nil {
		return strconv.ParseInt(f.Fval, 10, 64)
	}
	if n.GetAConst().GetIval() == nil {
		return 0, strconv.ErrSyntax
	}
	return int64(n.GetAConst().GetIval().Ival), nil
}

// typedNumber prints a number that is cast to a type of integers.
func (s *shipper) typedNumber(c *pg_query.TypeCast) (string, typ, bool) {
	n, _ := numberOf(c.Arg) // which isTypedLiteral has read
	return strconv.FormatInt(n, 10), dialect.Plain(castNames[lastName(c.TypeName.Names)]), true
}

// isCondition reports whether a node is true, false or NULL to any engine. A column of Booleans may hold other values there.
func isCondition(n *pg_query.Node) bool {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_BoolExpr, *pg_query.Node_NullTest, *pg_query.Node_AExpr:
		return true
	case *pg_query.Node_AConst:
		return n.AConst.GetBoolval() != nil
	}
	return false
}

// condition prints an expression that rows are left out by.
func (s *shipper) condition(n *pg_query.Node, e *scope) (string, typ, bool) {
	if s.simple != nil && (!isCondition(n) || s.quirky != nil && n.GetAConst() != nil) {
		return s.unproven("%s as a condition", describe(n))
	}
	return s.expression(n, e)
}

// simpleQuery reports whether a SELECT has one table, selects columns and aggregates of it, and says plainly how many rows it
// wants; it notes why not.
func (s *shipper) simpleQuery(q *pg_query.SelectStmt, outer *scope) bool {
	one := len(q.FromClause) == 1 && q.FromClause[0].GetRangeVar() != nil
	if outer != nil || q.WithClause != nil || q.Op != pg_query.SetOperation_SETOP_NONE || !one || len(q.DistinctClause) > 0 ||
		q.HavingClause != nil || len(q.WindowClause) > 0 || q.WhereClause != nil && (!isCondition(q.WhereClause) || s.quirky != nil && q.WhereClause.GetAConst() != nil) {
		s.unproven("a statement of this form")
		return false
	}
	for _, n := range q.TargetList {
		t := n.GetResTarget()
		if t.Val.GetColumnRef() == nil && t.Val.GetFuncCall() == nil || strings.HasSuffix(t.Name, " ") {
			s.unproven("%s in the select list", describe(t.Val))
			return false
		}
	}
	for _, n := range q.GroupClause {
		if n.GetColumnRef() == nil {
			s.unproven("grouping by %s", describe(n))
			return false
		}
	}
	for _, n := range []*pg_query.Node{q.LimitCount, q.LimitOffset} {
		if n != nil && (n.GetAConst().GetIval() == nil || q.LimitCount == nil) || q.LimitOption == pg_query.LimitOption_LIMIT_OPTION_WITH_TIES {
			s.no("a LIMIT or OFFSET that is no plain number is evaluated at home")
			return false
		}
	}
	return true
}

// selects prints an expression for a select list.
func (s *shipper) selects(sql string) string {
	if s.simple != nil {
		return s.simple.Selected(sql)
	}
	return sql
}

// derived is the FROM item of a SELECT whose columns have names, which are those of its select list where the engine gets
// simple statements alone: these have no other place for them.
func derived(d dialect.Dialect, sql string, names []string) string {
	sql = "(" + sql + ") AS " + d.Identifier("v")
	if isSimple(d) {
		return sql
	}
	return sql + " (" + strings.Join(names, ", ") + ")"
}

// given prints what stands in place of a column, in the type that this is shipped in.
func (s *source) given(sql string, c *catalog.Column) string {
	if isSimple(s.dialect) && !isQuirky(s.dialect) {
		return sql
	}
	return "CAST(" + sql + " AS " + s.dialect.Type(c.Type, c.Typmod) + ")"
}
