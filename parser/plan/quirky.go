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

// alternatives prints IN as comparisons of which one must hold, and NOT IN as those that all must.
func (s *shipper) alternatives(value operand, not bool, list []member, e *scope) (string, typ, bool) {
	if len(list) > mostAlternatives {
		return s.no("IN over more than %d values is evaluated at home", mostAlternatives)
	}
	op, word := "=", " OR "
	if not {
		op, word = "<>", " AND "
	}
	var parts []string
	for _, m := range list {
		if m.isNull() && not { // nothing is surely no NULL
			return s.decided(false)
		}
		if m.isNull() {
			continue
		}
		part := value.sql + " " + op + " " + m.sql
		if value.typ.Folded {
			other := operand{node: m.node, sql: m.sql, typ: m.typ}
			other.literal, other.plain = literalText(m.node)
			var ok bool
			if part, _, ok = s.apply(dialect.Operator, op, []operand{value, other}, e); !ok {
				return s.notCompared(op, []operand{value, other})
			}
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return s.decided(false)
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

// hides reports whether a name in a select list would hide a column of a table that is another one.
func (s *shipper) hides(columns []scopeColumn, e *scope) bool {
	for i, name := range columnNames(columns) {
		for j := range s.b.sources {
			src := &s.b.sources[j]
			k := slices.IndexFunc(src.table.Columns, func(c catalog.Column) bool { return dialect.ColumnName(&c) == name })
			if k >= 0 && !s.isColumn(columns[i].sql, src.table.Columns[k].Name, e) {
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
