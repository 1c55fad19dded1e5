package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/engines/snowflake"
	"github.com/sluicedb/sluice/engines/snowflake/fake"
	"github.com/sluicedb/sluice/proxy"
)

// flakeURL runs a proxy over a home whose server flake is an account.
func flakeURL(t *testing.T, f *fake.Account) string {
	t.Helper()
	config, err := pgconn.ParseConfig(hometest.Database(t, hometest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, snowflake.Wrapper{}}, Federation: federation()})
	through := proxyURL(addr, config.Database)
	var options []string
	for name, value := range f.Options() {
		options = append(options, fmt.Sprintf("%s '%s'", name, value))
	}
	exec(t, through, "CREATE EXTENSION sluice", "CREATE SERVER flake FOREIGN DATA WRAPPER sluice_snowflake OPTIONS ("+strings.Join(options, ", ")+")",
		fmt.Sprintf("CREATE USER MAPPING FOR PUBLIC SERVER flake OPTIONS (user '%s', password '%s')", fake.User, strings.ReplaceAll(fake.Password, "'", "''")))
	return through
}

// TestSnowflake imports tables and reads them alone and with others, governed too, and looks at what the account was sent.
func TestSnowflake(t *testing.T) {
	f := fake.Start(t, "CREATE SCHEMA shop",
		`CREATE TABLE shop.orders (id BIGINT NOT NULL, day DATE, clock TIME, moment TIMESTAMPTZ, local TIMESTAMP, amount DECIMAL(12,2), doc JSON, "odd name" VARCHAR, ok BOOLEAN, data BLOB, f DOUBLE, n INTEGER, w DECIMAL(38,0))`,
		`INSERT INTO shop.orders VALUES (1, '2024-02-29', '23:59:59.5', '2024-07-01 12:00:00+02', '1969-12-31 23:59:59.123456', 12345.67, '{"a": [1, null]}', 'it''s \ back', true, '\xDE\xAD', 0.1, 7, 12345678901234567890123456789012345678),
		 (9223372036854775807, NULL, NULL, NULL, NULL, -0.01, NULL, '', NULL, NULL, '-Infinity', NULL, NULL), (3, NULL, NULL, NULL, NULL, 0, '[]', 'é', false, '', 'NaN', -7, -1)`,
		"CREATE TABLE shop.keys (k VARCHAR, n BIGINT)", "INSERT INTO shop.keys VALUES ('00112233-4455-6677-8899-aabbccddeeff', 70000)")
	url := flakeURL(t, f)
	conn := connect(t, url)
	role := "flake_" + strings.ToLower(conn.Config().Database)
	t.Cleanup(func() { exec(t, url, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	for _, c := range [][2]string{
		{"CREATE SCHEMA shop", "CREATE SCHEMA"},
		{"IMPORT FOREIGN SCHEMA shop FROM SERVER flake INTO shop", "IMPORT FOREIGN SCHEMA"},
		{"SET TimeZone = 'UTC'", "SET"},
		{"SELECT * FROM shop.orders ORDER BY id", `1|2024-02-29|23:59:59.5|2024-07-01 10:00:00+00|1969-12-31 23:59:59.123456|12345.67|{"a": [1, null]}|it's \ back|t|\xdead|0.1|7|12345678901234567890123456789012345678` + "\n" +
			`3|NULL|NULL|NULL|NULL|0.00|[]|é|f|\x|NaN|-7|-1` + "\n" + `9223372036854775807|NULL|NULL|NULL|NULL|-0.01|NULL||NULL|NULL|-Infinity|NULL|NULL`},
		{"SELECT count(*), sum(amount), max(day) FROM shop.orders WHERE ok", "1|12345.67|2024-02-29"},
		{"SELECT count(*), count(day), min(n), max(id) FROM shop.orders WHERE n BETWEEN -10 AND 10", "2|1|-7|3"},
		{"SELECT max(w), min(w) FROM shop.orders WHERE w > 5", "12345678901234567890123456789012345678|12345678901234567890123456789012345678"},
		{"SELECT id FROM shop.orders WHERE w <= 9223372036854775807 ORDER BY w", "3"},
		{"SELECT id FROM shop.orders WHERE w < 5.5", "3"},
		{"SELECT n, count(*) FROM shop.orders GROUP BY n ORDER BY n DESC LIMIT 2", "NULL|1\n7|1"},
		{"SELECT id FROM shop.orders ORDER BY n NULLS FIRST LIMIT 1 OFFSET 1", "3"},
		{"SELECT id FROM shop.orders WHERE n IS NULL OR id = 1 ORDER BY 1", "1\n9223372036854775807"},
		{`SELECT id FROM shop.orders WHERE "odd name" = 'it''s \ back'`, "1"},
		{"SELECT o.id FROM shop.orders o JOIN (VALUES (1)) v(n) ON v.n = o.id", "1"},
		{"SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'shop.orders'::regclass AND attnum IN (1, 3, 4, 5, 6, 7)",
			"id|bigint\nclock|time without time zone\nmoment|timestamp with time zone\nlocal|timestamp without time zone\namount|numeric(12,2)\ndoc|jsonb"},
		{"CREATE FOREIGN TABLE keys (k uuid, n int) SERVER flake OPTIONS (schema_name 'SHOP')", "CREATE FOREIGN TABLE"},
		{"SELECT k FROM keys WHERE k > '00000000-0000-0000-0000-000000000000'", "00112233-4455-6677-8899-aabbccddeeff"},
		{"ALTER SERVER flake OPTIONS (SET database 'lake', ADD schema 'shop')", "ALTER SERVER"},
		{"CREATE FOREIGN TABLE plain (n int OPTIONS (column_name 'N')) SERVER flake OPTIONS (table_name 'KEYS')", "CREATE FOREIGN TABLE"},
		{"SELECT n FROM plain WHERE n > 1", "70000"},
		{"CREATE FOREIGN TABLE small (n smallint) SERVER flake OPTIONS (schema_name 'SHOP', table_name 'KEYS')", "CREATE FOREIGN TABLE"},
		{"SELECT n FROM small", "22003"},
		{"CREATE FOREIGN TABLE wrong (n date) SERVER flake OPTIONS (schema_name 'SHOP', table_name 'KEYS')", "CREATE FOREIGN TABLE"},
		{"SELECT n FROM wrong", "HV004"},
		{"CREATE FOREIGN TABLE gone (a int) SERVER flake OPTIONS (schema_name 'SHOP')", "CREATE FOREIGN TABLE"},
		{"SELECT * FROM gone", "42P01"},
		{"INSERT INTO keys (n) VALUES (1)", "0A000"},
		{"UPDATE keys SET n = 2", "0A000"},
		{"IMPORT FOREIGN SCHEMA nope FROM SERVER flake INTO shop", "HV00Q"},
		{"CREATE SERVER bad FOREIGN DATA WRAPPER sluice_snowflake OPTIONS (account 'a b', database 'D')", "22023"},
		{"CREATE SERVER bad FOREIGN DATA WRAPPER sluice_snowflake OPTIONS (account 'a')", "HV00B"},
		{"CREATE SERVER bad FOREIGN DATA WRAPPER sluice_snowflake OPTIONS (account 'a', database 'D', protocol 'http')", "HV00D"},
		{"CREATE ROLE " + role, "CREATE ROLE"},
		{"GRANT USAGE ON SCHEMA shop TO " + role, "GRANT"},
		{"GRANT SELECT ON shop.orders TO " + role, "GRANT"},
		{"SELECT sluice.set_row_filter('shop.orders', '" + role + "', 'amount > 0')", ""},
		{"SELECT sluice.set_column_mask('shop.orders', 'f', '42')", ""},
		{"CREATE TABLE here AS VALUES (1), (2), (3)", "SELECT 3"},
		{"ALTER TABLE here RENAME column1 TO n", "ALTER TABLE"},
		{"GRANT SELECT ON here TO " + role, "GRANT"},
		{"SET ROLE " + role, "SET"},
		{"SELECT id, f FROM shop.orders", "1|42"},
		{"SELECT count(*) FROM shop.orders WHERE f < 1", "0"},
		{"SELECT count(*), max(id) FROM shop.orders", "1|1"},
		{"SELECT doc, day FROM shop.orders WHERE id > 0", `{"a": [1, null]}|2024-02-29`},
		{"SET sluice.route = federated", "SET"},
		{"SELECT a.id, b.f, c.n FROM shop.orders a JOIN shop.orders b USING (id) JOIN here c ON c.n = a.id JOIN shop.orders d ON d.id = c.n", "1|42|1"},
		{"RESET sluice.route", "RESET"},
		{"SELECT * FROM keys", "42501"},
		{"RESET ROLE", "RESET"},
		{"ALTER USER MAPPING FOR PUBLIC SERVER flake OPTIONS (SET password 'expired')", "ALTER USER MAPPING"},
		{"SELECT count(*) FROM keys", "28P01"},
	} {
		want(t, conn, c[0], c[1])
	}
	sent := map[string]bool{}
	for _, o := range f.Orders() {
		sent[o.SQL] = true
		if strings.Contains(o.SQL, "odd name\" =") || strings.Contains(o.SQL, "42") {
			t.Errorf("the account was sent %s", o.SQL)
		}
	}
	for _, sql := range []string{
		`SELECT count(*) AS "c1", count("orders"."DAY") AS "c2", min("orders"."N") AS "c3", max("orders"."ID") AS "c4" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE ("orders"."N" BETWEEN -10 AND 10)`,
		`SELECT "orders"."N" AS "n", count(*) AS "count" FROM "LAKE"."SHOP"."ORDERS" AS "orders" GROUP BY "orders"."N" ORDER BY "orders"."N" DESC NULLS FIRST LIMIT 2`,
		`SELECT max("orders"."W") AS "max", min("orders"."W") AS "min" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE ("orders"."W" > 5)`,
		`SELECT "orders"."ID" AS "id" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE ("orders"."W" <= CAST(9223372036854775807 AS NUMBER(19,0))) ORDER BY "orders"."W" NULLS LAST`,
		`SELECT "ID", "ODD NAME" FROM "LAKE"."SHOP"."ORDERS"`,
	} {
		if !sent[sql] {
			t.Errorf("the account was not sent %s", sql)
		}
	}
}

// TestSnowflakeDocs types the tour of docs/snowflake.md.
func TestSnowflakeDocs(t *testing.T) {
	f := fake.Start(t, "CREATE SCHEMA shop", "CREATE TABLE shop.orders (id BIGINT, customer DECIMAL(38,0), day DATE, amount DECIMAL(12,2), details JSON)",
		`INSERT INTO shop.orders SELECT i, i % 3, DATE '2026-01-01' + CAST(i % 5 AS INTEGER), i / 4, '{"n":' || i || '}' FROM range(1000) r(i)`)
	walk(t, flakeURL(t, f), filepath.Join("..", "docs", "snowflake.md"), "## Try it")
}
