package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/sqldb"
	"github.com/sluicedb/sluice/internal/tdstest"
	"github.com/sluicedb/sluice/proxy"
)

// momentRows is a table of types that not all engines of TestSQL have.
var momentRows = []string{
	`CREATE TABLE moments (id integer NOT NULL, local timestamp, coarse timestamp(3), zoned timestamptz, ok boolean, u uuid, t text, n numeric(20,3))`,
	`INSERT INTO moments VALUES
 (1, '2024-02-29 23:59:59.123456', '2024-02-29 23:59:59.123', '2024-02-29 23:59:59.123456+00', true, '00112233-4455-6677-8899-aabbccddeeff', 'é', 1.5),
 (2, '0001-01-01 00:00:00', '9999-12-31 23:59:59.999', '2024-02-29 18:30:00+00', false, 'ffeeddcc-bbaa-9988-7766-554433221100', 'é ', -12345678901234567.125),
 (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (4, '2024-02-29 23:59:59.123456', NULL, '2024-02-29 18:30:00+00', true, NULL, 'É', 0)`,
}

// TestSQLServerShips compares answers that what stands in for a SQL Server computes with those over a plain table.
func TestSQLServerShips(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	config, err := pgconn.ParseConfig(direct)
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{sqldb.SQLServer{}}, Federation: federation()})
	server := tdstest.Start(t, hometest.Database(t, home))
	exec(t, direct, momentRows...)
	exec(t, server.URL, append([]string{"SET search_path = dbo"}, momentRows...)...)
	through := proxyURL(addr, config.Database)
	exec(t, through, "CREATE EXTENSION sluice", "CREATE SCHEMA mssql",
		fmt.Sprintf("CREATE SERVER mssql FOREIGN DATA WRAPPER sluice_mssql OPTIONS (host '127.0.0.1', port '%d', database 'sales', sslmode 'disable')", server.Port),
		fmt.Sprintf("CREATE USER MAPPING FOR PUBLIC SERVER mssql OPTIONS (user '%s', password '%s')", tdstest.User, strings.ReplaceAll(tdstest.Password, "'", "''")),
		"IMPORT FOREIGN SCHEMA dbo LIMIT TO (moments) FROM SERVER mssql INTO mssql",
		"ALTER FOREIGN TABLE mssql.moments ALTER coarse OPTIONS (SET remote_type 'datetime2(7)')") // which is cast
	plain, conn := connect(t, direct), connect(t, through)
	rows(t, conn, "SET search_path = mssql")
	rows(t, conn, "SET sluice.route = 'remote'")           // or it is an error
	for _, zone := range []string{"Asia/Kolkata", "UTC"} { // whose distances have minutes, and have none
		for _, c := range []*pgx.Conn{plain, conn} {
			rows(t, c, "SET TimeZone = '"+zone+"'")
		}
		for _, c := range shippedMoments {
			answer := answerOf(t, plain, c.sql, c.params)
			if got := answerOf(t, conn, c.sql, c.params); got != answer {
				t.Errorf("%s: %s %v\ngot: %s\nplain: %s", zone, c.sql, c.params, got, answer)
			}
		}
	}
}

// shippedMoments are statements over that table that a SQL Server computes.
var shippedMoments = []struct {
	sql    string
	params []any
}{
	{"SELECT id, local, coarse, zoned FROM moments WHERE local = '2024-02-29 23:59:59.123456' ORDER BY zoned, id", nil},
	{"SELECT id FROM moments WHERE zoned BETWEEN '2024-02-29 23:59:59+05:30' AND timestamptz '2024-03-01 00:00:00+05' OR zoned > '2024-02-29 23:59:59.1234+00' ORDER BY id", nil},
	{"SELECT min(local), max(local), max(coarse), min(zoned), count(DISTINCT zoned) FROM moments", nil},
	{"SELECT zoned, count(*), max(local) FROM moments GROUP BY zoned ORDER BY zoned NULLS FIRST", nil},
	{"SELECT DISTINCT coarse FROM moments ORDER BY coarse DESC", nil},
	{"SELECT id FROM moments WHERE coarse IN ('2024-02-29 23:59:59.123', '2024-02-29 23:59:59.124') AND NOT coarse > '2999-01-01' ORDER BY id", nil},
	{"SELECT id FROM moments WHERE ok ORDER BY id", nil},
	{"SELECT id FROM moments WHERE NOT ok OR ok IS NULL ORDER BY id", nil},
	{"SELECT ok, count(*) FROM moments WHERE ok <> false OR ok = 'f' GROUP BY ok ORDER BY ok", nil},
	{"SELECT id FROM moments WHERE u = '00112233-4455-6677-8899-AABBCCDDEEFF'", nil},
	{"SELECT id FROM moments WHERE u <> '00112233-4455-6677-8899-AABBCCDDEEFF'", nil},
	{"SELECT id FROM moments WHERE t = 'é' AND 'é' = t AND t = t", nil},
	{"SELECT id FROM moments WHERE local <= $1 ORDER BY id", []any{"2024-02-29 23:59:59.123455"}},
	{"SELECT id FROM moments WHERE zoned = $1 ORDER BY id", []any{"2024-02-29 10:30:00-08"}},
	{"SELECT id FROM moments WHERE id = $2 AND zoned < $1", []any{"2024-03-01 05:29:59.5+05:30", int64(1)}},
	{"SELECT id FROM moments WHERE n <= $1 ORDER BY id", []any{"1.500000000"}},
	{"SELECT id FROM moments WHERE n IN ($1, $2) ORDER BY id", []any{"-12345678901234567.125", "0.0"}},
	{"SELECT id FROM moments WHERE ok = $1 ORDER BY id", []any{false}},
	{"SELECT id FROM moments WHERE ok = $1 ORDER BY id", []any{nil}},
	{"SELECT id FROM moments WHERE u = $1", []any{"ffeeddcc-bbaa-9988-7766-554433221100"}},
	{"SELECT id FROM moments WHERE t = $1 OR t IN ($2, 'x')", []any{"é ", "é"}},
	{"SELECT id FROM moments WHERE t <> $1 ORDER BY id", []any{"é"}},
}
