package plan

import (
	"slices"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/dialect"
)

// mostAlternatives is how many comparisons IN is printed as.
const mostAlternatives = 500

// isQuirky reports whether an engine has quirks.
func isQuirky(d dialect.Dialect) bool {
	_, ok := d.(dialect.Quirky)
	return ok
}

// filtered is the FROM item of the rows of a table for which a condition holds. In a level of its own that names the table's
// columns, for a name in the select list around it may be that of a mask.
func (s *source) filtered(from, where string) string {
	names := make([]string, len(s.table.Columns))
	for i := range names {
		names[i] = s.dialect.Identifier(dialect.ColumnName(&s.table.Columns[i]))
	}
	return "(SELECT " + strings.Join(names, ", ") + " FROM " + from + " WHERE " + where + ") AS " + s.dialect.Identifier("r")
}

// isFixed reports whether a mask is the same for all rows.
func isFixed(n *pg_query.Node) bool {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().Arg
	}
	return n.GetAConst() != nil
}

// tests reports whether a condition is one to the engine, which may take none that is decided already.
func (s *shipper) tests(sql string, t typ) bool {
	return s.quirky == nil || s.quirky.Truth() || !t.Null && sql != "NULL" && sql != "true" && sql != "false"
}

// isSingle reports whether a condition is one comparison, or asks for NULL: NOT of it is NULL where it is.
func isSingle(n *pg_query.Node) bool {
	return n.GetNullTest() != nil || n.GetAExpr() != nil && n.GetAExpr().Kind == pg_query.A_Expr_Kind_AEXPR_OP
}

// alternatives prints IN as comparisons of which one must hold, and NOT IN as those that all must.
func (s *shipper) alternatives(value string, not bool, list []member) (string, typ, bool) {
	if len(list) > mostAlternatives {
		return s.no("IN over more than %d values is evaluated at home", mostAlternatives)
	}
	op, word := " = ", " OR "
	if not {
		op, word = " <> ", " AND "
	}
	parts := make([]string, len(list))
	for i, m := range list {
		if m.isNull() {
			return s.no("IN over NULL is evaluated at home")
		}
		parts[i] = value + op + m.sql
	}
	return "(" + strings.Join(parts, word) + ")", boolean, true
}

// bounded prints BETWEEN as two comparisons.
func (s *shipper) bounded(value string, not bool, bounds [2]member) (string, typ, bool) {
	if not {
		return "(" + value + " < " + bounds[0].sql + " OR " + value + " > " + bounds[1].sql + ")", boolean, true
	}
	return "(" + value + " >= " + bounds[0].sql + " AND " + value + " <= " + bounds[1].sql + ")", boolean, true
}

// quirkyParameter prints a placeholder, whose values are those that the engine takes.
func (s *shipper) quirkyParameter(n int, t typ) (string, typ, bool) {
	sql, takes, ok := s.quirky.Parameter("$"+s.place(n), t)
	if !ok {
		return s.no("a parameter of this type is evaluated at home")
	}
	if takes != nil {
		s.b.checks = append(s.b.checks, check{n, takes})
	}
	return sql, t, true
}

// hides reports whether a name in a select list would hide a column of the table that is another one, and notes that.
func (s *shipper) hides(columns []scopeColumn, e *scope) bool {
	for i, name := range columnNames(columns) {
		for j := range s.b.sources {
			src := &s.b.sources[j]
			k := slices.IndexFunc(src.table.Columns, func(c catalog.Column) bool { return dialect.ColumnName(&c) == name })
			if k >= 0 && !s.isColumn(columns[i].sql, src.table.Columns[k].Name, e) {
				s.unproven("a column named %s that is not the table's", name)
				return true
			}
		}
	}
	return false
}

// isColumn reports whether an expression is a column.
func (s *shipper) isColumn(sql, name string, e *scope) bool {
	for _, r := range e.relations {
		if slices.ContainsFunc(r.columns, func(c scopeColumn) bool { return c.name == name && c.sql == sql }) {
			return true
		}
	}
	return false
}
