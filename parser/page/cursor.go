package page

import (
	"strings"
)

// The forms that pages of a query may have.
const (
	RowValue   = "row_value"   // one range, by a comparison of rows
	TwoLeg     = "two_leg"     // several, for values and for NULLs
	BoundedAnd = "bounded_and" // all rows, by a condition
)

// Form is the form of the query's pages.
func (q *Query) Form(o Options) string {
	x := expansion{q: q, o: o}
	switch {
	case q.keys[0].notNull && q.uniform(len(q.keys)-1) == 0:
		return RowValue
	case x.ranges() != "":
		return TwoLeg
	}
	return BoundedAnd
}

// Open prints the call that opens a cursor, in place of one that names its query alone. name and ttl are expressions in SQL.
func (q *Query) Open(name, ttl string, o Options) string {
	keys := make([]string, len(q.keys))
	for i, k := range q.keys {
		sql := q.column(i)
		if k.expr != nil {
			sql = printed(k.expr)
		}
		if k.desc {
			sql += " DESC"
		}
		if k.first != k.desc {
			sql += map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[k.first]
		}
		keys[i] = literal(sql)
	}
	index := "NULL"
	if o.Index {
		index = literal(q.index)
	}
	return "sluice.open_cursor(" + strings.Join([]string{
		literal(q.Text), name, ttl, "'" + q.digest() + "'", "ARRAY[" + strings.Join(keys, ", ") + "]", "'" + q.Form(Options{After: "NULL", Rows: 1, Index: o.Index}) + "'", index,
	}, ", ") + ")"
}

// Fetch prints the sub-select that stands in place of a call which reads the next page of a cursor and moves it. The page is
// there as a whole before its first row goes on, so that a cursor moves once whoever reads how much of it.
func (q *Query) Fetch(columns []string, name string, o Options) (string, error) {
	cursor := literal(name) + ", '" + q.digest() + "'"
	o.After, o.quiet = "sluice.cursor_position("+cursor+")", true
	page, err := q.Expand(columns, o)
	if err != nil {
		return "", err
	}
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = "r." + quote(c)
	}
	return "(WITH sluice_page AS MATERIALIZED (SELECT * FROM " + page + " AS p WHERE NOT (SELECT sluice.cursor_done(" + cursor + "))), " +
		"sluice_moved AS MATERIALIZED (SELECT sluice.move_cursor(" + cursor + ", pg_catalog.count(*), (pg_catalog.array_agg(r." + TokenColumn +
		"))[pg_catalog.count(*)], " + (&expansion{o: o}).limit(0) + ") AS moved FROM sluice_page r) " +
		"SELECT " + strings.Join(list, ", ") + " FROM sluice_page r WHERE (SELECT m.moved FROM sluice_moved m))", nil
}
