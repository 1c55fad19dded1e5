package page

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
)

// Settled reports whether all that is printed of a query, which Describe and Served have looked at, follows from its text and the
// facts: it reads tables of home by their names, its keys are columns of these of built-in types, and nothing in it has columns that
// neither says.
func (q *Query) Settled() bool {
	if !q.hides || q.opaque || len(q.from) == 0 || q.sel.WithClause != nil {
		return false
	}
	for i := range q.from {
		if f := q.from[i].facts; f == nil || f.Kind != "r" && f.Kind != "p" && f.Kind != "m" {
			return false
		}
	}
	for i := range q.keys {
		if k := &q.keys[i]; k.column == nil || types[k.oid] == "" {
			return false
		}
	}
	settled := true
	parser.Walk(q.sel, func(m proto.Message) bool {
		switch m.(type) {
		case *pg_query.SubLink, *pg_query.A_Indirection:
			settled = false
		}
		return settled
	})
	return settled
}
