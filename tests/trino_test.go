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
	"github.com/sluicedb/sluice/engines/trino"
	"github.com/sluicedb/sluice/internal/trinotest"
	"github.com/sluicedb/sluice/proxy"
)

func trinoServer(t *testing.T) engines.Server {
	s := trinotest.Start(t)
	return engines.Server{Options: map[string]string{"host": s.Host, "port": s.Port, "secure": "false"}, Mapping: map[string]string{"user": "analyst"}}
}

// trinoURL runs a proxy over a home whose servers tpch and memory are catalogs of the tests' Trino.
func trinoURL(t *testing.T) string {
	t.Helper()
	s := trinotest.Start(t)
	config, err := pgconn.ParseConfig(hometest.Database(t, hometest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, trino.Wrapper{}}, Federation: federation()})
	through := proxyURL(addr, config.Database)
	exec(t, through, "CREATE EXTENSION sluice")
	for _, catalog := range []string{"tpch", "memory"} {
		exec(t, through, fmt.Sprintf("CREATE SERVER %s FOREIGN DATA WRAPPER sluice_trino OPTIONS (host '%s', port '%s', secure 'false', catalog '%[1]s')", catalog, s.Host, s.Port),
			fmt.Sprintf(`CREATE USER MAPPING FOR PUBLIC SERVER %s OPTIONS ("user" 'analyst')`, catalog))
	}
	return through
}

// TestRealTrino imports tables and reads them alone and with others, governed too.
func TestRealTrino(t *testing.T) {
	url := trinoURL(t)
	trinotest.Start(t).Run(t, "CREATE SCHEMA memory.shop", `CREATE TABLE memory.shop.kinds AS SELECT * FROM (VALUES
 (TINYINT '-128', SMALLINT '32767', 2147483647, BIGINT '-9223372036854775808', REAL '0.1', DOUBLE '-0.0', DECIMAL '99999999999999999999999999999999999.999', true,
  U&'d\00e9j\00e0 ''vu'' \+01f600', CAST('ab' AS VARCHAR(5)), CAST('ab' AS CHAR(5)), X'00ff', DATE '2024-02-29', TIME '23:59:59.999999', TIMESTAMP '2024-02-29 12:34:56.123456',
  TIMESTAMP '2024-10-27 02:30:00.5 Europe/Berlin', UUID '00112233-4455-6677-8899-aabbccddeeff', JSON '{"b":[1,null],"a":"x"}', IPADDRESS '2001:db8::1',
  ARRAY[1, NULL], ARRAY['a,b', NULL, '"'], MAP(ARRAY['k'], ARRAY[1]), CAST(ROW(1, 'x') AS ROW(p INTEGER, q VARCHAR)), INTERVAL '-1 02:03:04.005' DAY TO SECOND, INTERVAL '14' MONTH),
 (NULL, NULL, NULL, NULL, REAL 'NaN', DOUBLE '-Infinity', NULL, NULL, '', NULL, NULL, X'', DATE '-0044-03-15', NULL, TIMESTAMP '9999-12-31 23:59:59.999999', NULL, NULL, JSON 'null', NULL,
  ARRAY[], NULL, MAP(), NULL, NULL, NULL)) t (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y)`)
	t.Cleanup(func() { trinotest.Start(t).Run(t, "DROP TABLE memory.shop.kinds", "DROP SCHEMA memory.shop") })
	scalars := [][2]string{
		{"SELECT a, b, c, d, e, f, g, h FROM shop.kinds WHERE h", "-128|32767|2147483647|-9223372036854775808|0.1|-0|99999999999999999999999999999999999.999|t"},
		{"SELECT i, j, k, l, m, n, o FROM shop.kinds WHERE h", `déjà 'vu' 😀|ab|ab   |\x00ff|2024-02-29|23:59:59.999999|2024-02-29 12:34:56.123456`},
		{"SELECT p, q FROM shop.kinds WHERE h", "2024-10-27 00:30:00.5+00|00112233-4455-6677-8899-aabbccddeeff"},
		{"SELECT e, f, g, i, l, m, o FROM shop.kinds WHERE h IS NULL", `NaN|-Infinity|NULL||\x|0045-03-15 BC|9999-12-31 23:59:59.999999`},
	}
	others := [][2]string{ // which home alone computes with
		{"SELECT r, s, t, u FROM shop.kinds WHERE h", `{"a": "x", "b": [1, null]}|2001:db8::1|{1,NULL}|{"a,b",NULL,"\""}`},
		{"SELECT v, w, x, y FROM shop.kinds WHERE h", `{"k": 1}|{"p": 1, "q": "x"}|-1 days -02:03:04.005|1 year 2 mons`},
		{"SELECT r, s, t FROM shop.kinds WHERE h IS NULL", "null|NULL|{}"},
	}
	conn := connect(t, url)
	role := "trino_" + strings.ToLower(conn.Config().Database)
	t.Cleanup(func() { exec(t, url, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	for _, c := range [][2]string{
		{"CREATE SCHEMA shop", "CREATE SCHEMA"},
		{"IMPORT FOREIGN SCHEMA shop FROM SERVER memory INTO shop", "IMPORT FOREIGN SCHEMA"},
		{"SET TimeZone = 'UTC'", "SET"},
		{"SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'shop.kinds'::regclass AND attnum IN (1, 7, 10, 11, 16, 18, 19, 20, 23, 24)",
			"a|smallint\ng|numeric(38,3)\nj|character varying(5)\nk|character(5)\np|timestamp with time zone\nr|jsonb\ns|inet\nt|integer[]\nw|jsonb\nx|interval"},
		{"CREATE SCHEMA tiny", "CREATE SCHEMA"},
		{"IMPORT FOREIGN SCHEMA tiny FROM SERVER tpch INTO tiny", "IMPORT FOREIGN SCHEMA"},
		{"SELECT count(*), sum(nationkey), min(name) FROM tiny.nation", "25|300|ALGERIA"},
		{"SELECT r.name, count(*) FROM tiny.nation n JOIN tiny.region r USING (regionkey) WHERE r.name LIKE 'A%' GROUP BY r.name ORDER BY 1", "AFRICA|5\nAMERICA|5\nASIA|5"},
		{"CREATE TABLE here AS VALUES (1), (2), (99)", "SELECT 3"},
		{"SELECT n.name FROM here JOIN tiny.nation n ON n.nationkey = column1 ORDER BY 1", "ARGENTINA\nBRAZIL"},
		{"CREATE FOREIGN TABLE narrow (totalprice smallint) SERVER tpch OPTIONS (schema_name 'tiny', table_name 'orders')", "CREATE FOREIGN TABLE"},
		{"SELECT * FROM narrow", "22003"},
		{"CREATE FOREIGN TABLE gone (a int) SERVER tpch OPTIONS (schema_name 'tiny')", "CREATE FOREIGN TABLE"},
		{"SELECT * FROM gone", "42P01"},
		{"INSERT INTO narrow VALUES (1)", "0A000"},
		{"IMPORT FOREIGN SCHEMA nope FROM SERVER tpch INTO tiny", "HV00Q"},
		{"CREATE SERVER bad FOREIGN DATA WRAPPER sluice_trino OPTIONS (port '0')", "22023"},
		{"CREATE SERVER bad FOREIGN DATA WRAPPER sluice_trino OPTIONS (nope '1')", "HV00D"},
		{"CREATE ROLE " + role, "CREATE ROLE"},
		{"GRANT USAGE ON SCHEMA tiny TO " + role, "GRANT"},
		{"GRANT SELECT ON tiny.nation TO " + role, "GRANT"},
		{"SELECT sluice.set_row_filter('tiny.nation', '" + role + "', 'regionkey = 3')", ""},
		{"SELECT sluice.set_column_mask('tiny.nation', 'comment', '''hidden''')", ""},
		{"SET ROLE " + role, "SET"},
		{"SELECT count(*), min(comment), max(comment) FROM tiny.nation", "5|hidden|hidden"},
		{"SELECT * FROM tiny.region", "42501"},
		{"RESET ROLE", "RESET"},
	} {
		want(t, conn, c[0], c[1])
		if !strings.HasPrefix(c[0], "SET TimeZone") {
			continue
		}
		for _, route := range []string{"", "remote", "federated", "home_join"} {
			want(t, conn, "SET sluice.route = '"+route+"'", "SET")
			for _, k := range scalars {
				want(t, conn, k[0], k[1])
			}
			for _, k := range others {
				if route == "" || route == "home_join" {
					want(t, conn, k[0], k[1])
				}
			}
		}
		want(t, conn, "RESET sluice.route", "RESET")
	}
}

// TestRealTrinoDocs types the tour of docs/trino.md.
func TestRealTrinoDocs(t *testing.T) {
	walk(t, trinoURL(t), filepath.Join("..", "docs", "trino.md"), "## Try it")
}
