package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
)

// loses reports, and notes, that DuckDB may yield -0 as 0 in a column. Where a query picks the first rows in an order it
// may make an aggregate of it, whose values of these types are carried as keys of a sort: DISTINCT ON, and in a sub-select
// LIMIT, or the rows that row_number() counts.
func (s *shipper) loses(q *pg_query.SelectStmt, e *scope, columns []scopeColumn) bool {
	picks := len(q.DistinctClause) > 0 && !plainDistinct(q.DistinctClause) && len(q.SortClause) > 0 ||
		e.outer != nil && (q.LimitCount != nil || numbersRows(q))
	for _, c := range columns {
		if picks && unsigned[c.typ.OID] {
			s.unproven("picking rows with %s", c.typ.Name())
			return true
		}
	}
	return false
}

// unsigned are real, its array and that of double precision.
var unsigned = map[uint32]bool{float4OID: true, 1021: true, 1022: true}

func numbersRows(q *pg_query.SelectStmt) (numbers bool) {
	for _, n := range q.TargetList {
		parser.Walk(n, func(m proto.Message) bool {
			f, ok := m.(*pg_query.FuncCall)
			numbers = numbers || ok && f.Over != nil && lastName(f.Funcname) == "row_number"
			return !numbers
		})
	}
	return numbers
}
