package plan

import pg_query "github.com/pganalyze/pg_query_go/v6"

// Estimates of rows where nothing is known but whether conditions leave some over. What is known of a table bounds them.
const (
	filteredRows = 50_000
	allRows      = 1_000_000
)

// filteredPart is the part of a table that conditions are thought to leave over.
const filteredPart = 3

// size asks how many rows a foreign table has, negative where that is not known.
func (b *builder) size(s *source) int64 {
	if b.req.Rows == nil || s.body != "" {
		return -1
	}
	return b.req.Rows(s.table, s.role)
}

// estimated is how many rows an input of a source is thought to have, at least one.
func (b *builder) estimated(s *source, filtered bool) int64 {
	size := s.rows
	if s.server != nil {
		size = b.size(s)
	}
	switch {
	case s.server == nil && size < 0: // a view of home's
		return filteredRows
	case s.server == nil && filtered:
		return max(size/filteredPart, 1)
	case size >= 0 && filtered:
		return max(min(size/filteredPart, filteredRows), 1)
	case size >= 0:
		return max(size, 1)
	case filtered:
		return filteredRows
	}
	return allRows
}

// yielded is how many rows a statement that runs remote is thought to yield, 0 where nothing is known, or nobody asks.
func (b *builder) yielded(q *pg_query.SelectStmt) int64 {
	if !b.req.Estimates {
		return 0
	}
	if singleRow(q) {
		return 1
	}
	rows := int64(0)
	if s := b.one(q); s != nil {
		rows = b.estimated(s, q.WhereClause != nil)
	}
	if limit := q.LimitCount.GetAConst().GetIval(); limit != nil && (rows == 0 || int64(limit.Ival) < rows) {
		rows = int64(limit.Ival)
	}
	return rows
}
