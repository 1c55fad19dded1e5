package page

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/pgerr"
)

// readFrom notes the relations of the FROM clause.
func (q *Query) readFrom() {
	if q.sel.Op != pg_query.SetOperation_SETOP_NONE {
		q.opaque = true
		return
	}
	for _, n := range q.sel.FromClause {
		q.fromItem(n, false)
	}
}

func (q *Query) fromItem(n *pg_query.Node, nullable bool) {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_RangeVar:
		v := n.RangeVar
		if v.Schemaname == "" && slices.ContainsFunc(q.sel.GetWithClause().GetCtes(), func(c *pg_query.Node) bool { return c.GetCommonTableExpr().Ctename == v.Relname }) ||
			v.Catalogname != "" || len(v.GetAlias().GetColnames()) > 0 {
			q.opaque = true
			return
		}
		f := from{schema: v.Schemaname, name: v.Relname, alias: v.Relname, only: !v.Inh, nullable: nullable}
		if v.Alias != nil {
			f.alias, f.schema = v.Alias.Aliasname, v.Schemaname
		}
		q.from = append(q.from, f)
	case *pg_query.Node_JoinExpr:
		j := n.JoinExpr
		left := j.Jointype == pg_query.JoinType_JOIN_RIGHT || j.Jointype == pg_query.JoinType_JOIN_FULL
		right := j.Jointype == pg_query.JoinType_JOIN_LEFT || j.Jointype == pg_query.JoinType_JOIN_FULL
		if j.IsNatural || len(j.UsingClause) > 0 || j.Alias != nil { // which table a merged column is of depends on the join
			q.opaque = q.opaque || j.Alias != nil
			left, right = left || j.Jointype != pg_query.JoinType_JOIN_INNER, right || j.Jointype != pg_query.JoinType_JOIN_INNER
		}
		q.fromItem(j.Larg, nullable || left)
		q.fromItem(j.Rarg, nullable || right)
	default:
		q.opaque = true
	}
}

// Know takes in what home says of the relations, finds the columns that the keys are, and adds keys until they are unique.
func (q *Query) Know(facts *Facts) error {
	volatile := facts.functionsThat(func(f Function) bool { return f.Volatile })
	for _, k := range q.keys {
		for _, name := range functionsIn(k.expr) {
			if slices.Contains(volatile, name) {
				return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the query of sluice.page is ordered by function %s, which may yield something else each time", name),
					"Order by what stays: columns, and functions that are immutable or stable.")
			}
		}
	}
	q.sets = facts.functionsThat(func(f Function) bool { return f.Set })
	for i := range q.from {
		if i < len(facts.Relations) && facts.Relations[i] != nil {
			f := *facts.Relations[i]
			if q.from[i].only {
				f.Plain = true
			}
			q.from[i].facts = &f
		}
	}
	for i := range q.keys {
		q.resolve(&q.keys[i])
	}
	q.makeUnique()
	if len(q.keys) == 0 {
		return pgerr.Hint(pgerr.New(pgerr.InvalidColumnReference, "the query of sluice.page has no order"),
			"No unique key of what it reads is known that could be its order: add ORDER BY.")
	}
	if len(q.keys) > mostKeys {
		return pgerr.New(pgerr.ProgramLimitExceeded, "the query of sluice.page is ordered by %d columns, with those of its unique keys: the limit is %d", len(q.keys), mostKeys)
	}
	for i := range q.keys {
		if k := &q.keys[i]; k.notNull {
			q.notNull = append(q.notNull, k.of.facts.OID, k.column.Num)
		}
	}
	return nil
}

// resolve finds the column that a key is.
func (q *Query) resolve(k *key) {
	if k.ordinal > 0 && k.expr == nil && q.hides && len(q.from) == 1 && !q.opaque && len(q.sel.TargetList) == 1 && star(q.sel.TargetList[0].GetResTarget().Val) {
		if f := q.from[0].facts; f != nil && k.ordinal <= len(f.Columns) {
			k.expr, k.ordinal = q.from[0].ref(f.Columns[k.ordinal-1].Name), 0
		}
	}
	if k.expr == nil {
		return
	}
	if k.of, k.column = q.columnOf(k.expr); k.column != nil {
		k.notNull = k.column.NotNull && !k.column.Masked && k.of.facts.Plain && !k.of.nullable && !q.groupingSets()
	}
}

func (q *Query) groupingSets() bool {
	return slices.ContainsFunc(q.sel.GroupClause, func(n *pg_query.Node) bool { return n.GetGroupingSet() != nil })
}

// columnOf returns the column that an expression is, nil where it is none or may be one of several.
func (q *Query) columnOf(n *pg_query.Node) (*from, *Column) {
	c := n.GetColumnRef()
	if c == nil || len(c.Fields) > 2 || star(n) {
		return nil, nil
	}
	name := c.Fields[len(c.Fields)-1].GetString_().GetSval()
	var of *from
	var found *Column
	for i := range q.from {
		f := &q.from[i]
		if len(c.Fields) == 2 && f.alias != c.Fields[0].GetString_().GetSval() {
			continue
		}
		if f.facts == nil && len(c.Fields) == 1 { // nobody knows whether it has one of the name
			return nil, nil
		}
		if f.facts == nil {
			continue
		}
		if column := f.facts.column(name); column != nil {
			if found != nil {
				return nil, nil
			}
			of, found = f, column
		}
	}
	if q.opaque && len(c.Fields) == 1 {
		return nil, nil
	}
	return of, found
}

// ref returns a reference to a column.
func (f *from) ref(column string) *pg_query.Node {
	return pg_query.MakeColumnRefNode([]*pg_query.Node{pg_query.MakeStrNode(f.alias), pg_query.MakeStrNode(column)}, -1)
}
