package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/internal/clickhousetest"
)

// twinEvents is a table of Postgres and, by what CREATE TABLE says, of ClickHouse, with values at the ends of the ranges of both.
const twinEvents = `(1, 0, 5, 7, 9223372036854775807, 'one', '2024-02-29', '2024-02-29 12:00:00+00', '00000000-0000-0000-0000-000000000001', 1.50, 0.5),
 (2, 18446744073709551615, NULL, -32768, -9223372036854775808, 'ONE', '1970-01-01', '1970-01-01 00:00:00+00', 'ffffffff-ffff-ffff-ffff-ffffffffffff', -0.01, 0),
 (3, 9223372036854775808, -5, 32767, 9007199254740993, 'one ', '2105-12-31', '2106-02-07 06:28:15+00', '61f0c404-5cb3-11e7-907b-a6006ad3dba0', NULL, NULL),
 (4, 7, 2147483647, NULL, 9007199254740992, NULL, NULL, NULL, NULL, 123456789.12, -1e300),
 (5, 7, -2147483648, 0, NULL, '', '2024-03-01', '2024-02-29 12:00:01+00', '00000000-0000-0000-0000-000000000001', 0, 1),
 (6, 5, 5, 7, 0, 'é\\''', '2024-02-29', '2024-07-01 00:00:00+00', '00000000-0000-0100-0000-000000000000', 12, 2.5)`

// twin makes the table at both, and returns a connection to a plain one and one through the proxy to the foreign one.
func twin(t *testing.T, name string) (plain, foreign *pgx.Conn) {
	t.Helper()
	through := clickHouseURL(t, "DROP DATABASE IF EXISTS "+name, "CREATE DATABASE "+name, "CREATE TABLE "+name+`.events (id Int64, u UInt64, a Nullable(Int32), s Nullable(Int16), b Nullable(Int64),
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
	clickhousetest.Start(t).Run(t, "INSERT INTO "+name+".events VALUES "+values)
	exec(t, through, "IMPORT FOREIGN SCHEMA "+name+" FROM SERVER events INTO public", `ALTER FOREIGN TABLE events ALTER t TYPE text COLLATE "C"`)
	plain, foreign = connect(t, direct), connect(t, through)
	rows(t, plain, "SET TimeZone = 'UTC'")
	rows(t, foreign, "SET TimeZone = 'UTC'")
	return plain, foreign
}

// TestClickHouseTwin compares answers over ClickHouse with those over a plain table, and shows what was shipped.
func TestClickHouseTwin(t *testing.T) {
	plain, foreign := twin(t, "twin")
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

// TestClickHouseGenerated compares answers to generated statements, of which most are computed at the server.
func TestClickHouseGenerated(t *testing.T) {
	plain, foreign := twin(t, "generated")
	r := rand.New(rand.NewPCG(7, 7))
	remote := 0
	for range 400 {
		sql := generated(r)
		if got, want := answerOf(t, foreign, sql, nil), answerOf(t, plain, sql, nil); got != want {
			t.Errorf("%s\n got: %s\nwant: %s\n%s", sql, got, want, rows(t, foreign, "EXPLAIN (VERBOSE) "+sql))
		}
		if strings.Contains(rows(t, foreign, "EXPLAIN "+sql), "Route: remote") {
			remote++
		}
	}
	if remote < 200 {
		t.Errorf("only %d statements were computed at the server", remote)
	}
}

// literalsOf are values to compare a column with.
var literalsOf = map[string][]string{
	"id": {"3", "0", "-1", "5000000000"}, "u": {"7", "0", "-1", "9223372036854775807"}, "a": {"5", "-5", "2147483647", "-2147483648", "3000000000", "'5'"},
	"s": {"7", "0", "-32768", "100000"}, "b": {"0", "9007199254740993", "9223372036854775807", "-9223372036854775808"}, "t": {"'one'", "''", `'é\'''`, "'ONE'", "'x'"},
	"d":   {"'2024-02-29'", "'1970-01-01'", "'2105-12-31'", "'2106-01-01'", "'1969-12-31'", "DATE '2024-03-01'"},
	"at":  {"'2024-02-29 12:00:00+00'", "'2024-02-29 13:00:01+01'", "'1970-01-01 00:00:00+00'", "'2200-01-01 00:00:00+00'", "'2024-02-29 12:00:00.5+00'"},
	"who": {"'00000000-0000-0000-0000-000000000001'", "'FFFFFFFF-ffff-ffff-ffff-ffffffffffff'"}, "n": {"1.5", "0"}, "f": {"0.5", "0"},
}

var twinColumns = []string{"id", "u", "a", "s", "b", "t", "d", "at", "who", "n", "f"}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// comparison makes a condition on one column, or two of one kind.
func comparison(r *rand.Rand) string {
	c := pick(r, twinColumns)
	value := func() string { return pick(r, literalsOf[c]) }
	ops := []string{"=", "<>", "<", "<=", ">", ">="}
	switch r.IntN(8) {
	case 0:
		return c + pick(r, []string{" IS NULL", " IS NOT NULL"})
	case 1:
		return c + pick(r, []string{" IN (", " NOT IN ("}) + value() + ", " + value() + ", " + pick(r, []string{value(), "NULL"}) + ")"
	case 2:
		return c + pick(r, []string{" BETWEEN ", " NOT BETWEEN "}) + value() + " AND " + value()
	case 3:
		return pick(r, []string{"a", "s", "b", "id", "u"}) + " " + pick(r, ops) + " " + pick(r, []string{"a", "s", "b", "id", "u"})
	case 4:
		return value() + " " + pick(r, ops) + " " + c
	}
	return c + " " + pick(r, ops) + " " + value()
}

func conditions(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(3) == 0 {
		return comparison(r)
	}
	switch r.IntN(4) {
	case 0:
		return "NOT (" + conditions(r, depth-1) + ")"
	case 1:
		return "(" + conditions(r, depth-1) + " OR " + conditions(r, depth-1) + ")"
	}
	return "(" + conditions(r, depth-1) + " AND " + conditions(r, depth-1) + ")"
}

// generated makes a statement over the table.
func generated(r *rand.Rand) string {
	where := ""
	if r.IntN(5) > 0 {
		where = " WHERE " + conditions(r, r.IntN(3))
	}
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("SELECT count(*), count(%s), min(%s), max(%s), sum(%s), sum(%s) FROM events%s", pick(r, twinColumns), pick(r, []string{"a", "u", "d", "at", "b", "t"}),
			pick(r, []string{"a", "u", "d", "at", "s", "t"}), pick(r, []string{"a", "s", "b", "u"}), pick(r, []string{"id", "a"}), where)
	case 1:
		key := pick(r, []string{"a", "s", "u", "t", "d", "at", "who", "b"})
		return fmt.Sprintf("SELECT %s, count(*) AS %s, max(id), sum(b) FROM events%s GROUP BY %[1]s ORDER BY max(id)%[4]s", key, pick(r, []string{"c", "count", "n"}), where,
			pick(r, []string{"", " DESC", " LIMIT 3"}))
	case 2:
		return fmt.Sprintf("SELECT %s, %s AS x, id FROM events%s ORDER BY %s %s, id LIMIT %d OFFSET %d", pick(r, twinColumns), pick(r, twinColumns), where,
			pick(r, []string{"a", "u", "d", "at", "s", "who", "x", "t"}), pick(r, []string{"", "DESC", "NULLS FIRST", "DESC NULLS LAST"}), r.IntN(5), r.IntN(3))
	}
	return fmt.Sprintf("SELECT id, %s FROM events%s ORDER BY id", pick(r, twinColumns), where)
}

// TestClickHouseGoverned reads through a row filter and masks, of which some name columns that others look at.
func TestClickHouseGoverned(t *testing.T) {
	_, foreign := twin(t, "governed")
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
	}
	// What the server is not sent, the federation engine computes over its rows.
	for _, rule := range []string{"CREATE POLICY more ON events TO events_reader USING (length(t) = 3)", "SECURITY LABEL FOR sluice ON COLUMN events.t IS 'MASKED WITH FUNCTION sluice.mask_email(t)'"} {
		rows(t, foreign, "RESET ROLE")
		rows(t, foreign, rule)
		rows(t, foreign, "SET ROLE events_reader")
		want(t, foreign, "SELECT id, a FROM events WHERE id < 3 ORDER BY id", "1|NULL\n2|NULL")
	}
}
