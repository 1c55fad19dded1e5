package postgres

import (
	"fmt"
	"sync"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// TestCount counts a table while sessions write to it, truncate it and have what was appended summed up: what it says is the number of rows
// in each snapshot.
func TestCount(t *testing.T) {
	s := server(t, map[string]string{"updatable": "true"}, `CREATE SCHEMA "it's ""so"`, `CREATE TABLE "it's ""so"."a'b" (id int)`, `INSERT INTO "it's ""so"."a'b" SELECT generate_series(1, 1000)`)
	e := open(t, s)
	target := engines.Target{Relation: "a'b", Schema: `it's "so`}
	table := relation(target)
	if err := e.Uncount(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	write := func(sql ...string) error { return e.countSteps(t.Context(), target, sql...) }
	var wg sync.WaitGroup
	for who := range 3 {
		wg.Go(func() {
			for i := range 100 {
				sql := fmt.Sprintf("INSERT INTO %s SELECT generate_series(1, %d)", table, i%5)
				switch (i + who) % 25 {
				case 0:
					sql = "DELETE FROM " + table + " WHERE id < 4"
				case 12:
					sql = "TRUNCATE " + table
				}
				if err := write(sql); err != nil {
					t.Errorf("%s: %v", sql, err)
				}
			}
		})
	}
	check := func() {
		t.Helper()
		got := values(t, e, engines.Query{SQL: "SELECT c.rows - (SELECT count(*) FROM " + table + "), c.sure FROM (" + e.CountQuery(target).SQL + ") c"})
		if got[0][0] != "0" || got[0][1] != "1" {
			t.Errorf("the count is wrong by %s, sure %s", got[0][0], got[0][1])
		}
	}
	if err := e.Count(t.Context(), target, true); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		check()
		if err := e.Count(t.Context(), target, false); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	for range 2 {
		if err := e.Count(t.Context(), target, false); err != nil {
			t.Error(err)
		}
		check()
	}
	if got := values(t, e, engines.Query{SQL: `SELECT count(*) <= 64 FROM "it's ""so".sluice_table_statistics`}); got[0][0] != "t" {
		t.Error("nothing was summed up")
	}
	if err := e.Count(t.Context(), target, true); err != nil {
		t.Error(err)
	}
	check()
	if err := e.Uncount(t.Context(), target); err != nil {
		t.Error(err)
	}
	if got := values(t, e, engines.Query{SQL: `SELECT (SELECT count(*) FROM "it's ""so".sluice_table_statistics) + (SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal)`}); got[0][0] != "0" {
		t.Errorf("%s things are left behind", got[0][0])
	}
}
