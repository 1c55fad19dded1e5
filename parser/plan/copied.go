package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

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
