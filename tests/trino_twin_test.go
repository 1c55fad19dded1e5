package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/internal/trinotest"
)

// twinTable has a column of each type that Trino is sent something of.
const twinTable = `(id bigint, i integer, s smallint, b bigint, n numeric(12,2), m numeric(14,6), t text COLLATE "C", v varchar(10) COLLATE "C", c char(5) COLLATE "C",
 d date, at timestamp, ok boolean)`

const twinValues = ` VALUES
 (1, 5, 7, 9223372036854775807, 1.50, 0.500000, 'one', 'one', 'ab', '2024-02-29', '2024-02-29 12:00:00', true),
 (2, -7, -5, -9223372036854775808, -0.01, -12345.678901, 'ONE', 'x', 'AB', '1970-01-01', '1969-12-31 23:59:59.999999', false),
 (3, 1000000000, 150, 0, 9999999999.99, 99999999.999999, ' o_n%e ', 'n', 'a', '1582-10-04', '1582-10-04 01:02:03', NULL),
 (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (5, 0, 0, 1, 0.00, 0.000000, '', '', '', '2000-12-31', '2000-12-31 00:00:00', true),
 (6, 7, 7, 9007199254740993, 12.00, 12.000000, 'né\o', 'né', 'é', '2024-02-29', '2024-02-29 00:00:00', false),
 (7, -1000000000, -150, -1, -9999999999.99, 0.000001, 'one', 'ONE', 'b', '0001-01-01', '0001-01-01 00:00:00.000001', true),
 (8, 3, 2, 2, 0.07, 7.000000, '𝄞n', 'z', 'ab', '9999-12-31', '9999-12-31 23:59:59.999999', false)`

// Pairs are of numbers of all lengths, none of which is 0.
const (
	pairsTable  = "(a numeric(18,4), b numeric(14,6))"
	pairsValues = ` SELECT coalesce(nullif(((i * i * 7919) % 1000003 - 500000)::numeric(18,4) * (10 ^ (i % 9 - 4))::numeric(12,4), 0), 1),
 coalesce(nullif(((i * i * 104729) % 999983 - 400000)::numeric(14,6) * (10 ^ (i % 7 - 6))::numeric(12,6), 0), 3) FROM generate_series(1::bigint, 500) i`
)

// kindValues are of types that Trino's memory has and the catalog of tests has not.
var kindValues = [][3]string{
	{"1", "'2024-02-29 12:00:00+00:00'", "'00000000-0000-0000-0000-000000000001'"}, {"2", "'1969-12-31 23:59:59.999999+02:00'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"},
	{"3", "'2024-02-29 13:00:00+01:00'", "'7f000000-0000-0000-0000-000000000000'"}, {"4", "NULL", "NULL"}, {"5", "'9999-12-31 23:00:00+00:00'", "'80000000-0000-0000-0000-000000000000'"},
}

// TestRealTrinoTwin compares answers over Trino with those over a plain table, each of which Trino has computed.
func TestRealTrinoTwin(t *testing.T) {
	w := newTrinoWorld(t, "other")
	plain, conn := connect(t, w.direct), connect(t, w.through)
	for _, url := range []string{w.direct, w.other} {
		exec(t, url, "CREATE TABLE twin "+twinTable, "INSERT INTO twin"+twinValues, "CREATE TABLE pairs "+pairsTable, "INSERT INTO pairs"+pairsValues)
	}
	remote := trinotest.Start(t)
	remote.Run(t, "CREATE TABLE memory.default.kinds (id bigint, z timestamp(6) with time zone, u uuid)")
	t.Cleanup(func() { remote.Run(t, "DROP TABLE memory.default.kinds") })
	exec(t, w.direct, "CREATE TABLE kinds (id bigint, z timestamptz, u uuid)")
	for _, v := range kindValues {
		remote.Run(t, fmt.Sprintf("INSERT INTO memory.default.kinds VALUES (%s, CAST(%s AS timestamp(6) with time zone), CAST(%s AS uuid))", v[0], v[1], v[2]))
		exec(t, w.direct, fmt.Sprintf("INSERT INTO kinds VALUES (%s, %s, %s)", v[0], v[1], v[2]))
	}
	exec(t, w.through, "CREATE SCHEMA own", "CREATE FOREIGN TABLE own.twin "+twinTable+" SERVER trino OPTIONS (schema_name 'public')",
		"CREATE FOREIGN TABLE own.pairs "+pairsTable+" SERVER trino OPTIONS (schema_name 'public')",
		"CREATE FOREIGN TABLE own.kinds (id bigint, z timestamptz, u uuid) SERVER trino OPTIONS (catalog_name 'memory', schema_name 'default')")
	exec1(t, plain, "SET TimeZone = 'UTC'")
	exec1(t, conn, "SET TimeZone = 'UTC'")
	exec1(t, conn, "SET search_path = own")
	compareTwins(t, "testdata/trino", plain, conn)
}

// compareTwins has each statement of a directory answered at conn, as a whole by a server, as it is at plain.
func compareTwins(t *testing.T, dir string, plain, conn *pgx.Conn) {
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".sql"), func(t *testing.T) {
			for sql := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(string(text)), ";"), ";\n") {
				want := answerOf(t, plain, sql, nil)
				if got := answerOf(t, conn, sql, nil); got != want {
					t.Errorf("%s\n got: %s\nwant: %s", sql, got, want)
				}
				if plan := rows(t, conn, "EXPLAIN "+sql); !strings.Contains(plan, "Route: remote") {
					t.Errorf("%s\n%.300s", sql, plan)
				}
			}
		})
	}
}
