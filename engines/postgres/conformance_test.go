package postgres

import (
	"context"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
)

// conformance is what statements of Postgres the checks of enginetest mean. Sets that stand in a select list are made row
// by row.
func conformance(open func(ctx context.Context) (engines.Engine, error)) enginetest.Harness {
	return enginetest.Harness{
		Open: open,
		Rows: probes.Rows, Blocking: probes.Blocking, FailAt: probes.FailAt, FailCode: probes.FailCode,
		Errors: []enginetest.Failure{
			{SQL: "SELEKT 1", Code: "42601"},
			{SQL: "SELECT * FROM nope", Code: "42P01"},
			{SQL: "SELECT nope", Code: "42703"},
			{SQL: "SELECT 1/0", Code: "22012"},
			{SQL: "CREATE TABLE t(a int)", Code: "25006"},
			{SQL: "SET search_path = public", Code: "HV000"},
		},
		Types: []enginetest.Type{
			{SQL: "SELECT NULL::integer AS x", Field: engines.Field{Name: "x", OID: 23, Typmod: -1}, Want: []string{"(null)"}},
			{SQL: "SELECT unnest('{-9223372036854775808,9223372036854775807}'::bigint[]) AS x", Field: engines.Field{Name: "x", OID: 20, Typmod: -1},
				Want: []string{"-9223372036854775808", "9223372036854775807"}},
			{SQL: "SELECT 0::numeric(10,2) AS x", Field: engines.Field{Name: "x", OID: 1700, Typmod: 10<<16 | 2 + 4}, Want: []string{"0.00"}},
			{SQL: "SELECT '0044-03-15 BC'::date AS x", Field: engines.Field{Name: "x", OID: 1082, Typmod: -1}, Want: []string{"0044-03-15 BC"}},
		},
		Running: func(e engines.Engine) int { return e.(*Engine).pool.Busy() },
		Source: enginetest.Source{
			Forbidden: []string{"database/sql", "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgxpool"},
			Only:      map[string]string{"pgconn.ConnectConfig": "connection.go"},
		},
	}
}

func TestConformance(t *testing.T) {
	s := server(t, nil)
	enginetest.Run(t, conformance(func(ctx context.Context) (engines.Engine, error) { return Wrapper{}.Open(ctx, s) }))
}
