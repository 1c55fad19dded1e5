package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/engines/snowflake"
	"github.com/sluicedb/sluice/internal/fakesnowtest"
	"github.com/sluicedb/sluice/proxy"
)

// TestRealSnowflake reads an emulator that others have written, alone and governed.
func TestRealSnowflake(t *testing.T) {
	f := fakesnowtest.Start(t)
	f.Exec(t, "CREATE SCHEMA shop",
		`CREATE TABLE shop.orders (id NUMBER(18,0), n INT, amount NUMBER(12,2), f FLOAT, note VARCHAR, day DATE, clock TIME, local TIMESTAMP_NTZ, ok BOOLEAN, data BINARY, doc VARIANT, "Mixed" NUMBER(9,0))`,
		`INSERT INTO shop.orders SELECT 1, 7, 12345.67, 0.5, 'it''s \\ back', '2024-02-29', '23:59:59.5', '2024-07-01 12:00:00.123456', true, TO_BINARY('DEAD', 'HEX'), PARSE_JSON('{"a": [1, null]}'), 5`,
		"INSERT INTO shop.orders (id, n, amount) VALUES (2, -7, -0.01), (3, NULL, 0)")
	config, err := pgconn.ParseConfig(hometest.Database(t, hometest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, snowflake.Wrapper{}}, Federation: federation()})
	url := proxyURL(addr, config.Database)
	exec(t, url, "CREATE EXTENSION sluice", fmt.Sprintf("CREATE SERVER flake FOREIGN DATA WRAPPER sluice_snowflake OPTIONS (account 'x', host '%s', port '%s', protocol 'http', database '%s')",
		f.Host, f.Port, fakesnowtest.Database), "CREATE USER MAPPING FOR PUBLIC SERVER flake OPTIONS (user 'u', password 'p')")
	exec(t, url, "ALTER SERVER flake OPTIONS (ADD binary_text 'true')")
	conn := connect(t, url)
	role := "emulated_" + strings.ToLower(conn.Config().Database)
	t.Cleanup(func() { exec(t, url, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	for _, c := range [][2]string{
		{"CREATE SCHEMA shop", "CREATE SCHEMA"},
		{"IMPORT FOREIGN SCHEMA shop FROM SERVER flake INTO shop", "IMPORT FOREIGN SCHEMA"},
		{"SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'shop.orders'::regclass AND attnum > 0 ORDER BY attnum",
			"id|bigint\nn|numeric(38,0)\namount|numeric(12,2)\nf|double precision\nnote|text\nday|date\nclock|time without time zone\nlocal|timestamp without time zone\n" +
				"ok|boolean\ndata|bytea\ndoc|jsonb\nMixed|integer"},
		{"SELECT * FROM shop.orders ORDER BY id", `1|7|12345.67|0.5|it's \ back|2024-02-29|23:59:59.5|2024-07-01 12:00:00.123456|t|\xdead|{"a": [1, null]}|5` + "\n" +
			"2|-7|-0.01|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL\n3|NULL|0.00|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL"},
		{`SELECT count(*), count("Mixed"), min(id), max(id) FROM shop.orders WHERE id BETWEEN 1 AND 2`, "2|1|1|2"},
		{"SELECT max(n), min(n), count(n) FROM shop.orders WHERE n <> -7 OR n IS NULL", "7|7|1"},
		{"SELECT n, count(*) FROM shop.orders WHERE n > -100000000000 GROUP BY n ORDER BY n DESC", "7|1\n-7|1"},
		{`SELECT "Mixed", count(*) FROM shop.orders GROUP BY "Mixed" ORDER BY 1 DESC LIMIT 1`, "NULL|2"},
		{"SELECT id FROM shop.orders WHERE local < '2025-01-01' AND local = timestamp '2024-07-01 12:00:00.123456'", "1"},
		{"SELECT sum(amount), min(amount), sum(id), sum(n), count(DISTINCT n) FROM shop.orders WHERE amount < 20000.5", "12345.66|-0.01|6|0|2"},
		{"SELECT day, count(*), max(local) FROM shop.orders GROUP BY day HAVING count(*) > 0 ORDER BY day", "2024-02-29|1|2024-07-01 12:00:00.123456\nNULL|2|NULL"},
		{"SELECT id FROM shop.orders WHERE ok AND day IN ('2024-02-29', '2024-03-01') AND day BETWEEN '2024-01-01' AND '2024-12-31'", "1"},
		{"SELECT DISTINCT note FROM shop.orders ORDER BY note LIMIT 1", `it's \ back`},
		{`SELECT id FROM shop.orders WHERE note = 'it''s \ back' AND note <> 'it'`, "1"},
		{"CREATE FOREIGN TABLE gone (a int) SERVER flake", "CREATE FOREIGN TABLE"},
		{"SELECT * FROM gone", "42P01"},
		{"CREATE ROLE " + role, "CREATE ROLE"},
		{"GRANT USAGE ON SCHEMA shop TO " + role, "GRANT"},
		{"GRANT SELECT ON shop.orders TO " + role, "GRANT"},
		{"SELECT sluice.set_row_filter('shop.orders', '" + role + "', 'amount > 0')", ""},
		{"SET ROLE " + role, "SET"},
		{"SELECT id, note FROM shop.orders", `1|it's \ back`},
		{"SELECT count(*) FROM shop.orders", "1"},
		{"RESET ROLE", "RESET"},
		{"ALTER SERVER flake OPTIONS (ADD handles 'true')", "ALTER SERVER"},
		{"CREATE TABLE sluice_handle.h AS " + keptByTrino, "SELECT 3"},
		{"CREATE TABLE sluice_handle.k WITH (sluice.server = 'flake') AS TABLE sluice_handle.h", "SELECT 3"},
		{"(TABLE sluice_handle.h EXCEPT TABLE sluice_handle.k) UNION ALL (TABLE sluice_handle.k EXCEPT TABLE sluice_handle.h)", "SELECT 0"},
		{"CREATE TABLE sluice_handle.l WITH (sluice.server = 'flake') AS SELECT id, note, amount FROM shop.orders WHERE amount > 0", "SELECT 1"},
		{"TABLE sluice_handle.l", `1|it's \ back|12345.67`},
	} {
		want(t, conn, c[0], c[1])
	}
}
