package catalog

import (
	"context"
	"strconv"
)

// Rule is a row filter, or the mask of a column, that holds for q's current role. The expression reads as under the search
// path pg_catalog; its columns are the relation's, bare or qualified by its name.
type Rule struct {
	Column     string // empty: a row filter
	Expression string
}

// Governance returns the rules for reading a relation.
func Governance(ctx context.Context, q Querier, r *Relation) ([]Rule, error) {
	rows, err := q.Query(ctx, "SELECT column_name, expression FROM sluice.governance($1)", strconv.FormatUint(uint64(r.OID), 10))
	if err != nil {
		return nil, err
	}
	rules := make([]Rule, len(rows))
	for i := range rows {
		rules[i] = Rule{Column: text(rows, i, 0), Expression: text(rows, i, 1)}
	}
	return rules, nil
}

// Evaluate returns the value of an expression of a rule, nil for NULL, and the name of its type.
func Evaluate(ctx context.Context, q Querier, expression string) (value *string, typ string, err error) {
	rows, err := q.Query(ctx, "SELECT value, type FROM sluice.evaluate($1)", expression)
	if err != nil {
		return nil, "", err
	}
	return rows[0][0], text(rows, 0, 1), nil
}
