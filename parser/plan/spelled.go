package plan

import (
	"strings"

	"github.com/jackc/pgx/v5"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// Placeholder is the text literal that stands in HomeSQL for the values of the i-th column of a spelled input.
func (in *Input) Placeholder(i int) string { return in.TempName + "." + itoa(i+1) }

// spelled is a SELECT that reads the rows of an input from literals.
func (in *Input) spelled() string {
	var list, arrays, names []string
	for i, c := range in.Columns {
		column, name := &in.Relation.Columns[c], "c"+itoa(i+1)
		value := "CAST(u." + name + " AS " + column.TypeName + ")"
		if column.Collate != "" {
			value += " COLLATE " + column.Collate
		}
		list = append(list, value+" AS "+pgx.Identifier{column.Name}.Sanitize())
		arrays = append(arrays, "pg_catalog.unnest('"+in.Placeholder(i)+"'::pg_catalog.text[])")
		names = append(names, name)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM ROWS FROM (" + strings.Join(arrays, ", ") + ") AS u (" + strings.Join(names, ", ") + ")"
}

// spell makes a reference read an input from literals, under the alias that the statement uses.
func spell(s *source, in *Input) error {
	if s.Holder == nil {
		return pgerr.New(pgerr.FeatureNotSupported, "foreign table %q cannot stand here in a read-only transaction", s.table.Name)
	}
	list, err := parser.Parse(in.spelled())
	if err != nil {
		return err
	}
	alias := s.Var.Alias
	if alias == nil {
		alias = &pg_query.Alias{Aliasname: s.Var.Relname}
	}
	s.Holder.Node = &pg_query.Node_RangeSubselect{RangeSubselect: &pg_query.RangeSubselect{Subquery: list[0].Clone().Node.Stmt, Alias: alias}}
	return nil
}
