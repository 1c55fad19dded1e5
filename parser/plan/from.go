package plan

import (
	"errors"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/pgerr"
)

// fromClause prints the FROM clause of a SELECT and brings its relations into scope.
func (s *shipper) fromClause(q *pg_query.SelectStmt, e *scope) (string, bool) {
	if s.nester != nil && (len(q.FromClause) > 1 || len(q.FromClause) == 1 && q.FromClause[0].GetJoinExpr() != nil) {
		return s.nested(q, e)
	}
	return s.from(q.FromClause, e)
}

// from prints a FROM clause and brings its relations into scope.
func (s *shipper) from(list []*pg_query.Node, e *scope) (string, bool) {
	var parts []string
	for _, n := range list {
		sql, ok := s.fromItem(n, e)
		if !ok {
			return "", false
		}
		parts = append(parts, sql)
	}
	if len(parts) == 0 {
		return "", true
	}
	return " FROM " + strings.Join(parts, ", "), true
}

func (s *shipper) fromItem(n *pg_query.Node, e *scope) (string, bool) {
	switch n := n.GetNode().(type) {
	case *pg_query.Node_RangeVar:
		return s.table(n.RangeVar, e)
	case *pg_query.Node_RangeSubselect:
		return s.subselect(n.RangeSubselect, e)
	case *pg_query.Node_JoinExpr:
		return s.join(n.JoinExpr, e)
	}
	s.no("%s in FROM is evaluated at home", describe(n))
	return "", false
}

func (s *shipper) table(v *pg_query.RangeVar, e *scope) (string, bool) {
	if v.Schemaname == "" {
		if r, ok := e.cte(v.Relname); ok && s.b.sourceOf(v) == nil {
			alias := s.alias(aliasOf(v))
			e.relations = append(e.relations, s.renamed(r.columns, r.names, aliasOf(v), alias, texts(v.GetAlias().GetColnames())))
			if r.body != "" {
				return r.body + " AS " + s.d.Identifier(alias), true
			}
			return s.d.Identifier(r.remote) + " AS " + s.d.Identifier(alias), true
		}
	}
	src := s.b.sourceOf(v)
	if src == nil || src.server == nil && !s.feeds {
		s.no("relation %q is not the server's", v.Relname)
		return "", false
	}
	from, err := s.relation(src)
	if err != nil {
		s.no("foreign table %q: %s", src.table.Name, pgerr.From(err).Message)
		return "", false
	}
	alias := s.alias(src.alias)
	r := scopeRelation{alias: src.alias}
	colnames := v.GetAlias().GetColnames()
	for i := range src.table.Columns {
		c := &src.table.Columns[i]
		sc := scopeColumn{name: c.Name, sql: s.columnSQL(c, alias), typ: columnTyp(c, s.d)}
		if s.feeds {
			sc.sql = stripped(c, s.d.Identifier(alias)+"."+feedColumn(i))
		}
		if i < len(colnames) {
			sc.name = colnames[i].GetString_().GetSval()
		}
		r.columns = append(r.columns, sc)
	}
	e.relations = append(e.relations, r)
	return from + " AS " + s.d.Identifier(alias), true
}

// relation prints what a source is read from.
func (s *shipper) relation(src *source) (string, error) {
	if s.feeds {
		return feedOf(src.feed), nil
	}
	if src.sent > 0 {
		return s.b.sentRows(src), nil
	}
	if src.body != "" {
		return "", errors.New("its rows are shipped as a whole")
	}
	return s.b.relation(src)
}

func (s *shipper) subselect(sub *pg_query.RangeSubselect, e *scope) (string, bool) {
	sel := sub.Subquery.GetSelectStmt()
	if sel == nil || sub.Alias == nil {
		s.no("this sub-select is evaluated at home")
		return "", false
	}
	// Unless lateral, the other relations of this level are not visible inside; outer levels and expressions are.
	within, lateral := &scope{ctes: e.ctes, outer: e.outer}, ""
	if sub.Lateral && s.standard != nil {
		s.unproven("LATERAL")
		return "", false
	}
	if sub.Lateral {
		within, lateral = e, "LATERAL "
	}
	sql, columns, ok := s.query(sel, within)
	if !ok {
		return "", false
	}
	alias, names := s.alias(sub.Alias.Aliasname), remoteNames(columns)
	e.relations = append(e.relations, s.renamed(columns, names, sub.Alias.Aliasname, alias, texts(sub.Alias.Colnames)))
	if s.simple != nil {
		return "(" + sql + ") AS " + s.d.Identifier(alias), true
	}
	return lateral + "(" + sql + ") AS " + s.d.Identifier(alias) + " (" + s.identifiers(names) + ")", true
}

// equates reports whether one part of a join's condition is that a column of one side equals one of the other: without,
// Postgres refuses a FULL JOIN.
func equates(condition *pg_query.Node, left, right *scope) bool {
	for _, c := range parser.Conjuncts(condition, nil) {
		x := c.GetAExpr()
		a, b := x.GetLexpr().GetColumnRef(), x.GetRexpr().GetColumnRef()
		if a == nil || b == nil || x.Kind != pg_query.A_Expr_Kind_AEXPR_OP || lastName(x.Name) != "=" {
			continue
		}
		_, al := left.column(a.Fields)
		_, ar := right.column(a.Fields)
		_, bl := left.column(b.Fields)
		_, br := right.column(b.Fields)
		if al && br || ar && bl {
			return true
		}
	}
	return false
}

// subLink prints EXISTS, IN and scalar sub-selects.
func (s *shipper) subLink(l *pg_query.SubLink, e *scope) (string, typ, bool) {
	sel := l.Subselect.GetSelectStmt()
	if sel == nil {
		return s.no("this sub-select is evaluated at home")
	}
	switch l.SubLinkType {
	case pg_query.SubLinkType_EXISTS_SUBLINK:
		sql, _, ok := s.query(sel, e)
		return "EXISTS (" + sql + ")", boolean, ok
	case pg_query.SubLinkType_EXPR_SUBLINK:
		return s.scalar(sel, e)
	case pg_query.SubLinkType_ANY_SUBLINK, pg_query.SubLinkType_ALL_SUBLINK:
		return s.quantifiedSelect(l, sel, e)
	}
	return s.no("this form of sub-select is evaluated at home")
}

// quantifiedSelect prints IN, ANY and ALL over a sub-select of one column.
func (s *shipper) quantifiedSelect(l *pg_query.SubLink, sel *pg_query.SelectStmt, e *scope) (string, typ, bool) {
	op := "="
	if len(l.OperName) > 0 {
		op = lastName(l.OperName)
	}
	ordered, known := comparisons[op]
	if !known || s.shadowed(op) {
		return s.unproven("operator %s over a sub-select", op)
	}
	arg, t, ok := s.expression(l.Testexpr, e)
	if !ok {
		return "", typ{}, false
	}
	sql, columns, ok := s.query(sel, e)
	if !ok {
		return "", typ{}, false
	}
	s.exposeColumns(columns...)
	if len(columns) != 1 || !comparableTypes(t, columns[0].typ, ordered) {
		return s.unproven("operator %s over a sub-select of these types", op)
	}
	if (op != "=" || l.SubLinkType == pg_query.SubLinkType_ALL_SUBLINK) && s.lacks(dialect.Quantifiers) {
		return s.unproven("ANY or ALL over a sub-select")
	}
	quantifier := " ANY ("
	switch {
	case l.SubLinkType == pg_query.SubLinkType_ALL_SUBLINK:
		quantifier = " ALL ("
	case op == "=" && s.nester != nil:
		return s.among(arg, t, sql, columns[0])
	case op == "=":
		return "(" + arg + " IN (" + sql + "))", boolean, true
	}
	return "(" + arg + " " + op + quantifier + sql + "))", boolean, true
}

// scalar prints a sub-select for its one value: one that yields a single row for sure, as an engine may not notice more.
func (s *shipper) scalar(sel *pg_query.SelectStmt, e *scope) (string, typ, bool) {
	if !singleRow(sel) {
		return s.no("a sub-select that may yield several rows is evaluated at home")
	}
	sql, columns, ok := s.query(sel, e)
	if !ok || len(columns) != 1 {
		return s.no("this form of sub-select is evaluated at home")
	}
	s.exposeColumns(columns...)
	return "(" + sql + ")", columns[0].typ, true
}

// singleRow reports whether a SELECT yields one row at most: an aggregate without groups, or LIMIT 1.
func singleRow(q *pg_query.SelectStmt) bool {
	if n := q.LimitCount.GetAConst().GetIval(); n != nil && n.Ival <= 1 && q.LimitOption != pg_query.LimitOption_LIMIT_OPTION_WITH_TIES {
		return true
	}
	if q.Op != pg_query.SetOperation_SETOP_NONE || len(q.GroupClause) > 0 || len(q.ValuesLists) > 0 {
		return false
	}
	aggregate := false
	for _, n := range q.TargetList {
		parser.Walk(n, func(m proto.Message) bool {
			f, ok := m.(*pg_query.FuncCall)
			aggregate = aggregate || ok && f.Over == nil && aggregates[lastName(f.Funcname)]
			_, sub := m.(*pg_query.SubLink)
			return !sub
		})
	}
	return aggregate
}

// aggregates are the functions that make one row of many.
var aggregates = map[string]bool{
	"count": true, "sum": true, "avg": true, "min": true, "max": true, "bool_and": true, "bool_or": true, "every": true, "array_agg": true, "string_agg": true,
	"stddev": true, "stddev_pop": true, "stddev_samp": true, "variance": true, "var_pop": true, "var_samp": true,
}

// sourceOf returns the foreign table that a reference of the clone stands for, nil for none.
func (b *builder) sourceOf(v *pg_query.RangeVar) *source {
	for i := range b.sources {
		if b.sources[i].Var == v {
			return &b.sources[i]
		}
	}
	return nil
}
