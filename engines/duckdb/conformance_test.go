package duckdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
)

// conformance is what DuckDB statements the checks of enginetest mean.
func conformance(open func(ctx context.Context) (engines.Engine, error)) enginetest.Harness {
	return enginetest.Harness{
		Open: open,
		Rows: probes.Rows, Blocking: probes.Blocking, FailAt: probes.FailAt, FailCode: probes.FailCode,
		Errors: []enginetest.Failure{
			{SQL: "SELEKT 1", Code: "42601"},
			{SQL: "SELECT * FROM nope", Code: "42P01"},
			{SQL: "SELECT nope FROM range(1)", Code: "42703"},
			{SQL: "SELECT {'a': 1}", Code: "HV004"},
			{SQL: "CREATE TABLE t(a INTEGER)", Code: "25006"},
			{SQL: "SELECT * FROM read_csv('/etc/passwd')", Code: "42501"},
		},
		Types: []enginetest.Type{
			{SQL: "SELECT NULL::INTEGER AS x", Field: engines.Field{Name: "x", OID: 23, Typmod: -1}, Want: []string{"(null)"}},
			{SQL: "SELECT unnest([-32768, 32767])::SMALLINT AS x", Field: engines.Field{Name: "x", OID: 21, Typmod: -1}, Want: []string{"-32768", "32767"}},
			{SQL: "SELECT unnest([-9223372036854775808, 9223372036854775807])::BIGINT AS x", Field: engines.Field{Name: "x", OID: 20, Typmod: -1},
				Want: []string{"-9223372036854775808", "9223372036854775807"}},
			{SQL: "SELECT 0::DECIMAL(10,2) AS x", Field: engines.Field{Name: "x", OID: 1700, Typmod: 10<<16 | 2 + 4}, Want: []string{"0"}},
			{SQL: "SELECT DATE '0044-03-15 (BC)' AS x", Field: engines.Field{Name: "x", OID: 1082, Typmod: -1}, Want: []string{"-0043-03-15"}},
		},
		Running: func(e engines.Engine) int {
			in := e.(*Engine).current
			if in == nil {
				return 0
			}
			in.slot.mu.Lock()
			defer in.slot.mu.Unlock()
			return in.refs - 1
		},
		Source: enginetest.Source{
			Forbidden: []string{
				"database/sql", "github.com/duckdb/duckdb-go/v2", "github.com/duckdb/duckdb-go/v2/mapping", "bindings.Query",
				"bindings.ExecutePrepared", "bindings.ExecutePending", "bindings.PendingPrepared", "bindings.ResultGetChunk",
				"bindings.QueryArrow", "bindings.ExecutePreparedArrow", "bindings.PendingPreparedStreaming", "bindings.ArrowScan",
			},
			Only: map[string]string{"bindings.ExecutePreparedStreaming": "streaming.go", "bindings.FetchChunk": "streaming.go"},
		},
		Wide:  2 << 10,
		Chunk: 60_000, // six of these are several row groups, so that all threads work in both runs
	}
}

func TestConformance(t *testing.T) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("sluice-conformance-%d.duckdb", os.Getpid()))
	build(t, path, "CREATE TABLE t(a INTEGER)")
	t.Cleanup(func() { os.Remove(path) })
	enginetest.Run(t, conformance(func(ctx context.Context) (engines.Engine, error) {
		return Wrapper{}.Open(ctx, engines.Server{Name: "lake", Options: map[string]string{"database": path}})
	}))
}
