package oracle

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// message lists edits of a message and of all below it.
func (e *editor) message(m protoreflect.Message) {
	skip := map[protoreflect.Name]bool{}
	switch n := m.Interface().(type) {
	case *pg_query.SelectStmt:
		skip = e.selectStmt(n)
	case *pg_query.Node:
		e.node(n)
	case *pg_query.GroupingSet:
		cut(e, &n.Content, 1)
	case *pg_query.WindowDef:
		drop(e, &n.PartitionClause)
		skip["order_clause"] = true
	case *pg_query.FuncCall:
		drop(e, &n.AggFilter)
		skip["agg_order"], skip["funcname"] = true, true
	case *pg_query.WithClause:
		cut(e, &n.Ctes, 1)
	case *pg_query.ColumnRef, *pg_query.TypeName, *pg_query.A_Const, *pg_query.RangeVar, *pg_query.ParamRef:
		return
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Kind() != protoreflect.MessageKind || skip[f.Name()]:
		case f.IsList():
			for i := range v.List().Len() {
				e.message(v.List().Get(i).Message())
			}
		default:
			e.message(v.Message())
		}
		return true
	})
}

// selectStmt lists edits of a SELECT and returns the parts that its order rests on.
func (e *editor) selectStmt(s *pg_query.SelectStmt) map[protoreflect.Name]bool {
	ordered := e.ordered
	e.ordered = false // only of the outermost
	for _, arm := range []*pg_query.SelectStmt{s.Larg, s.Rarg} {
		if arm != nil {
			e.list = append(e.list, func() func() {
				old, chosen := proto.Clone(s), proto.Clone(arm)
				proto.Reset(s)
				proto.Merge(s, chosen)
				return func() {
					proto.Reset(s)
					proto.Merge(s, old)
				}
			})
		}
	}
	drop(e, &s.WithClause)
	drop(e, &s.WhereClause)
	drop(e, &s.HavingClause)
	e.list = append(e.list, func() func() {
		count, offset, option := s.LimitCount, s.LimitOffset, s.LimitOption
		s.LimitCount, s.LimitOffset, s.LimitOption = nil, nil, pg_query.LimitOption_LIMIT_OPTION_DEFAULT
		return func() { s.LimitCount, s.LimitOffset, s.LimitOption = count, offset, option }
	})
	if ordered || s.LimitCount != nil || s.LimitOffset != nil || on(s.DistinctClause) {
		return map[protoreflect.Name]bool{"sort_clause": true, "target_list": true, "group_clause": true, "from_clause": true, "distinct_clause": true}
	}
	drop(e, &s.SortClause)
	drop(e, &s.DistinctClause)
	cut(e, &s.FromClause, 1)
	cut(e, &s.TargetList, 1)
	cut(e, &s.GroupClause, 0)
	cut(e, &s.SortClause, 0)
	cut(e, &s.ValuesLists, 1)
	return map[protoreflect.Name]bool{}
}

// on reports whether a DISTINCT clause is DISTINCT ON.
func on(list []*pg_query.Node) bool { return len(list) > 0 && list[0].GetNode() != nil }

// node lists what may stand in the place of a node: its own parts.
func (e *editor) node(n *pg_query.Node) {
	switch v := n.Node.(type) {
	case *pg_query.Node_JoinExpr:
		e.become(n, v.JoinExpr.Larg, v.JoinExpr.Rarg)
	case *pg_query.Node_AExpr:
		e.become(n, v.AExpr.Lexpr, v.AExpr.Rexpr)
	case *pg_query.Node_BoolExpr:
		e.become(n, v.BoolExpr.Args...)
		if len(v.BoolExpr.Args) > 2 {
			cut(e, &v.BoolExpr.Args, 2)
		}
	case *pg_query.Node_FuncCall:
		e.become(n, v.FuncCall.Args...)
	case *pg_query.Node_CaseExpr:
		e.become(n, v.CaseExpr.Defresult)
		for _, w := range v.CaseExpr.Args {
			e.become(n, w.GetCaseWhen().GetResult(), w.GetCaseWhen().GetExpr())
		}
		cut(e, &v.CaseExpr.Args, 1)
		drop(e, &v.CaseExpr.Defresult)
	case *pg_query.Node_CoalesceExpr:
		e.become(n, v.CoalesceExpr.Args...)
		cut(e, &v.CoalesceExpr.Args, 1)
	case *pg_query.Node_MinMaxExpr:
		e.become(n, v.MinMaxExpr.Args...)
		cut(e, &v.MinMaxExpr.Args, 1)
	case *pg_query.Node_TypeCast:
		e.become(n, v.TypeCast.Arg)
	case *pg_query.Node_NullTest:
		e.become(n, v.NullTest.Arg)
	case *pg_query.Node_BooleanTest:
		e.become(n, v.BooleanTest.Arg)
	case *pg_query.Node_CollateClause:
		e.become(n, v.CollateClause.Arg)
	case *pg_query.Node_AArrayExpr:
		e.become(n, v.AArrayExpr.Elements...)
	case *pg_query.Node_AIndirection:
		e.become(n, v.AIndirection.Arg)
	case *pg_query.Node_List:
		cut(e, &v.List.Items, 1)
	case *pg_query.Node_SubLink:
		e.become(n, v.SubLink.Testexpr)
	}
}
