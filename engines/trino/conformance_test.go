package trino

import (
	"context"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
	"github.com/sluicedb/sluice/internal/trinotest"
)

// conformance is what statements of Trino the checks of enginetest mean.
func conformance(open func(ctx context.Context) (engines.Engine, error), running func() int) enginetest.Harness {
	field := func(oid uint32, typmod int32) engines.Field {
		return engines.Field{Name: "x", OID: oid, Typmod: typmod}
	}
	return enginetest.Harness{
		Open: open, Rows: probes.Rows, Blocking: probes.Blocking, FailAt: probes.FailAt, FailCode: probes.FailCode,
		Errors: []enginetest.Failure{
			{SQL: "SELEKT 1", Code: "42601"},
			{SQL: "SELECT * FROM tpch.tiny.nope", Code: "42P01"},
			{SQL: "SELECT * FROM tpch.nope.nope", Code: "3F000"},
			{SQL: "SELECT * FROM nope.nope.nope", Code: "3D000"},
			{SQL: "SELECT nope FROM tpch.tiny.nation", Code: "42703"},
			{SQL: "SELECT nope(1)", Code: "42883"},
			{SQL: "SELECT 1 / 0", Code: "22012"},
			{SQL: "SELECT CAST(300 AS TINYINT)", Code: "22003"},
			{SQL: "SELECT 1 + 'x'", Code: "42804"},
			{SQL: "SELECT CAST('x' AS DATE)", Code: "22P02"},
			{SQL: "SELECT CAST(ROW(1) AS ROW(a INTEGER))", Code: "HV004"},
		},
		Types: []enginetest.Type{
			{SQL: "SELECT CAST(NULL AS INTEGER) AS x", Field: field(23, -1), Want: []string{"(null)"}},
			{SQL: "SELECT * FROM (VALUES BIGINT '-9223372036854775808', BIGINT '9223372036854775807') t (x)", Field: field(20, -1),
				Want: []string{"-9223372036854775808", "9223372036854775807"}},
			{SQL: "SELECT DECIMAL '99999999999999999999999999999999999999' AS x", Field: field(1700, 38<<16+4), Want: []string{"99999999999999999999999999999999999999"}},
			{SQL: "SELECT DATE '9999-12-31' AS x", Field: field(1082, -1), Want: []string{"9999-12-31"}},
		},
		Running: func(engines.Engine) int { return running() },
		Source: enginetest.Source{
			Forbidden: []string{"database/sql", "github.com/trinodb/trino-go-client/trino", "io.ReadAll"},
			Only:      map[string]string{"http.NewRequestWithContext": "client.go"},
		},
		Wide:     1 << 20,
		Patience: 2 * time.Minute, // planning and starting a hundred statements takes a while
	}
}

func TestRealConformance(t *testing.T) {
	s := server(t)
	remote := trinotest.Start(t)
	enginetest.Run(t, conformance(func(ctx context.Context) (engines.Engine, error) { return Wrapper{}.Open(ctx, s) },
		func() int { return remote.Running(t) }))
}

func TestRealFaults(t *testing.T) {
	s := server(t)
	h := conformance(nil, nil)
	enginetest.Faults(t, h, trinotest.Start(t).Address(), func(ctx context.Context, address string) (engines.Engine, error) {
		return Wrapper{}.Open(ctx, elsewhere(s, address))
	})
}
