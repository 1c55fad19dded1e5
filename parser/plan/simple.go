package plan

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/dialect"
)

// isSimple reports whether an engine gets simple statements alone.
func isSimple(d dialect.Dialect) bool {
	_, ok := d.(dialect.Simple)
	return ok
}

// binds reports whether an engine without quirks takes parameters of a type.
func binds(d dialect.Dialect, t typ) bool {
	b, ok := d.(dialect.Binder)
	return ok && b.Binds(t)
}

// isSimple reports whether a node is one that standard SQL spells as Postgres does. Whether its operands are proven to be
// computed alike, the dialect's table says.
func (s *shipper) isSimple(n *pg_query.Node) bool {
	switch x := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef, *pg_query.Node_AConst, *pg_query.Node_ParamRef:
		return true
	case *pg_query.Node_BoolExpr:
		return !slices.ContainsFunc(x.BoolExpr.Args, func(a *pg_query.Node) bool { return !s.isCondition(a) })
	case *pg_query.Node_TypeCast:
		return isTypedLiteral(x.TypeCast) || isLiteral(x.TypeCast.Arg) && (s.typer != nil || !isNull(x.TypeCast.Arg)) || s.reads(dialect.Expressions)
	case *pg_query.Node_NullTest:
		return x.NullTest.Arg.GetColumnRef() != nil || s.reads(dialect.Expressions)
	case *pg_query.Node_BooleanTest:
		return (s.truths() || s.quirky != nil && s.quirky.Truth()) && s.isCondition(x.BooleanTest.Arg)
	case *pg_query.Node_AExpr:
		return s.isComparison(x.AExpr) || s.reads(dialect.Expressions) && readable[x.AExpr.Kind]
	case *pg_query.Node_CaseExpr, *pg_query.Node_CoalesceExpr:
		return s.reads(dialect.Expressions)
	case *pg_query.Node_SubLink:
		return s.isMembership(x.SubLink)
	case *pg_query.Node_FuncCall:
		return s.isCall(x.FuncCall)
	}
	return false
}

// readable are the operators of engines that read expressions.
var readable = map[pg_query.A_Expr_Kind]bool{
	pg_query.A_Expr_Kind_AEXPR_OP: true, pg_query.A_Expr_Kind_AEXPR_IN: true, pg_query.A_Expr_Kind_AEXPR_BETWEEN: true, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN: true,
	pg_query.A_Expr_Kind_AEXPR_DISTINCT: true, pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT: true, pg_query.A_Expr_Kind_AEXPR_LIKE: true, pg_query.A_Expr_Kind_AEXPR_NULLIF: true,
}

// isCall reports whether a call is of an aggregate, or one of a function that the engine reads.
func (s *shipper) isCall(f *pg_query.FuncCall) bool {
	return f.Over == nil && len(f.AggOrder) == 0 && (s.isAggregate(f) && f.AggFilter == nil || s.reads(dialect.Expressions))
}

// isMembership reports whether a sub-select is one that IN looks through.
func (s *shipper) isMembership(l *pg_query.SubLink) bool {
	return s.reads(dialect.Members) && l.SubLinkType == pg_query.SubLinkType_ANY_SUBLINK && len(l.OperName) == 0 && l.Testexpr.GetRowExpr() == nil
}

// isComparison reports whether an operator compares columns, literals, parameters, aggregates and times that home computes.
func (s *shipper) isComparison(x *pg_query.A_Expr) bool {
	switch x.Kind {
	case pg_query.A_Expr_Kind_AEXPR_OP:
		_, known := comparisons[lastName(x.Name)]
		return known && s.isOperand(x.Lexpr) && s.isOperand(x.Rexpr)
	case pg_query.A_Expr_Kind_AEXPR_DISTINCT, pg_query.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return s.isOperand(x.Lexpr) && s.isOperand(x.Rexpr)
	case pg_query.A_Expr_Kind_AEXPR_LIKE:
		pattern, ok := patternOf(x.Rexpr)
		return ok && s.isOperand(x.Lexpr) && s.isOperand(pattern)
	case pg_query.A_Expr_Kind_AEXPR_IN, pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN:
		for _, n := range x.Rexpr.GetList().GetItems() {
			if !s.isOperand(n) {
				return false
			}
		}
		return s.isOperand(x.Lexpr)
	}
	return false
}

func (s *shipper) isOperand(n *pg_query.Node) bool {
	if s.typer != nil && (s.clockType(n) != 0 || s.pageType(n) != 0) {
		return true
	}
	switch n := n.GetNode().(type) {
	case *pg_query.Node_FuncCall:
		return s.isAggregate(n.FuncCall)
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

// valueParameter prints a placeholder, whose values are those that the engine takes.
func (s *shipper) valueParameter(n int, t typ) (string, typ, bool) {
	decimal := t.Wide
	if decimal {
		t = parameterDecimal
	}
	sql, takes, ok := s.typer.Parameter("$"+s.place(n), t)
	if !ok {
		return s.no("a parameter of this type is evaluated at home")
	}
	if decimal {
		s.b.checks = append(s.b.checks, check{n, isParameterDecimal})
	}
	if takes != nil {
		s.b.checks = append(s.b.checks, check{n, takes})
	}
	return sql, t, true
}

// parameterDecimal is the type of a numeric that is bound.
var (
	parameterDecimal     = dialect.Decimal(dialect.MostDigits, 9)
	parameterDecimalForm = regexp.MustCompile(`^-?\d{1,29}(\.\d{1,9})?$`)
)

func isParameterDecimal(value string) bool { return parameterDecimalForm.MatchString(value) }

// zonedForm is that of times without a zone, which are moments in the zone of the session.
var zonedForm = regexp.MustCompile(`^[12]\d{3}-\d{2}-\d{2}([ T]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,6})?)?)?$`)

// zoned reports whether a literal is one of such a time, which home computes for engines that are given values: conditions on it are
// what a warehouse finds the partitions to read by.
func (s *shipper) zoned(oid uint32, text string) bool {
	return s.typer != nil && !s.rule && oid == timestamptzOID && zonedForm.MatchString(text) && isDay(text[:len(time.DateOnly)])
}

// truths reports whether conditions are values to the engine.
func (s *shipper) truths() bool { return s.typer != nil && s.quirky == nil }

// isCondition reports whether a node is true, false or NULL to the engine, as a column is that yes compares with true.
func (s *shipper) isCondition(n *pg_query.Node) bool {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_BoolExpr, *pg_query.Node_NullTest, *pg_query.Node_AExpr, *pg_query.Node_BooleanTest, *pg_query.Node_ColumnRef:
		return true
	case *pg_query.Node_SubLink:
		return s.isMembership(n.SubLink)
	case *pg_query.Node_AConst:
		return n.AConst.GetBoolval() != nil && (s.quirky == nil || s.quirky.Truth())
	case *pg_query.Node_CaseExpr, *pg_query.Node_CoalesceExpr, *pg_query.Node_FuncCall:
		return s.reads(dialect.Expressions) && (s.quirky == nil || s.quirky.Truth())
	}
	return false
}

// yes is a condition, where a column is compared with true: one of Booleans may hold other values at an engine, whose table says
// whether it does.
func (s *shipper) yes(n *pg_query.Node) *pg_query.Node {
	if s.simple == nil {
		return n
	}
	return yes(n)
}

func yes(n *pg_query.Node) *pg_query.Node {
	if n.GetColumnRef() == nil {
		return n
	}
	constant := &pg_query.Node{Node: &pg_query.Node_AConst{AConst: &pg_query.A_Const{Val: &pg_query.A_Const_Boolval{Boolval: &pg_query.Boolean{Boolval: true}}}}}
	return pg_query.MakeAExprNode(pg_query.A_Expr_Kind_AEXPR_OP, []*pg_query.Node{pg_query.MakeStrNode("=")}, n, constant, -1)
}

// condition prints an expression that rows are left out by.
func (s *shipper) condition(n *pg_query.Node, e *scope) (string, typ, bool) {
	if s.simple != nil && !s.isCondition(n) {
		return s.unproven("%s as a condition", describe(n))
	}
	return s.judged(s.yes(n), e)
}

// simpleQuery reports whether a SELECT is of a form that the engine reads, and says plainly how many rows it wants; it notes why not.
func (s *shipper) simpleQuery(q *pg_query.SelectStmt, outer *scope) bool {
	if !s.readsForm(q, outer) || q.WhereClause != nil && !s.isCondition(q.WhereClause) || q.HavingClause != nil && !s.isCondition(q.HavingClause) {
		s.unproven("a statement of this form")
		return false
	}
	for _, n := range q.TargetList {
		t := n.GetResTarget()
		if !s.reads(dialect.Expressions) && t.Val.GetColumnRef() == nil && t.Val.GetFuncCall() == nil || strings.HasSuffix(t.Name, " ") {
			s.unproven("%s in the select list", describe(t.Val))
			return false
		}
	}
	for _, n := range q.GroupClause {
		if n.GetColumnRef() == nil && (!s.reads(dialect.Expressions) || n.GetGroupingSet() != nil) {
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

// readsForm reports whether the engine reads the clauses of a SELECT.
func (s *shipper) readsForm(q *pg_query.SelectStmt, outer *scope) bool {
	switch {
	case outer != nil && s.forms&(dialect.Subselects|dialect.Members|dialect.Unions) == 0, q.WithClause != nil && !s.reads(dialect.Subselects),
		len(q.WindowClause) > 0, len(q.ValuesLists) > 0:
		return false
	case q.Op != pg_query.SetOperation_SETOP_NONE:
		return s.reads(dialect.Unions) && q.Op == pg_query.SetOperation_SETOP_UNION && q.All
	case !s.simplyDistinct(q):
		return false
	case len(q.FromClause) == 0 || len(q.FromClause) > 1 && !s.reads(dialect.Joins):
		return false
	}
	return !slices.ContainsFunc(q.FromClause, func(n *pg_query.Node) bool { return !s.readsItem(n) })
}

// readsItem reports whether the engine reads what stands in FROM.
func (s *shipper) readsItem(n *pg_query.Node) bool {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_RangeVar:
		return true
	case *pg_query.Node_RangeSubselect:
		return s.reads(dialect.Subselects) && !n.RangeSubselect.Lateral
	case *pg_query.Node_JoinExpr:
		return s.reads(dialect.Joins) && s.readsItem(n.JoinExpr.Larg) && s.readsItem(n.JoinExpr.Rarg)
	}
	return false
}

// simplyDistinct reports whether a SELECT has no DISTINCT, or one that is the same as grouping by its columns.
func (s *shipper) simplyDistinct(q *pg_query.SelectStmt) bool {
	if len(q.DistinctClause) == 0 || s.reads(dialect.Expressions) && plainDistinct(q.DistinctClause) {
		return true
	}
	return plainDistinct(q.DistinctClause) && len(q.GroupClause) == 0 && q.HavingClause == nil &&
		!slices.ContainsFunc(q.TargetList, func(n *pg_query.Node) bool { return s.ofAggregate(n) })
}

// groupedBy prints DISTINCT as the groups that it makes, which engines order and count as they do any.
func groupedBy(columns []scopeColumn) string {
	var parts []string
	for _, c := range columns {
		if !slices.Contains(parts, c.sql) {
			parts = append(parts, c.sql)
		}
	}
	return " GROUP BY " + strings.Join(parts, ", ")
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
