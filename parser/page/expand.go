package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// TokenColumn is the column that a page has besides those of the query.
const TokenColumn = "page_token"

// Field is a column of what Inner yields, as home describes it.
type Field struct {
	Name string
	OID  uint32
	Type string // the name of a built-in type, as a cast has it; empty for any other
}

// Options say what page is wanted.
type Options struct {
	Size  string // an expression in SQL
	Rows  int    // its value where it is known, else 0
	After string // an expression in SQL, empty for the first page
	Index bool   // an index has the order: see Served

	quiet bool // somebody else notes the page
}

// Inner is the query with its keys selected first, and in no order. Know has found these.
func (q *Query) Inner() (_ string, err error) {
	if q.inner == "" {
		q.inner, err = q.makeInner()
	}
	return q.inner, err
}

func (q *Query) makeInner() (string, error) {
	st, err := parser.Parse(q.Text)
	if err != nil {
		return "", err
	}
	clone := st[0].Clone()
	sel := clone.Node.Stmt.GetSelectStmt()
	sel.SortClause = nil
	if q.hides {
		var keys []*pg_query.Node
		for i, k := range q.keys {
			if k.expr == nil {
				return "", pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the query of sluice.page orders by number %d, behind a *", k.ordinal), "Order by the name of the column.")
			}
			t := pg_query.MakeResTargetNodeWithVal(k.expr, -1)
			t.GetResTarget().Name = keyColumn(i)
			keys = append(keys, t)
		}
		sel.TargetList = append(keys, sel.TargetList...)
	}
	return parser.Deparse(clone.Node)
}

// Describe takes in the columns of what Inner yields. name returns the name of a type that is not built in, empty for one that keys
// cannot have.
func (q *Query) Describe(fields []Field, name func(oid uint32) (string, error)) ([]string, error) {
	q.fields = fields
	own := fields
	if q.hides {
		own = fields[len(q.keys):]
	}
	var columns []string
	for _, f := range own {
		if f.Name == TokenColumn || strings.HasPrefix(f.Name, "sluice_key_") || slices.Contains(columns, f.Name) {
			return nil, pgerr.Hint(pgerr.New(pgerr.DuplicateColumn, "column name %q is specified more than once in the query of sluice.page", f.Name),
				"Give each column a name of its own, by AS; %s is taken.", TokenColumn)
		}
		columns = append(columns, f.Name)
	}
	for i := range q.keys {
		k := &q.keys[i]
		f := fields[i]
		if !q.hides {
			at := k.ordinal - 1
			if k.ordinal == 0 {
				at = slices.IndexFunc(fields, func(f Field) bool { return f.Name == k.output })
			}
			if at < 0 || at >= len(fields) {
				return nil, pgerr.New(pgerr.InvalidColumnReference, "ORDER BY position %d is not in select list", k.ordinal)
			}
			f = fields[at]
			k.output = f.Name
		}
		k.oid = f.OID
		if k.typ = types[f.OID]; k.typ != "" {
			k.typ = "pg_catalog." + k.typ
			continue
		}
		var err error
		if k.typ, err = name(f.OID); err != nil {
			return nil, err
		}
		if k.typ == "" {
			return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the query of sluice.page is ordered by a column of a type that tokens cannot hold, number %d of ORDER BY", i+1),
				"Order by numbers, times, text, uuid and the like.")
		}
	}
	if !q.hides && len(q.keys) == len(columns) {
		q.unique, q.sworn = len(q.sel.DistinctClause) > 0 || q.sel.Op != pg_query.SetOperation_SETOP_NONE && !q.sel.All, true
	}
	return columns, nil
}

// Expand prints the sub-select that stands in place of a call. columns are those that Describe has returned.
func (q *Query) Expand(columns []string, o Options) (string, error) {
	inner, err := q.Inner()
	if err != nil {
		return "", err
	}
	x := expansion{q: q, o: o, inner: inner, digest: q.digest()}
	list := make([]string, len(columns), len(columns)+1)
	for i, c := range columns {
		list[i] = "p." + quote(c)
	}
	const found = "(SELECT a.seal FROM sluice_after a), k.keys"
	tokens := "SELECT sluice.page_tokens(" + found + ", k.tied) FROM sluice_keys k"
	list = append(list, "(("+tokens+"))[pg_catalog.row_number() OVER ()] AS "+TokenColumn)
	end := ""
	if !o.quiet { // no rows are skipped: the page is noted before its first row goes on, or its end
		end = " OFFSET (SELECT sluice.note_page(" + found + ", " + x.limit(0) + ", k.tied) FROM sluice_keys k)"
	}
	return "(WITH sluice_after AS MATERIALIZED (" + x.start() + "), sluice_rows AS MATERIALIZED (" + x.rows() + "), sluice_keys AS MATERIALIZED (" + x.found() +
		") SELECT " + strings.Join(list, ", ") + " FROM sluice_rows AS p LIMIT " + x.limit(0) + end + ")", nil
}

// start prints what looks at the token, and at what the statement was made from.
func (x *expansion) start() string {
	nullable := 0
	for i, k := range x.q.keys {
		if !k.notNull {
			nullable |= 1 << i
		}
	}
	return "SELECT s.seal, s.keys, s.nulls FROM sluice.page_start(" + x.arguments() + ", " + array(x.q.notNull, "int8") + ", " + array(x.q.uniques, "oid") + ", " + itoa(nullable) + ") AS s"
}

// found prints the keys of the rows that were found, and whether two of these have all of them in common.
func (x *expansion) found() string {
	keys, tied := make([]string, len(x.q.keys)), make([]string, len(x.q.keys))
	for i, k := range x.q.keys {
		column := "p." + x.q.column(i)
		keys[i] = textOf(column, k.oid)
		tied[i] = "pg_catalog.lead(" + column + ") OVER () IS NOT DISTINCT FROM " + column
	}
	row := "pg_catalog.array_to_json(ARRAY[" + strings.Join(keys, ", ") + "])::pg_catalog.text"
	if x.q.unique && x.q.sworn {
		return "SELECT pg_catalog.array_agg(" + row + ") AS keys, false AS tied FROM sluice_rows AS p"
	}
	return "SELECT pg_catalog.array_agg(k.keys) AS keys, pg_catalog.bool_or(k.tied) AS tied FROM (SELECT " + row +
		" AS keys, pg_catalog.lead(true) OVER () AND " + strings.Join(tied, " AND ") + " AS tied FROM sluice_rows AS p) AS k"
}

type expansion struct {
	q      *Query
	o      Options
	inner  string
	digest string
}

// digest tells queries and their orders apart.
func (q *Query) digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "1\x00%s\x00", q.Text)
	for _, k := range q.keys {
		fmt.Fprintf(h, "%d %t %t\x00", k.oid, k.desc, k.first)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// arguments are those of the functions that look at a token.
func (x *expansion) arguments() string {
	after := x.o.After
	if after == "" {
		after = "NULL"
	}
	return "'" + x.digest + "', " + after + ", " + itoa(len(x.q.keys))
}

func array(list []int64, typ string) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = fmt.Sprint(n)
	}
	return "'{" + strings.Join(parts, ",") + "}'::pg_catalog." + typ + "[]"
}

// limit prints how many rows a page has, and some more.
func (x *expansion) limit(more int) string {
	if x.o.Rows > 0 {
		return itoa(x.o.Rows + more)
	}
	return "(SELECT sluice.page_rows(" + x.o.Size + ", " + itoa(more) + "))"
}

// mostKeys bounds the sort keys of a query: whether each is NULL is a bit of an integer.
const mostKeys = 30

// mostLegs bounds the ranges that a page is put together from.
const mostLegs = 32

// rows prints what yields the rows of the page and one more, in order.
func (x *expansion) rows() string {
	if sql := x.ranges(); sql != "" {
		return sql
	}
	return x.pass()
}

// select1 prints the query's rows of one range.
func (x *expansion) select1(where []string, l leg) string {
	sql := "SELECT " + x.list() + " FROM (" + x.inner + ") AS q"
	if where = append(where, l.where...); len(where) > 0 {
		sql += " WHERE " + strings.Join(where, " AND ")
	}
	return sql + x.q.order(l) + " LIMIT " + x.limit(1)
}

// list prints the columns of the query. Another Postgres is only sent those that say what type they have.
func (x *expansion) list() string {
	if !slices.ContainsFunc(x.q.from, func(f from) bool { return f.facts != nil && f.facts.Wrapper == "sluice_postgres" }) {
		return "*"
	}
	list := make([]string, len(x.q.fields))
	for i, f := range x.q.fields {
		if f.Type == "" {
			return "*"
		}
		list[i] = "q." + quote(f.Name) + "::" + f.Type + " AS " + quote(f.Name)
	}
	return strings.Join(list, ", ")
}

// pass prints one pass over all rows, which an engine may compute.
func (x *expansion) pass() string {
	if x.o.After == "" {
		return x.select1(nil, leg{})
	}
	value := func(i int) string {
		return valueOf("(SELECT sluice.page_value("+x.arguments()+", "+itoa(i+1)+"))", x.q.keys[i].oid, x.q.keys[i].typ)
	}
	return x.select1([]string{"((SELECT sluice.page_first(" + x.arguments() + ")) OR " + x.q.condition(value) + ")"}, leg{})
}

// ranges prints the page as ranges of which an index yields each, those that are not needed for what the token says switched off;
// empty where that is not possible.
func (x *expansion) ranges() string {
	q := x.q
	if !x.o.Index {
		return ""
	}
	var list []string
	add := func(gate int, legs []leg) {
		for _, l := range legs {
			var where []string
			if x.o.After != "" {
				where = []string{"(SELECT a.nulls FROM sluice_after a) = " + itoa(gate)}
			}
			list = append(list, x.select1(where, l))
		}
	}
	add(-1, q.all())
	value := func(i int) string {
		return valueOf("(SELECT a.keys["+itoa(i+1)+"] FROM sluice_after a)", q.keys[i].oid, q.keys[i].typ)
	}
	for nulls := 0; x.o.After != "" && nulls < 1<<len(q.keys) && len(list) <= mostLegs; nulls++ {
		null := func(i int) bool { return nulls>>i&1 == 1 }
		if possible := func() bool {
			for i, k := range q.keys {
				if k.notNull && null(i) {
					return false
				}
			}
			return true
		}; possible() {
			add(nulls, q.after(null, value))
		}
	}
	switch {
	case len(list) > mostLegs:
		return ""
	case len(list) == 1:
		return list[0]
	}
	return "SELECT * FROM ((" + strings.Join(list, ") UNION ALL (") + ")) AS r LIMIT " + x.limit(1)
}

// Inside makes an error in a query that stands in a literal one of the kind that Postgres reports of the bodies of functions.
func Inside(err error, text string) error {
	pe, ok := err.(*pgconn.PgError)
	if !ok || pe.Severity == "FATAL" {
		return err
	}
	e := *pe
	if e.Position > 0 && e.InternalPosition == 0 {
		e.InternalPosition, e.InternalQuery, e.Position = e.Position, text, 0
	}
	return &e
}
