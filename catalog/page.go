package catalog

import (
	"context"
	"strconv"
)

// pageFactsSQL asks sluice.page_facts of relations by their names, under the client's search path.
const pageFactsSQL = `SELECT sluice.page_facts(ARRAY(SELECT pg_catalog.to_regclass(u.n)::pg_catalog.oid
 FROM pg_catalog.unnest($1::pg_catalog.text[]) WITH ORDINALITY AS u (n, i) ORDER BY u.i), $2::pg_catalog.text[])`

// PageFacts returns what sluice.page_facts says of relations, by their quoted names, and of functions.
func PageFacts(ctx context.Context, q Querier, relations, functions []string) (string, error) {
	rows, err := q.Query(ctx, pageFactsSQL, textArray(relations), textArray(functions))
	return text(rows, 0, 0), err
}

// AdviseIndex notes an index, by its keys, that a page of a table would have been served by.
func AdviseIndex(ctx context.Context, q Querier, table int64, keys []string) error {
	_, err := q.Query(ctx, "SELECT sluice.advise_index($1::pg_catalog.oid, $2::pg_catalog.text[])", strconv.FormatInt(table, 10), textArray(keys))
	return err
}
