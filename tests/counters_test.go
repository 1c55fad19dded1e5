package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestCountersAreKept tracks a table that cannot be counted at once, and writes to it by many statements: the proxy counts it, and
// sums up what the statements have appended. It stops when nothing is tracked, and goes on when something is again.
func TestCountersAreKept(t *testing.T) {
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	exec(t, through, "CREATE EXTENSION sluice", "CREATE TABLE t (a int)", "INSERT INTO t SELECT generate_series(1, 100)")
	conn := connect(t, through)
	for range 2 {
		want(t, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT sluice.track_statistics('t'); SELECT sluice.table_count('t'); COMMIT", "BEGIN\n\nNULL\nCOMMIT")
		becomes(t, conn, "SELECT sluice.table_count('t')", "100")
		for range 100 {
			exec1(t, conn, "INSERT INTO t VALUES (1)")
		}
		becomes(t, conn, "SELECT count(*) < 64, sluice.table_count('t') FROM sluice.table_statistics_delta", "t|200")
		exec1(t, conn, "SELECT sluice.untrack_statistics('t'); DELETE FROM t WHERE ctid IN (SELECT ctid FROM t LIMIT 100)")
	}
}

// becomes waits for an answer.
func becomes(t *testing.T, conn *pgx.Conn, sql, answer string) {
	t.Helper()
	until(t, sql+" is "+answer, func() (bool, string) {
		got := rows(t, conn, sql)
		return got == answer, got
	})
}

// until waits for what is to come true.
func until(t *testing.T, what string, ask func() (come bool, got string)) {
	t.Helper()
	ctx := timed(t)
	for come, got := ask(); !come; come, got = ask() {
		select {
		case <-ctx.Done():
			t.Fatalf("not %s, but %q", what, got)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestCountersOfClientsThatVanish has sessions of the proxy write and take back, half of which are cut off in the middle.
func TestCountersOfClientsThatVanish(t *testing.T) {
	const sessions, statements = 8, 100
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	through := strings.Replace(direct, home.Addr(), startProxy(t, home), 1)
	exec(t, through, "CREATE EXTENSION sluice", "CREATE TABLE t (who int, a int)", "SELECT sluice.track_statistics('t', '{who}')")
	var wg sync.WaitGroup
	for who := range sessions {
		conn, err := pgx.Connect(timed(t), through)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(who)))
			for i := range statements {
				if who%2 == 0 && i == statements/2 {
					_, _ = conn.Exec(context.Background(), fmt.Sprintf("BEGIN; INSERT INTO t VALUES (%d, -1)", who))
					_ = conn.PgConn().Conn().Close() // within the transaction
					return
				}
				end := []string{"COMMIT", "ROLLBACK"}[r.IntN(2)]
				sql := fmt.Sprintf("BEGIN; INSERT INTO t VALUES (%d, %d); DELETE FROM t WHERE who = %d AND a = %d; %s", who, i, who, r.IntN(i+1), end)
				if _, err := conn.PgConn().Exec(context.Background(), sql).ReadAll(); err != nil {
					t.Errorf("%s: %v", sql, err)
					return
				}
			}
			_ = conn.Close(context.Background())
		})
	}
	wg.Wait()
	conn := connect(t, direct)
	becomes(t, conn, "SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass AND pid <> pg_backend_pid()", "0") // those who were cut off have ended
	want(t, conn, "SELECT sluice.table_count('t') = count(*), count(*) > 0, count(*) FILTER (WHERE a < 0) FROM t", "t|t|0")
	want(t, conn, "SELECT count(*) FROM sluice.verify_statistics() WHERE stored <> actual", "0")
}
