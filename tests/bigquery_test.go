package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	rest "google.golang.org/api/bigquery/v2"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/bigquery"
	"github.com/sluicedb/sluice/engines/bigquery/fake"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/proxy"
)

// bigURL runs a proxy over a home whose server big is a project.
func bigURL(t *testing.T, p *fake.Project) string {
	t.Helper()
	config, err := pgconn.ParseConfig(hometest.Database(t, hometest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, bigquery.Wrapper{}}, Federation: federation()})
	through := proxyURL(addr, config.Database)
	exec(t, through, append([]string{"CREATE EXTENSION sluice"}, bigServer("big", p.URL, p.Address)...)...)
	return through
}

// bigServer declares a project.
func bigServer(name, url, storage string) []string {
	return []string{
		fmt.Sprintf("CREATE SERVER %s FOREIGN DATA WRAPPER sluice_bigquery OPTIONS (project '%s', endpoint '%s', storage_endpoint '%s')", name, fake.Name, url, storage),
		fmt.Sprintf("CREATE USER MAPPING FOR PUBLIC SERVER %s OPTIONS (access_token '%s')", name, fake.Token),
	}
}

// TestBigQuery imports tables and reads them alone and with others, governed too.
func TestBigQuery(t *testing.T) {
	p := fake.Start(t, "CREATE SCHEMA shop",
		`CREATE TABLE shop.orders (id BIGINT NOT NULL, day DATE, moment TIMESTAMPTZ, local TIMESTAMP, amount DECIMAL(12,2), price DECIMAL(38,9), tags BIGINT[], "odd name" VARCHAR, ok BOOLEAN, data BLOB, f DOUBLE,
		 one STRUCT(a BIGINT, b VARCHAR), words VARCHAR[])`,
		`INSERT INTO shop.orders VALUES (1, '2024-02-29', '2024-07-01 12:00:00+02', '2024-07-01 12:00:00.123456', 12345.67, 0.1, [1, 2], 'it''s \ back', true, '\xDE\xAD', 0.1, {'a': 1, 'b': 'x"y'}, ['a', 'b c']),
		 (9223372036854775807, NULL, NULL, NULL, -0.01, NULL, [], '', NULL, NULL, '-Infinity', NULL, [])`,
		"CREATE TABLE shop.keys (k VARCHAR, n BIGINT)", "INSERT INTO shop.keys VALUES ('00112233-4455-6677-8899-aabbccddeeff', 70000), (NULL, 5), (NULL, NULL)")
	p.Describe("shop", "orders", rest.Table{TimePartitioning: &rest.TimePartitioning{Type: "DAY", Field: "day"}})
	key := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(key, []byte(p.Key(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	url := bigURL(t, p)
	conn := connect(t, url)
	role := "big_" + strings.ToLower(conn.Config().Database)
	t.Cleanup(func() { exec(t, url, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	for _, c := range [][2]string{
		{"CREATE SCHEMA shop", "CREATE SCHEMA"},
		{"IMPORT FOREIGN SCHEMA shop FROM SERVER big INTO shop", "IMPORT FOREIGN SCHEMA"},
		{"SET TimeZone = 'UTC'", "SET"},
		{"SELECT obj_description('shop.orders'::regclass)", "Partitioned by day, DAY."},
		{"SELECT * FROM shop.orders ORDER BY id", `1|2024-02-29|2024-07-01 10:00:00+00|2024-07-01 12:00:00.123456|12345.67|0.100000000|{1,2}|it's \ back|t|\xdead|0.1|{"a": 1, "b": "x\"y"}|{a,"b c"}` + "\n" +
			`9223372036854775807|NULL|NULL|NULL|-0.01|NULL|{}||NULL|NULL|-Infinity|NULL|{}`},
		{"SELECT count(*), sum(amount), max(day) FROM shop.orders WHERE ok", "1|12345.67|2024-02-29"},
		{"SELECT count(*), count(n), min(n), max(n) FROM shop.keys", "3|2|5|70000"},
		{"SELECT n, count(*) FROM shop.keys GROUP BY n ORDER BY n DESC NULLS LAST LIMIT 2", "70000|1\n5|1"},
		{`SELECT n AS "what?", count(*) AS _all FROM shop.keys WHERE n = 5 GROUP BY n ORDER BY n`, "5|1"},
		{"SELECT id FROM shop.orders WHERE id IN (1, 3) OR id IS NULL", "1"},
		{"SELECT o.id FROM shop.orders o JOIN (VALUES (1)) v(n) ON v.n = o.id", "1"},
		{"SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'shop.orders'::regclass AND attnum IN (1, 3, 4, 5, 6, 7, 12, 13)",
			"id|bigint\nmoment|timestamp with time zone\nlocal|timestamp without time zone\namount|numeric(12,2)\nprice|numeric(38,9)\ntags|bigint[]\none|jsonb\nwords|text[]"},
		{"CREATE FOREIGN TABLE keys (k uuid, n int) SERVER big OPTIONS (schema_name 'shop')", "CREATE FOREIGN TABLE"},
		{"SELECT k FROM keys WHERE k > '00000000-0000-0000-0000-000000000000'", "00112233-4455-6677-8899-aabbccddeeff"},
		{"SELECT count(*) FROM keys", "3"},
		{"CREATE FOREIGN TABLE small (n smallint) SERVER big OPTIONS (schema_name 'shop', table_name 'keys')", "CREATE FOREIGN TABLE"},
		{"SELECT n FROM small", "22003"},
		{"CREATE FOREIGN TABLE wrong (n boolean) SERVER big OPTIONS (schema_name 'shop', table_name 'keys')", "CREATE FOREIGN TABLE"},
		{"SELECT n FROM wrong", "HV004"},
		{"CREATE FOREIGN TABLE gone (a int) SERVER big OPTIONS (schema_name 'shop')", "CREATE FOREIGN TABLE"},
		{"SELECT * FROM gone", "42P01"},
		{"INSERT INTO keys (n) VALUES (1)", "0A000"},
		{"IMPORT FOREIGN SCHEMA nope FROM SERVER big INTO shop", "HV00Q"},
		{"CREATE SERVER bad FOREIGN DATA WRAPPER sluice_bigquery OPTIONS (project 'x-1', endpoint 'http://x.example')", "HV00D"},
		{"CREATE SERVER bad FOREIGN DATA WRAPPER sluice_bigquery OPTIONS (project 'Not A Project')", "22023"},
		{"CREATE SERVER bad FOREIGN DATA WRAPPER sluice_bigquery", "HV00B"},
		{"CREATE ROLE " + role, "CREATE ROLE"},
		{"GRANT USAGE ON SCHEMA shop TO " + role, "GRANT"},
		{"GRANT SELECT ON shop.orders, shop.keys TO " + role, "GRANT"},
		{"SELECT sluice.set_row_filter('shop.orders', '" + role + "', 'amount > 0')", ""},
		{"SELECT sluice.set_column_mask('shop.orders', 'f', '42')", ""},
		{"SELECT sluice.set_row_filter('shop.keys', '" + role + "', 'n > 5')", ""},
		{"CREATE TABLE here AS VALUES (1), (2), (3)", "SELECT 3"},
		{"ALTER TABLE here RENAME column1 TO n", "ALTER TABLE"},
		{"GRANT SELECT ON here TO " + role, "GRANT"},
		{"SET ROLE " + role, "SET"},
		{"SELECT id, f FROM shop.orders", "1|42"},
		{"SELECT count(*) FROM shop.orders WHERE f < 1", "0"},
		{"SELECT count(*) FROM shop.orders", "1"},
		{"SELECT count(*), min(n) FROM shop.keys", "1|70000"},
		{"SELECT tags, day FROM shop.orders WHERE id > 0", "{1,2}|2024-02-29"},
		{"SET sluice.route = federated", "SET"},
		{"SELECT a.id, b.f, c.n, a.amount FROM shop.orders a JOIN shop.orders b USING (id) JOIN here c ON c.n = a.id JOIN shop.orders d ON d.id = c.n", "1|42|1|12345.67"},
		{"RESET sluice.route", "RESET"},
		{"SELECT * FROM keys", "42501"},
		{"RESET ROLE", "RESET"},
		{"ALTER USER MAPPING FOR PUBLIC SERVER big OPTIONS (DROP access_token, ADD service_account 'file:" + key + "')", "ALTER USER MAPPING"},
		{"SELECT count(*) > 0 FROM keys", "t"},
		{"ALTER USER MAPPING FOR PUBLIC SERVER big OPTIONS (DROP service_account, ADD access_token '" + fake.Token + "')", "ALTER USER MAPPING"},
		{"ALTER SERVER big OPTIONS (ADD maximum_bytes_billed '1000')", "ALTER SERVER"},
		{"SELECT count(*) FROM keys", "54000"},
		{"ALTER USER MAPPING FOR PUBLIC SERVER big OPTIONS (SET access_token 'expired')", "ALTER USER MAPPING"},
		{"SELECT count(*) FROM keys", "28000"},
	} {
		want(t, conn, c[0], c[1])
	}
	if p.Granted.Load() != 1 {
		t.Errorf("the key of the service account got %d tokens", p.Granted.Load())
	}
	shipped := map[string]bool{}
	for _, j := range p.Jobs() {
		shipped[j.Configuration.Query.Query] = true
		if l := j.Configuration.Labels; l["sluice_role"] == "" || l["sluice_id"] == "" {
			t.Errorf("a job has labels %v", l)
		}
	}
	for _, sql := range []string{
		"SELECT count(*) AS `c1`, count(`keys`.`n`) AS `c2`, min(`keys`.`n`) AS `c3`, max(`keys`.`n`) AS `c4` FROM `acme-lake`.`shop`.`keys` AS `keys`",
		"SELECT `orders`.`id` AS `id` FROM `acme-lake`.`shop`.`orders` AS `orders` WHERE ((`orders`.`id` IN (1, 3)) OR (`orders`.`id` IS NULL))",
	} {
		if !shipped[sql] {
			t.Errorf("the service was not sent %s", sql)
		}
	}
	if t.Failed() {
		for sql := range shipped {
			t.Log(sql)
		}
	}
}

// TestBigQueryEstimate has EXPLAIN say what a statement would be billed by, but not who may not read, nor of rows that are hidden.
func TestBigQueryEstimate(t *testing.T) {
	p := fake.Start(t, "CREATE SCHEMA shop", "CREATE TABLE shop.keys (k VARCHAR, n BIGINT)")
	p.Bytes.Store(123456)
	url := bigURL(t, p)
	conn := connect(t, url)
	role := "bigcost_" + strings.ToLower(conn.Config().Database)
	t.Cleanup(func() { exec(t, url, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	exec(t, url, "IMPORT FOREIGN SCHEMA shop FROM SERVER big INTO public", "CREATE FOREIGN TABLE gone (a int) SERVER big OPTIONS (schema_name 'shop')", "CREATE ROLE "+role)
	explained := func(sql string) string { return rows(t, conn, "EXPLAIN "+sql) }
	const line = "Remote Estimate: 123456 bytes processed"
	for sql, want := range map[string]string{
		"SELECT n FROM keys WHERE n > 5":                        line,
		"SELECT k || 'x' FROM keys":                             line,
		"SELECT * FROM keys a JOIN keys b ON a.n = b.n + 1":     line,
		"SELECT a FROM gone":                                    "Remote Estimate: not known: Not found: Table",
		"SELECT count(*) FROM keys WHERE k LIKE 'a%' AND n = 1": line,
	} {
		if got := explained(sql); !strings.Contains(got, want) {
			t.Errorf("%s:\n%s", sql, got)
		}
	}
	for _, j := range p.Jobs() {
		if !j.Configuration.DryRun {
			t.Errorf("EXPLAIN has run %s", j.Configuration.Query.Query)
		}
	}
	asked := len(p.Jobs())
	want(t, conn, "SET ROLE "+role, "SET")
	want(t, conn, "EXPLAIN SELECT n FROM keys", "42501")
	exec(t, url, "GRANT SELECT ON keys TO "+role, "SELECT sluice.set_row_filter('keys', '"+role+"', 'n > 5')")
	if got := explained("SELECT n FROM keys"); strings.Contains(got, "Estimate") || !strings.Contains(got, "Route") {
		t.Error(got)
	}
	if n := len(p.Jobs()); n != asked {
		t.Errorf("%d statements were looked at for who may not know", n-asked)
	}
}
