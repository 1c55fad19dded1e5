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

// TestVerify compares a count with the rows, and repairs it again and again, while sessions write to the table and others break the count:
// what is found is as of one moment, and no write is lost.
func TestVerify(t *testing.T) {
	s := server(t, map[string]string{"updatable": "true"}, "CREATE TABLE t (id int)", "INSERT INTO t SELECT generate_series(1, 500)")
	e := open(t, s)
	target := engines.Target{Relation: "t", Schema: "public"}
	if err := e.Count(t.Context(), target, true); err != nil {
		t.Fatal(err)
	}
	const spoil = "INSERT INTO public.sluice_table_statistics (relation, rows) VALUES ('public.t'::regclass, 7)"
	check := func(repair bool, want string) {
		t.Helper()
		v, err := e.Verify(t.Context(), target, repair)
		if err != nil || v.Stored == nil {
			t.Fatalf("%v: %v", v, err)
		}
		if got := fmt.Sprint(*v.Stored-v.Actual, v.Repaired); got != want {
			t.Errorf("it is wrong by, and repaired: %s, want %s", got, want)
		}
	}
	held, err := e.beginAs(t.Context(), "BEGIN READ WRITE")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Rollback() }()
	if _, err := held.exec(t.Context(), "INSERT INTO public.t SELECT generate_series(1, 30)"); err != nil { // which commits behind a repair that has not seen it
		t.Fatal(err)
	}
	if err := e.countSteps(t.Context(), target, spoil); err != nil {
		t.Fatal(err)
	}
	check(false, "7 false")
	check(true, "7 true")
	check(true, "0 false")
	if err := held.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(false, "0 false")
	var wg sync.WaitGroup
	for who := range 3 {
		wg.Go(func() {
			for i := range 60 {
				sql := fmt.Sprintf("INSERT INTO public.t SELECT generate_series(1, %d)", i%5)
				switch {
				case who == 0 && i%10 == 0:
					sql = "TRUNCATE public.t"
				case who == 1 && i%10 == 0:
					sql = "DELETE FROM public.t WHERE id < 3"
				}
				if err := e.countSteps(t.Context(), target, sql); err != nil {
					t.Errorf("%s: %v", sql, err)
				}
			}
		})
	}
	for range 2 {
		wg.Go(func() { // at the same time, which must not put the same difference right twice
			for range 20 {
				if err := e.countSteps(t.Context(), target, spoil); err != nil {
					t.Error(err)
				}
				if _, err := e.Verify(t.Context(), target, true); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	check(false, "0 false")
	for _, sql := range []string{"ALTER TABLE public.t DISABLE TRIGGER sluice_count_insert", "INSERT INTO public.t VALUES (1), (2)"} {
		if err := e.countSteps(t.Context(), target, sql); err != nil {
			t.Fatal(err)
		}
	}
	check(false, "-2 false")
	check(true, "-2 true")
	if err := e.countSteps(t.Context(), target, "INSERT INTO public.t VALUES (3)"); err != nil {
		t.Fatal(err)
	}
	check(true, "0 false")
}
