package snowflake

import (
	"context"
	"fmt"

	"github.com/sluicedb/sluice/engines"
)

var _ engines.Certifiable = (*Engine)(nil)

// mostProbed is how many rows a statement without end has: a result is known before it is read.
const mostProbed = 4_000_000

var probes = engines.Probes{
	Rows: func(n int64, width int) string {
		return fmt.Sprintf("SELECT CAST(ROW_NUMBER() OVER (ORDER BY NULL) - 1 AS NUMBER(18,0)) AS i, REPEAT('x', %d) AS s FROM TABLE(GENERATOR(ROWCOUNT => %d)) ORDER BY i", width, min(n, mostProbed))
	},
	Blocking: "SELECT CAST(SUM(a.i * b.i % 7) AS NUMBER(18,0)) AS i, '' AS s FROM (" + numbered10M + ") AS a CROSS JOIN (" + numbered10M + ") AS b",
	Errors:   map[string]string{"SELEKT 1": "42601", "SELECT nope": "42703"},
}

const numbered10M = "SELECT ROW_NUMBER() OVER (ORDER BY NULL) AS i FROM TABLE(GENERATOR(ROWCOUNT => 10000000)) ORDER BY i"

// Probes are statements by which the engine is certified. None fails behind its first row, as what fails has no result.
func (e *Engine) Probes(ctx context.Context) (engines.Probes, error) {
	rows, err := e.texts(ctx, "SELECT CURRENT_VERSION() AS v")
	if err != nil {
		return engines.Probes{}, err
	}
	p := probes
	p.Version = "Snowflake " + rows[0][0]
	return p, nil
}
