package postgres

import (
	"context"
	"fmt"

	"github.com/sluicedb/sluice/engines"
)

var _ engines.Certifiable = (*Engine)(nil)

// probes have sets in their select lists, which are made row by row there.
var probes = engines.Probes{
	Rows: func(n int64, width int) string {
		return fmt.Sprintf("SELECT generate_series(0, %d::bigint) AS i, repeat('x', %d) AS s", n-1, width)
	},
	Blocking: "SELECT sum(i) AS i, '' AS s FROM (SELECT generate_series(0, 1000000000000) AS i) t",
	FailAt: func(n int64) string {
		return fmt.Sprintf("SELECT CASE WHEN i < %d THEN i ELSE ('x' || i)::bigint END AS i, '' AS s FROM (SELECT generate_series(0, 100000000::bigint) AS i) t", n)
	},
	FailCode: "22P02",
	Errors:   map[string]string{"SELEKT 1": "42601", "SELECT nope": "42703", "SELECT 1/0": "22012"},
}

// Probes are statements by which the engine is certified.
func (e *Engine) Probes(ctx context.Context) (engines.Probes, error) {
	p := probes
	rows, err := e.texts(ctx, "SHOW server_version")
	if err == nil {
		p.Version = "PostgreSQL " + *rows[0][0]
	}
	return p, err
}
