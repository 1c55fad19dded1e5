package tests

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// twinEvents is a table of Postgres and, by what CREATE TABLE says, of ClickHouse, with values at the ends of the ranges of both.
const twinEvents = `(1, 0, 5, 7, 9223372036854775807, 'one', '2024-02-29', '2024-02-29 12:00:00+00', '00000000-0000-0000-0000-000000000001', 1.50, 0.5),
 (2, 18446744073709551615, NULL, -32768, -9223372036854775808, 'ONE', '1970-01-01', '1970-01-01 00:00:00+00', 'ffffffff-ffff-ffff-ffff-ffffffffffff', -0.01, 0),
 (3, 9223372036854775808, -5, 32767, 9007199254740993, 'one ', '2105-12-31', '2106-02-07 06:28:15+00', '61f0c404-5cb3-11e7-907b-a6006ad3dba0', NULL, NULL),
 (4, 7, 2147483647, NULL, 9007199254740992, NULL, NULL, NULL, NULL, 123456789.12, -1e300),
 (5, 7, -2147483648, 0, NULL, '', '2024-03-01', '2024-02-29 12:00:01+00', '00000000-0000-0000-0000-000000000001', 0, 1),
 (6, 5, 5, 7, 0, 'é\\''', '2024-02-29', '2024-07-01 00:00:00+00', '00000000-0000-0100-0000-000000000000', 12, 2.5)`

// twin makes the table at both, and returns a connection to a plain one and one through the proxy to the foreign one.
func twin(t *testing.T, remote clickHouse, name string) (plain, foreign *pgx.Conn) {
	t.Helper()
	through := clickHouseAt(t, remote, "DROP DATABASE IF EXISTS "+name, "CREATE DATABASE "+name, "CREATE TABLE "+name+`.events (id Int64, u UInt64, a Nullable(Int32), s Nullable(Int16), b Nullable(Int64),
 t Nullable(String), d Nullable(Date), at Nullable(DateTime), who Nullable(UUID), n Nullable(Decimal(12, 2)), f Nullable(Float64)) ENGINE = MergeTree ORDER BY id`)
	direct := hometest.Database(t, hometest.Start(t))
	exec(t, direct, `CREATE TABLE events (id bigint NOT NULL, u numeric(20,0) NOT NULL, a integer, s smallint, b bigint, t text COLLATE "C", d date, at timestamptz, who uuid, n numeric(12,2), f float8)`,
		"INSERT INTO events VALUES "+strings.ReplaceAll(twinEvents, `\\`, `\`))
	values := strings.ReplaceAll(twinEvents, `\\''`, `\\\'`)
	for _, at := range []string{"2024-02-29 12:00:00", "1970-01-01 00:00:00", "2106-02-07 06:28:15", "2024-02-29 12:00:01", "2024-07-01 00:00:00"} {
		moment, err := time.Parse(time.DateTime, at)
		if err != nil {
			t.Fatal(err)
		}
		values = strings.ReplaceAll(values, "'"+at+"+00'", fmt.Sprintf("toDateTime(%d)", moment.Unix()))
	}
	remote.run(t, "INSERT INTO "+name+".events VALUES "+values)
	exec(t, through, "IMPORT FOREIGN SCHEMA "+name+" FROM SERVER events INTO public", `ALTER FOREIGN TABLE events ALTER t TYPE text COLLATE "C"`)
	plain, foreign = connect(t, direct), connect(t, through)
	rows(t, plain, "SET TimeZone = 'UTC'")
	rows(t, foreign, "SET TimeZone = 'UTC'")
	return plain, foreign
}

// TestClickHouseTwin compares answers over ClickHouse with those over a plain table, and shows what was shipped.
func TestClickHouseTwin(t *testing.T) { twinAnswers(t, oldClickHouse(t)) }

func TestRealClickHouseTwin(t *testing.T) { twinAnswers(t, currentClickHouse(t)) }

func twinAnswers(t *testing.T, remote clickHouse) {
	plain, foreign := twin(t, remote, "twin")
	datadriven.RunTest(t, "testdata/clickhouse", func(t *testing.T, d *datadriven.TestData) string {
		var params []any
		for _, a := range d.CmdArgs {
			params = append(params, paramOf(a.Key))
		}
		answer := answerOf(t, plain, d.Input, params)
		for _, route := range []string{"", "home_join"} {
			rows(t, foreign, "SET sluice.route = '"+route+"'")
			if got := answerOf(t, foreign, d.Input, params); got != answer {
				t.Errorf("%s\n%s: %s\nplain: %s", d.Input, route, got, answer)
			}
		}
		rows(t, foreign, "RESET sluice.route")
		if params != nil {
			return answer + "\n"
		}
		return answer + "\n" + strings.Join(remoteLine.FindAllString(rows(t, foreign, "EXPLAIN (VERBOSE) "+d.Input), -1), "\n") + "\n"
	})
}

// TestClickHouseGoverned reads through a row filter and masks, of which some name columns that others look at.
func TestClickHouseGoverned(t *testing.T) {
	_, foreign := twin(t, oldClickHouse(t), "governed")
	for _, sql := range []string{
		"DROP ROLE IF EXISTS events_reader", "CREATE ROLE events_reader", "GRANT USAGE ON SCHEMA public TO events_reader", "GRANT SELECT ON events TO events_reader",
		"ALTER FOREIGN TABLE events ENABLE ROW LEVEL SECURITY", "CREATE POLICY few ON events TO events_reader USING (a = 5 AND t = 'one')",
		"SECURITY LABEL FOR sluice ON COLUMN events.a IS 'MASKED WITH VALUE NULL'", "SECURITY LABEL FOR sluice ON COLUMN events.s IS 'MASKED WITH VALUE 1'",
		"SECURITY LABEL FOR sluice ON COLUMN events.at IS 'MASKED WITH VALUE NULL'",
	} {
		if _, err := foreign.Exec(timed(t), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	t.Cleanup(func() {
		if _, err := foreign.Exec(context.Background(), "RESET ROLE; DROP OWNED BY events_reader CASCADE; DROP ROLE events_reader"); err != nil {
			t.Error(err)
		}
	})
	rows(t, foreign, "SET ROLE events_reader")
	for _, route := range []string{"", "home_join"} {
		rows(t, foreign, "SET sluice.route = '"+route+"'")
		want(t, foreign, "SELECT id, a, s, t, at FROM events ORDER BY id", "1|NULL|1|one|NULL")
		want(t, foreign, "SELECT count(*), count(a), max(s), min(at) FROM events WHERE id < 100", "1|0|1|NULL")
		want(t, foreign, "SELECT id FROM events WHERE a = 5 OR s = 7 OR at > '1970-01-01 00:00:00+00' OR id = 6", "SELECT 0")
		want(t, foreign, "SELECT id FROM events WHERE a IS NULL AND s = 1", "1")
		want(t, foreign, "SELECT x.id, y.id, y.a, y.s FROM events x LEFT JOIN events y ON x.t = y.t WHERE NOT (x.id = 2 AND y.s = 7)", "1|1|NULL|1")
		want(t, foreign, "SELECT x.id FROM events x JOIN events y ON x.a = y.a", "SELECT 0")
		want(t, foreign, "SELECT count(*) FROM events WHERE s IN (SELECT s FROM events WHERE t <> 'x') AND id NOT BETWEEN 2 AND 6", "1")
		want(t, foreign, "WITH w AS (SELECT s, count(*) AS n FROM events GROUP BY s HAVING count(*) > 0) SELECT s, n FROM w UNION ALL SELECT id, s FROM events", "1|1\n1|1")
		want(t, foreign, "SELECT CASE WHEN a = 5 THEN 'seen' ELSE coalesce(t, '-') END, a IS NOT DISTINCT FROM 5 FROM events", "one|f")
	}
	// What the server is not sent, the federation engine computes over its rows.
	for _, rule := range []string{"CREATE POLICY more ON events TO events_reader USING (length(t) = 3)", "SECURITY LABEL FOR sluice ON COLUMN events.t IS 'MASKED WITH FUNCTION sluice.mask_email(t)'"} {
		rows(t, foreign, "RESET ROLE")
		rows(t, foreign, rule)
		rows(t, foreign, "SET ROLE events_reader")
		want(t, foreign, "SELECT id, a FROM events WHERE id < 3 ORDER BY id", "1|NULL\n2|NULL")
	}
}
