package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/bigquery"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/internal/bigquerytest"
	"github.com/sluicedb/sluice/proxy"
)

// emulatedURL runs a proxy over a home whose server big is an emulator.
func emulatedURL(t *testing.T, e *bigquerytest.Emulator) string {
	t.Helper()
	config, err := pgconn.ParseConfig(hometest.Database(t, hometest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, bigquery.Wrapper{}}, Federation: federation()})
	through := proxyURL(addr, config.Database)
	exec(t, through, "CREATE EXTENSION sluice", fmt.Sprintf("CREATE SERVER big FOREIGN DATA WRAPPER sluice_bigquery OPTIONS (project '%s', emulator 'true', endpoint '%s', storage_endpoint '%s')",
		bigquerytest.Project, e.URL, e.Address))
	return through
}

// TestRealBigQuery reads an emulator that others have written, alone, with home's tables, and governed.
func TestRealBigQuery(t *testing.T) {
	e := bigquerytest.Start(t)
	field := func(name, typ string, more ...string) map[string]any {
		f := map[string]any{"name": name, "type": typ, "mode": "NULLABLE"}
		for i := 0; i < len(more); i += 2 {
			f[more[i]] = more[i+1]
		}
		return f
	}
	e.Dataset(t, "shop", map[string]any{
		"tableReference": map[string]string{"projectId": bigquerytest.Project, "datasetId": "shop", "tableId": "orders"}, "description": "What was ordered.",
		"timePartitioning": map[string]string{"type": "DAY", "field": "day"},
		"schema": map[string]any{"fields": []any{
			field("id", "INTEGER", "mode", "REQUIRED"), field("amount", "NUMERIC"), field("note", "STRING"), field("day", "DATE"), field("moment", "TIMESTAMP"), field("local", "DATETIME"),
			field("clock", "TIME"), field("data", "BYTES"), field("ok", "BOOLEAN"), field("f", "FLOAT"), field("tags", "INTEGER", "mode", "REPEATED"), field("small", "INTEGER"),
		}},
	})
	e.Exec(t, `INSERT INTO shop.orders (id, amount, note, day, moment, local, clock, data, ok, f, tags, small) VALUES
		(1, NUMERIC '12345.67', "it's", DATE '2024-02-29', TIMESTAMP '2024-07-01 12:00:00+02', DATETIME '2024-07-01 12:00:00.123456', TIME '23:59:59.5', b'abc', true, 0.5, [1, 2], 7),
		(2, NUMERIC '-0.01', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, [], -7), (3, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, [], NULL)`)
	url := emulatedURL(t, e)
	conn := connect(t, url)
	role := "emulated_" + strings.ToLower(conn.Config().Database)
	t.Cleanup(func() { exec(t, url, "DROP OWNED BY "+role, "DROP ROLE "+role) })
	for _, c := range [][2]string{
		{"CREATE SCHEMA shop", "CREATE SCHEMA"},
		{"SET TimeZone = 'UTC'", "SET"},
		{"IMPORT FOREIGN SCHEMA shop FROM SERVER big INTO shop", "IMPORT FOREIGN SCHEMA"},
		{"SELECT obj_description('shop.orders'::regclass)", "What was ordered. Partitioned by day, DAY."},
		{"SELECT string_agg(format_type(atttypid, atttypmod), ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'shop.orders'::regclass AND attnum > 0",
			"bigint numeric(38,9) text date timestamp with time zone timestamp without time zone time without time zone bytea boolean double precision bigint[] bigint"},
		{"SELECT * FROM shop.orders ORDER BY id", `1|12345.670000000|it's|2024-02-29|2024-07-01 10:00:00+00|2024-07-01 12:00:00.123456|23:59:59.5|\x616263|t|0.5|{1,2}|7` + "\n" +
			"2|-0.010000000|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|{}|-7\n3|NULL||NULL|NULL|NULL|NULL|NULL|NULL|NULL|{}|NULL"},
		{"SELECT count(*), count(small), min(small), max(id) FROM shop.orders WHERE id BETWEEN 1 AND 2", "2|2|-7|2"},
		{"SELECT small, count(*) FROM shop.orders GROUP BY small ORDER BY 1 DESC LIMIT 2", "NULL|1\n7|1"},
		{"SELECT id FROM shop.orders WHERE moment < '2025-01-01'", "1"},
		{"SELECT o.note, v.n FROM shop.orders o JOIN (VALUES (1), (4)) v(n) ON v.n = o.id", "it's|1"},
		{"PREPARE p(int) AS SELECT note FROM shop.orders WHERE id = $1", "PREPARE"},
		{"EXECUTE p(1)", "it's"},
		{"CREATE FOREIGN TABLE gone (a int) SERVER big OPTIONS (schema_name 'shop')", "CREATE FOREIGN TABLE"},
		{"SELECT * FROM gone", "42P01"},
		{"CREATE ROLE " + role, "CREATE ROLE"},
		{"GRANT USAGE ON SCHEMA shop TO " + role, "GRANT"},
		{"GRANT SELECT ON shop.orders TO " + role, "GRANT"},
		{"SELECT sluice.set_row_filter('shop.orders', '" + role + "', 'amount > 0')", ""},
		{"SELECT sluice.set_column_mask('shop.orders', 'note', '''hidden''')", ""},
		{"SET ROLE " + role, "SET"},
		{"SELECT id, note FROM shop.orders", "1|hidden"},
		{"SELECT count(*) FROM shop.orders", "1"},
	} {
		want(t, conn, c[0], c[1])
	}
}
