package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/pgerr"
)

// checkScans refuses, where sluice.on_full_scan is error, a plan that has all rows of a foreign table leave its server.
func (p *Plan) checkScans(req Request) error {
	switch req.OnFullScan {
	case "", "allow":
		return nil
	case "error":
	default:
		return pgerr.Hint(pgerr.New(pgerr.InvalidParameter, "invalid value for parameter \"sluice.on_full_scan\": %q", req.OnFullScan),
			"Available values: allow, error.")
	}
	t := p.whole
	for i := range p.Inputs {
		if p.Inputs[i].Whole {
			t = p.Inputs[i].Relation
		}
	}
	if t == nil {
		return nil
	}
	return pgerr.Hint(pgerr.New(pgerr.ProgramLimitExceeded, "the statement would read all rows of foreign table \"%s.%s\"", t.Schema, t.Name),
		"Add a condition that its server can evaluate (EXPLAIN says which it cannot, and why), or RESET sluice.on_full_scan.")
}

// scanned returns the foreign table all of whose rows a statement yields, nil for none.
func (b *builder) scanned(q *pg_query.SelectStmt) *catalog.Relation {
	if s := b.one(q); s != nil && q.WhereClause == nil && q.LimitCount == nil {
		return s.table
	}
	return nil
}

// one returns the foreign table of which a statement yields each row once, or some; nil for none.
func (b *builder) one(q *pg_query.SelectStmt) *source {
	if len(q.FromClause) != 1 || len(q.GroupClause)+len(q.DistinctClause) > 0 || q.HavingClause != nil {
		return nil
	}
	for _, n := range q.TargetList {
		if n.GetResTarget().Val.GetFuncCall() != nil { // perhaps an aggregate
			return nil
		}
	}
	return b.sourceOf(q.FromClause[0].GetRangeVar())
}
