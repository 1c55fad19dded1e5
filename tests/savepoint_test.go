package tests

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSavepoints nests writes to a foreign table as to a plain one, with what ORMs do first.
func TestSavepoints(t *testing.T) {
	_, p := newPair(t)
	for _, block := range [][]string{
		{"SAVEPOINT a", "INSERT INTO item (id) VALUES (1)", "RELEASE a"},
		{"SAVEPOINT a", "INSERT INTO item (id) VALUES (2)", "ROLLBACK TO a", "INSERT INTO item (id) VALUES (3)", "RELEASE a"},
		{"INSERT INTO item (id) VALUES (4)", "SAVEPOINT a", "SELECT count(*) FROM item", "ROLLBACK TO a", "RELEASE a", "INSERT INTO item (id) VALUES (5)"},
		{"INSERT INTO item (id) VALUES (6)", "SAVEPOINT a", "SELECT 1 / 0", "ROLLBACK TO SAVEPOINT a", "INSERT INTO item (id) VALUES (7)"},
		{"INSERT INTO item (id) VALUES (8)", "SAVEPOINT a", "INSERT INTO item (id, price) VALUES (9, -1)", "ROLLBACK TO a", "INSERT INTO item (id) VALUES (10)"},
		{"SAVEPOINT a", "SAVEPOINT b", "INSERT INTO item (id) VALUES (11)", "RELEASE b", "INSERT INTO item (id) VALUES (12)", "ROLLBACK TO a"},
		{"SAVEPOINT a", "INSERT INTO item (id) VALUES (13)", "SAVEPOINT a", "ROLLBACK TO a", "RELEASE a", "ROLLBACK TO a", "ROLLBACK TO a", "INSERT INTO item (id) VALUES (14)"},
		{"INSERT INTO item (id) VALUES (15)", "SAVEPOINT a", "RELEASE nope", "ROLLBACK TO nope", "ROLLBACK TO a"},
		{"SAVEPOINT a", "INSERT INTO item (id) VALUES (16)", "SAVEPOINT \"A\"", "SELECT nope", "ROLLBACK TO \"A\"", "RELEASE a", "RELEASE \"A\""},
		{"INSERT INTO item (id) VALUES (17)", "SAVEPOINT a", "UPDATE item SET name = 'x'", "SAVEPOINT b", "SELECT 1 / 0", "ROLLBACK TO b"},
	} {
		p.run(t, "BEGIN")
		for _, sql := range block {
			p.run(t, sql)
		}
		p.run(t, "COMMIT")
	}
	for _, block := range [][]string{
		{"INSERT INTO item (id) VALUES (20)", "SAVEPOINT a", "INSERT INTO item (id) VALUES (21)", "ROLLBACK TO a"},
		{"INSERT INTO item (id) VALUES (20)", "SAVEPOINT a", "DELETE FROM item", "SELECT 1 / 0", "ROLLBACK TO a"},
	} {
		exec1(t, p.foreign, "BEGIN")
		for i, sql := range block {
			got := answer(t, p.foreign, sql)
			if last := i == len(block)-1; strings.HasPrefix(got, "0A000") != last || last && !strings.Contains(got, "both before and after") {
				t.Errorf("%s: %s", sql, got)
			}
		}
		want(t, p.foreign, "COMMIT", "ROLLBACK") // nothing half done
		p.compare(t, fmt.Sprint(block))
	}
}

// TestSavepointsAtRandom runs random transactions with savepoints until the server cannot follow any more.
func TestSavepointsAtRandom(t *testing.T) {
	_, p := newPair(t)
	r := rand.New(rand.NewPCG(7, 7))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	refused, whole := 0, 0
	for n := range 120 {
		p.run(t, "BEGIN")
		followed := true
		for range 2 + r.IntN(8) {
			sql := pick("SAVEPOINT a", "SAVEPOINT b", "SAVEPOINT a", "RELEASE a", "RELEASE b", "ROLLBACK TO a", "ROLLBACK TO b", "ROLLBACK TO a", "SELECT 1 / 0",
				fmt.Sprintf("INSERT INTO item (id) VALUES (%d)", n), "UPDATE item SET name = name || '.' WHERE id < 5", "DELETE FROM item WHERE id % 5 = 0", "INSERT INTO item (id, price) VALUES (1, -1)")
			want, got := answer(t, p.plain, sql), answer(t, p.foreign, sql)
			if strings.HasPrefix(got, "0A000") && strings.HasPrefix(sql, "ROLLBACK TO") {
				followed = false
				break
			}
			if got != want {
				t.Fatalf("%s\nforeign: %s\n  plain: %s", sql, got, want)
			}
			p.compare(t, sql)
		}
		if !followed {
			refused++
			p.run(t, "ROLLBACK")
			continue
		}
		whole++
		p.run(t, pick("COMMIT", "COMMIT", "COMMIT", "ROLLBACK"))
	}
	if whole < 60 || refused == 0 {
		t.Errorf("%d transactions ran, %d were refused", whole, refused)
	}
}
