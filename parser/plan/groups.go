package plan

import (
	"reflect"
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

// groups takes a SELECT with aggregates apart, where its server cannot compute all of it. The server yields the values that are grouped
// by and the aggregates; over these home evaluates the rest: the select list, HAVING as a condition, windows, DISTINCT, ORDER BY and LIMIT.
type groups struct {
	b        *builder
	q        *pg_query.SelectStmt
	table    dialect.Index
	parts    bool             // averages come as sums and counts, home divides
	averages int              // how many there are
	keys     []*pg_query.Node // what is grouped by
	list     []*pg_query.Node // what the server yields: the keys, and then aggregates
	sums     []int            // which of the list home divides
	failed   bool             // something in it is not known to mean the same over groups
}

// shipGroups puts a SELECT over groups that its server makes in place of a SELECT; false where the server cannot make them.
func (b *builder) shipGroups(n *pg_query.Node, sel *pg_query.SelectStmt) (source, bool) {
	first := b.oneServer(n)
	if first == nil || sel.Op != pg_query.SetOperation_SETOP_NONE || sel.GroupDistinct || sel.IntoClause != nil || len(sel.LockingClause) > 0 || len(sel.FromClause) == 0 {
		return source{}, false
	}
	for _, parts := range []bool{false, true} {
		g := &groups{b: b, q: sel, table: first.dialect.Table(), parts: parts}
		outer, ok := g.outer()
		if !ok || parts && g.averages == 0 {
			return source{}, false
		}
		made := &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: g.inner()}}
		checks, moments := len(b.checks), len(b.moments)
		if s, ok := b.wholeSelect(made, made.GetSelectStmt()); ok && g.divides(&s) {
			outer.FromClause = []*pg_query.Node{{Node: &pg_query.Node_RangeSubselect{RangeSubselect: &pg_query.RangeSubselect{
				Subquery: made, Alias: &pg_query.Alias{Aliasname: ownGroups},
			}}}}
			n.Node = &pg_query.Node_SelectStmt{SelectStmt: outer}
			return s, true
		}
		b.checks, b.moments = b.checks[:checks], b.moments[:moments]
	}
	return source{}, false
}

// ownGroups is what home's statement calls the groups of a SELECT.
const ownGroups = "sluice_groups"

// outer is what home evaluates, but for its FROM.
func (g *groups) outer() (*pg_query.SelectStmt, bool) {
	q := g.q
	o := proto.CloneOf(&pg_query.SelectStmt{
		DistinctClause: q.DistinctClause, TargetList: q.TargetList, WhereClause: q.HavingClause, WindowClause: q.WindowClause, SortClause: q.SortClause,
		LimitOffset: q.LimitOffset, LimitCount: q.LimitCount, LimitOption: q.LimitOption, Op: q.Op,
	})
	names := map[string]bool{}
	for _, n := range o.TargetList {
		t := n.GetResTarget()
		if t.Name == "" {
			t.Name = nameOf(t.Val)
		}
		names[t.Name] = true
	}
	for _, n := range q.GroupClause {
		key := g.key(n, o.TargetList)
		if key == nil || !refers(key) {
			return nil, false
		}
		key = proto.CloneOf(key)
		g.bare(key)
		if len(g.keys) == g.yield(key) { // it is a new one
			g.keys = append(g.keys, key)
		}
	}
	for _, n := range slices.Concat(o.TargetList, []*pg_query.Node{o.WhereClause, o.LimitOffset, o.LimitCount}, o.WindowClause) {
		g.overGroups(n)
	}
	for _, n := range slices.Concat(o.DistinctClause, o.SortClause) {
		if k := n.GetSortBy(); k != nil {
			n = k.Node
		}
		if ref := n.GetColumnRef(); n.GetAConst() == nil && (ref == nil || len(ref.Fields) > 1 || !names[lastName(ref.Fields)]) {
			g.overGroups(n)
		}
	}
	return o, !g.failed && len(g.list) > 0
}

// key is what an entry of GROUP BY means, which may be one of the select list; nil where that is not sure.
func (g *groups) key(n *pg_query.Node, targets []*pg_query.Node) *pg_query.Node {
	if c := n.GetAConst(); c != nil {
		if i := int(c.GetIval().GetIval()); i >= 1 && i <= len(targets) {
			return targets[i-1].GetResTarget().Val
		}
		return nil
	}
	ref := n.GetColumnRef()
	if ref == nil || len(ref.Fields) > 1 {
		return n
	}
	name := lastName(ref.Fields)
	i := slices.IndexFunc(targets, func(t *pg_query.Node) bool { return t.GetResTarget().Name == name })
	if i < 0 {
		return n
	}
	value := targets[i].GetResTarget().Val
	if v := value.GetColumnRef(); v != nil && lastName(v.Fields) == name {
		return value
	}
	if input, sure := g.isInput(name); !sure {
		return nil
	} else if input { // which goes first
		return n
	}
	return value
}

// isInput reports whether a name is that of a column in FROM, and whether that is sure.
func (g *groups) isInput(name string) (input, sure bool) {
	for _, n := range g.q.FromClause {
		src := g.b.sourceOf(n.GetRangeVar())
		if src == nil || len(src.Var.GetAlias().GetColnames()) > 0 {
			return false, false
		}
		for i := range src.table.Columns {
			input = input || src.table.Columns[i].Name == name
		}
	}
	return input, !slices.Contains(systemColumns, name)
}

// overGroups has columns of what the server yields stand for keys and aggregates in an expression.
func (g *groups) overGroups(n *pg_query.Node) {
	if n == nil {
		return
	}
	g.bare(n)
	parser.Walk(n, func(m proto.Message) bool {
		n, ok := m.(*pg_query.Node)
		if !ok {
			return true
		}
		if i := slices.IndexFunc(g.keys, func(key *pg_query.Node) bool { return sameKind(key, n) && parser.Same(key, n) }); i >= 0 {
			n.Node = g.column(i).Node
			return false
		}
		f := n.GetFuncCall()
		if f != nil && g.isAggregate(f) {
			n.Node = g.aggregate(f).Node
			return false
		}
		g.failed = g.failed || f != nil && f.Over == nil && !g.isScalar(f) || !plainNode(n)
		return !g.failed
	})
}

// sameKind spares most comparisons.
func sameKind(a, b *pg_query.Node) bool { return reflect.TypeOf(a.Node) == reflect.TypeOf(b.Node) }

// plainNode reports whether a node is of a kind that means the same over groups, provided that all in it does.
func plainNode(n *pg_query.Node) bool {
	switch n.GetNode().(type) {
	case nil, *pg_query.Node_AConst, *pg_query.Node_ParamRef, *pg_query.Node_TypeCast, *pg_query.Node_TypeName, *pg_query.Node_AExpr, *pg_query.Node_BoolExpr,
		*pg_query.Node_NullTest, *pg_query.Node_BooleanTest, *pg_query.Node_CaseExpr, *pg_query.Node_CaseWhen, *pg_query.Node_CoalesceExpr,
		*pg_query.Node_MinMaxExpr, *pg_query.Node_FuncCall, *pg_query.Node_AArrayExpr, *pg_query.Node_RowExpr, *pg_query.Node_CollateClause,
		*pg_query.Node_List, *pg_query.Node_String_, *pg_query.Node_Integer, *pg_query.Node_ResTarget, *pg_query.Node_SortBy, *pg_query.Node_WindowDef:
		return true
	}
	return false
}

// bare takes the name of the one relation in FROM off its columns, so that these look alike.
func (g *groups) bare(n *pg_query.Node) {
	if len(g.q.FromClause) != 1 {
		return
	}
	item := g.q.FromClause[0]
	alias := item.GetRangeSubselect().GetAlias().GetAliasname()
	if v := item.GetRangeVar(); v != nil {
		alias = aliasOf(v)
	}
	parser.Walk(n, func(m proto.Message) bool {
		switch m := m.(type) {
		case *pg_query.SubLink:
			return false
		case *pg_query.ColumnRef:
			if len(m.Fields) == 2 && alias != "" && m.Fields[0].GetString_().GetSval() == alias && m.Fields[1].GetAStar() == nil {
				m.Fields = m.Fields[1:]
			}
		}
		return true
	})
}

// builtin returns the name of a function that is pg_catalog's for sure, "" for any other.
func (g *groups) builtin(f *pg_query.FuncCall) string {
	name := lastName(f.Funcname)
	if len(f.Funcname) == 1 && !g.b.req.Snapshot.Shadows[name] || len(f.Funcname) == 2 && f.Funcname[0].GetString_().GetSval() == "pg_catalog" {
		return name
	}
	return ""
}

func (g *groups) isScalar(f *pg_query.FuncCall) bool {
	return plainCall(f) && !f.AggWithinGroup && dialect.Scalar(g.builtin(f))
}

// isAggregate reports whether a call is of an aggregate that the server may compute, or parts of it.
func (g *groups) isAggregate(f *pg_query.FuncCall) bool {
	name := g.builtin(f)
	return f.Over == nil && !f.AggWithinGroup && name != "" && !dialect.Scalar(name) &&
		(name == "avg" || len(g.table.Named(dialect.Aggregate, name, len(f.Args))) > 0)
}

// aggregate is what stands for an aggregate over groups. An average is Postgres' quotient of two numerics, the sum and the count.
func (g *groups) aggregate(f *pg_query.FuncCall) *pg_query.Node {
	name := g.builtin(f)
	if name == "avg" {
		g.averages++
	}
	if name != "avg" || !g.parts {
		return g.column(g.yield(called(name, f)))
	}
	sum, count := g.yield(called("sum", f)), g.yield(called("count", f))
	g.sums = append(g.sums, sum)
	divide := []*pg_query.Node{pg_query.MakeStrNode("pg_catalog"), pg_query.MakeStrNode("/")}
	return pg_query.MakeAExprNode(pg_query.A_Expr_Kind_AEXPR_OP, divide, g.number(sum), g.number(count), -1)
}

// number is a column as a numeric.
func (g *groups) number(i int) *pg_query.Node { return castTo(g.column(i), "pg_catalog", "numeric") }

// called is a call of an aggregate of pg_catalog over what another is of.
func called(name string, f *pg_query.FuncCall) *pg_query.Node {
	f = proto.CloneOf(f)
	f.Funcname = []*pg_query.Node{pg_query.MakeStrNode("pg_catalog"), pg_query.MakeStrNode(name)}
	return &pg_query.Node{Node: &pg_query.Node_FuncCall{FuncCall: f}}
}

// yield has the server yield an expression, once, and returns which of its columns it is.
func (g *groups) yield(n *pg_query.Node) int {
	if i := slices.IndexFunc(g.list, func(o *pg_query.Node) bool { return parser.Same(o, n) }); i >= 0 {
		return i
	}
	g.list = append(g.list, proto.CloneOf(n))
	return len(g.list) - 1
}

// name is that of a column that the server yields.
func (g *groups) name(i int) string {
	name := "c" + itoa(i+1)
	for g.b.hasColumn(name) {
		name += "_"
	}
	return name
}

func (g *groups) column(i int) *pg_query.Node {
	return pg_query.MakeColumnRefNode([]*pg_query.Node{pg_query.MakeStrNode(ownGroups), pg_query.MakeStrNode(g.name(i))}, -1)
}

// inner is what the server computes.
func (g *groups) inner() *pg_query.SelectStmt {
	in := &pg_query.SelectStmt{
		FromClause: g.q.FromClause, WhereClause: g.q.WhereClause, WithClause: g.q.WithClause,
		LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE,
	}
	for i, n := range g.list {
		in.TargetList = append(in.TargetList, pg_query.MakeResTargetNodeWithNameAndVal(g.name(i), n, -1))
	}
	for i, key := range g.keys {
		if key.GetColumnRef() == nil { // by its place, so that an engine need not see that it is the same
			key = pg_query.MakeAConstIntNode(int64(i+1), -1)
		}
		in.GroupClause = append(in.GroupClause, key)
	}
	return in
}

// divides reports whether what home divides is exact.
func (g *groups) divides(s *source) bool {
	return !slices.ContainsFunc(g.sums, func(i int) bool { t := s.table.Columns[i].Type; return t != int8OID && t != numericOID })
}
