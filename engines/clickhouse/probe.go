package clickhouse

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluicedb/sluice/engines"
)

var _ engines.Certifiable = (*Engine)(nil)

var probes = engines.Probes{
	Rows: func(n int64, width int) string {
		return fmt.Sprintf("SELECT toInt64(number) AS i, '%s' AS s FROM system.numbers LIMIT %d", strings.Repeat("x", width), n)
	},
	Blocking: "SELECT toInt64(sum(number)) AS i, '' AS s FROM system.numbers",
	FailAt: func(n int64) string {
		return fmt.Sprintf("SELECT toInt64(if(number < %d, toString(number), 'x')) AS i, '' AS s FROM system.numbers", n)
	},
	FailCode: "22P02",
	Errors:   map[string]string{"SELEKT 1": "42601", "SELECT nope FROM system.one": "42703"},
}

// Probes are statements by which the engine is certified.
func (e *Engine) Probes(ctx context.Context) (engines.Probes, error) {
	p := probes
	rows, err := e.texts(ctx, "SELECT version()")
	if err == nil {
		p.Version = "ClickHouse " + rows[0][0]
	}
	return p, err
}
