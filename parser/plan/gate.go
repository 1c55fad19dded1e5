package plan

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

// gates are the conditions above references to tables that hang on no row, as 1 = 0 does: where one is not true, Postgres asks
// the tables for nothing (its One-Time Filter).
type gates map[*pg_query.RangeVar][]*pg_query.Node

// shut gives an input its gate: 0 where a reference that shares it has none, or another.
func (b *builder) shut(in *Input, above []*pg_query.Node, fresh bool) {
	gate, text := 0, ""
	if len(above) > 0 {
		n := above[0]
		if len(above) > 1 {
			n = pg_query.MakeBoolExprNode(pg_query.BoolExprType_AND_EXPR, above, -1)
		}
		if gate = b.moment(n, boolOID); gate > 0 {
			text, _ = parser.DeparseList([]*pg_query.Node{n})
		}
	}
	if fresh {
		in.Gate, in.OneTime = gate, text
	} else if in.Gate != gate {
		in.Gate, in.OneTime = 0, ""
	}
}

// gates finds those of the statement's queries.
func (b *builder) gates() gates {
	found := gates{}
	b.gatesBelow(b.statement.Node, nil, found)
	return found
}

// gatesBelow looks for queries below a node that stands below conditions.
func (b *builder) gatesBelow(m proto.Message, above []*pg_query.Node, found gates) {
	parser.Walk(m, func(m proto.Message) bool {
		q, ok := m.(*pg_query.SelectStmt)
		if ok {
			b.queryGates(q, above, found)
		}
		return !ok
	})
}

// queryGates is for one query: its conditions are above its FROM and WHERE, and what else there is may be computed for no rows.
func (b *builder) queryGates(q *pg_query.SelectStmt, above []*pg_query.Node, found gates) {
	within := b.withGates(above, q.WhereClause)
	for _, n := range q.FromClause {
		b.fromGates(n, within, found)
	}
	if q.WhereClause != nil {
		b.gatesBelow(q.WhereClause, within, found)
	}
	for _, n := range slices.Concat(q.TargetList, q.DistinctClause, q.GroupClause, q.WindowClause, q.ValuesLists, q.SortClause,
		[]*pg_query.Node{q.HavingClause, q.LimitCount, q.LimitOffset}) {
		if n != nil {
			b.gatesBelow(n, above, found)
		}
	}
	if q.WithClause != nil {
		b.gatesBelow(q.WithClause, above, found)
	}
	for _, side := range []*pg_query.SelectStmt{q.Larg, q.Rarg} {
		if side != nil {
			b.queryGates(side, above, found)
		}
	}
}

// fromGates is for an item of FROM. A condition of an outer join concerns the side alone that may come without rows.
func (b *builder) fromGates(n *pg_query.Node, above []*pg_query.Node, found gates) {
	if v := n.GetRangeVar(); v != nil {
		found[v] = above
		return
	}
	j := n.GetJoinExpr()
	if j == nil {
		b.gatesBelow(n, above, found)
		return
	}
	left, right := above, above
	within := b.withGates(above, j.Quals)
	switch j.Jointype {
	case pg_query.JoinType_JOIN_INNER:
		left, right = within, within
	case pg_query.JoinType_JOIN_LEFT:
		right = within
	case pg_query.JoinType_JOIN_RIGHT:
		left = within
	}
	b.fromGates(j.Larg, left, found)
	b.fromGates(j.Rarg, right, found)
	if j.Quals != nil {
		b.gatesBelow(j.Quals, above, found)
	}
}

// withGates adds the conditions of a clause that hang on no row.
func (b *builder) withGates(above []*pg_query.Node, clause *pg_query.Node) []*pg_query.Node {
	for _, c := range parser.Conjuncts(clause, nil) {
		if b.rowless(c) {
			above = append(slices.Clip(above), c)
		}
	}
	return above
}

// rowless reports whether an expression has the same value for all rows, whenever it is computed: it is made of literals, parameters
// and of what is known not to change.
func (b *builder) rowless(n *pg_query.Node) bool {
	all := true
	parser.Walk(n, func(m proto.Message) bool {
		all = all && b.rowlessNode(m)
		return all
	})
	return all
}

func (b *builder) rowlessNode(m proto.Message) bool {
	shadows := b.req.Snapshot.Shadows
	switch n := m.(type) {
	case *pg_query.Node, *pg_query.A_Const, *pg_query.Integer, *pg_query.Float, *pg_query.Boolean, *pg_query.String, *pg_query.BitString,
		*pg_query.TypeName, *pg_query.ParamRef, *pg_query.BoolExpr, *pg_query.NullTest, *pg_query.BooleanTest, *pg_query.List,
		*pg_query.CoalesceExpr, *pg_query.MinMaxExpr, *pg_query.CaseExpr, *pg_query.CaseWhen:
		return true
	case *pg_query.TypeCast:
		name := lastName(n.TypeName.Names)
		_, known := castNames[name]
		return (known || name == "interval") && !shadows[name]
	case *pg_query.A_Expr:
		return !shadows[lastName(n.Name)]
	case *pg_query.FuncCall:
		name := lastName(n.Funcname)
		return plainCall(n) && !shadows[name] && len(dialect.DuckDB{}.Table().Named(dialect.Function, name, len(n.Args))) > 0
	}
	return false
}
