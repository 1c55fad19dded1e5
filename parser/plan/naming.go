package plan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser/dialect"
)

// alias returns the name under which a relation stands in the engine's SQL: the statement's own where no other
// relation bears it, not even in other case.
func (s *shipper) alias(name string) string {
	free := name
	for n := 2; s.taken[strings.ToLower(free)] || s.b.hasColumn(free); n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	s.taken[strings.ToLower(free)] = true
	return free
}

// hasColumn reports whether a foreign table has a column of the name: where one is in sight, DuckDB takes x.k of an outer
// relation x for a field of it.
func (b *builder) hasColumn(name string) bool {
	for i := range b.sources {
		if slices.ContainsFunc(b.sources[i].table.Columns, func(c catalog.Column) bool { return strings.EqualFold(c.Name, name) }) {
			return true
		}
	}
	return false
}

// columnNames returns names for the columns of one select list in the engine's SQL: the statement's own where all
// differ, and not only by case.
func columnNames(columns []scopeColumn) []string {
	names := make([]string, len(columns))
	seen := map[string]bool{}
	for i, c := range columns {
		names[i] = c.name
		seen[strings.ToLower(c.name)] = true
	}
	if len(seen) < len(columns) {
		return numbered(names)
	}
	return names
}

func numbered(names []string) []string {
	for i := range names {
		names[i] = "c" + strconv.Itoa(i+1)
	}
	return names
}

// remoteNames are the names that columns of one select list have in the engine's SQL.
func remoteNames(columns []scopeColumn) []string {
	names := columnNames(columns)
	for i, c := range columns {
		if c.remote != "" {
			names[i] = c.remote
		}
	}
	return names
}

// resultNames are columnNames where the engine takes them.
func (s *shipper) resultNames(columns []scopeColumn, e *scope) []string {
	names := columnNames(columns)
	if s.quirky != nil && s.hides(columns, e) {
		for i := range names {
			names[i] = s.fresh()
		}
		return names
	}
	if n, ok := s.d.(dialect.Namer); ok && slices.ContainsFunc(names, func(name string) bool { return !n.Names(name) }) {
		return numbered(names)
	}
	return names
}

// renamed returns a derived table under an alias of the statement, with other column names where they are given: what it
// is called in the engine's SQL is sqlAlias and remote.
func (s *shipper) renamed(columns []scopeColumn, remote []string, alias, sqlAlias string, colnames []string) scopeRelation {
	out := scopeRelation{alias: alias, columns: make([]scopeColumn, len(columns))}
	for i, c := range columns {
		if i < len(colnames) {
			c.name = colnames[i]
		}
		c.typ.Dynamic = "" // what it is computed from is out of sight
		c.sql = s.d.Identifier(sqlAlias) + "." + s.d.Identifier(remote[i])
		out.columns[i] = c
	}
	return out
}

func (s *shipper) identifiers(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = s.d.Identifier(n)
	}
	return strings.Join(quoted, ", ")
}
