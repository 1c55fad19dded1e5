package plan

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/pgerr"
)

// view is a reference to a view, whose definition stands in its place.
type view struct {
	parser.Relation
	table    *catalog.Relation
	sub      *pg_query.RangeSubselect // what stands in its place
	bare     bool                     // the reference had no alias
	colnames []*pg_query.Node         // names that the reference gives to columns
	from, to int                      // its part of builder.sources
}

// inline replaces a view by its definition, whose references stand within the view given.
func (b *builder) inline(r parser.Relation, t *catalog.Relation, within uint32) error {
	if r.Holder == nil {
		return pgerr.New(pgerr.FeatureNotSupported, "view %q over foreign tables cannot stand here", t.Name)
	}
	definition, err := b.definition(t)
	if err != nil {
		return err
	}
	v := &view{Relation: r, table: t, bare: r.Var.Alias == nil, colnames: r.Var.GetAlias().GetColnames(), from: len(b.sources)}
	b.views = append(b.views, v)
	body := definition.Clone()
	for _, ir := range body.Relations() {
		if t := b.named(ir.Schema, ir.Name); t != nil {
			if err := b.add(ir, t, within); err != nil {
				return err
			}
		}
	}
	v.to = len(b.sources)
	names := slices.Clone(v.colnames)
	for i := len(names); i < len(t.Columns); i++ {
		names = append(names, pg_query.MakeStrNode(t.Columns[i].Name))
	}
	v.sub = &pg_query.RangeSubselect{Subquery: body.Node.Stmt, Alias: &pg_query.Alias{Aliasname: aliasOf(r.Var), Colnames: names}}
	b.inlined[v.sub] = v
	r.Holder.Node = &pg_query.Node_RangeSubselect{RangeSubselect: v.sub}
	return nil
}

// definition returns the query of a view, as it is shared.
func (b *builder) definition(t *catalog.Relation) (*parser.Statement, error) {
	text, err := b.req.Definition(t)
	if err != nil {
		return nil, err
	}
	list, err := parser.Parse(strings.TrimRight(text, "; \n"))
	if err != nil || len(list) != 1 || list[0].Kind != parser.Select {
		return nil, pgerr.New(pgerr.InternalError, "the definition of view %q cannot be read", t.Name)
	}
	return list[0], nil
}

// named finds a relation of ours by the name that a view's definition gives it, which is always qualified.
func (b *builder) named(schema, name string) *catalog.Relation {
	for _, t := range b.req.Snapshot.Relations {
		if t.Name == name && t.Schema == schema {
			return t
		}
	}
	return nil
}

// shipViews makes a source of each view that one server can compute as a whole, in place of those in it: home then gets
// the view's rows and no others.
func (b *builder) shipViews() {
	var whole []source
	kept := make([]bool, len(b.sources))
	for i := range kept {
		kept[i] = true
	}
	for _, v := range b.views {
		if v.from == v.to || !kept[v.from] {
			continue
		}
		body, ok := b.viewBody(v)
		if !ok {
			continue
		}
		alias := v.sub.Alias.Aliasname
		v.Var = &pg_query.RangeVar{
			Schemaname: v.table.Schema, Relname: v.table.Name, Inh: true, Relpersistence: "p",
			Alias: &pg_query.Alias{Aliasname: alias, Colnames: v.colnames},
		}
		v.Holder.Node = &pg_query.Node_RangeVar{RangeVar: v.Var}
		whole = append(whole, source{Relation: v.Relation, table: v.table, server: b.sources[v.from].server, role: b.sources[v.from].role, dialect: b.sources[v.from].dialect, alias: alias, body: body})
		for i := v.from; i < v.to; i++ {
			kept[i] = false
		}
	}
	if len(whole) == 0 {
		return
	}
	for i, s := range b.sources {
		if kept[i] {
			whole = append(whole, s)
		}
	}
	b.sources = whole
	b.used = columnsUsed(b.statement.Node)
}

// viewBody returns what stands for a view in a FROM clause of its server; false where no one server can compute it.
func (b *builder) viewBody(v *view) (string, bool) {
	first := &b.sources[v.from]
	for _, s := range b.sources[v.from:v.to] {
		if s.server != first.server || s.role != first.role {
			return "", false
		}
	}
	if first.dialect.Verbatim() {
		return b.verbatimView(v, first)
	}
	if first.dialect.Ships() < dialect.Statements {
		return "", false
	}
	s := b.newShipper(first.dialect)
	sql, columns, ok := s.query(v.sub.Subquery.GetSelectStmt(), nil)
	if !ok || s.guarded || s.raises || len(columns) != len(v.table.Columns) {
		return "", false
	}
	var names []string
	taken := map[string]bool{}
	for i := range v.table.Columns {
		c := &v.table.Columns[i]
		if columns[i].typ.Loose || !yields(columns[i].typ, engines.Field{OID: c.Type, Typmod: c.Typmod}) || taken[strings.ToLower(c.Name)] {
			return "", false
		}
		taken[strings.ToLower(c.Name)] = true
		names = append(names, first.dialect.Identifier(c.Name))
	}
	if s.simple != nil && !slices.EqualFunc(columns, v.table.Columns, func(a scopeColumn, b catalog.Column) bool { return a.name == b.Name }) {
		return "", false
	}
	return derived(first.dialect, sql, names), true
}

// verbatimView is viewBody for another Postgres.
func (b *builder) verbatimView(v *view, first *source) (string, bool) {
	verbatim := b.newVerbatim(first)
	sql, ok := verbatim.query(v.sub.Subquery.GetSelectStmt())
	if !ok || len(verbatim.params) > 0 {
		return "", false
	}
	names := make([]string, len(v.table.Columns))
	for i := range names {
		names[i] = first.dialect.Identifier(v.table.Columns[i].Name)
	}
	return derived(first.dialect, sql, names), true
}
