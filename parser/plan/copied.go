package plan

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// enterCopy makes the statement that COPY (INSERT … RETURNING …) TO has within the builder's own, and returns the COPY
// around it; nil where the statement is none.
func (b *builder) enterCopy() (*pg_query.RawStmt, error) {
	if b.statement.Kind != parser.CopyTo {
		return nil, nil
	}
	outer := b.statement.Node
	inner := outer.Stmt.GetCopyStmt().Query
	kind, returning := parser.Merge, []*pg_query.Node(nil)
	switch {
	case inner.GetInsertStmt() != nil:
		kind, returning = parser.Insert, inner.GetInsertStmt().ReturningList
	case inner.GetUpdateStmt() != nil:
		kind, returning = parser.Update, inner.GetUpdateStmt().ReturningList
	case inner.GetDeleteStmt() != nil:
		kind, returning = parser.Delete, inner.GetDeleteStmt().ReturningList
	case inner.GetMergeStmt() == nil: // WITH … in front of a SELECT
		return nil, nil
	}
	if kind != parser.Merge && len(returning) == 0 {
		return nil, pgerr.New(pgerr.FeatureNotSupported, "COPY query must have a RETURNING clause")
	}
	within := *b.statement
	within.Node, within.Kind = &pg_query.RawStmt{Stmt: inner}, kind
	b.statement = &within
	return outer, nil
}

// copyReturning has the RETURNING list go to where a COPY sends it, under the names that it has.
func (b *builder) copyReturning(w *Write, outer *pg_query.RawStmt) error {
	tree, err := template(w.ReturningSQL)
	if err != nil {
		return err
	}
	list := tree.Stmt.GetSelectStmt()
	for i, f := range b.req.Fields {
		list.TargetList[i].GetResTarget().Name = f.Name
	}
	// By its bare name the order would be that of a column of the list which has the same.
	order := []*pg_query.Node{pg_query.MakeStrNode(list.FromClause[0].GetRangeVar().Relname), pg_query.MakeStrNode("n")}
	list.SortClause[0].GetSortBy().Node = pg_query.MakeColumnRefNode(order, -1)
	outer.Stmt.GetCopyStmt().Query = tree.Stmt
	w.CopySQL, err = parser.Deparse(outer)
	return err
}

// copyHome plans a COPY TO at home: a SELECT over temporary tables stands for what is copied in the statement's own text.
func (b *builder) copyHome() (*Plan, error) {
	c := b.statement.Node.Stmt.GetCopyStmt()
	begin, end, err := copySource(b.statement.Text, c)
	if err != nil {
		return nil, err
	}
	names, err := b.copyQuery(c)
	if err != nil {
		return nil, err
	}
	if c.Query == nil { // home says why it copies no view
		return &Plan{Route: HomeJoin, Reason: b.reason, HomeSQL: b.statement.Text, Privileges: b.privileges}, nil
	}
	if err := b.shipSources(); err != nil {
		return nil, err
	}
	query, err := parser.Deparse(&pg_query.RawStmt{Stmt: c.Query})
	if err != nil {
		return nil, err
	}
	head, tail := b.statement.Text[:begin], b.statement.Text[end:]
	p := &Plan{Route: HomeJoin, Reason: b.reason, Inputs: b.inputs, HomeSQL: head + "(" + query + ")" + tail, Privileges: b.privileges}
	if len(c.Options) > 0 && c.Filename == "" {
		none := noRows(names)
		p.OptionsSQL = head + none + tail
		p.Shift = utf8.RuneCountInString(none) - utf8.RuneCountInString(b.statement.Text[begin:end])
	}
	return p, nil
}

// noRows is a query in parentheses that has no rows, in columns of the names given.
func noRows(names []string) string {
	columns := make([]string, len(names))
	for i, name := range names {
		columns[i] = "NULL AS " + pgx.Identifier{name}.Sanitize()
	}
	return "(SELECT " + strings.Join(columns, ", ") + " LIMIT 0)"
}

// copySource returns where in a COPY TO its query stands, or its table with the list of columns.
func copySource(text string, c *pg_query.CopyStmt) (begin, end int, err error) {
	ok := true
	if c.Relation == nil {
		begin, end, ok = parser.Parentheses(text)
	} else {
		begin = int(c.Relation.Location)
		if end, err = nameEnd(text[begin:]); err != nil {
			return 0, 0, err
		}
		if end += begin; len(c.Attlist) > 0 {
			var list int
			_, list, ok = parser.Parentheses(text[end:])
			end += list
		}
	}
	if !ok {
		return 0, 0, pgerr.New(pgerr.InternalError, "cannot find in the statement what is copied")
	}
	return begin, end, nil
}

// copyQuery turns COPY table TO, which Postgres refuses for foreign tables, into COPY (SELECT …) TO, and returns the names
// of the columns that are copied.
func (b *builder) copyQuery(c *pg_query.CopyStmt) (names []string, err error) {
	table := b.copiedTable(c)
	if table == nil {
		for _, f := range b.req.Fields {
			names = append(names, f.Name)
		}
		return names, nil
	}
	if names, err = copiedColumns(c, table.table); err != nil {
		return nil, err
	}
	b.needColumns(table.table, names)
	sel := &pg_query.SelectStmt{LimitOption: pg_query.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg_query.SetOperation_SETOP_NONE}
	for _, name := range names {
		ref := pg_query.MakeColumnRefNode([]*pg_query.Node{pg_query.MakeStrNode(name)}, -1)
		sel.TargetList = append(sel.TargetList, pg_query.MakeResTargetNodeWithVal(ref, -1))
	}
	table.Holder = &pg_query.Node{Node: &pg_query.Node_RangeVar{RangeVar: c.Relation}}
	sel.FromClause = []*pg_query.Node{table.Holder}
	c.Query = &pg_query.Node{Node: &pg_query.Node_SelectStmt{SelectStmt: sel}}
	c.Relation, c.Attlist = nil, nil
	b.used = columnsUsed(b.statement.Node)
	return names, nil
}

// copiedTable returns the table that a COPY names, nil where it names a query, or a view.
func (b *builder) copiedTable(c *pg_query.CopyStmt) *source {
	for _, list := range [][]source{b.sources, b.masks} {
		if c.Relation != nil && len(list) == 1 && list[0].Var == c.Relation {
			return &list[0]
		}
	}
	return nil
}

// needColumns has the statement need SELECT on those columns of a table alone that it names.
func (b *builder) needColumns(t *catalog.Relation, names []string) {
	for i := range b.privileges {
		if p := &b.privileges[i]; p.Relation == t && p.View == 0 && p.Name == "SELECT" {
			p.Columns = nil
			for _, name := range names {
				j := slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return c.Name == name })
				p.Columns = append(p.Columns, t.Columns[j].Num)
			}
		}
	}
}

// copiedColumns returns the columns that a COPY table TO yields. What Postgres would complain of in terms of the table is
// refused here, as home is asked for a SELECT.
func copiedColumns(c *pg_query.CopyStmt, table *catalog.Relation) ([]string, error) {
	names, err := listedColumns(c.Attlist, table)
	if err != nil {
		return nil, err
	}
	for _, o := range c.Options {
		list := o.GetDefElem().GetArg().GetList() // none: FORCE_QUOTE *
		if o.GetDefElem().Defname != "force_quote" || list == nil || !isCSV(c) {
			continue
		}
		forced, err := listedColumns(list.Items, table)
		if err != nil {
			return nil, err
		}
		for _, name := range forced {
			if !slices.Contains(names, name) {
				return nil, pgerr.New(pgerr.InvalidColumnReference, "FORCE_QUOTE column %q not referenced by COPY", name)
			}
		}
	}
	return names, nil
}

func isCSV(c *pg_query.CopyStmt) bool {
	return slices.ContainsFunc(c.Options, func(o *pg_query.Node) bool {
		return o.GetDefElem().Defname == "format" && o.GetDefElem().GetArg().GetString_().GetSval() == "csv"
	})
}

// listedColumns returns the columns of a list in a COPY; an empty list stands for all but the generated ones.
func listedColumns(list []*pg_query.Node, table *catalog.Relation) ([]string, error) {
	var names []string
	for i := range table.Columns {
		if len(list) == 0 && !table.Columns[i].Generated {
			names = append(names, table.Columns[i].Name)
		}
	}
	for _, n := range list {
		name := n.GetString_().GetSval()
		at := slices.IndexFunc(table.Columns, func(c catalog.Column) bool { return c.Name == name })
		switch {
		case at < 0:
			return nil, pgerr.New(pgerr.UndefinedColumn, "column %q of relation %q does not exist", name, table.Name)
		case table.Columns[at].Generated:
			e := pgerr.New(pgerr.InvalidColumnReference, "column %q is a generated column", name)
			return nil, pgerr.Detail(e, "Generated columns cannot be used in COPY.")
		case slices.Contains(names, name):
			return nil, pgerr.New(pgerr.DuplicateColumn, "column %q specified more than once", name)
		}
		names = append(names, name)
	}
	return names, nil
}
