package bigquery

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/bigquery/fake"
	"github.com/sluicedb/sluice/engines/enginetest"
)

// harness has a fake that DuckDB computes for: statements are DuckDB's.
func harness(p *fake.Project) enginetest.Harness {
	return enginetest.Harness{
		Open: func(ctx context.Context) (engines.Engine, error) { return Wrapper{}.Open(ctx, server(p)) },
		Rows: func(n int64, width int) string {
			return fmt.Sprintf("SELECT i, repeat('x', %d) AS s FROM range(%d) t(i)", width, n)
		},
		Blocking: "SELECT sum(a.i * b.i)::BIGINT AS i, '' AS s FROM range(10000000) a(i), range(10000000) b(i)",
		FailAt: func(n int64) string {
			return fmt.Sprintf("SELECT CASE WHEN i < %d THEN i ELSE ('x' || i)::BIGINT END AS i, '' AS s FROM range(100000000) t(i)", n)
		},
		FailCode: "08006",
		Errors: []enginetest.Failure{
			{SQL: "SELEKT 1", Code: "42601"},
			{SQL: "SELECT * FROM nope", Code: "42P01"},
			{SQL: "SELECT nope FROM range(1)", Code: "42703"},
			{SQL: "SELECT [INTERVAL 1 DAY] AS i, '' AS s", Code: "HV004"},
		},
		Types:    limits38,
		Running:  func(engines.Engine) int { return int(p.Running.Load()) },
		Produced: p.Produced.Load,
		Source: enginetest.Source{
			Forbidden: []string{"database/sql", "cloud.google.com/go/bigquery"},
			Only:      map[string]string{"ipc.NewReaderFromMessageReader": "decode.go"},
		},
		Drain:    2_000_000,
		Wide:     2 << 10,
		Chunk:    8_192,
		Budget:   48 << 20,        // the fake takes some of it
		Patience: 2 * time.Minute, // for the race detector on a busy machine
	}
}

// limits38 are values at the ends of the service's types.
var limits38 = []enginetest.Type{
	{SQL: "SELECT NULL::BIGINT AS x", Field: engines.Field{Name: "x", OID: 20, Typmod: -1}, Want: []string{"(null)"}},
	{SQL: "SELECT unnest([-9223372036854775808, 9223372036854775807])::BIGINT AS x", Field: engines.Field{Name: "x", OID: 20, Typmod: -1},
		Want: []string{"-9223372036854775808", "9223372036854775807"}},
	{SQL: "SELECT unnest([true, false]) AS x", Field: engines.Field{Name: "x", OID: 16, Typmod: -1}, Want: []string{"true", "false"}},
	{SQL: "SELECT unnest(['NaN', 'Infinity', '-Infinity', '1.7976931348623157e308', '5e-324', '-0']::DOUBLE[]) AS x", Field: engines.Field{Name: "x", OID: 701, Typmod: -1},
		Want: []string{"NaN", "+Inf", "-Inf", "1.7976931348623157e+308", "5e-324", "-0"}},
	{SQL: "SELECT unnest(['99999999999999999999999999999.999999999', '-99999999999999999999999999999.999999999', '0.000000001']::DECIMAL(38,9)[]) AS x",
		Field: engines.Field{Name: "x", OID: 1700, Typmod: 38<<16 | 9 + 4}, Want: []string{"99999999999999999999999999999.999999999", "-99999999999999999999999999999.999999999", "1e-09"}},
	{SQL: "SELECT unnest(['0.1234567890123456789012345678901234567', '-9']::DECIMAL(38,37)[]) AS x", Field: engines.Field{Name: "x", OID: 1700, Typmod: 77<<16 | 38 + 4},
		Want: []string{"0.1234567890123456789012345678901234567", "-9"}},
	{SQL: "SELECT unnest([DATE '0001-01-01', DATE '9999-12-31']) AS x", Field: engines.Field{Name: "x", OID: 1082, Typmod: -1}, Want: []string{"0001-01-01", "9999-12-31"}},
	{SQL: "SELECT unnest([TIME '00:00:00', TIME '23:59:59.999999']) AS x", Field: engines.Field{Name: "x", OID: 1083, Typmod: -1}, Want: []string{"00:00:00.000000", "23:59:59.999999"}},
	{SQL: "SELECT unnest([DATETIME '0001-01-01 00:00:00', DATETIME '9999-12-31 23:59:59.999999']) AS x", Field: engines.Field{Name: "x", OID: 1114, Typmod: -1},
		Want: []string{"0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"}},
	{SQL: "SELECT unnest([TIMESTAMP '0001-01-01 00:00:00+00', TIMESTAMP '9999-12-31 23:59:59.999999+00']) AS x", Field: engines.Field{Name: "x", OID: 1184, Typmod: -1},
		Want: []string{"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"}},
	{SQL: "SELECT 'é' || chr(10) AS x", Field: engines.Field{Name: "x", OID: 25, Typmod: -1}, Want: []string{"é\n"}},
	{SQL: "SELECT '\\\\x00\\\\xFF'::BLOB AS x", Field: engines.Field{Name: "x", OID: 17, Typmod: -1}, Want: []string{"AP8="}},
	{SQL: "SELECT [1, 2]::BIGINT[] AS x", Field: engines.Field{Name: "x", OID: 1016, Typmod: -1}, Want: []string{"[1,2]"}},
}

func TestConformance(t *testing.T) { enginetest.Run(t, harness(fake.Start(t))) }

// TestFaults breaks the network between the engine and the Storage Read API.
func TestFaults(t *testing.T) {
	p := fake.Start(t)
	enginetest.Faults(t, harness(p), p.Address, func(ctx context.Context, address string) (engines.Engine, error) {
		s := server(p)
		s.Options["storage_endpoint"] = address
		return Wrapper{}.Open(ctx, s)
	})
}
