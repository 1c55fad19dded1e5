package trino

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

var _ engines.Certifiable = (*Engine)(nil)

var probes = engines.Probes{
	Rows: func(n int64, width int) string {
		return fmt.Sprintf("SELECT %s AS i, rpad('', %d, 'x') AS s FROM %s WHERE %[1]s < %[4]d", number, width, numbers(n), n)
	},
	Blocking: "SELECT sum(x.a % 7 * y.a % 7) AS i, '' AS s FROM TABLE(sequence(0, 10000000)) x (a) CROSS JOIN TABLE(sequence(0, 10000000)) y (a)",
	// The rows are so wide that the cluster cannot have come to the last one before the first one is read: it throws away what it has when a
	// statement fails.
	FailAt: func(n int64) string {
		return fmt.Sprintf("SELECT CAST(IF(%s < %d, CAST(%[1]s AS VARCHAR), 'x') AS BIGINT) AS i, rpad('', 1000, 'x') AS s FROM %[3]s", number, n, numbers(10*n))
	},
	FailCode: "22P02",
	Errors:   map[string]string{"SELEKT 1": "42601", "SELECT nope": "42703"},
}

// numbers are at least n rows, from which number makes numbers in order. No sequence is longer than 10000; a function of tables that is
// called sequence too makes its numbers by several workers at once.
func numbers(n int64) string {
	last := max(n-1, 0)
	return fmt.Sprintf("UNNEST(sequence(0, %d)) x (a) CROSS JOIN UNNEST(sequence(0, %d)) y (b) CROSS JOIN UNNEST(sequence(0, 9999)) z (c)",
		min(last/1e8, 9999), min(last/1e4, 9999))
}

const number = "(x.a * 100000000 + y.b * 10000 + z.c)"

// Probes are statements by which the engine is certified.
func (e *Engine) Probes(ctx context.Context) (engines.Probes, error) {
	if err := e.Ping(ctx); err != nil { // whose error says why the cluster cannot be used
		return engines.Probes{}, pgerr.AtServer(e.server, err)
	}
	var body bytes.Buffer
	var info struct {
		NodeVersion struct {
			Version string `json:"version"`
		} `json:"nodeVersion"`
	}
	err := e.client.call(ctx, http.MethodGet, e.client.base.JoinPath("/v1/info"), "", "", &body)
	if err == nil && json.Unmarshal(body.Bytes(), &info) != nil {
		err = malformed(errJSON)
	}
	if err != nil {
		return engines.Probes{}, pgerr.AtServer(e.server, pgerr.Interrupted(ctx, err))
	}
	p := probes
	p.Version = "Trino " + info.NodeVersion.Version
	return p, nil
}
