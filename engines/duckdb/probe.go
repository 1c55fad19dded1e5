package duckdb

import (
	"context"
	"fmt"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

var _ engines.Certifiable = (*Engine)(nil)

var probes = engines.Probes{
	Rows: func(n int64, width int) string {
		return fmt.Sprintf("SELECT i, repeat('x', %d) AS s FROM range(%d) t(i)", width, n)
	},
	Blocking: "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b",
	FailAt: func(n int64) string {
		return fmt.Sprintf("SELECT CASE WHEN i < %d THEN i ELSE ('x' || i)::BIGINT END AS i, '' AS s FROM range(100000000) t(i)", n)
	},
	FailCode: "22P02",
	Errors:   map[string]string{"SELEKT 1": "42601", "SELECT nope FROM range(1)": "42703"},
}

// Probes are statements by which the engine is certified.
func (e *Engine) Probes(ctx context.Context) (engines.Probes, error) {
	p := probes
	c, err := e.connect()
	if err != nil {
		return p, pgerr.AtServer(e.server, err)
	}
	defer c.disconnect()
	rows, err := c.texts(ctx, "SELECT version()")
	if err != nil {
		return p, pgerr.AtServer(e.server, err)
	}
	p.Version = "DuckDB " + *rows[0][0]
	return p, nil
}
