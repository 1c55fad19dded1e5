package plan

import (
	"strconv"
	"strings"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser/dialect"
)

func (s *shipper) orderAndLimit(q *pg_query.SelectStmt, e *scope, columns []scopeColumn) (string, bool) {
	ties, ok := s.ties(q, e, columns)
	if !ok {
		return "", false
	}
	keys, ok := s.sortKeys(q, e, columns)
	if !ok {
		return "", false
	}
	out := ties
	if len(keys) > 0 {
		out += " ORDER BY " + strings.Join(keys, ", ")
	}
	var rows, skipped string
	if !q.LimitCount.GetAConst().GetIsnull() && q.LimitCount != nil && ties == "" {
		if rows, ok = s.count(q.LimitCount, e); !ok {
			return "", false
		}
	}
	if !q.LimitOffset.GetAConst().GetIsnull() && q.LimitOffset != nil {
		if skipped, ok = s.count(q.LimitOffset, e); !ok {
			return "", false
		}
	}
	limit, ok := s.limit(rows, skipped, len(keys) > 0)
	return out + limit, ok
}

// limit prints how many rows a query yields, and behind how many; either may be empty.
func (s *shipper) limit(rows, skipped string, ordered bool) (string, bool) {
	out := ""
	if l, ok := s.d.(dialect.Limiter); ok && rows+skipped != "" {
		if out, ok = l.Limit(rows, skipped, ordered); !ok {
			s.no("this LIMIT is evaluated at home")
			return "", false
		}
		return out, true
	}
	if rows != "" {
		out = " LIMIT " + rows
	}
	if skipped != "" {
		out += " OFFSET " + skipped
	}
	return out, true
}

// ties prints WITH TIES, which is a condition on ranks; empty where a query has none.
func (s *shipper) ties(q *pg_query.SelectStmt, e *scope, columns []scopeColumn) (string, bool) {
	if q.LimitOption != pg_query.LimitOption_LIMIT_OPTION_WITH_TIES {
		return "", true
	}
	if s.standard != nil {
		s.unproven("WITH TIES")
		return "", false
	}
	if e.outer != nil { // a key may be an outer query's, by which DuckDB ranks nothing
		s.no("WITH TIES of a sub-select is evaluated at home")
		return "", false
	}
	most, offset := q.LimitCount.GetAConst().GetIval(), q.LimitOffset.GetAConst().GetIval()
	if most == nil || q.LimitOffset != nil && offset == nil || most.Ival < 1 || offset.GetIval() < 0 || len(q.DistinctClause) > 0 || len(q.TargetList) == 0 {
		s.no("WITH TIES of a number that is not written out, or of what DISTINCT or a set operation yields, is evaluated at home")
		return "", false
	}
	keys := make([]string, len(q.SortClause))
	for i, n := range q.SortClause {
		k := n.GetSortBy()
		sql, t, ok := s.key(k.Node, e, columns, true)
		if ok && strings.Contains(sql, " OVER (") {
			_, _, ok = s.no("WITH TIES by what a window yields is evaluated at home")
		}
		if ok {
			keys[i], ok = s.ordered(k, sql, t)
		}
		if !ok {
			return "", false
		}
	}
	last := int(most.Ival) + int(offset.GetIval())
	return " QUALIFY rank() OVER (ORDER BY " + strings.Join(keys, ", ") + ") <= " + strconv.Itoa(last), true
}

// count prints a LIMIT or OFFSET: a number, or a parameter where no correlation can make it one of many.
func (s *shipper) count(n *pg_query.Node, e *scope) (string, bool) {
	if c := n.GetAConst(); c.GetIval() != nil && c.GetIval().Ival >= 0 {
		return strconv.Itoa(int(c.GetIval().Ival)), true
	}
	if t := s.pageType(n); t == int8OID {
		sql, _, ok := s.moment(n, t)
		return sql, ok
	}
	param := parameterOf(n)
	if param == 0 || e.outer != nil {
		s.no("a LIMIT or OFFSET that is no plain number is evaluated at home")
		return "", false
	}
	sql, t, ok := s.expression(n, e)
	if !ok || !t.IsInt() {
		s.no("a LIMIT or OFFSET that is no plain number is evaluated at home")
		return "", false
	}
	s.b.checks = append(s.b.checks, check{param, isCount})
	return sql, true
}

// sortKeys prints the keys of ORDER BY, each of what no key before it is of: rows that this leaves equal are so to it too.
func (s *shipper) sortKeys(q *pg_query.SelectStmt, e *scope, columns []scopeColumn) (keys []string, ok bool) {
	seen := map[string]bool{}
	for _, n := range q.SortClause {
		k := n.GetSortBy()
		sql, t, ok := s.sortValue(k, q, e, columns)
		if !ok {
			return nil, false
		}
		key, ok := s.ordered(k, sql, t)
		if !ok {
			return nil, false
		}
		if !seen[sql] {
			keys = append(keys, key)
		}
		seen[sql] = true
	}
	return keys, true
}

// sortValue prints what a key of ORDER BY is of.
func (s *shipper) sortValue(k *pg_query.SortBy, q *pg_query.SelectStmt, e *scope, columns []scopeColumn) (string, typ, bool) {
	if s.settled(q, e, columns, k.Node) {
		return "", typ{}, false
	}
	if i := target(k.Node, columns, e, true); i >= 0 {
		sql := strconv.Itoa(i + 1) // by position: names need not be unique
		if t := columns[i].typ; t.Wide || t.IsFloat() || s.simple != nil {
			sql = columns[i].sql
		}
		if t := columns[i].typ; (t.IsFloat() || t.Wide) && (q.Op != pg_query.SetOperation_SETOP_NONE || plainDistinct(q.DistinctClause)) {
			return s.unproven("ordering DISTINCT rows and sets by %s", columns[i].typ.Name())
		}
		return sql, columns[i].typ, true
	}
	if q.Op != pg_query.SetOperation_SETOP_NONE || plainDistinct(q.DistinctClause) {
		return s.no("this ORDER BY is evaluated at home")
	}
	return s.expression(k.Node, e)
}

// ordered prints a sort key with the place of NULLs, always said: Postgres has them last, and first for DESC.
func (s *shipper) ordered(k *pg_query.SortBy, sql string, t typ) (string, bool) {
	if !t.Sortable() || s.quirky != nil && t.OID == uuidOID || k.SortbyDir == pg_query.SortByDir_SORTBY_USING {
		if dialect.Text.Takes(t) {
			s.unproven("ordering text under its collation")
		} else {
			s.unproven("ordering by %s", t.Name())
		}
		return "", false
	}
	if t.IsFloat() { // a bare column would come out as it was sorted: with -0 as 0
		sql = "(" + sql + ") + 0"
	}
	if t.Wide {
		sql = "sluice_numeric_key(" + sql + ")"
	}
	desc := k.SortbyDir == pg_query.SortByDir_SORTBY_DESC
	if s.simple != nil { // where there are no NULLs, they are where the engine has them of itself
		return s.simple.Sorted(sql, desc, t.NotNull && !desc || !t.NotNull && nullsFirst(k)), true
	}
	if desc {
		sql += " DESC"
	}
	if nullsFirst(k) {
		return sql + " NULLS FIRST", true
	}
	return sql + " NULLS LAST", true
}

// nullsFirst reports whether NULL comes before all values: by default where these descend.
func nullsFirst(k *pg_query.SortBy) bool {
	return k.SortbyNulls == pg_query.SortByNulls_SORTBY_NULLS_FIRST ||
		k.SortbyNulls == pg_query.SortByNulls_SORTBY_NULLS_DEFAULT && k.SortbyDir == pg_query.SortByDir_SORTBY_DESC
}
