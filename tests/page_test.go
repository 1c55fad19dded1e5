package tests

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// pages reads a query by pages to its end and returns the first column, a page with commas, pages with semicolons. At most is how many
// pages there may be.
func pages(t *testing.T, conn *pgx.Conn, query string, size int) string {
	t.Helper()
	var list []string
	var after *string
	for range 2000 {
		r, err := conn.Query(timed(t), "SELECT * FROM sluice.page('"+strings.ReplaceAll(query, "'", "''")+"', $1, $2)", size, after)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for after = nil; r.Next(); {
			values, err := r.Values()
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, fmt.Sprint(values[0]))
			token, _ := values[len(values)-1].(string)
			if after = &token; token == "" {
				after = nil
			}
		}
		if r.Err() != nil {
			t.Fatalf("%s: %v", query, r.Err())
		}
		if list = append(list, strings.Join(ids, ",")); after == nil {
			return strings.Join(list, ";")
		}
	}
	t.Fatalf("%s: no end", query)
	return ""
}

// TestPages are the cases K-01, K-02, K-05 and K-06, over tables of home and of DuckDB.
func TestPages(t *testing.T) {
	w := newWorld(t, "CREATE TABLE ks AS SELECT * FROM (VALUES (1, 5), (2, 5), (3, NULL), (4, 7), (5, NULL), (6, 5)) v (id, s)")
	exec(t, w.through, "CREATE SCHEMA lake", "CREATE FOREIGN TABLE lake.ks (id int, s int) SERVER lake", "CREATE TABLE ks (id int PRIMARY KEY, s int)",
		"INSERT INTO ks VALUES (1, 5), (2, 5), (3, NULL), (4, 7), (5, NULL), (6, 5)")
	conn := connect(t, w.through)
	for _, indexed := range []bool{false, true} {
		if indexed {
			exec(t, w.direct, "CREATE INDEX ON ks (s, id)")
		}
		for _, c := range []struct{ order, want string }{
			{"s, id", "1,2,6,4,3,5"},
			{"s DESC, id DESC", "5,3,4,6,2,1"},
			{"s DESC, id", "3,5,4,1,2,6"},
			{"s NULLS FIRST, id", "3,5,1,2,6,4"},
			{"s DESC NULLS LAST, id DESC", "4,6,2,1,5,3"},
			{"id DESC", "6,5,4,3,2,1"},
			{"s IS NULL DESC, id", "3,5,1,2,4,6"},
			{"-s, 1", "4,1,2,6,3,5"},
		} {
			for _, table := range []string{"ks", "lake.ks"} {
				for _, size := range []int{1, 2, 3, 5, 6, 7} {
					got := pages(t, conn, "SELECT id FROM "+table+" ORDER BY "+c.order, size)
					if strings.ReplaceAll(got, ";", ",") != c.want || strings.Count(got, ";") != (6+size-1)/size-1 {
						t.Errorf("%s by %s in pages of %d: %s", table, c.order, size, got)
					}
				}
			}
		}
	}
}

// TestPagesNeedTies reads rows whose sort key says nothing (K-05).
func TestPagesNeedTies(t *testing.T) {
	w := newWorld(t, "CREATE TABLE t AS SELECT 1 AS s, range AS id FROM range(1000)")
	exec(t, w.through, "CREATE SCHEMA lake", "CREATE FOREIGN TABLE lake.t (s int, id bigint) SERVER lake", "CREATE TABLE t (id int PRIMARY KEY, s int)",
		"INSERT INTO t SELECT i, 1 FROM generate_series(0, 999) i")
	conn := connect(t, w.through)
	all := make([]string, 1000)
	for i := range all {
		all[i] = fmt.Sprint(i)
	}
	if got := strings.ReplaceAll(pages(t, conn, "SELECT id, s FROM t ORDER BY s", 7), ";", ","); got != strings.Join(all, ",") {
		t.Error(got)
	}
	want(t, conn, "SELECT * FROM sluice.page('SELECT id, s FROM lake.t ORDER BY s', 7)", "22023")
	exec(t, w.through, "ALTER FOREIGN TABLE lake.t ALTER id OPTIONS (key 'true')")
	if got := strings.ReplaceAll(pages(t, conn, "SELECT id, s FROM lake.t ORDER BY s", 70), ";", ","); got != strings.Join(all, ",") {
		t.Error(got)
	}
}

// TestPagesOfText reads text in orders that are not that of its bytes (K-06).
func TestPagesOfText(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	exec(t, through, "CREATE EXTENSION sluice", `CREATE TABLE k (icu text COLLATE "und-x-icu", c text COLLATE "C" PRIMARY KEY)`,
		"INSERT INTO k SELECT v, v FROM unnest('{a,B,A,b,_z,z-1,10,9,é,/api/x}'::text[]) v")
	conn := connect(t, through)
	for _, index := range []string{"", "CREATE INDEX ON k (icu, c)"} {
		exec(t, direct, index)
		for _, size := range []int{1, 3, 10} {
			for column, order := range map[string]string{"icu": "_z,/api/x,10,9,a,A,b,B,é,z-1", "c": "/api/x,10,9,A,B,_z,a,b,z-1,é", `icu COLLATE "C"`: "/api/x,10,9,A,B,_z,a,b,z-1,é"} {
				if got := strings.ReplaceAll(pages(t, conn, "SELECT c FROM k ORDER BY "+column, size), ";", ","); got != order {
					t.Errorf("by %s: %s", column, got)
				}
			}
		}
	}
}

// TestPagesAtRandom reads tables in orders, with indexes and in sizes of which none was thought of, beside the whole of them in order.
func TestPagesAtRandom(t *testing.T) {
	const seed, orders = 11, 25
	r := rand.New(rand.NewPCG(seed, seed))
	w := newWorld(t, "CREATE TABLE t (id BIGINT, a BIGINT, b BIGINT, c BIGINT, d BIGINT)")
	exec(t, w.direct, "CREATE TABLE t (id bigint PRIMARY KEY, a bigint, b bigint, c bigint NOT NULL, d bigint NOT NULL)")
	var values []string
	null := func(n int) string {
		if r.IntN(4) == 0 {
			return "NULL"
		}
		return fmt.Sprint(r.IntN(n))
	}
	for id := range 60 {
		values = append(values, fmt.Sprintf("(%d, %s, %s, %d, %d)", id, null(3), null(2), r.IntN(2), r.IntN(3)))
	}
	insert := "INSERT INTO t VALUES " + strings.Join(values, ", ")
	exec(t, w.direct, insert)
	duckExec(t, w.file, insert)
	exec(t, w.through, "CREATE SCHEMA lake", "CREATE FOREIGN TABLE lake.t (id bigint OPTIONS (key 'true') NOT NULL, a bigint, b bigint, c bigint NOT NULL, d bigint NOT NULL) SERVER lake")
	conn := connect(t, w.through)
	exec1(t, conn, "SET enable_seqscan = off; SET jit = off") // which the cost of what is off would switch on
	entry := func(column string) string {
		return column + []string{"", " DESC"}[r.IntN(2)] + []string{"", " NULLS FIRST", " NULLS LAST"}[r.IntN(3)]
	}
	for range orders {
		columns := []string{"a", "b", "c", "d", "id"}
		r.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		var list []string
		for _, c := range columns[:1+r.IntN(4)] {
			list = append(list, entry(c))
		}
		order := strings.Join(list, ", ")
		exec(t, w.direct, "DROP INDEX IF EXISTS i", "CREATE INDEX i ON t ("+[]string{order, order + ", id", strings.Join(columns, ", "), list[0], entry("a") + ", " + entry("b")}[r.IntN(5)]+")")
		last := ""
		if strings.Contains(list[len(list)-1], "DESC") {
			last = " DESC"
		}
		whole := strings.ReplaceAll(rows(t, conn, "SELECT id FROM t ORDER BY "+order+", id"+last), "\n", ",")
		for _, table := range []string{"t", "lake.t"} {
			if got := strings.ReplaceAll(pages(t, conn, "SELECT id FROM "+table+" ORDER BY "+order, 1+r.IntN(15)), ";", ","); got != whole {
				t.Errorf("%s by %s:\n%s, not\n%s", table, order, got, whole)
			}
		}
	}
}
