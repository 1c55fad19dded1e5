package databricks

import (
	"context"
	"fmt"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/databricks/fake"
	"github.com/sluicedb/sluice/engines/enginetest"
)

// TestConformance runs against a fake that DuckDB computes for: statements are DuckDB's.
func TestConformance(t *testing.T) {
	f := fake.Start(t)
	enginetest.Run(t, enginetest.Harness{
		Open: func(ctx context.Context) (engines.Engine, error) { return Wrapper{}.Open(ctx, server(f)) },
		Rows: func(n int64, width int) string {
			return fmt.Sprintf("SELECT i, repeat('x', %d) AS s FROM range(%d) t(i)", width, n)
		},
		Blocking: "SELECT sum(a.i * b.i) AS i, '' AS s FROM range(10000000) a(i), range(10000000) b(i)",
		FailAt: func(n int64) string {
			return fmt.Sprintf("SELECT CASE WHEN i < %d THEN i ELSE ('x' || i)::BIGINT END AS i, '' AS s FROM range(100000000) t(i)", n)
		},
		FailCode: "08006",
		Errors: []enginetest.Failure{
			{SQL: "SELEKT 1", Code: "42601"},
			{SQL: "SELECT * FROM nope", Code: "42P01"},
			{SQL: "SELECT nope FROM range(1)", Code: "42703"},
			{SQL: "SELECT INTERVAL 1 DAY", Code: "HV004"},
		},
		Types: []enginetest.Type{
			{SQL: "SELECT NULL::INTEGER AS x", Field: engines.Field{Name: "x", OID: 23, Typmod: -1}, Want: []string{"(null)"}},
			{SQL: "SELECT unnest([-32768, 32767])::SMALLINT AS x", Field: engines.Field{Name: "x", OID: 21, Typmod: -1}, Want: []string{"-32768", "32767"}},
			{SQL: "SELECT unnest([-9223372036854775808, 9223372036854775807])::BIGINT AS x", Field: engines.Field{Name: "x", OID: 20, Typmod: -1},
				Want: []string{"-9223372036854775808", "9223372036854775807"}},
			{SQL: "SELECT 0::DECIMAL(10,2) AS x", Field: engines.Field{Name: "x", OID: 1700, Typmod: 10<<16 | 2 + 4}, Want: []string{"0"}},
			{SQL: "SELECT -99999999999999999999999999999999999.999::DECIMAL(38,3) AS x", Field: engines.Field{Name: "x", OID: 1700, Typmod: 38<<16 | 3 + 4},
				Want: []string{"-99999999999999999999999999999999999.999"}},
			{SQL: "SELECT DATE '9999-12-31' AS x", Field: engines.Field{Name: "x", OID: 1082, Typmod: -1}, Want: []string{"9999-12-31"}},
			{SQL: "SELECT 'é' || chr(10) AS x", Field: engines.Field{Name: "x", OID: 25, Typmod: -1}, Want: []string{"é\n"}},
			{SQL: "SELECT '\\\\x00\\\\xFF'::BLOB AS x", Field: engines.Field{Name: "x", OID: 17, Typmod: -1}, Want: []string{"AP8="}},
		},
		Running:  func(engines.Engine) int { return int(f.Running.Load()) },
		Produced: f.Produced.Load,
		Source: enginetest.Source{
			Forbidden: []string{"database/sql"},
			Only:      map[string]string{"io.ReadAll": "client.go", "ipc.NewReader": "stream.go"},
		},
		Drain: 2_000_000,
		Wide:  2 << 10,
		Chunk: 60_000,
	})
}
