package clickhouse

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
	"github.com/sluicedb/sluice/internal/clickhousetest"
)

// conformance is what statements of ClickHouse the checks of enginetest mean.
func conformance(open func(ctx context.Context) (engines.Engine, error), running func() int) enginetest.Harness {
	field := func(oid uint32, typmod int32) engines.Field {
		return engines.Field{Name: "x", OID: oid, Typmod: typmod}
	}
	return enginetest.Harness{
		Open: open,
		Rows: func(n int64, width int) string {
			return fmt.Sprintf("SELECT toInt64(number) AS i, '%s' AS s FROM system.numbers LIMIT %d", strings.Repeat("x", width), n)
		},
		Blocking: "SELECT toInt64(sum(number)) AS i, '' AS s FROM system.numbers",
		FailAt: func(n int64) string {
			return fmt.Sprintf("SELECT toInt64(if(number < %d, toString(number), 'x')) AS i, '' AS s FROM system.numbers", n)
		},
		FailCode: "22P02",
		Errors: []enginetest.Failure{
			{SQL: "SELEKT 1", Code: "42601"},
			{SQL: "SELECT * FROM nope", Code: "42P01"},
			{SQL: "SELECT * FROM nope.nope", Code: "3F000"},
			{SQL: "SELECT nope FROM system.one", Code: "42703"},
			{SQL: "SELECT nope(1)", Code: "42883"},
			{SQL: "SELECT intDiv(1, 0)", Code: "22012"},
			{SQL: "SELECT countState()", Code: "HV004"},
			{SQL: "CREATE TABLE t (a Int32) ENGINE = Memory", Code: "25006"},
		},
		Types: []enginetest.Type{
			{SQL: "SELECT CAST(NULL AS Nullable(Int32)) AS x", Field: field(23, -1), Want: []string{"(null)"}},
			{SQL: "SELECT arrayJoin([toInt64(-9223372036854775808), toInt64(9223372036854775807)]) AS x", Field: field(20, -1),
				Want: []string{"-9223372036854775808", "9223372036854775807"}},
			{SQL: "SELECT toUInt64(18446744073709551615) AS x", Field: field(1700, 20<<16+4), Want: []string{"18446744073709551615"}},
			{SQL: "SELECT toDecimal64('0', 2) AS x", Field: field(1700, (18<<16|2)+4), Want: []string{"0"}},
			{SQL: "SELECT toDate('2105-12-31') AS x", Field: field(1082, -1), Want: []string{"2105-12-31"}},
		},
		Running: func(engines.Engine) int { return running() },
		Source: enginetest.Source{
			Forbidden: []string{"database/sql", "github.com/ClickHouse/clickhouse-go/v2", "github.com/ClickHouse/ch-go"},
			Only:      map[string]string{"bufio.NewReaderSize": "connection.go"},
		},
		Wide:  2 << 10,
		Chunk: 4096, // rows of a block
	}
}

func TestConformance(t *testing.T) {
	overEach(t, func(t *testing.T, s engines.Server) {
		remote := clickhousetest.Start(t)
		enginetest.Run(t, conformance(func(ctx context.Context) (engines.Engine, error) { return Wrapper{}.Open(ctx, s) },
			func() int { return remote.Running(t) }))
	})
}
