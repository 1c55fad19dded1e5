package databricks

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluicedb/sluice/engines"
)

var _ engines.Certifiable = (*Engine)(nil)

// mostProbed is how many rows a statement without end has: a warehouse has computed a result before the first of it is read.
const mostProbed = 4_000_000

var probes = engines.Probes{
	Rows: func(n int64, width int) string {
		return fmt.Sprintf("SELECT i, repeat('x', %d) AS s FROM range(%d) AS t (i) ORDER BY i", width, min(n, mostProbed))
	},
	Blocking: "SELECT CAST(sum(a.i * b.i % 7) AS BIGINT) AS i, '' AS s FROM range(10000000) AS a (i), range(10000000) AS b (i)",
	Errors:   map[string]string{"SELEKT 1": "42601", "SELECT nope": "42703"},
}

// Probes are statements by which the engine is certified. None fails behind its first row, as what fails has no result.
func (e *Engine) Probes(ctx context.Context) (engines.Probes, error) {
	rows, err := e.texts(ctx, engines.Query{SQL: "SELECT version()"})
	if err != nil {
		return engines.Probes{}, err
	}
	p := probes
	version, _, _ := strings.Cut(rows[0][0], " ") // which a revision stands behind
	p.Version = "Databricks of Spark " + version
	return p, nil
}
