package tests

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/databricks"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/internal/sparktest"
	"github.com/sluicedb/sluice/proxy"
)

// sparkTable has a column of each type that a warehouse is sent something of, sparkTwin the same at Spark.
const (
	sparkTable = `(id bigint, i integer, s smallint, b bigint, n numeric(12,2), m numeric(14,6), t text COLLATE "C", v varchar(10) COLLATE "C", c char(5) COLLATE "C",
 d date, at timestamp, ok boolean, z timestamptz, f double precision, g real)`
	sparkTwin = `(id BIGINT, i INT, s SMALLINT, b BIGINT, n DECIMAL(12,2), m DECIMAL(14,6), t STRING, v STRING, c CHAR(5), d DATE, at TIMESTAMP_NTZ, ok BOOLEAN,
 z TIMESTAMP, f DOUBLE, g FLOAT)`
)

const sparkValues = ` (VALUES
 (1, 5, 7, 9223372036854775807, 1.50, 0.500000, 'one', 'one', 'ab', '2024-02-29', '2024-02-29 12:00:00', true, '2024-02-29 12:00:00+00:00', 'NaN', '0.1'),
 (2, -7, -5, -9223372036854775808, -0.01, -12345.678901, 'ONE', 'x', 'AB', '1970-01-01', '1969-12-31 23:59:59.999999', false, '1969-12-31 23:59:59.999999+02:00', '-0', 'NaN'),
 (3, 1000000000, 150, 0, 9999999999.99, 99999999.999999, ' o_n%e ', 'n', 'a', '1582-10-04', '1582-10-04 01:02:03', NULL, '2024-02-29 13:00:00+01:00', '0', 'Infinity'),
 (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (5, 0, 0, 1, 0.00, 0.000000, '', '', '', '2000-12-31', '2000-12-31 00:00:00', true, '9999-12-31 23:00:00+00:00', '-Infinity', '-0'),
 (6, 7, 7, 9007199254740993, 12.00, 12.000000, 'né\o', 'né', 'é', '2024-02-29', '2024-02-29 00:00:00', false, '0001-01-01 00:00:00+00:00', '0.1', '0.1'),
 (7, -1000000000, -150, -1, -9999999999.99, 0.000001, 'one', 'ONE', 'b', '0001-01-01', '0001-01-01 00:00:00.000001', true, NULL, 'NaN', '-Infinity'),
 (8, 3, 2, 2, 0.07, 7.000000, '𝄞n', 'z', 'ab', '9999-12-31', '9999-12-31 23:59:59.999999', false, NULL, '5', '5')) AS r (id, i, s, b, n, m, t, v, c, d, at, ok, z, f, g)`

// TestRealSparkTwin compares answers over Spark with those over a plain table, each of which Spark has computed.
func TestRealSparkTwin(t *testing.T) {
	remote := sparktest.Start(t)
	direct := hometest.Database(t, hometest.Start(t))
	config, err := pgconn.ParseConfig(direct)
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, databricks.Wrapper{}}, Federation: federation()})
	through := proxyURL(addr, config.Database)
	exec(t, direct, "CREATE TABLE twin "+sparkTable,
		"INSERT INTO twin SELECT id, i, s, b, n, m, t, v, c, d::date, at::timestamp, ok, z::timestamptz, f::float8, g::real FROM"+sparkValues)
	remote.Exec(t, "CREATE TABLE default.twin "+sparkTwin+" USING parquet",
		"INSERT INTO default.twin SELECT id, i, s, b, n, m, t, v, c, CAST(d AS DATE), CAST(at AS TIMESTAMP_NTZ), ok, CAST(z AS TIMESTAMP), CAST(f AS DOUBLE), CAST(g AS FLOAT) FROM"+
			strings.ReplaceAll(sparkValues, `\`, `\\`))
	exec(t, through, "CREATE EXTENSION sluice", fmt.Sprintf("CREATE SERVER brick FOREIGN DATA WRAPPER sluice_databricks OPTIONS (host '%s', warehouse_id '%s', catalog '%s')",
		remote.URL, sparktest.Warehouse, sparktest.Catalog),
		fmt.Sprintf("CREATE USER MAPPING FOR PUBLIC SERVER brick OPTIONS (token '%s')", sparktest.Token),
		"CREATE SCHEMA own", "CREATE FOREIGN TABLE own.twin "+sparkTable+" SERVER brick OPTIONS (schema_name 'default')")
	plain, conn := connect(t, direct), connect(t, through)
	exec1(t, plain, "SET TimeZone = 'UTC'")
	exec1(t, conn, "SET TimeZone = 'UTC'")
	exec1(t, conn, "SET search_path = own")
	compareTwins(t, "testdata/databricks", plain, conn)
	t.Run("averages", func(t *testing.T) { // whose parts are computed there
		for _, sql := range sparkAverages {
			want := answerOf(t, plain, sql, nil)
			if got := answerOf(t, conn, sql, nil); got != want {
				t.Errorf("%s\n got: %s\nwant: %s", sql, got, want)
			}
			if plan := rows(t, conn, "EXPLAIN (VERBOSE) "+sql); !strings.Contains(plan, " sum(") || !strings.Contains(plan, " count(") {
				t.Errorf("%s\n%.300s", sql, plan)
			}
		}
	})
	t.Run("probes", func(t *testing.T) { probeSpark(t, remote) })
	t.Run("handles", func(t *testing.T) {
		exec(t, through, "ALTER SERVER brick OPTIONS (ADD schema 'default', ADD handles 'true')")
		exec1(t, conn, "CREATE TABLE sluice_handle.h AS "+keptByTrino)
		want(t, conn, "CREATE TABLE sluice_handle.k WITH (sluice.server = 'brick') AS TABLE sluice_handle.h", "SELECT 3")
		want(t, conn, "SELECT * FROM sluice_handle.k ORDER BY id", rows(t, conn, "SELECT * FROM sluice_handle.h ORDER BY id"))
		want(t, conn, "CREATE TABLE sluice_handle.l WITH (sluice.server = 'brick') AS SELECT id, sum(n) AS n, count(*) AS c FROM sluice_handle.k GROUP BY id", "SELECT 3")
		want(t, conn, "SELECT * FROM sluice_handle.l ORDER BY id", rows(t, conn, "SELECT id, sum(n) AS n, count(*) AS c FROM sluice_handle.h GROUP BY id ORDER BY id"))
	})
	exec(t, through, "ALTER SERVER brick OPTIONS (ADD connect_timeout '30')")
	for i, setting := range []string{"spark.sql.ansi.enabled = false", "spark.sql.session.timeZone = Europe/Berlin"} {
		remote.Exec(t, "SET "+setting)
		exec(t, through, fmt.Sprintf("ALTER SERVER brick OPTIONS (SET connect_timeout '%d')", 31+i)) // which is asked anew
		want(t, conn, "SELECT count(*) FROM twin", "55000")
		remote.Exec(t, "SET spark.sql.ansi.enabled = true", "SET spark.sql.session.timeZone = UTC")
	}
}

// probeSpark runs small ones of the statements by which servers are certified: it holds results whole, and cannot be certified itself.
func probeSpark(t *testing.T, remote *sparktest.Server) {
	e, err := databricks.Wrapper{}.Open(t.Context(), engines.Server{Name: "brick", Options: map[string]string{"host": remote.URL, "warehouse_id": sparktest.Warehouse, "catalog": sparktest.Catalog},
		Mapping: map[string]string{"token": sparktest.Token}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	p, err := e.(engines.Certifiable).Probes(t.Context())
	if err != nil || !strings.HasPrefix(p.Version, "Databricks of Spark 4.") {
		t.Fatalf("%q, %v", p.Version, err)
	}
	s, err := e.Open(t.Context(), engines.Query{SQL: p.Rows(3, 2)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r := b.(engines.Columns).Record; r.NumRows() != 3 || r.Column(0).ValueStr(2) != "2" || r.Column(1).ValueStr(0) != "xx" || s.Fields()[0].OID != 20 || s.Fields()[1].OID != 25 {
		t.Errorf("%v of %+v", r, s.Fields())
	}
	for sql, want := range p.Errors {
		_, err := e.Open(t.Context(), engines.Query{SQL: sql})
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != want {
			t.Errorf("%s: %v, not %s", sql, err, want)
		}
	}
}

var sparkAverages = []string{
	"SELECT ok, avg(s), avg(i), avg(b), avg(n), count(*) FROM twin GROUP BY ok ORDER BY ok",
	"SELECT avg(s), avg(n), avg(DISTINCT i), avg(n) FILTER (WHERE ok), sum(n) / count(*) FROM twin",
	"SELECT avg(i), avg(n) FROM twin WHERE id < 0",
	"SELECT ok, round(avg(n), 2) AS mean FROM twin GROUP BY ok HAVING avg(n) IS NOT NULL ORDER BY avg(n) DESC LIMIT 2",
}
