package plan

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
)

// query prints a SELECT and says what columns it yields, under the names that Postgres gives them.
func (s *shipper) query(q *pg_query.SelectStmt, outer *scope) (string, []scopeColumn, bool) {
	defer s.level()()
	if s.simple != nil && !s.simpleQuery(q, outer) {
		return "", nil, false
	}
	if s.simple != nil && outer != nil { // no column of it is in sight
		outer = &scope{ctes: outer.tables()}
	}
	e := &scope{outer: outer}
	with, ok := s.with(q.WithClause, e)
	if !ok {
		return "", nil, false
	}
	var body string
	var columns []scopeColumn
	switch {
	case len(q.LockingClause) > 0:
		s.no("row locks are taken at home")
		return "", nil, false
	case q.Op != pg_query.SetOperation_SETOP_NONE:
		body, columns, ok = s.setOperation(q, e)
	case len(q.ValuesLists) > 0:
		body, columns, ok = s.values(q, e)
	default:
		body, columns, ok = s.selectBody(q, e)
	}
	if !ok || s.loses(q, e, columns) {
		return "", nil, false
	}
	tail, ok := s.orderAndLimit(q, e, columns)
	return with + body + tail, columns, ok
}

// with prints common table expressions.
func (s *shipper) with(w *pg_query.WithClause, e *scope) (string, bool) {
	if w == nil {
		return "", true
	}
	word := "WITH "
	if w.Recursive {
		word = "WITH RECURSIVE "
	}
	var parts []string
	for _, n := range w.Ctes {
		c := n.GetCommonTableExpr()
		sel := c.Ctequery.GetSelectStmt()
		if sel == nil {
			s.no("data-modifying WITH is evaluated at home")
			return "", false
		}
		sql, r, ok := s.tableExpression(c, sel, w.Recursive, e)
		if !ok {
			return "", false
		}
		if s.simple != nil {
			r.body = "(" + sql + ")"
		}
		e.ctes = append(e.ctes, r)
		parts = append(parts, s.d.Identifier(r.remote)+" ("+s.identifiers(r.names)+") AS ("+sql+")")
	}
	if s.simple != nil {
		return "", true
	}
	return word + strings.Join(parts, ", ") + " ", true
}

// tableExpression prints the query of one common table expression.
func (s *shipper) tableExpression(c *pg_query.CommonTableExpr, q *pg_query.SelectStmt, recursive bool, e *scope) (string, scopeRelation, bool) {
	if recursive && refersTo(q, c.Ctename) && (s.standard != nil || s.simple != nil) {
		s.unproven("WITH RECURSIVE")
		return "", scopeRelation{}, false
	}
	if recursive && refersTo(q, c.Ctename) {
		return s.recursive(c, q, e)
	}
	sql, columns, ok := s.query(q, e)
	if !ok {
		return "", scopeRelation{}, false
	}
	r := s.renamed(columns, remoteNames(columns), c.Ctename, "", texts(c.Aliascolnames))
	r.remote, r.names = s.alias(c.Ctename), remoteNames(columns)
	return sql, r, true
}

// refersTo reports whether a query names a relation without a schema.
func refersTo(q *pg_query.SelectStmt, name string) bool {
	found := false
	parser.Walk(q, func(m proto.Message) bool {
		v, ok := m.(*pg_query.RangeVar)
		found = found || ok && v.Schemaname == "" && v.Relname == name
		return !found
	})
	return found
}

func texts(list []*pg_query.Node) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = n.GetString_().GetSval()
	}
	return out
}

func (s *shipper) selectBody(q *pg_query.SelectStmt, e *scope) (string, []scopeColumn, bool) {
	var b strings.Builder
	from, ok := s.fromClause(q, e)
	if !ok {
		return "", nil, false
	}
	e.windows, e.equals, e.grouped = q.WindowClause, s.equalsOf(q, e), len(q.GroupClause) > 0
	targets, columns, ok := s.targets(q.TargetList, e)
	if !ok {
		return "", nil, false
	}
	distinct, ok := s.distinct(q, e, columns)
	if !ok {
		return "", nil, false
	}
	b.WriteString("SELECT " + distinct + targets + from)
	if q.WhereClause != nil {
		grouped := e.grouped
		e.grouped = false
		where, t, ok := s.qualification(q.WhereClause, e)
		e.grouped = grouped
		if !ok || t.OID != boolOID {
			s.no("the WHERE clause is evaluated at home")
			return "", nil, false
		}
		b.WriteString(" WHERE " + where)
	}
	group, ok := s.groupBy(q, e, columns)
	if !ok {
		return "", nil, false
	}
	if s.simple != nil && len(q.DistinctClause) > 0 && !s.reads(dialect.Expressions) {
		group = groupedBy(columns)
	}
	b.WriteString(group)
	if q.HavingClause != nil {
		having, t, ok := s.qualification(q.HavingClause, e)
		if !ok || t.OID != boolOID {
			s.no("the HAVING clause is evaluated at home")
			return "", nil, false
		}
		b.WriteString(" HAVING " + having)
	}
	return b.String(), columns, true
}

// distinct prints DISTINCT and DISTINCT ON.
func (s *shipper) distinct(q *pg_query.SelectStmt, e *scope, columns []scopeColumn) (string, bool) {
	switch {
	case len(q.DistinctClause) == 0:
		return "", true
	case s.settled(q, e, columns):
		return "", false
	case plainDistinct(q.DistinctClause):
		if !allGroupable(columns) {
			s.unproven("DISTINCT over columns of these types")
		}
		if s.simple != nil && !s.reads(dialect.Expressions) {
			return "", allGroupable(columns)
		}
		return "DISTINCT ", allGroupable(columns)
	}
	if s.standard != nil {
		s.unproven("DISTINCT ON")
		return "", false
	}
	var keys []string
	for _, n := range q.DistinctClause {
		sql, t, ok := s.key(n, e, columns, true)
		if !ok || !t.Groupable() {
			s.unproven("DISTINCT ON this key")
			return "", false
		}
		keys = append(keys, sql)
	}
	return "DISTINCT ON (" + strings.Join(keys, ", ") + ") ", true
}

// key prints an expression that may stand for an entry of the select list.
func (s *shipper) key(n *pg_query.Node, e *scope, columns []scopeColumn, byAliasFirst bool) (string, typ, bool) {
	if i := target(n, columns, e, byAliasFirst); i >= 0 {
		return columns[i].sql, columns[i].typ, true
	}
	return s.expression(n, e)
}

func plainDistinct(clause []*pg_query.Node) bool {
	return len(clause) == 1 && clause[0].GetNode() == nil
}

func allGroupable(columns []scopeColumn) bool {
	for _, c := range columns {
		if !c.typ.Groupable() {
			return false
		}
	}
	return true
}

// targets prints a select list. Names are those that Postgres gives, which need not be unique.
func (s *shipper) targets(list []*pg_query.Node, e *scope) (string, []scopeColumn, bool) {
	var columns []scopeColumn
	for _, n := range list {
		t := n.GetResTarget()
		if star := starOf(t.Val); star != nil {
			expanded, ok := e.star(star)
			if !ok {
				s.no("this * is expanded at home")
				return "", nil, false
			}
			columns = append(columns, expanded...)
			continue
		}
		raises := false
		s.selected = &raises
		sql, typ, ok := s.expression(t.Val, e)
		s.selected = nil
		if !ok {
			return "", nil, false
		}
		if typ.OID == unknownOID { // a bare literal is text once it is selected
			typ = s.ownText()
			sql = "CAST(" + sql + " AS " + s.d.Type(textOID, -1) + ")"
		}
		if typ.Loose && typ.Dynamic != "" && e.outer == nil && !s.lacks(dialect.Spelling) { // what the client sees
			sql, typ = displayed(sql, typ), dialect.WideNumeric()
		}
		name := t.Name
		if name == "" {
			name = nameOf(t.Val)
		}
		fixed := typ.Null || !refers(t.Val)
		typ.Null = false
		columns = append(columns, scopeColumn{name: name, sql: sql, typ: typ, fixed: fixed, raises: raises})
	}
	if len(columns) == 0 {
		s.no("a select list without columns is evaluated at home")
		return "", nil, false
	}
	parts := make([]string, len(columns))
	for i, name := range s.resultNames(columns, e) {
		columns[i].remote = name
		parts[i] = s.selects(columns[i].sql) + " AS " + s.d.Identifier(name)
	}
	return strings.Join(parts, ", "), columns, true
}

// starOf returns the fields of * or t.*, nil for any other expression.
func starOf(n *pg_query.Node) []*pg_query.Node {
	c := n.GetColumnRef()
	if c == nil || c.Fields[len(c.Fields)-1].GetAStar() == nil {
		return nil
	}
	return c.Fields
}

func (e *scope) star(fields []*pg_query.Node) ([]scopeColumn, bool) {
	var out []scopeColumn
	for _, r := range e.relations {
		for _, c := range r.columns {
			if len(fields) == 1 && !c.merged || len(fields) > 1 && r.alias == fields[len(fields)-2].GetString_().GetSval() {
				out = append(out, c)
			}
		}
	}
	return out, len(out) > 0
}

// nameOf returns the name that Postgres gives to a column without alias.
func nameOf(n *pg_query.Node) string {
	if name, _ := figured(n); name != "" {
		return name
	}
	return "?column?"
}

// figured is Postgres' FigureColname: a name, and whether it is one that neither a cast nor CASE around it overrides.
func figured(n *pg_query.Node) (name string, strong bool) {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_ColumnRef:
		return lastName(n.ColumnRef.Fields), true
	case *pg_query.Node_FuncCall:
		return lastName(n.FuncCall.Funcname), true
	case *pg_query.Node_CoalesceExpr:
		return "coalesce", true
	case *pg_query.Node_GroupingFunc:
		return "grouping", true
	case *pg_query.Node_MinMaxExpr:
		if n.MinMaxExpr.Op == pg_query.MinMaxOp_IS_LEAST {
			return "least", true
		}
		return "greatest", true
	case *pg_query.Node_AArrayExpr:
		return "array", true
	case *pg_query.Node_RowExpr:
		return "row", true
	case *pg_query.Node_CollateClause:
		return figured(n.CollateClause.Arg)
	case *pg_query.Node_CaseExpr:
		if name, strong := figured(n.CaseExpr.Defresult); strong {
			return name, true
		}
		return "case", false
	case *pg_query.Node_TypeCast:
		if name, strong := figured(n.TypeCast.Arg); strong {
			return name, true
		}
		return lastName(n.TypeCast.TypeName.Names), false
	case *pg_query.Node_SubLink:
		return figuredOfSelect(n.SubLink)
	case *pg_query.Node_AExpr:
		if n.AExpr.Kind == pg_query.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", true
		}
	}
	return "", false
}

func figuredOfSelect(l *pg_query.SubLink) (name string, strong bool) {
	switch l.SubLinkType {
	case pg_query.SubLinkType_EXISTS_SUBLINK:
		return "exists", true
	case pg_query.SubLinkType_ARRAY_SUBLINK:
		return "array", true
	case pg_query.SubLinkType_EXPR_SUBLINK:
		if list := l.Subselect.GetSelectStmt().GetTargetList(); len(list) > 0 {
			if t := list[0].GetResTarget(); t.Name != "" {
				return t.Name, true
			} else {
				return figured(t.Val)
			}
		}
	}
	return "", false
}

// target returns the index of the select list entry that GROUP BY or ORDER BY names by position or alias, -1 for none.
func target(n *pg_query.Node, columns []scopeColumn, e *scope, byAliasFirst bool) int {
	if c := n.GetAConst(); c != nil && c.GetIval() != nil {
		if i := int(c.GetIval().Ival); i >= 1 && i <= len(columns) {
			return i - 1
		}
	}
	ref := n.GetColumnRef()
	if ref == nil || len(ref.Fields) != 1 {
		return -1
	}
	if _, isInput := e.column(ref.Fields); isInput && !byAliasFirst {
		return -1
	}
	return slices.IndexFunc(columns, func(c scopeColumn) bool { return c.name == lastName(ref.Fields) })
}
