package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// crowd runs functions in sessions of their own until each has ended; the first error fails the test.
func crowd(t *testing.T, url string, members ...func(*pgconn.PgConn) error) {
	t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, len(members))
	for i, m := range members {
		conn, err := pgconn.Connect(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer conn.Close(context.Background())
			errs[i] = m(conn)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func say(c *pgconn.PgConn, sql string) error {
	_, err := c.Exec(context.Background(), sql).ReadAll()
	return err
}

// writer returns one who writes to t in random ways, and takes back a part of it.
func writer(seed uint64, statements int) func(*pgconn.PgConn) error {
	return func(c *pgconn.PgConn) error {
		r := rand.New(rand.NewPCG(1, seed))
		for range statements {
			key := r.IntN(20)
			sql := []string{
				fmt.Sprintf("INSERT INTO t SELECT %d, i FROM generate_series(1, %d) i", key, 1+r.IntN(5)),
				fmt.Sprintf("BEGIN; DELETE FROM t WHERE g = %d; SAVEPOINT p; INSERT INTO t VALUES (%d); ROLLBACK TO p; COMMIT", key, key),
				fmt.Sprintf("BEGIN; INSERT INTO t VALUES (%d); ROLLBACK", key),
				fmt.Sprintf("UPDATE t SET g = %d WHERE ctid IN (SELECT ctid FROM t LIMIT 3 FOR UPDATE SKIP LOCKED)", key),
				fmt.Sprintf("INSERT INTO t VALUES (%d)", key),
			}[r.IntN(5)]
			if err := say(c, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	}
}

// TestCountersFillWhileWritersGoOn counts a table, as a large one is counted, while others write to it.
func TestCountersFillWhileWritersGoOn(t *testing.T) {
	s, url := installed(t)
	s.do("CREATE TABLE t (g int, a int); INSERT INTO t SELECT i % 20, i FROM generate_series(1, 20000) i")
	members := []func(*pgconn.PgConn) error{func(c *pgconn.PgConn) error {
		if err := say(c, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT sluice.track_statistics('t', '{g}'); COMMIT"); err != nil { // whose snapshot is too old to count by
			return err
		}
		for range 3 { // the first of them fills
			if err := say(c, "SELECT sluice.fill_statistics()"); err != nil {
				return err
			}
		}
		return nil
	}}
	for i := range 4 {
		members = append(members, writer(uint64(i), 150))
	}
	crowd(t, url, members...)
	s.counted("t", "g")
}

// TestCountersUnderLoad has writers, TRUNCATEs, folds, repairs of nothing, and readers who must never see less than nothing.
func TestCountersUnderLoad(t *testing.T) {
	s, url := installed(t)
	s.do("CREATE TABLE t (g int, a int); SELECT sluice.track_statistics('t', '{g}')")
	done := make(chan struct{})
	time.AfterFunc(6*time.Second, func() { close(done) })
	loop := func(statements ...string) func(*pgconn.PgConn) error {
		return func(c *pgconn.PgConn) error {
			for i := 0; ; i++ {
				select {
				case <-done:
					return nil
				default:
				}
				var pe *pgconn.PgError
				if err := say(c, statements[i%len(statements)]); errors.As(err, &pe) && (pe.Code == "40001" || pe.Code == "25P02") {
					_ = say(c, "ROLLBACK")
				} else if err != nil {
					return fmt.Errorf("%s: %w", statements[i%len(statements)], err)
				}
			}
		}
	}
	const right = `DO $$BEGIN IF EXISTS (SELECT FROM sluice.verify_statistics('t', %s) WHERE stored <> actual OR stored < 0) THEN RAISE 'it drifts'; END IF; END$$`
	negative := "DO $$BEGIN IF EXISTS (SELECT FROM sluice.table_counts WHERE row_count < 0 OR source <> 'counters') THEN RAISE 'less than nothing'; END IF; END$$"
	members := []func(*pgconn.PgConn) error{
		loop("SELECT sluice.fold_statistics()"), loop(fmt.Sprintf(right, "true"), fmt.Sprintf(right, "false")), loop(negative),
		loop("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT sluice.table_count('t'); SELECT pg_sleep(0.02); TRUNCATE t; COMMIT", "SELECT pg_sleep(0.2)"), // later than its snapshot others write
		loop("BEGIN; TRUNCATE t; INSERT INTO t VALUES (1); ROLLBACK", "SELECT pg_sleep(0.1)", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT sluice.verify_statistics('t', true); COMMIT"),
	}
	for i := range 3 {
		members = append(members, func(c *pgconn.PgConn) error {
			for seed := uint64(i); ; seed += 3 {
				select {
				case <-done:
					return nil
				default:
				}
				if err := writer(seed, 20)(c); err != nil {
					return err
				}
			}
		})
	}
	crowd(t, url, members...)
	s.counted("t", "g")
	s.do("SELECT sluice.fold_statistics()")
	s.counted("t", "g")
}
