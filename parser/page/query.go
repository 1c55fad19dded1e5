package page

import (
	"slices"
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// Query is a query that is read by pages.
type Query struct {
	Text string

	sel    *pg_query.SelectStmt // shared
	keys   []key
	from   []from
	opaque bool     // not all that is in FROM is in from
	hides  bool     // keys may be added to the select list
	inner  string   // see Inner
	fields []Field  // that Inner yields
	sets   []string // functions that may be aggregates, or yield several rows
	unique bool     // no two rows have all keys in common
	sworn  bool     // and that is not only declared

	index   string  // that serves the first keys, empty for none
	native  []bool  // whether the index that serves the first keys, read in their order, has NULLs first
	notNull []int64 // relations and columns in turn, of which the keys rely on having no NULLs
	uniques []int64 // indexes by which they are unique
}

// key is one sort key.
type key struct {
	expr    *pg_query.Node // over what the query reads; nil where it is a column of its output
	output  string         // the name of that
	ordinal int            // or its number, until the output is known
	desc    bool
	first   bool // NULLs
	column  *Column
	of      *from // whose column it is, nil where that is not known
	notNull bool
	oid     uint32 // its type
	typ     string // that type's name for SQL
}

// from is one relation in the FROM clause.
type from struct {
	schema, name, alias string
	only                bool
	nullable            bool // an outer join may put NULLs in place of its rows
	facts               *Relation
}

// Read reads a query. An error in it comes as Postgres reports those in the text of a function.
func Read(text string) (*Query, error) {
	list, err := parser.Parse(text)
	if err != nil {
		return nil, Inside(err, text)
	}
	if len(list) != 1 || list[0].Kind != parser.Select {
		return nil, pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "the query of sluice.page must be one SELECT statement"),
			"Writes, and several statements, are not read by pages.")
	}
	q := &Query{Text: text, sel: list[0].Node.Stmt.GetSelectStmt()}
	if err := q.check(); err != nil {
		return nil, err
	}
	q.readFrom()
	plain := q.sel.Op == pg_query.SetOperation_SETOP_NONE && len(q.sel.ValuesLists) == 0
	q.hides = plain && len(q.sel.DistinctClause) == 0
	for _, n := range q.sel.SortClause {
		k, err := q.sortKey(n.GetSortBy())
		if err != nil {
			return nil, err
		}
		q.keys = append(q.keys, k)
	}
	return q, nil
}

// check refuses what pages would change the meaning of.
func (q *Query) check() error {
	what, hint := "", "Write it in a sub-select: SELECT … FROM (…) AS q ORDER BY …"
	switch s := q.sel; {
	case s.LimitCount != nil || s.LimitOffset != nil:
		what = "LIMIT and OFFSET"
	case len(s.LockingClause) > 0:
		what, hint = "row locks", "Lock the rows of a page by a statement of their own."
	case len(s.DistinctClause) > 0 && s.DistinctClause[0].GetNode() != nil:
		what = "DISTINCT ON"
	case calls(s):
		what, hint = "calls of sluice.page", "Page the outer query."
	case writes(s):
		what, hint = "writes in WITH", "Write by a statement of its own."
	default:
		return nil
	}
	return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the query of sluice.page must not have %s", what), "%s", hint)
}

func calls(s *pg_query.SelectStmt) (found bool) {
	parser.Walk(s, func(m proto.Message) bool {
		c, ok := m.(*pg_query.FuncCall)
		found = found || ok && nameOf(c) != ""
		return !found
	})
	return found
}

func writes(s *pg_query.SelectStmt) bool {
	return slices.ContainsFunc(s.GetWithClause().GetCtes(), func(n *pg_query.Node) bool {
		return n.GetCommonTableExpr().Ctequery.GetSelectStmt() == nil
	})
}

// sortKey reads an entry of ORDER BY, which may name what is selected, by Postgres' rules.
func (q *Query) sortKey(s *pg_query.SortBy) (key, error) {
	if s.SortbyDir == pg_query.SortByDir_SORTBY_USING {
		return key{}, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the query of sluice.page must not have ORDER BY USING"), "Use ASC or DESC.")
	}
	desc := s.SortbyDir == pg_query.SortByDir_SORTBY_DESC
	k := key{desc: desc, first: s.SortbyNulls == pg_query.SortByNulls_SORTBY_NULLS_FIRST || desc && s.SortbyNulls == pg_query.SortByNulls_SORTBY_NULLS_DEFAULT}
	if i := s.Node.GetAConst().GetIval(); i != nil {
		k.ordinal = int(i.Ival)
		if n := q.target(k.ordinal - 1); q.hides && n != nil {
			k.expr, k.ordinal = n, 0
		}
		return k, nil
	}
	if name := bareName(s.Node); name != "" {
		if !q.hides {
			k.output = name
			return k, nil
		}
		if n := q.selected(name); n != nil {
			k.expr = n
			return k, nil
		}
	}
	if !q.hides {
		return k, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the query of sluice.page orders DISTINCT rows, or rows of a set operation, by an expression"),
			"Order by the names of its columns.")
	}
	k.expr = s.Node
	return k, nil
}

// bareName returns the name that an expression consists of, empty for any other.
func bareName(n *pg_query.Node) string {
	if c := n.GetColumnRef(); c != nil && len(c.Fields) == 1 {
		return c.Fields[0].GetString_().GetSval()
	}
	return ""
}

// target returns the i-th expression that is selected, from 0, nil where a * hides which one it is.
func (q *Query) target(i int) *pg_query.Node {
	for j, n := range q.sel.TargetList {
		if star(n.GetResTarget().Val) {
			return nil
		}
		if j == i {
			return n.GetResTarget().Val
		}
	}
	return nil
}

func star(n *pg_query.Node) bool {
	c := n.GetColumnRef()
	return c != nil && c.Fields[len(c.Fields)-1].GetAStar() != nil
}

// selected returns the expression that is selected under a name, nil for none: the name is one of a column that is read then,
// and if a * yields that, it is the same.
func (q *Query) selected(name string) *pg_query.Node {
	for _, n := range q.sel.TargetList {
		t := n.GetResTarget()
		if t.Name == name || t.Name == "" && impliedName(t.Val) == name {
			return t.Val
		}
	}
	return nil
}

// impliedName returns the name that Postgres gives to a column of the forms that have one most of the time.
func impliedName(n *pg_query.Node) string {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef:
		return n.ColumnRef.Fields[len(n.ColumnRef.Fields)-1].GetString_().GetSval()
	case *pg_query.Node_FuncCall:
		return n.FuncCall.Funcname[len(n.FuncCall.Funcname)-1].GetString_().GetSval()
	case *pg_query.Node_TypeCast:
		return impliedName(n.TypeCast.Arg)
	case *pg_query.Node_CollateClause:
		return impliedName(n.CollateClause.Arg)
	case *pg_query.Node_CoalesceExpr:
		return "coalesce"
	}
	return ""
}

// Params returns how many parameters the query names, and whether it names each of them.
func (q *Query) Params() (used []bool) {
	parser.Walk(q.sel, func(m proto.Message) bool {
		if p, ok := m.(*pg_query.ParamRef); ok {
			for len(used) < int(p.Number) {
				used = append(used, false)
			}
			if p.Number > 0 {
				used[p.Number-1] = true
			}
		}
		return true
	})
	return used
}

// Functions are the bare names of all functions that are selected, or that the keys call.
func (q *Query) Functions() []string {
	list := q.functions()
	slices.Sort(list)
	return slices.Compact(list)
}

func (q *Query) functions() []string {
	list := functionsIn(q.sel.TargetList...)
	for _, k := range q.keys {
		list = append(list, functionsIn(k.expr)...)
	}
	return list
}

// functionsIn returns the bare names of the functions that expressions call, but for sub-selects and windows.
func functionsIn(nodes ...*pg_query.Node) []string {
	list := []string{}
	for _, n := range nodes {
		if n == nil {
			continue
		}
		parser.Walk(n, func(m proto.Message) bool {
			switch n := m.(type) {
			case *pg_query.SubLink:
				return false
			case *pg_query.FuncCall:
				if n.Over == nil {
					list = append(list, n.Funcname[len(n.Funcname)-1].GetString_().GetSval())
				}
			}
			return true
		})
	}
	return list
}

// Relations are the names of the relations whose Facts are to be asked for, in order, quoted.
func (q *Query) Relations() []string {
	list := []string{}
	for _, f := range q.from {
		name := quote(f.name)
		if f.schema != "" {
			name = quote(f.schema) + "." + name
		}
		list = append(list, name)
	}
	return list
}

func itoa(n int) string { return strconv.Itoa(n) }
