package bigquery

import (
	"context"
	"fmt"

	"github.com/sluicedb/sluice/engines"
)

var _ engines.Certifiable = (*Engine)(nil)

// mostProbed is how many rows a statement without end has: a job has written all of them before the first is read.
const mostProbed = 4_000_000

var probes = engines.Probes{
	Version: "BigQuery v2",
	Rows: func(n int64, width int) string {
		n = min(n, mostProbed)
		return fmt.Sprintf("SELECT i, REPEAT('x', %d) AS s FROM (SELECT a * 1000000 + b AS i FROM UNNEST(GENERATE_ARRAY(0, %d)) AS a, UNNEST(GENERATE_ARRAY(0, 999999)) AS b) WHERE i < %d ORDER BY i",
			width, max(n-1, 0)/1_000_000, n)
	},
	Blocking: "SELECT SUM(MOD(a * b + c * d, 7)) AS i, '' AS s FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS a, UNNEST(GENERATE_ARRAY(1, 1000)) AS b, UNNEST(GENERATE_ARRAY(1, 1000)) AS c, UNNEST(GENERATE_ARRAY(1, 1000)) AS d",
	Errors:   map[string]string{"SELEKT 1": "42601", "SELECT nope": "42703"},
}

// Probes are statements by which the engine is certified. None fails behind its first row, as a job that fails has no rows.
func (e *Engine) Probes(context.Context) (engines.Probes, error) { return probes, nil }
