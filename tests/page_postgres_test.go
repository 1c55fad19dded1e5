package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestPagesOfPostgres reads pages of another Postgres, which is asked for a page's rows and one more.
func TestPagesOfPostgres(t *testing.T) {
	home := hometest.Start(t)
	other, direct := hometest.Database(t, home), hometest.Database(t, home)
	exec(t, other, "CREATE TABLE t (id bigint PRIMARY KEY, s int, at timestamptz NOT NULL, f float8, c char(3), n numeric(8, 2), name varchar(9))",
		"INSERT INTO t SELECT i, CASE WHEN i % 4 > 0 THEN i % 5 END, '2024-01-01'::timestamptz + i / 3 * interval '1.000001 s', CASE i % 6 WHEN 0 THEN 'NaN' WHEN 1 THEN i / 7.0 END, 'c' || i % 3, i / 9.0, 'n' || i FROM generate_series(1, 40) i")
	through := postgresProxy(t, direct)
	exec(t, through, append(otherServer(t, other, ""), "CREATE SCHEMA far", "IMPORT FOREIGN SCHEMA public FROM SERVER other INTO far", "ALTER FOREIGN TABLE far.t ALTER id OPTIONS (ADD key 'true')")...)
	conn, there := connect(t, through), connect(t, other)
	for _, setting := range []string{"", "SET extra_float_digits = 0", "SET DateStyle = 'SQL, DMY'", "SET TimeZone = 'Europe/Berlin'"} {
		exec1(t, conn, "RESET ALL")
		if setting != "" {
			exec1(t, conn, setting)
		}
		for _, order := range []string{"id", "s", "s DESC NULLS LAST, at", "at DESC", "f, n DESC", "n", "name COLLATE \"C\" DESC", "s NULLS FIRST, f DESC"} {
			all := strings.ReplaceAll(rows(t, there, "SELECT id FROM t ORDER BY "+order+", id"+map[bool]string{true: " DESC"}[strings.HasSuffix(order, "DESC")]), "\n", ",")
			for _, size := range []int{3, 7} {
				if got := strings.ReplaceAll(pages(t, conn, "SELECT id, s, n, name, at FROM far.t ORDER BY "+order, size), ";", ","); got != all {
					t.Errorf("%s: by %s: %s, not %s", setting, order, got, all)
				}
			}
			query := "sluice.page('SELECT id, s, n, name, at FROM far.t WHERE id > 2 ORDER BY " + order + "', 2"
			token := rows(t, conn, "SELECT page_token FROM "+query+") OFFSET 1")
			for _, call := range []string{query + ")", query + ", '" + token + "')"} {
				plan := rows(t, conn, "EXPLAIN (VERBOSE) SELECT * FROM "+call)
				_, remote, _ := strings.Cut(plan, "Remote SQL")
				remote, _, _ = strings.Cut(remote, "\n")
				if setting == "" && (!strings.Contains(remote, "ORDER BY") || !strings.Contains(remote, "LIMIT 3")) {
					t.Errorf("by %s:\n%s", order, plan)
				}
			}
		}
	}
	exec1(t, conn, "RESET ALL")
	want(t, conn, "SELECT id, c FROM sluice.page('SELECT id, c FROM far.t ORDER BY c, id', 2)", "3|c0 \n6|c0 ")
	want(t, conn, fmt.Sprintf("SELECT count(*) FROM sluice.page('SELECT a.id FROM far.t a JOIN far.t b USING (id) ORDER BY a.s', %d)", 50), "40")
}
