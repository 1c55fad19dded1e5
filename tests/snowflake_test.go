package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
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
	exec(t, through, append([]string{"CREATE EXTENSION sluice"}, flakeServer("flake", f.Options())...)...)
	return through
}

// flakeServer declares an account.
func flakeServer(name string, options map[string]string) []string {
	var list []string
	for option, value := range options {
		list = append(list, fmt.Sprintf("%s '%s'", option, value))
	}
	return []string{
		"CREATE SERVER " + name + " FOREIGN DATA WRAPPER sluice_snowflake OPTIONS (" + strings.Join(list, ", ") + ")",
		fmt.Sprintf("CREATE USER MAPPING FOR PUBLIC SERVER %s OPTIONS (user '%s', password '%s')", name, fake.User, strings.ReplaceAll(fake.Password, "'", "''")),
	}
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
		{"SELECT id FROM shop.orders WHERE amount > 0.005 OR amount IN (0, 1.5)", "1\n3"},
		{"SELECT min(amount), max(amount), sum(amount), sum(id), sum(n), count(DISTINCT n) FROM shop.orders", "-0.01|12345.67|12345.66|9223372036854775811|0|2"},
		{"SELECT sum(w) FROM shop.orders WHERE w < 0", "-1"},
		{"SELECT id FROM shop.orders WHERE day = '2024-02-29' AND day BETWEEN '2024-01-01' AND date '2024-12-31' AND NOT day IN ('2020-01-01')", "1"},
		{"SELECT id FROM shop.orders WHERE local < '1970-01-01' AND local = timestamp '1969-12-31 23:59:59.123456' AND moment >= '2024-07-01 12:00:00+02'", "1"},
		{"SELECT min(day), max(local), max(moment) FROM shop.orders WHERE local < '2000-01-01'", "2024-02-29|1969-12-31 23:59:59.123456|2024-07-01 10:00:00+00"},
		{"SELECT id FROM shop.orders WHERE ok", "1"},
		{"SELECT id FROM shop.orders WHERE NOT ok OR ok IS NULL ORDER BY id", "3\n9223372036854775807"},
		{"SELECT id FROM shop.orders WHERE ok <> true", "3"},
		{"SELECT DISTINCT ok, day FROM shop.orders ORDER BY ok DESC NULLS LAST, day LIMIT 2", "t|2024-02-29\nf|NULL"},
		{"SELECT ok, sum(amount), count(*) FROM shop.orders GROUP BY ok HAVING sum(amount) >= 0 AND ok IS NOT NULL ORDER BY max(amount)", "f|0.00|1\nt|12345.67|1"},
		{"SELECT ok, avg(amount), round(avg(n), 1) FROM shop.orders GROUP BY ok ORDER BY avg(amount)", "NULL|-0.01000000000000000000|NULL\nf|0.00000000000000000000|-7.0\nt|12345.6700000000000000|7.0"},
		{"SELECT day FROM shop.orders GROUP BY day HAVING NOT count(*) > 1", "2024-02-29"},
		{"SELECT n, count(*) FROM shop.orders GROUP BY n ORDER BY n DESC LIMIT 2", "NULL|1\n7|1"},
		{"SELECT id FROM shop.orders ORDER BY n NULLS FIRST LIMIT 1 OFFSET 1", "3"},
		{"SELECT id FROM shop.orders WHERE n IS NULL OR id = 1 ORDER BY 1", "1\n9223372036854775807"},
		{`SELECT id FROM shop.orders WHERE "odd name" = 'it''s \ back'`, "1"},
		{"ALTER FOREIGN TABLE shop.orders ALTER \"odd name\" OPTIONS (SET remote_type 'TEXT(BINARY)')", "ALTER FOREIGN TABLE"},
		{`SELECT id FROM shop.orders WHERE "odd name" IN ('it''s \ back', 'IT''S \ BACK') AND "odd name" <> 'it''s \ back '`, "1"},
		{`SELECT "odd name", count(*) FROM shop.orders GROUP BY "odd name" HAVING "odd name" <> 'é' ORDER BY max(id)`, `it's \ back|1` + "\n|1"},
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
	} {
		want(t, conn, c[0], c[1])
	}
	bindAtSnowflake(t, conn)
	want(t, conn, "ALTER USER MAPPING FOR PUBLIC SERVER flake OPTIONS (SET password 'expired')", "ALTER USER MAPPING")
	want(t, conn, "SELECT count(*) FROM keys", "28P01")
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
		`SELECT "orders"."ID" AS "id" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE (("orders"."AMOUNT" > CAST('0.005' AS NUMBER(4,3))) OR ("orders"."AMOUNT" IN (0, CAST('1.5' AS NUMBER(2,1)))))`,
		`SELECT min("orders"."AMOUNT") AS "c1", max("orders"."AMOUNT") AS "c2", CAST(sum("orders"."AMOUNT") AS NUMBER(38,2)) AS "c3", CAST(sum("orders"."ID") AS NUMBER(38,0)) AS "c4", CAST(sum("orders"."N") AS NUMBER(38,0)) AS "c5", count(DISTINCT "orders"."N") AS "c6" FROM "LAKE"."SHOP"."ORDERS" AS "orders"`,
		`SELECT "orders"."ID" AS "id" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE (("orders"."DAY" = CAST('2024-02-29' AS DATE)) AND ("orders"."DAY" BETWEEN CAST('2024-01-01' AS DATE) AND CAST('2024-12-31' AS DATE)) AND (NOT ("orders"."DAY" IN (CAST('2020-01-01' AS DATE)))))`,
		`SELECT min("orders"."DAY") AS "c1", max(CAST("orders"."LOCAL" AS TIMESTAMP_NTZ(6))) AS "c2", max(CAST("orders"."MOMENT" AS TIMESTAMP_LTZ(6))) AS "c3" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE (CAST("orders"."LOCAL" AS TIMESTAMP_NTZ(6)) < CAST('2000-01-01' AS TIMESTAMP_NTZ(6)))`,
		`SELECT "orders"."ID" AS "id" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE ("orders"."OK" = true)`,
		`SELECT "orders"."OK" AS "ok", "orders"."DAY" AS "day" FROM "LAKE"."SHOP"."ORDERS" AS "orders" GROUP BY "orders"."OK", "orders"."DAY" ORDER BY "orders"."OK" DESC NULLS LAST, "orders"."DAY" NULLS LAST LIMIT 2`,
		`SELECT "orders"."OK" AS "ok", CAST(sum("orders"."AMOUNT") AS NUMBER(38,2)) AS "sum", count(*) AS "count" FROM "LAKE"."SHOP"."ORDERS" AS "orders" GROUP BY "orders"."OK" HAVING ((CAST(sum("orders"."AMOUNT") AS NUMBER(38,2)) >= 0) AND ("orders"."OK" IS NOT NULL)) ORDER BY max("orders"."AMOUNT") NULLS LAST`,
		`SELECT "c1", "c2", "c3", "c4", "c5" FROM (SELECT "orders"."OK" AS "c1", CAST(sum("orders"."AMOUNT") AS NUMBER(38,2)) AS "c2", count("orders"."AMOUNT") AS "c3", CAST(sum("orders"."N") AS NUMBER(38,0)) AS "c4", count("orders"."N") AS "c5" FROM "LAKE"."SHOP"."ORDERS" AS "orders" GROUP BY "orders"."OK") AS "v"`,
		`SELECT "orders"."ODD NAME" AS "odd name", count(*) AS "count" FROM "LAKE"."SHOP"."ORDERS" AS "orders" GROUP BY "orders"."ODD NAME" HAVING ("orders"."ODD NAME" <> 'é') ORDER BY max("orders"."ID") NULLS LAST`,
		`SELECT "orders"."ID" AS "id" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE ("orders"."DAY" = CAST(:1 AS DATE))`,
		`SELECT "orders"."ID" AS "id" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE (CAST("orders"."LOCAL" AS TIMESTAMP_NTZ(6)) <= CAST(:1 AS TIMESTAMP_NTZ(6)))`,
		`SELECT "orders"."ID" AS "id" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE (CAST("orders"."MOMENT" AS TIMESTAMP_LTZ(6)) = CAST(:1 AS TIMESTAMP_LTZ(6)))`,
		`SELECT "orders"."ID" AS "id" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE ("orders"."OK" = CAST(:1 AS BOOLEAN))`,
		`SELECT "orders"."ID" AS "id" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE ("orders"."ODD NAME" = CAST(:1 AS VARCHAR))`,
		`SELECT "orders"."ID" AS "id" FROM "LAKE"."SHOP"."ORDERS" AS "orders" WHERE ("orders"."ID" = CAST(:1 AS NUMBER(19,0)))`,
	} {
		if !sent[sql] {
			t.Errorf("the account was not sent %s", sql)
		}
	}
}

// bindAtSnowflake finds the first order by parameters of each type that is bound.
func bindAtSnowflake(t *testing.T, conn *pgx.Conn) {
	for _, c := range []struct {
		condition string
		value     any
	}{
		{"day = $1", "2024-02-29"}, {"local <= $1", "1969-12-31 23:59:59.123456"}, {"moment = $1", "2024-07-01 15:30:00+05:30"},
		{"ok = $1", true}, {`"odd name" = $1`, `it's \ back`}, {"id = $1", int64(1)},
	} {
		var id int64
		if err := conn.QueryRow(t.Context(), "SELECT id FROM shop.orders WHERE "+c.condition, pgx.QueryExecModeExec, c.value).Scan(&id); err != nil || id != 1 {
			t.Errorf("%s: %d, %v", c.condition, id, err)
		}
	}
}

// TestSnowflakeDocs types the tour of docs/snowflake.md.
func TestSnowflakeDocs(t *testing.T) {
	f := fake.Start(t, "CREATE SCHEMA shop", "CREATE TABLE shop.orders (id BIGINT, customer DECIMAL(38,0), day DATE, amount DECIMAL(12,2), details JSON)",
		`INSERT INTO shop.orders SELECT i, i % 3, DATE '2026-01-01' + CAST(i % 5 AS INTEGER), i / 4, '{"n":' || i || '}' FROM range(1000) r(i)`)
	walk(t, flakeURL(t, f), filepath.Join("..", "docs", "snowflake.md"), "## Try it")
}
