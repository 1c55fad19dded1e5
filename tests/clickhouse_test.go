package tests

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/clickhouse"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/internal/chdbtest"
	"github.com/sluicedb/sluice/internal/clickhousetest"
	"github.com/sluicedb/sluice/proxy"
)

// clickHouse is a server that tests run on: options of CREATE SERVER, and how statements get there.
type clickHouse struct {
	options string
	run     func(tb testing.TB, statements ...string)
}

// oldClickHouse is Debian's server.
func oldClickHouse(t *testing.T) clickHouse {
	s := clickhousetest.Start(t)
	return clickHouse{fmt.Sprintf("host '%s', port '%s'", s.Host, s.Port), s.Run}
}

// currentClickHouse is one that is downloaded.
func currentClickHouse(t *testing.T) clickHouse {
	s := chdbtest.Start(t)
	return clickHouse{fmt.Sprintf("protocol 'http', host '%s', port '%s'", s.Host, s.Port), s.Run}
}

// clickHouseURL runs a proxy over a home whose server events is Debian's ClickHouse.
func clickHouseURL(t *testing.T, statements ...string) string {
	t.Helper()
	return clickHouseAt(t, oldClickHouse(t), statements...)
}

// clickHouseAt is clickHouseURL for any server.
func clickHouseAt(t *testing.T, remote clickHouse, statements ...string) string {
	t.Helper()
	remote.run(t, statements...)
	config, err := pgconn.ParseConfig(hometest.Database(t, hometest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	addr := serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, clickhouse.Wrapper{}}, Federation: federation()})
	through := proxyURL(addr, config.Database)
	exec(t, through, "CREATE EXTENSION sluice",
		fmt.Sprintf("CREATE SERVER events FOREIGN DATA WRAPPER sluice_clickhouse OPTIONS (%s)", remote.options),
		"CREATE USER MAPPING FOR PUBLIC SERVER events OPTIONS (user 'analyst', password 'secret')")
	return through
}

// TestClickHouse imports tables and reads them alone and with others.
func TestClickHouse(t *testing.T) { imported(t, oldClickHouse(t)) }

func TestRealClickHouse(t *testing.T) { imported(t, currentClickHouse(t)) }

func imported(t *testing.T, remote clickHouse) {
	url := clickHouseAt(t, remote, "DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop",
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

// TestRealClickHouseTypes reads types that only current servers have, alone, by the federation engine and at home.
func TestRealClickHouseTypes(t *testing.T) {
	conn := connect(t, clickHouseAt(t, currentClickHouse(t), "CREATE DATABASE news",
		`CREATE TABLE news.t (id Int32, big UInt256, at DateTime64(9, 'Asia/Tokyo'), day Date32, ok Bool, j JSON, m Map(LowCardinality(String), UInt64), took Time64(6), half BFloat16,
		 ip IPv6, l Array(LowCardinality(Nullable(String))), odd Dynamic) ENGINE = MergeTree ORDER BY id`,
		`INSERT INTO news.t VALUES (1, 115792089237316195423570985008687907853269984665640564039457584007913129639935, '2262-01-31 23:59:59.123456789', '1900-01-01', true,
		 '{"a":{"b":9007199254740993}}', map('k', 18446744073709551615), '-99:00:00.5', 1.5, '2001:db8::1', ['x', NULL], 1), (2, 0, '1900-01-01 00:00:00', '2299-12-31', false, '{}', map(), '00:00:01', -2, '::', [], 'x')`))
	for _, c := range [][2]string{
		{"CREATE SCHEMA news", "CREATE SCHEMA"},
		{"IMPORT FOREIGN SCHEMA news FROM SERVER events INTO news", "IMPORT FOREIGN SCHEMA"},
		{"SET TimeZone = 'UTC'", "SET"},
		{"SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'news.t'::regclass AND attnum > 5",
			"j|jsonb\nm|jsonb\ntook|interval\nhalf|real\nip|inet\nl|text[]"},
	} {
		want(t, conn, c[0], c[1])
	}
	for _, route := range []string{"", "home_join"} {
		want(t, conn, "SET sluice.route = '"+route+"'", "SET")
		want(t, conn, "SELECT * FROM news.t ORDER BY id",
			`1|115792089237316195423570985008687907853269984665640564039457584007913129639935|2262-01-31 14:59:59.123456+00|1900-01-01|t|{"a": {"b": 9007199254740993}}|{"k": 18446744073709551615}|-99:00:00.5|1.5|2001:db8::1|{x,NULL}`+"\n"+
				`2|0|1899-12-31 15:00:00+00|2299-12-31|f|{}|{}|00:00:01|-2|::|{}`)
		want(t, conn, "SELECT j->'a'->>'b', took * 2, day + 1, big - 1 FROM news.t WHERE half > 0", "9007199254740993|-198:00:01|1900-01-02|115792089237316195423570985008687907853269984665640564039457584007913129639934")
	}
	want(t, conn, "SELECT sum(half), max(took), count(DISTINCT ip) FROM news.t JOIN (VALUES (1), (2)) v(n) ON n = id", "-0.5|00:00:01|2")
}
