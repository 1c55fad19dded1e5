package page

import (
	"slices"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser"
)

// makeUnique adds keys that tell rows apart which have all others in common. Where none are known it is for page_token to find
// out that there are such rows.
func (q *Query) makeUnique() {
	switch {
	case !q.hides:
	case len(q.sel.GroupClause) > 0:
		q.groupKeys()
	case q.yieldsRows() || q.opaque || len(q.from) == 0:
	default:
		q.rowKeys()
	}
}

// groupKeys adds what rows are grouped by.
func (q *Query) groupKeys() {
	var list []*pg_query.Node
	for _, n := range q.sel.GroupClause {
		if n.GetGroupingSet() != nil {
			return
		}
		if i := n.GetAConst().GetIval(); i != nil {
			n = q.target(int(i.Ival) - 1)
		} else if name := bareName(n); name != "" {
			if _, c := q.columnOf(n); c == nil { // it may be one of what is selected
				if t := q.selected(name); t != nil {
					n = t
				}
			}
		}
		if n == nil {
			return
		}
		list = append(list, n)
	}
	for _, n := range list {
		q.addKey(key{expr: n})
	}
	q.unique, q.sworn = true, true
}

// yieldsRows reports whether what is selected, or a key, may be an aggregate over all rows or yield several for one.
func (q *Query) yieldsRows() bool {
	return q.sel.HavingClause != nil || slices.ContainsFunc(q.functions(), func(name string) bool { return slices.Contains(q.sets, name) })
}

// rowKeys adds a unique key of each table whose rows are not determined by those of others.
func (q *Query) rowKeys() {
	left := make([]*from, len(q.from))
	for i := range q.from {
		if left[i] = &q.from[i]; left[i].facts == nil {
			return
		}
	}
	equal := q.equalities()
	for i := len(left) - 1; i >= 0 && len(left) > 1; i-- {
		if others := slices.Delete(slices.Clone(left), i, i+1); left[i].determined(others, equal) {
			left = others
		}
	}
	var chosen []uniqueKey
	for _, f := range left {
		keys := f.facts.uniqueKeys()
		if len(keys) == 0 {
			return
		}
		// One that the keys have already is best.
		at := max(slices.IndexFunc(keys, func(u uniqueKey) bool { return q.missing(f, u) == 0 }), 0)
		chosen = append(chosen, keys[at])
	}
	q.unique, q.sworn = true, true
	for i, f := range left {
		for _, c := range chosen[i].columns {
			q.addKey(key{expr: f.ref(c.Name), of: f, column: c, notNull: c.NotNull && f.facts.Plain && !f.nullable})
		}
		if chosen[i].index != 0 {
			q.uniques = append(q.uniques, chosen[i].index)
		} else {
			q.sworn = false
		}
	}
}

// missing is how many columns of a unique key are no keys yet.
func (q *Query) missing(f *from, u uniqueKey) (n int) {
	for _, c := range u.columns {
		if !slices.ContainsFunc(q.keys, func(k key) bool { return k.of == f && k.column == c }) {
			n++
		}
	}
	return n
}

// addKey adds a key in the direction of the last one, unless it is there.
func (q *Query) addKey(k key) {
	for _, old := range q.keys {
		if old.of != nil && old.of == k.of && old.column == k.column || old.expr != nil && sameExpr(old.expr, k.expr) {
			return
		}
	}
	if k.of == nil {
		q.resolve(&k)
	}
	if n := len(q.keys); n > 0 {
		k.desc = q.keys[n-1].desc
	}
	k.first = k.desc
	q.keys = append(q.keys, k)
}

func sameExpr(a, b *pg_query.Node) bool {
	left, err := parser.DeparseList([]*pg_query.Node{a})
	if err != nil {
		return false
	}
	right, err := parser.DeparseList([]*pg_query.Node{b})
	return err == nil && left == right
}

// equality is a condition that two columns are equal, or that one equals something that is the same for all rows (no b then).
// Where only is there, it is one that holds for rows of that table alone, where there is one.
type equality struct {
	a, b column
	only *from
}

type column struct {
	of *from
	c  *Column
}

// equalities are those that hold for all rows, and those of outer joins.
func (q *Query) equalities() (list []equality) {
	add := func(n *pg_query.Node, only *from) {
		for _, c := range parser.Conjuncts(n, nil) {
			x := c.GetAExpr()
			if x.GetKind() != pg_query.A_Expr_Kind_AEXPR_OP || len(x.Name) != 1 || x.Name[0].GetString_().GetSval() != "=" {
				continue
			}
			e := equality{only: only}
			e.a.of, e.a.c = q.columnOf(x.Lexpr)
			e.b.of, e.b.c = q.columnOf(x.Rexpr)
			switch {
			case e.a.c == nil && e.b.c != nil && constant(x.Lexpr):
				e.a, e.b = e.b, e.a
			case e.a.c == nil, e.b.c == nil && !constant(x.Rexpr):
				continue
			}
			list = append(list, e)
		}
	}
	add(q.sel.WhereClause, nil)
	var joins func(n *pg_query.Node)
	joins = func(n *pg_query.Node) {
		j := n.GetJoinExpr()
		if j == nil {
			return
		}
		switch v := j.Rarg.GetRangeVar(); {
		case j.Jointype == pg_query.JoinType_JOIN_INNER:
			add(j.Quals, nil)
		case j.Jointype == pg_query.JoinType_JOIN_LEFT && v != nil:
			if f := q.named(v); f != nil {
				add(j.Quals, f)
			}
		}
		joins(j.Larg)
		joins(j.Rarg)
	}
	for _, n := range q.sel.FromClause {
		joins(n)
	}
	return list
}

// named returns the relation that a reference is to, nil where that is not known.
func (q *Query) named(v *pg_query.RangeVar) *from {
	alias := v.Relname
	if v.Alias != nil {
		alias = v.Alias.Aliasname
	}
	var found *from
	for i := range q.from {
		if q.from[i].alias == alias {
			if found != nil {
				return nil
			}
			found = &q.from[i]
		}
	}
	return found
}

// constant reports whether an expression is the same for all rows.
func constant(n *pg_query.Node) bool {
	if c := n.GetTypeCast(); c != nil {
		return constant(c.Arg)
	}
	return n.GetAConst() != nil || n.GetParamRef() != nil
}

// determined reports whether rows of others have one row of the table at most: all columns of a unique key of it are equal to
// columns of others.
func (f *from) determined(others []*from, list []equality) bool {
	return f.facts.Kind != "f" && slices.ContainsFunc(f.facts.uniqueKeys(), func(u uniqueKey) bool {
		for _, c := range u.columns {
			if !slices.ContainsFunc(list, func(e equality) bool {
				return (e.only == nil || e.only == f) && (e.a == column{f, c} && (e.b.c == nil || slices.Contains(others, e.b.of)) ||
					e.b == column{f, c} && slices.Contains(others, e.a.of))
			}) {
				return false
			}
		}
		return true
	})
}
