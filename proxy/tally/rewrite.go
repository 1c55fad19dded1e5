package tally

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
)

// query is a SELECT of counts of one table, and nothing else.
type query struct {
	*pg_query.SelectStmt
	from    *pg_query.RangeVar
	keys    []catalog.CountedKey
	cursor  bool     // it may run as another role than it is planned for
	grouped []string // the columns by which it groups
	used    []string // all that it names
	filters bool
}

// queryOf returns the query that a SELECT is, nil where it is none.
func queryOf(s *pg_query.SelectStmt, relations map[*pg_query.RangeVar]bool, counted func(string) []*catalog.Counted) *query {
	if s.Op != pg_query.SetOperation_SETOP_NONE || len(s.FromClause) != 1 || s.WithClause != nil || s.DistinctClause != nil ||
		s.WindowClause != nil || s.ValuesLists != nil || len(s.TargetList) == 0 {
		return nil
	}
	v := s.FromClause[0].GetRangeVar()
	if v == nil || !relations[v] || !v.Inh || v.Catalogname != "" || len(v.GetAlias().GetColnames()) > 0 {
		return nil
	}
	for _, t := range counted(v.Relname) {
		if v.Schemaname != "" && v.Schemaname != t.Schema {
			continue
		}
		q := &query{SelectStmt: s, from: v, keys: t.Keys, filters: s.WhereClause != nil}
		if q.counts() {
			return q
		}
	}
	return nil
}

// counts reports whether counters can answer the query, and notes by which columns it groups.
func (q *query) counts() bool {
	if q.filters && !q.condition(q.WhereClause) {
		return false
	}
	for _, n := range q.GroupClause {
		if i := n.GetAConst().GetIval(); n.GetAConst() != nil {
			if i == nil || i.Ival < 1 || int(i.Ival) > len(q.TargetList) {
				return false
			}
			n = q.TargetList[i.Ival-1].GetResTarget().Val
		}
		key := q.key(n)
		if key == "" || q.isSized(key) {
			return false
		}
		if !slices.Contains(q.grouped, key) {
			q.grouped = append(q.grouped, key)
		}
	}
	found := q.HavingClause != nil && holdsCount(q.HavingClause)
	for _, n := range q.TargetList {
		n = n.GetResTarget().Val
		if !q.value(n) {
			return false
		}
		found = found || holdsCount(n)
	}
	return found && q.limited(q.LimitCount) && q.limited(q.LimitOffset) && q.ordered()
}

// ordered reports whether HAVING and ORDER BY are of what the query yields. One row needs neither.
func (q *query) ordered() bool {
	if q.grouped == nil {
		return q.HavingClause == nil && q.SortClause == nil
	}
	if q.HavingClause != nil && !q.value(q.HavingClause) {
		return false
	}
	return !slices.ContainsFunc(q.SortClause, func(n *pg_query.Node) bool {
		n = n.GetSortBy().Node
		return !q.value(n) && !q.isOutput(n)
	})
}

// isOutput reports whether an expression is the name of a column that the query yields.
func (q *query) isOutput(n *pg_query.Node) bool {
	fields := n.GetColumnRef().GetFields()
	return len(fields) == 1 && slices.ContainsFunc(q.TargetList, func(t *pg_query.Node) bool {
		return columnName(t.GetResTarget()) == fields[0].GetString_().GetSval()
	})
}

// columnName returns the name of a column that is a count or has a name given, empty for others.
func columnName(t *pg_query.ResTarget) string {
	if t.Name == "" && isCount(stripCasts(t.Val)) {
		return "count"
	}
	return t.Name
}

// limited reports whether a LIMIT or OFFSET is a number or parameter, if it is there.
func (q *query) limited(n *pg_query.Node) bool { return n == nil || constant(n) }

// value reports whether an expression is of counts, constants, and columns by which the query groups.
func (q *query) value(n *pg_query.Node) bool {
	switch x := n.GetNode().(type) {
	case *pg_query.Node_FuncCall:
		return isCount(n)
	case *pg_query.Node_TypeCast:
		return q.value(x.TypeCast.Arg)
	case *pg_query.Node_AExpr:
		return x.AExpr.Kind == pg_query.A_Expr_Kind_AEXPR_OP && (x.AExpr.Lexpr == nil || q.value(x.AExpr.Lexpr)) && q.value(x.AExpr.Rexpr)
	case *pg_query.Node_BoolExpr:
		return !slices.ContainsFunc(x.BoolExpr.Args, func(n *pg_query.Node) bool { return !q.value(n) })
	case *pg_query.Node_ColumnRef:
		return slices.Contains(q.grouped, q.key(n))
	}
	return constant(n)
}

// comparisons are the operators that conditions on keys may have.
var comparisons = []string{"=", "<>", "!=", "<", "<=", ">", ">="}

// condition reports whether an expression is a condition on keys alone, so that it holds for all rows of a group or for none.
func (q *query) condition(n *pg_query.Node) bool {
	operand := func(n *pg_query.Node) bool { return q.key(n) != "" || constant(n) }
	switch x := n.GetNode().(type) {
	case *pg_query.Node_BoolExpr:
		return !slices.ContainsFunc(x.BoolExpr.Args, func(n *pg_query.Node) bool { return !q.condition(n) })
	case *pg_query.Node_NullTest:
		return q.key(x.NullTest.Arg) != ""
	case *pg_query.Node_BooleanTest:
		return q.isBoolean(q.key(x.BooleanTest.Arg))
	case *pg_query.Node_ColumnRef:
		return q.isBoolean(q.key(n))
	case *pg_query.Node_AExpr:
		switch x.AExpr.Kind {
		case pg_query.A_Expr_Kind_AEXPR_OP, pg_query.A_Expr_Kind_AEXPR_OP_ANY, pg_query.A_Expr_Kind_AEXPR_OP_ALL, pg_query.A_Expr_Kind_AEXPR_IN:
			name := x.AExpr.Name
			return len(name) == 1 && slices.Contains(comparisons, name[0].GetString_().GetSval()) &&
				x.AExpr.Lexpr != nil && operand(x.AExpr.Lexpr) && operand(x.AExpr.Rexpr)
		case pg_query.A_Expr_Kind_AEXPR_BETWEEN, pg_query.A_Expr_Kind_AEXPR_NOT_BETWEEN:
			return operand(x.AExpr.Lexpr) && operand(x.AExpr.Rexpr)
		}
	}
	return false
}

// key returns the key that an expression names, empty for none, and notes it.
func (q *query) key(n *pg_query.Node) string {
	fields := n.GetColumnRef().GetFields()
	if len(fields) == 2 && fields[0].GetString_().GetSval() == q.alias() {
		fields = fields[1:]
	}
	if len(fields) != 1 {
		return ""
	}
	name := fields[0].GetString_().GetSval()
	if name == "" || strings.HasPrefix(name, ownPrefix) || !slices.ContainsFunc(q.keys, func(k catalog.CountedKey) bool { return k.Name == name }) {
		return ""
	}
	if !slices.Contains(q.used, name) {
		q.used = append(q.used, name)
	}
	return name
}

func (q *query) isBoolean(key string) bool {
	return slices.ContainsFunc(q.keys, func(k catalog.CountedKey) bool { return k.Name == key && k.Type == "boolean" })
}

// isSized reports whether a key's type has a length or precision, which its values have lost that come from counters.
func (q *query) isSized(key string) bool {
	return slices.ContainsFunc(q.keys, func(k catalog.CountedKey) bool { return k.Name == key && strings.Contains(k.Type, "(") })
}

// alias returns the name by which the query calls the table.
func (q *query) alias() string {
	if a := q.from.GetAlias(); a != nil {
		return a.Aliasname
	}
	return q.from.Relname
}

// constant reports whether an expression is made of literals and parameters.
func constant(n *pg_query.Node) bool {
	each := func(list []*pg_query.Node) bool {
		return !slices.ContainsFunc(list, func(n *pg_query.Node) bool { return !constant(n) })
	}
	switch x := n.GetNode().(type) {
	case *pg_query.Node_AConst, *pg_query.Node_ParamRef:
		return true
	case *pg_query.Node_TypeCast:
		return constant(x.TypeCast.Arg)
	case *pg_query.Node_List:
		return each(x.List.Items)
	case *pg_query.Node_AArrayExpr:
		return each(x.AArrayExpr.Elements)
	}
	return false
}

// isCount reports whether an expression is count(*), or a count of a constant, which is the same.
func isCount(n *pg_query.Node) bool {
	f := n.GetFuncCall()
	if f == nil || f.AggFilter != nil || f.AggDistinct || f.AggOrder != nil || f.Over != nil || f.AggWithinGroup || f.FuncVariadic {
		return false
	}
	name := f.Funcname
	if len(name) == 2 && name[0].GetString_().GetSval() == "pg_catalog" {
		name = name[1:]
	}
	if len(name) != 1 || name[0].GetString_().GetSval() != "count" {
		return false
	}
	return f.AggStar || len(f.Args) == 1 && f.Args[0].GetAConst() != nil && !f.Args[0].GetAConst().Isnull
}

func stripCasts(n *pg_query.Node) *pg_query.Node {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().Arg
	}
	return n
}

func holdsCount(n *pg_query.Node) bool {
	found := false
	parser.Walk(n, func(m proto.Message) bool {
		node, ok := m.(*pg_query.Node)
		found = found || ok && isCount(node)
		return true
	})
	return found
}
