package tests

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/databricks"
	"github.com/sluicedb/sluice/engines/databricks/fake"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/proxy"
)

// brickURL runs a proxy over a home whose server brick is a workspace.
func brickURL(t *testing.T, f *fake.Workspace, options string) string {
	t.Helper()
	config, err := pgconn.ParseConfig(hometest.Database(t, hometest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, databricks.Wrapper{}}, Federation: federation()})
	through := proxyURL(addr, config.Database)
	exec(t, through, append([]string{"CREATE EXTENSION sluice"}, brickServer("brick", "lake", f.URL, options)...)...)
	return through
}

// computesNothing are the options of a server that is sent names of columns alone.
const computesNothing = ", pushdown 'false'"

// brickServer declares a workspace, with further options.
func brickServer(name, catalog, url, options string) []string {
	return []string{
		fmt.Sprintf("CREATE SERVER %s FOREIGN DATA WRAPPER sluice_databricks OPTIONS (host '%s', warehouse_id '%s', catalog '%s'%s)", name, url, fake.Warehouse, catalog, options),
		fmt.Sprintf("CREATE USER MAPPING FOR PUBLIC SERVER %s OPTIONS (token '%s')", name, fake.Token),
	}
}

// TestDatabricks imports tables and reads them alone and with others, governed too, of a warehouse that computes and of one that does
// not.
func TestDatabricks(t *testing.T) {
	t.Run("computes", func(t *testing.T) {
		sent := databricksScript(t, "")
		for _, want := range []string{
			"SELECT count(*) AS `count`, sum(CAST(CAST(`orders`.`amount` AS DECIMAL(12,2)) AS DECIMAL(38,2))) AS `sum`, max(CAST(`orders`.`day` AS DATE)) AS `max` FROM `lake`.`shop`.`orders` AS `orders` WHERE CAST(`orders`.`ok` AS BOOLEAN)",
			"SELECT count(*) AS `count` FROM `lake`.`shop`.`keys` AS `keys`",
		} {
			if !slices.Contains(sent, want) {
				t.Errorf("the warehouse was not sent %s, but\n%s", want, strings.Join(sent, "\n"))
			}
		}
	})
	t.Run("reads", func(t *testing.T) {
		for _, sql := range databricksScript(t, computesNothing) {
			if strings.Contains(sql, "*") || strings.Contains(sql, "WHERE") && !strings.Contains(sql, "information_schema") {
				t.Errorf("the warehouse was sent %s", sql)
			}
		}
	})
}

// databricksScript returns what a warehouse was sent that is declared with further options.
func databricksScript(t *testing.T, options string) (sent []string) {
	f := fake.Start(t, "CREATE SCHEMA shop",
		`CREATE TABLE shop.orders (id BIGINT NOT NULL, day DATE, moment TIMESTAMPTZ, local TIMESTAMP, amount DECIMAL(12,2), tags INTEGER[], "odd name" VARCHAR, ok BOOLEAN, data BLOB, f DOUBLE)`,
		`INSERT INTO shop.orders VALUES (1, '2024-02-29', '2024-07-01 12:00:00+02', '2024-07-01 12:00:00.123456', 12345.67, [1, NULL], 'it''s \ back', true, '\xDE\xAD', 0.1),
		 (9223372036854775807, NULL, NULL, NULL, -0.01, NULL, '', NULL, NULL, '-Infinity')`,
		"CREATE TABLE shop.keys (k VARCHAR, n BIGINT)", "INSERT INTO shop.keys VALUES ('00112233-4455-6677-8899-aabbccddeeff', 70000)")
	url := brickURL(t, f, options)
	conn := connect(t, url)
	role := "brick_" + strings.ToLower(conn.Config().Database)
	t.Cleanup(func() { exec(t, url, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	for _, c := range [][2]string{
		{"CREATE SCHEMA shop", "CREATE SCHEMA"},
		{"IMPORT FOREIGN SCHEMA shop FROM SERVER brick INTO shop", "IMPORT FOREIGN SCHEMA"},
		{"SET TimeZone = 'UTC'", "SET"},
		{"SELECT * FROM shop.orders ORDER BY id", `1|2024-02-29|2024-07-01 10:00:00+00|2024-07-01 12:00:00.123456|12345.67|[1, null]|it's \ back|t|\xdead|0.1` + "\n" +
			`9223372036854775807|NULL|NULL|NULL|-0.01|NULL||NULL|NULL|-Infinity`},
		{"SELECT count(*), sum(amount), max(day) FROM shop.orders WHERE ok", "1|12345.67|2024-02-29"},
		{"SELECT o.id FROM shop.orders o JOIN (VALUES (1)) v(n) ON v.n = o.id", "1"},
		{"SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'shop.orders'::regclass AND attnum IN (1, 3, 4, 5, 6)",
			"id|bigint\nmoment|timestamp with time zone\nlocal|timestamp without time zone\namount|numeric(12,2)\ntags|jsonb"},
		{"CREATE FOREIGN TABLE keys (k uuid, n int) SERVER brick OPTIONS (schema_name 'shop')", "CREATE FOREIGN TABLE"},
		{"SELECT k FROM keys WHERE k > '00000000-0000-0000-0000-000000000000'", "00112233-4455-6677-8899-aabbccddeeff"},
		{"SELECT count(*) FROM keys", "1"},
		{"CREATE FOREIGN TABLE small (n smallint) SERVER brick OPTIONS (schema_name 'shop', table_name 'keys')", "CREATE FOREIGN TABLE"},
		{"SELECT n FROM small", "22003"},
		{"CREATE FOREIGN TABLE gone (a int) SERVER brick OPTIONS (schema_name 'shop')", "CREATE FOREIGN TABLE"},
		{"SELECT * FROM gone", "42P01"},
		{"INSERT INTO keys (n) VALUES (1)", "0A000"},
		{"UPDATE keys SET n = 2", "0A000"},
		{"IMPORT FOREIGN SCHEMA nope FROM SERVER brick INTO shop", "HV00Q"},
		{"CREATE SERVER bad FOREIGN DATA WRAPPER sluice_databricks OPTIONS (host 'http://x.example', warehouse_id 'x')", "22023"},
		{"CREATE SERVER bad FOREIGN DATA WRAPPER sluice_databricks OPTIONS (host 'x.example')", "HV00B"},
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
		{"SELECT count(*) FROM shop.orders", "1"},
		{"SELECT tags, day FROM shop.orders WHERE id > 0", "[1, null]|2024-02-29"},
		{"SET sluice.route = federated", "SET"},
		{"SELECT a.id, b.f, c.n FROM shop.orders a JOIN shop.orders b USING (id) JOIN here c ON c.n = a.id JOIN shop.orders d ON d.id = c.n", "1|42|1"},
		{"RESET sluice.route", "RESET"},
		{"SELECT * FROM keys", "42501"},
		{"RESET ROLE", "RESET"},
		{"ALTER USER MAPPING FOR PUBLIC SERVER brick OPTIONS (SET token 'expired')", "ALTER USER MAPPING"},
		{"SELECT count(*) FROM keys", "28000"},
	} {
		want(t, conn, c[0], c[1])
	}
	tag := regexp.MustCompile(`^/\* sluice role=\w+ id=[0-9a-f]+-[0-9a-f]+ \*/ `)
	for _, o := range f.Orders() {
		sent = append(sent, tag.ReplaceAllString(o.Statement, ""))
	}
	return sent
}

// TestScreenedStreams frees the warehouse where a reader of rows that the proxy screens cancels or leaves, and reads no further ahead of
// one that waits than buffers take.
func TestScreenedStreams(t *testing.T) {
	f := fake.Start(t, "CREATE SCHEMA shop", "CREATE VIEW shop.endless AS SELECT i FROM range(1000000000000) r(i)")
	url := brickURL(t, f, computesNothing)
	exec(t, url, "DROP ROLE IF EXISTS brick_stream", "CREATE ROLE brick_stream LOGIN", "CREATE FOREIGN TABLE endless (i bigint) SERVER brick OPTIONS (schema_name 'shop')",
		"GRANT SELECT ON endless TO brick_stream", "SELECT sluice.set_row_filter('endless', 'brick_stream', 'i % 2 = 0')")
	t.Cleanup(func() { exec(t, url, "DROP OWNED BY brick_stream", "DROP ROLE brick_stream") })
	until := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(patience); !is(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d statements run, %d rows were made", what, f.Running.Load(), f.Produced.Load())
			}
		}
	}
	freed := func() bool { return f.Running.Load() == 0 }
	for _, route := range []string{"home_join", "federated"} {
		conn := connect(t, strings.Replace(url, "postgres@", "brick_stream@", 1))
		want(t, conn, "SET sluice.route = "+route, "SET")
		done := make(chan error, 1)
		before := f.Produced.Load()
		go func() { done <- drain(context.Background(), conn, "SELECT count(*) FROM endless") }()
		until(route+" begins", func() bool { return f.Produced.Load() > before })
		if err := cancelUntil(t, conn, done, 50*time.Millisecond); sqlState(err) != "57014" {
			t.Errorf("%s ended with %v", route, err)
		}
		until(route+" cancelled", freed)
	}
	conn := connect(t, strings.Replace(url, "postgres@", "brick_stream@", 1))
	want(t, conn, "SET sluice.route = federated", "SET")
	reader := conn.PgConn().Exec(timed(t), "SELECT i FROM endless")
	if !reader.NextResult() || !reader.ResultReader().NextRow() {
		t.Fatal("no first row")
	}
	last := int64(-1)
	until("nobody reads", func() bool {
		now := f.Produced.Load()
		still := now == last
		last = now
		time.Sleep(300 * time.Millisecond)
		return still
	})
	_ = conn.PgConn().Conn().Close()
	until("left", freed)
}
