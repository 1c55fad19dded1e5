package plan

import (
	"regexp"
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

// fits reports whether all nodes below n mean the same at the remote server. A kind of node that is not named here does not.
func (v *verbatim) fits(n proto.Message) bool {
	if v.unknown != nil {
		return v.no("%v", v.unknown)
	}
	if set := v.b.req.Settings.ClientEncoding; set != "" && set != "UTF8" && !v.rule {
		return v.no("client_encoding %s is written at home", set)
	}
	for _, op := range []string{"=", "<>", "<", "<=", ">", ">=", "~~"} {
		if v.shadowed(op) { // many constructs compare without naming an operator
			return v.no("there are several operators %s", op)
		}
	}
	ok := true
	parser.Walk(n, func(m proto.Message) bool {
		if node, is := m.(*pg_query.Node); is && ok {
			if t := v.pageType(node); t != 0 {
				v.texts = v.texts || textual[t]
				ok = v.ships(t, "a value of sluice.page")
				return false
			}
		}
		ok = ok && v.node(m)
		return ok
	})
	return ok
}

func (v *verbatim) pageType(n *pg_query.Node) uint32 {
	if v.rule || v.b.req.HoldParams {
		return 0
	}
	return v.b.pageType(n)
}

// node looks at one node and not at those below it.
func (v *verbatim) node(m proto.Message) bool {
	switch n := m.(type) {
	case *pg_query.Node, *pg_query.ResTarget, *pg_query.A_Star, *pg_query.String, *pg_query.Integer, *pg_query.Float, *pg_query.Boolean,
		*pg_query.List, *pg_query.BoolExpr, *pg_query.NullTest, *pg_query.BooleanTest, *pg_query.CoalesceExpr, *pg_query.CaseExpr,
		*pg_query.CaseWhen, *pg_query.RowExpr, *pg_query.A_ArrayExpr, *pg_query.A_Indirection, *pg_query.A_Indices,
		*pg_query.JoinExpr, *pg_query.RangeSubselect, *pg_query.Alias, *pg_query.GroupingSet, *pg_query.GroupingFunc,
		*pg_query.WithClause, *pg_query.NamedArgExpr, *pg_query.BitString:
		return true
	case *pg_query.SelectStmt:
		return v.selects(n)
	case *pg_query.ColumnRef:
		return v.columnRef(n)
	case *pg_query.ParamRef:
		return v.param(int(n.Number))
	case *pg_query.RangeVar, *pg_query.CommonTableExpr, *pg_query.CTESearchClause, *pg_query.CTECycleClause:
		return v.relation(m)
	case *pg_query.A_Const:
		return v.constant(n)
	case *pg_query.TypeCast:
		v.typed(n.Arg)
		return true
	case *pg_query.TypeName:
		return v.typeName(n)
	case *pg_query.CollateClause:
		if name := lastName(n.Collname); name != "C" && name != "POSIX" {
			return v.no("collation %q is home's own", name)
		}
		return true
	case *pg_query.FuncCall:
		return v.function(n)
	case *pg_query.RangeFunction:
		return len(n.Coldeflist) == 0 || v.no("a column definition list is read at home")
	case *pg_query.A_Expr:
		return v.operator(n)
	case *pg_query.SubLink:
		return len(n.OperName) == 0 || v.operatorName(n.OperName)
	case *pg_query.SortBy:
		v.order("ORDER BY")
		return len(n.UseOp) == 0 || v.no("ORDER BY USING is evaluated at home")
	case *pg_query.WindowDef:
		return true
	case *pg_query.SQLValueFunction:
		v.texts = v.texts || homeValues[n.Op] == nameOID
		return v.ships(homeValues[n.Op], strings.TrimPrefix(n.Op.String(), "SVFOP_"))
	case *pg_query.MinMaxExpr:
		v.order("GREATEST and LEAST")
		return true
	}
	return v.no("%s is not known to mean the same on postgres", kindOf(m))
}

// constant looks at a literal: one that takes its type from nothing near it may come to be text.
func (v *verbatim) constant(n *pg_query.A_Const) bool {
	s := n.GetSval()
	if s != nil && clock.MatchString(s.Sval) {
		return v.no("the literal %q may be a time of home's clock", s.Sval)
	}
	v.texts = v.texts || s != nil && !v.literals[n]
	return true
}

// typed notes literals that take their type from what they stand beside, which is looked at by itself.
func (v *verbatim) typed(nodes ...*pg_query.Node) {
	for _, n := range nodes {
		if c := n.GetAConst(); c != nil {
			v.literals[c] = true
		}
		v.typed(n.GetList().GetItems()...)
	}
}

// givesType reports whether an expression has a type by itself.
func givesType(n *pg_query.Node) bool {
	return n.GetColumnRef() != nil || n.GetFuncCall() != nil || n.GetTypeCast() != nil || n.GetParamRef() != nil
}

func kindOf(m proto.Message) string { return string(m.ProtoReflect().Descriptor().Name()) }

func (v *verbatim) selects(n *pg_query.SelectStmt) bool {
	switch {
	case n.IntoClause != nil:
		return v.no("SELECT INTO is carried out at home")
	case len(n.LockingClause) > 0:
		return v.no("row locks are of no effect on foreign tables")
	}
	return true
}

// systemColumns are those that a sub-select does not pass on.
var systemColumns = []string{"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"}

func (v *verbatim) columnRef(n *pg_query.ColumnRef) bool {
	if name := lastName(n.Fields); slices.Contains(systemColumns, name) {
		return v.no("the system column %s is home's own", name)
	}
	if len(n.Fields) > 2 {
		return v.no("a reference through a schema is read at home")
	}
	return true
}

func (v *verbatim) param(n int) bool {
	switch {
	case n < 1 || n > len(v.b.req.Params):
		return v.no("parameter $%d is not known", n)
	case v.b.req.HoldParams:
		return v.no("parameter $%d has a value that is read at home", n)
	case paramTypes[v.b.req.Params[n-1]] == nil:
		return v.no("parameter $%d is of a type that is home's own", n)
	case v.b.req.Params[n-1] == timestamptzOID && !v.iso():
		return v.no("parameter $%d may have an abbreviation of a time zone", n)
	}
	v.texts = v.texts || textual[v.b.req.Params[n-1]]
	return true
}

// relation looks at what a FROM clause names: a foreign table of the server, or a common table expression.
func (v *verbatim) relation(m proto.Message) bool {
	r, ok := m.(*pg_query.RangeVar)
	if !ok {
		return true
	}
	src := v.b.sourceOf(r)
	if src == nil {
		return r.Schemaname == "" || v.no("relation %q is home's own", r.Relname)
	}
	for _, i := range v.b.used.of(src) {
		c := &src.table.Columns[i]
		v.texts = v.texts || v.d.Orders(c)
	}
	return true
}

func (v *verbatim) typeName(n *pg_query.TypeName) bool {
	name := lastName(n.Names)
	schema := ""
	if len(n.Names) > 1 {
		schema = n.Names[0].GetString_().GetSval()
	}
	if schema != "" && schema != "pg_catalog" || len(n.Names) > 2 || n.PctType || n.Setof || !dialect.BuiltInName(name) {
		return v.no("type %q is home's own", name)
	}
	v.texts = v.texts || name == "text" || name == "varchar" || name == "bpchar" || name == "name"
	return true
}

// patterns matches format texts of to_char and its kin that no setting bears upon: no names of days, months or currencies in
// the local language, no decimal point of a locale.
var patterns = regexp.MustCompile(`^(YYYY|IYYY|YYY|YY|MM|DDD|DD|HH24|HH12|HH|MI|SS|MS|US|IW|WW|Q|J|FM|FX|[90.,:/ _-]|"[^"]*"|T)*$`)

// formatted are the functions whose second argument is such a text.
var formatted = map[string]bool{"to_char": true, "to_date": true, "to_number": true, "to_timestamp": true}

// homeValues are the types of what is the same throughout a transaction, and is home's to say.
var homeValues = map[pg_query.SQLValueFunctionOp]uint32{
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_DATE: dateOID, pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP: timestamptzOID,
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N: timestamptzOID, pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP: timestampOID,
	pg_query.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N: timestampOID, pg_query.SQLValueFunctionOp_SVFOP_CURRENT_USER: nameOID,
	pg_query.SQLValueFunctionOp_SVFOP_CURRENT_ROLE: nameOID, pg_query.SQLValueFunctionOp_SVFOP_USER: nameOID,
	pg_query.SQLValueFunctionOp_SVFOP_SESSION_USER: nameOID,
}

// clocks are functions that yield the time at which the transaction began.
var clocks = map[string]bool{"now": true, "transaction_timestamp": true}

const nameOID = 19

// homeValue returns the type of an expression that home evaluates, 0 for any other.
func homeValue(n *pg_query.Node) uint32 {
	if f := n.GetSqlvalueFunction(); f != nil {
		return homeValues[f.Op]
	}
	if f := n.GetFuncCall(); f != nil && clocks[lastName(f.Funcname)] && len(f.Args) == 0 {
		return timestamptzOID
	}
	return 0
}

// ships reports whether a value of home's can go to the server as a parameter. Home and the server read a time zone's
// abbreviation each in its own way.
func (v *verbatim) ships(oid uint32, what string) bool {
	return oid != 0 && (oid != timestamptzOID || v.iso()) || v.no("%s is home's own", what)
}

func (v *verbatim) iso() bool {
	style := v.b.req.Settings.DateStyle
	return style == "" || strings.HasPrefix(style, "ISO")
}

func (v *verbatim) function(n *pg_query.FuncCall) bool {
	name := lastName(n.Funcname)
	schema := ""
	if len(n.Funcname) > 1 {
		schema = n.Funcname[0].GetString_().GetSval()
	}
	switch {
	case schema != "" && schema != "pg_catalog", len(n.Funcname) > 2:
		return v.no("function %q is home's own", name)
	case clocks[name] && len(n.Args) == 0 && !v.shadowed(name):
		return v.ships(timestamptzOID, name)
	case !dialect.Shared(name, v.home.Version, v.remote.Version):
		return v.no("function %q is not known to yield the same on postgres", name)
	case schema == "" && v.shadowed(name):
		return v.no("there are several functions %q", name)
	case name == "age" && len(n.Args) < 2:
		return v.no("function %q looks at the clock", name)
	case formatted[name] && len(n.Args) > 1 && (n.Args[1].GetAConst().GetSval() == nil || !patterns.MatchString(n.Args[1].GetAConst().GetSval().Sval)):
		return v.no("the format of %q may depend on settings", name)
	}
	if dialect.Orders(name) {
		v.order("function " + name)
	}
	v.typed(n.Args...)
	v.texts = v.texts || dialect.MakesText(name)
	return true
}

func (v *verbatim) operator(n *pg_query.A_Expr) bool {
	if givesType(n.Lexpr) {
		v.typed(n.Rexpr)
	}
	if givesType(n.Rexpr) {
		v.typed(n.Lexpr)
	}
	switch n.Kind {
	case pg_query.A_Expr_Kind_AEXPR_ILIKE, pg_query.A_Expr_Kind_AEXPR_SIMILAR, pg_query.A_Expr_Kind_AEXPR_BETWEEN,
		pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg_query.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		v.order("BETWEEN, ILIKE and SIMILAR TO")
		return true
	}
	if n.Kind == pg_query.A_Expr_Kind_AEXPR_OP && (n.Rexpr.GetAConst().GetIsnull() || n.Lexpr.GetAConst().GetIsnull()) && lastName(n.Name) == "=" {
		return v.no("transform_null_equals bears upon = NULL")
	}
	return v.operatorName(n.Name)
}

func (v *verbatim) operatorName(list []*pg_query.Node) bool {
	name := lastName(list)
	switch {
	case len(list) > 1 && list[0].GetString_().GetSval() != "pg_catalog":
		return v.no("operator %s is home's own", name)
	case !dialect.SharedOperator(name):
		return v.no("operator %s is not known to mean the same on postgres", name)
	case len(list) == 1 && v.shadowed(name):
		return v.no("there are several operators %s", name)
	}
	if dialect.OperatorOrders(name) {
		v.order("operator " + name)
	}
	v.texts = v.texts || name == "||" || name == "->>" || name == "#>>"
	return true
}

// order notes what depends on the order of text where text is what it looks at.
func (v *verbatim) order(what string) {
	if v.orders == "" {
		v.orders = what
	}
}

// ordersAlike reports whether text, as far as it is looked at beyond equality, is ordered alike at both sides.
func (v *verbatim) ordersAlike() bool {
	if v.orders == "" || !v.texts || v.home.Collation == v.remote.Collation {
		return true
	}
	return v.no("%s may look at text, and the collations of home and the server are not proven equal", v.orders)
}
