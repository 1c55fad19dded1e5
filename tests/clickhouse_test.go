package tests

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/clickhouse"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/internal/clickhousetest"
	"github.com/sluicedb/sluice/proxy"
)

// clickHouseURL runs a proxy over a home whose server events is the tests' ClickHouse.
func clickHouseURL(t *testing.T, statements ...string) string {
	t.Helper()
	remote := clickhousetest.Start(t)
	remote.Run(t, statements...)
	config, err := pgconn.ParseConfig(hometest.Database(t, hometest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, clickhouse.Wrapper{}}, Federation: federation()})
	through := proxyURL(addr, config.Database)
	exec(t, through, "CREATE EXTENSION sluice",
		fmt.Sprintf("CREATE SERVER events FOREIGN DATA WRAPPER sluice_clickhouse OPTIONS (host '%s', port '%s')", remote.Host, remote.Port),
		"CREATE USER MAPPING FOR PUBLIC SERVER events OPTIONS (user 'analyst', password 'secret')")
	return through
}

// TestClickHouse imports tables and reads them alone and with others.
func TestClickHouse(t *testing.T) {
	url := clickHouseURL(t, "DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop",
		`CREATE TABLE shop.orders (id UInt64, day Date, at DateTime, amount Decimal(12, 2), note Nullable(String), tags Array(String),
		 state Enum8('new' = 1, 'paid' = 2), code FixedString(4), who UUID, "odd ""name" Int8) ENGINE = MergeTree ORDER BY id`,
		`INSERT INTO shop.orders VALUES (18446744073709551615, '2024-02-29', toDateTime('2024-07-01 12:00:00', 'UTC'), 12345.67, NULL, ['a', 'it''s'],
		 'paid', 'ab', '61f0c404-5cb3-11e7-907b-a6006ad3dba0', -128), (1, '1970-01-01', toDateTime(0), -0.01, 'back\\slash', [], 'new', 'abcd', toUUID('00000000-0000-0000-0000-000000000001'), 127)`,
		"CREATE TABLE shop.odd (a AggregateFunction(sum, Int32), b Int32) ENGINE = Memory", "INSERT INTO shop.odd SELECT sumState(toInt32(1)), toInt32(7)")
	conn := connect(t, url)
	for _, c := range [][2]string{
		{"CREATE SCHEMA shop", "CREATE SCHEMA"},
		{"IMPORT FOREIGN SCHEMA shop LIMIT TO (orders) FROM SERVER events INTO shop", "IMPORT FOREIGN SCHEMA"},
		{"SET TimeZone = 'UTC'", "SET"},
		{"SELECT * FROM shop.orders ORDER BY id", `1|1970-01-01|1970-01-01 00:00:00+00|-0.01|back\slash|{}|new|\x61626364|00000000-0000-0000-0000-000000000001|127` + "\n" +
			`18446744073709551615|2024-02-29|2024-07-01 12:00:00+00|12345.67|NULL|{a,it's}|paid|\x61620000|61f0c404-5cb3-11e7-907b-a6006ad3dba0|-128`},
		{"SELECT count(*), sum(amount), max(day) FROM shop.orders WHERE state = 'paid'", "1|12345.67|2024-02-29"},
		{"SELECT o.id FROM shop.orders o JOIN (VALUES (1)) v(n) ON v.n = o.id WHERE o.note IS NOT NULL", "1"},
		{"SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'shop.orders'::regclass AND attnum IN (1, 3, 4, 6)",
			"id|numeric(20,0)\nat|timestamp with time zone\namount|numeric(12,2)\ntags|text[]"},
		{"CREATE FOREIGN TABLE narrow (id bigint, code text, state text, n smallint OPTIONS (column_name 'odd \"name')) SERVER events OPTIONS (schema_name 'shop', table_name 'orders')", "CREATE FOREIGN TABLE"},
		{"SELECT code, state, n FROM narrow ORDER BY n", "ab|paid|-128\nabcd|new|127"},
		{"SELECT id FROM narrow", "22003"},
		{"SELECT min(id) FROM narrow WHERE n > 0", "22003"},
		{"CREATE FOREIGN TABLE gone (a int) SERVER events OPTIONS (schema_name 'shop')", "CREATE FOREIGN TABLE"},
		{"SELECT * FROM gone", "42P01"},
		{"INSERT INTO narrow (id) VALUES (1)", "0A000"},
		{"UPDATE narrow SET id = 2", "0A000"},
		{"DELETE FROM narrow", "0A000"},
		{"IMPORT FOREIGN SCHEMA nope FROM SERVER events INTO shop", "HV00Q"},
		{"CREATE SERVER bad FOREIGN DATA WRAPPER sluice_clickhouse OPTIONS (hosts 'x')", "HV00D"},
		{"ALTER SERVER events OPTIONS (SET port '1')", "ALTER SERVER"},
		{"SELECT code FROM narrow", "08001"},
	} {
		want(t, conn, c[0], c[1])
	}
}
