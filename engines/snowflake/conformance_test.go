package snowflake

import (
	"context"
	"fmt"
	"net"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
	"github.com/sluicedb/sluice/engines/snowflake/fake"
)

// mostRows is how many rows a statement has at most: a result is known before it is read, so that there is none without an end.
const mostRows = 1 << 21

// vector is how many rows DuckDB makes at once.
const vector = 2048

// harness has statements for a fake that DuckDB computes for: they are DuckDB's.
func harness(f *fake.Account) enginetest.Harness {
	return enginetest.Harness{
		Open: func(ctx context.Context) (engines.Engine, error) { return Wrapper{}.Open(ctx, server(f)) },
		Rows: func(n int64, width int) string {
			return fmt.Sprintf("SELECT i, repeat('x', %d) AS s FROM range(%d) t(i)", width, min(n, mostRows))
		},
		Blocking: "SELECT sum(a.i * b.i) AS i, '' AS s FROM range(10000000) a(i), range(10000000) b(i)",
		FailAt: func(n int64) string {
			return fmt.Sprintf("SELECT CASE WHEN i < %d THEN i ELSE CAST('x' || i AS BIGINT) END AS i, '' AS s FROM range(%d) t(i)", n, mostRows)
		},
		FailCode: "08006",
		Errors: []enginetest.Failure{
			{SQL: "SELEKT 1", Code: "42601"},
			{SQL: "SELECT * FROM nope", Code: "42P01"},
			{SQL: "SELECT nope FROM range(1)", Code: "42703"},
			{SQL: "SELECT 1 AS i, INTERVAL 1 DAY AS s", Code: "HV004"},
		},
		Types: []enginetest.Type{
			{SQL: "SELECT CAST(NULL AS INTEGER) AS x", Field: engines.Field{Name: "x", OID: 23, Typmod: -1}, Want: []string{"(null)"}},
			{SQL: "SELECT CAST(unnest([-32768, 32767]) AS SMALLINT) AS x", Field: engines.Field{Name: "x", OID: 21, Typmod: -1}, Want: []string{"-32768", "32767"}},
			{SQL: "SELECT CAST(unnest([-9223372036854775808, 9223372036854775807]) AS BIGINT) AS x", Field: engines.Field{Name: "x", OID: 20, Typmod: -1},
				Want: []string{"-9223372036854775808", "9223372036854775807"}},
			{SQL: "SELECT CAST(0 AS DECIMAL(10,2)) AS x", Field: engines.Field{Name: "x", OID: 1700, Typmod: 10<<16 | 2 + 4}, Want: []string{"0"}},
			{SQL: "SELECT CAST(-99999999999999999999999999999999999.999 AS DECIMAL(38,3)) AS x", Field: engines.Field{Name: "x", OID: 1700, Typmod: 38<<16 | 3 + 4},
				Want: []string{"-99999999999999999999999999999999999.999"}},
			{SQL: "SELECT CAST('-Infinity' AS DOUBLE) AS x", Field: engines.Field{Name: "x", OID: 701, Typmod: -1}, Want: []string{"-Inf"}},
			{SQL: "SELECT DATE '9999-12-31' AS x", Field: engines.Field{Name: "x", OID: 1082, Typmod: -1}, Want: []string{"9999-12-31"}},
			{SQL: "SELECT TIME '23:59:59.999999' AS x", Field: engines.Field{Name: "x", OID: 1083, Typmod: -1}, Want: []string{"23:59:59.999999"}},
			{SQL: "SELECT TIMESTAMP '0001-01-01 00:00:00.000001' AS x", Field: engines.Field{Name: "x", OID: 1114, Typmod: -1}, Want: []string{"0001-01-01T00:00:00.000001"}},
			{SQL: "SELECT TIMESTAMPTZ '9999-12-31 23:59:59.999999+00' AS x", Field: engines.Field{Name: "x", OID: 1184, Typmod: -1}, Want: []string{"9999-12-31T23:59:59.999999Z"}},
			{SQL: "SELECT 'é' || chr(10) AS x", Field: engines.Field{Name: "x", OID: 25, Typmod: -1}, Want: []string{"é\n"}},
			{SQL: `SELECT CAST('\\x00\\xFF' AS BLOB) AS x`, Field: engines.Field{Name: "x", OID: 17, Typmod: -1}, Want: []string{"AP8="}},
			{SQL: "SELECT true AS x", Field: engines.Field{Name: "x", OID: 16, Typmod: -1}, Want: []string{"true"}},
		},
		Running:  func(engines.Engine) int { return int(f.Running.Load()) },
		Produced: f.Produced.Load,
		Source: enginetest.Source{
			Forbidden: []string{"database/sql"},
			Only:      map[string]string{"io.ReadAll": "gate.go", "ipc.NewReader": "result.go"},
		},
		Drain: 2_000_000,
		Wide:  2 << 10,
		Chunk: 2 * vector,
	}
}

func TestConformance(t *testing.T) {
	f := fake.Start(t)
	f.ChunkRows = 2 * vector // so that sockets' buffers don't hide what is read ahead
	enginetest.Run(t, harness(f))
}

// TestFaults breaks the network to the server, of which storage is a part here.
func TestFaults(t *testing.T) {
	f := fake.Start(t)
	f.ChunkRows = 1 << 20 // all in one part, so that nothing but its rows comes over one connection
	enginetest.Faults(t, harness(f), f.Listener.Addr().String(), func(ctx context.Context, address string) (engines.Engine, error) {
		s := server(f)
		s.Options["host"], s.Options["port"], _ = net.SplitHostPort(address)
		f.Advertise("http://" + address)
		return Wrapper{}.Open(ctx, s)
	})
}
