package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

// filter is what may be left out of an input at its engine: home evaluates the conditions again.
type filter struct {
	sql    []string // conditions in the engine's dialect
	texts  []string // for EXPLAIN
	kept   []Kept   // those that are not left out for what they are made of
	nodes  []*pg_query.Node
	params []int
}

// filters finds, for each foreign table, the conditions of the query level it stands in that concern it alone.
func (b *builder) filters() map[*pg_query.RangeVar]filter {
	found := map[*pg_query.RangeVar]filter{}
	counts := map[*pg_query.RangeVar]bool{}
	parser.Walk(b.statement.Node, func(m proto.Message) bool {
		switch n := m.(type) {
		case *pg_query.SelectStmt:
			b.levelFilters(n, found, counts)
		case *pg_query.UpdateStmt:
			b.levelFilters(&pg_query.SelectStmt{FromClause: n.FromClause, WhereClause: n.WhereClause}, found, counts)
		case *pg_query.DeleteStmt:
			b.levelFilters(&pg_query.SelectStmt{FromClause: n.UsingClause, WhereClause: n.WhereClause}, found, counts)
		}
		return true
	})
	return found
}

func (b *builder) levelFilters(q *pg_query.SelectStmt, found map[*pg_query.RangeVar]filter, seen map[*pg_query.RangeVar]bool) {
	var tables []*pg_query.RangeVar
	conditions := parser.Conjuncts(q.WhereClause, nil)
	for _, n := range q.FromClause {
		tables, conditions = kept(n, tables, conditions)
	}
	for _, v := range tables {
		src := b.sourceOf(v)
		if src == nil || seen[v] || v.GetAlias().GetColnames() != nil {
			continue
		}
		seen[v] = true
		if f := b.conditionsOn(src, conditions); len(f.sql)+len(f.kept) > 0 {
			found[v] = f
		}
	}
}

// kept collects the tables below a FROM item whose rows a condition of this level removes from the result, and the
// conditions of inner joins. The nullable side of an outer join is not among them.
func kept(n *pg_query.Node, tables []*pg_query.RangeVar, conditions []*pg_query.Node) ([]*pg_query.RangeVar, []*pg_query.Node) {
	if v := n.GetRangeVar(); v != nil {
		return append(tables, v), conditions
	}
	j := n.GetJoinExpr()
	if j == nil || j.Alias != nil {
		return tables, conditions
	}
	switch j.Jointype {
	case pg_query.JoinType_JOIN_INNER:
		conditions = parser.Conjuncts(j.Quals, conditions)
		tables, conditions = kept(j.Larg, tables, conditions)
		return kept(j.Rarg, tables, conditions)
	case pg_query.JoinType_JOIN_LEFT:
		tables, _ = kept(j.Larg, tables, nil)
	case pg_query.JoinType_JOIN_RIGHT:
		tables, _ = kept(j.Rarg, tables, nil)
	}
	return tables, conditions
}

// conditionsOn prints the conditions that concern a table alone. References without an alias are the table's where it
// has such a column: home has refused what is ambiguous.
func (b *builder) conditionsOn(src *source, conditions []*pg_query.Node) filter {
	if src.dialect.Verbatim() {
		return b.verbatimConditions(src, conditions)
	}
	if src.dialect.Ships() < dialect.Conditions {
		return filter{}
	}
	s := b.newShipper(src.dialect)
	r := scopeRelation{alias: src.alias}
	for i := range src.table.Columns {
		c := &src.table.Columns[i]
		r.columns = append(r.columns, scopeColumn{name: c.Name, sql: s.columnSQL(c, ""), typ: columnTyp(c, src.dialect)})
	}
	e := &scope{relations: []scopeRelation{r}}
	var f filter
	for _, c := range conditions {
		mark := len(s.params)
		s.reason, s.guarded, s.raises = "", false, false
		sql, t, ok := s.condition(c, e)
		if ok && s.raises {
			s.no("it may raise an error, for rows that home need not come to")
			ok = false
		}
		if !ok || s.guarded || t.OID != boolOID || !refers(c) {
			s.params = s.params[:mark]
			if ok && s.guarded {
				s.beyond()
			}
			if (!ok || s.guarded) && refers(c) && e.holds(c) {
				f.kept = append(f.kept, Kept{c, s.reason})
			}
			continue
		}
		f.sql, f.nodes = append(f.sql, sql), append(f.nodes, c)
	}
	f.texts, f.params = f.sql, s.params
	return f
}

// holds reports whether all columns of an expression are of the scope.
func (e *scope) holds(n *pg_query.Node) bool {
	all := true
	parser.Walk(n, func(m proto.Message) bool {
		if c, ok := m.(*pg_query.ColumnRef); ok {
			_, known := e.column(c.Fields)
			all = all && known
		}
		return true
	})
	return all
}

// refers reports whether a condition has a column in it, no sub-select, and nothing of tables outside.
func refers(n *pg_query.Node) bool {
	columns, plain := false, true
	parser.Walk(n, func(m proto.Message) bool {
		switch n := m.(type) {
		case *pg_query.ColumnRef:
			columns = true
			plain = plain && len(n.Fields) <= 2
		case *pg_query.SubLink:
			plain = false
		}
		return true
	})
	return columns && plain
}
