package page

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"github.com/sluicedb/sluice/parser"
)

// Advice is the index that a query lacks.
type Advice struct {
	Relation *Relation
	Keys     []string // as in CREATE INDEX
	SQL      string
}

// Served reports whether an index has the order of the query, or the first key of it at least. Where it has not the whole, advice says
// which would have, if one can. Rows of engines, and those that are computed from several, are in no index.
func (q *Query) Served() (served bool, advice *Advice) {
	if !q.hides || q.opaque || len(q.from) == 0 || len(q.sel.GroupClause) > 0 || q.yieldsRows() {
		return false, nil
	}
	for i := range q.from {
		if f := q.from[i].facts; f == nil || f.Kind == "f" || f.Kind == "v" || slices.ContainsFunc(f.Columns, func(c Column) bool { return c.Masked }) {
			return false, nil
		}
	}
	of := q.keys[0].of
	if of == nil { // an expression over the only table
		if len(q.from) > 1 {
			return false, nil
		}
		of = &q.from[0]
	}
	if !of.facts.Plain || slices.ContainsFunc(q.keys, func(k key) bool { return k.of != nil && k.of != of }) {
		return false, nil
	}
	fixed := q.fixed(of)
	best := 0
	for _, x := range of.facts.Indexes {
		if n, native := q.match(of, &x, fixed); n > best {
			best, q.native, q.index = n, native, x.Name
		}
	}
	if best < len(q.keys) {
		advice = q.advise(of, fixed)
	}
	return best > 0, advice
}

// fixed are the columns of a table that equal something that is the same for all rows.
func (q *Query) fixed(of *from) (list []*Column) {
	for _, e := range q.equalities() {
		if e.a.of == of && e.b.c == nil && e.only == nil && !slices.Contains(list, e.a.c) {
			list = append(list, e.a.c)
		}
	}
	return list
}

// match returns how many of the keys an index has in order, forwards or backwards, behind columns that are fixed, and whether it has
// NULLs first in these.
func (q *Query) match(of *from, x *Index, fixed []*Column) (n int, native []bool) {
	if !x.Btree || x.Partial {
		return 0, nil
	}
	at := 0
	isKey := func(n *IndexKey) bool { return len(q.keys) > 0 && q.is(&q.keys[0], of, n) }
	for at < len(x.Keys) && !isKey(&x.Keys[at]) && slices.ContainsFunc(fixed, func(c *Column) bool { return c.Num == x.Keys[at].Num }) {
		at++
	}
	backwards := false
	for ; n < len(q.keys) && at+n < len(x.Keys); n++ {
		k, c := &q.keys[n], &x.Keys[at+n]
		if !q.is(k, of, c) {
			break
		}
		if n == 0 {
			backwards = k.desc != c.Desc
		}
		// NULLs of the first key are a range of their own.
		if k.desc != (c.Desc != backwards) || n > 0 && !k.notNull && k.first != (c.First != backwards) {
			break
		}
		native = append(native, c.First != backwards)
	}
	if n == len(q.keys) || n > 0 && x.Unique && !x.Partial && n == len(x.Keys)-at && q.allNotNull(n) {
		return len(q.keys), native
	}
	return n, native
}

// allNotNull reports whether none of the first n keys may be NULL.
func (q *Query) allNotNull(n int) bool {
	return !slices.ContainsFunc(q.keys[:n], func(k key) bool { return !k.notNull })
}

// is reports whether a key of the query is one of an index.
func (q *Query) is(k *key, of *from, c *IndexKey) bool {
	if k.column != nil {
		return k.of == of && c.Num == k.column.Num && c.Collation == k.column.Collation
	}
	return c.Num == 0 && k.expr != nil && plain(c.Expression) == plain(printed(k.expr))
}

func printed(n *pg_query.Node) string {
	sql, err := parser.DeparseList([]*pg_query.Node{n})
	if err != nil {
		return ""
	}
	return sql
}

// plain is an expression without what two ways to print it differ in.
func plain(sql string) string {
	return strings.NewReplacer("::text", "", " ", "", "(", "", ")", "").Replace(strings.ToLower(sql))
}

// advise says which index would have the order.
func (q *Query) advise(of *from, fixed []*Column) *Advice {
	a := &Advice{Relation: of.facts}
	for _, c := range fixed {
		if !slices.ContainsFunc(q.keys, func(k key) bool { return k.column == c }) {
			a.Keys = append(a.Keys, spelled(c.Name))
		}
	}
	for i, k := range q.keys {
		sql := ""
		switch {
		case k.column != nil:
			sql = spelled(k.column.Name)
		case k.expr != nil:
			sql = "(" + printed(k.expr) + ")"
		}
		// The index is read backwards where the first key goes down.
		desc, first := k.desc != q.keys[0].desc, k.first != q.keys[0].desc
		if desc {
			sql += " DESC"
		}
		if i > 0 && !k.notNull && first != desc {
			sql += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[first]
		}
		a.Keys = append(a.Keys, sql)
	}
	a.SQL = "CREATE INDEX CONCURRENTLY ON " + spelled(of.facts.Schema) + "." + spelled(of.facts.Name) + " (" + strings.Join(a.Keys, ", ") + ")"
	return a
}
