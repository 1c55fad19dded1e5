package sqldb

import (
	"context"
	"os"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/enginetest"
)

// drivers says which ways to read rows are forbidden: database/sql copies them, and other places than the stream would have
// no bounds.
var drivers = enginetest.Source{
	Forbidden: []string{"database/sql", "sql.Open", "sql.OpenDB"},
	Only:      map[string]string{"mysql.NewConnector": "mysql.go"},
}

func running(e engines.Engine) int { return e.(*Engine).pool.Busy() }

func field(oid uint32, typmod int32) engines.Field {
	return engines.Field{Name: "x", OID: oid, Typmod: typmod}
}

func decimal(precision, scale int32) int32 { return precision<<16 | scale + 4 }

func mariaConformance(open func(ctx context.Context) (engines.Engine, error)) enginetest.Harness {
	return enginetest.Harness{
		Open: open,
		Rows: mariaProbes.Rows, Blocking: mariaProbes.Blocking, FailAt: mariaProbes.FailAt, FailCode: mariaProbes.FailCode,
		Errors: []enginetest.Failure{
			{SQL: "SELEKT 1", Code: "42601"},
			{SQL: "SELECT * FROM nope", Code: "42P01"},
			{SQL: "SELECT nope", Code: "42703"},
			{SQL: "SELECT nope(1)", Code: "42501"},
			{SQL: "INSERT INTO small VALUES (1)", Code: "42501"},
		},
		Types: []enginetest.Type{
			{SQL: "SELECT CAST(NULL AS SIGNED) AS x", Field: field(23, -1), Want: []string{"(null)"}},
			{SQL: "SELECT -9223372036854775808 AS x UNION ALL SELECT 9223372036854775807", Field: field(20, -1), Want: []string{"-9223372036854775808", "9223372036854775807"}},
			{SQL: "SELECT 18446744073709551615 AS x", Field: field(1700, decimal(20, 0)), Want: []string{"18446744073709551615"}},
			{SQL: "SELECT CAST('0.5' AS DECIMAL(10,2)) AS x", Field: field(1700, decimal(10, 2)), Want: []string{"0.5"}},
			{SQL: "SELECT CAST(REPEAT('9', 35) AS DECIMAL(65,30)) AS x", Field: field(1700, decimal(65, 30)),
				Want: []string{"99999999999999999999999999999999999.000000000000000000000000000000"}},
			{SQL: "SELECT DATE '9999-12-31' AS x", Field: field(1082, -1), Want: []string{"9999-12-31"}},
		},
		Running: running,
		Source:  drivers,
		Drain:   2_000_000, // what the server needs for more is long
	}
}

func TestMariaDBConformance(t *testing.T) {
	s := maria(t, "CREATE TABLE small (a INT)")
	enginetest.Run(t, mariaConformance(func(ctx context.Context) (engines.Engine, error) { return Wrapper{}.Open(ctx, s) }))
}

func sqliteConformance(open func(ctx context.Context) (engines.Engine, error)) enginetest.Harness {
	return enginetest.Harness{
		Open: open,
		Rows: sqLiteProbes.Rows, Blocking: sqLiteProbes.Blocking, FailAt: sqLiteProbes.FailAt, FailCode: sqLiteProbes.FailCode,
		Errors: []enginetest.Failure{
			{SQL: "SELEKT 1", Code: "42601"},
			{SQL: "SELECT * FROM nope", Code: "42P01"},
			{SQL: "SELECT nope", Code: "42703"},
			{SQL: "CREATE TABLE t(a)", Code: "25006"},
		},
		Types: []enginetest.Type{
			{SQL: "SELECT NULL AS x", Field: field(23, -1), Want: []string{"(null)"}},
			{SQL: "SELECT -9223372036854775808 AS x UNION ALL SELECT 9223372036854775807", Field: field(20, -1), Want: []string{"-9223372036854775808", "9223372036854775807"}},
			{SQL: "SELECT 0.5 AS x", Field: field(1700, decimal(10, 2)), Want: []string{"0.5"}},
			{SQL: "SELECT '9999-12-31' AS x", Field: field(1082, -1), Want: []string{"9999-12-31"}},
		},
		Running: running,
		Source:  drivers,
	}
}

// fileEnv hands the file of a test to its children.
const fileEnv = "SLUICE_SQLITE_FILE"

func TestSQLiteConformance(t *testing.T) {
	s := engines.Server{Name: "other", Options: map[string]string{"driver": "sqlite", "file": os.Getenv(fileEnv)}}
	if s.Options["file"] == "" {
		s = lite(t)
		t.Setenv(fileEnv, s.Options["file"])
	}
	enginetest.Run(t, sqliteConformance(func(ctx context.Context) (engines.Engine, error) { return Wrapper{}.Open(ctx, s) }))
}
