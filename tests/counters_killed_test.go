package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
)

// TestCountersOfKilledProxy has 16 sessions insert and delete 1,000 times each, with rollbacks, and kills the process of their proxy
// in the middle; they go on through another. Whoever reads meanwhile sees counters that are the count of the rows, in each snapshot. (K-11)
func TestCountersOfKilledProxy(t *testing.T) {
	const sessions, each = 16, 1000
	home := hometest.Start(t)
	direct := hometest.Database(t, home)
	at := func(addr string) string {
		u := *parsed(t, direct)
		u.Host = addr
		return u.String()
	}
	first := startChild(t, home.URL("postgres"))
	exec(t, at(first.addr), "CREATE EXTENSION sluice", "CREATE TABLE t (who int, n int, part int GENERATED ALWAYS AS (n % 7) STORED, PRIMARY KEY (who, n))",
		"SELECT sluice.track_statistics('t', '{who}', coverage => '{part}')")
	var through atomic.Pointer[string]
	var done atomic.Int64
	through.Store(new(at(first.addr)))
	var wg sync.WaitGroup
	for who := range sessions {
		wg.Go(func() {
			w := &countedWriter{who: who, random: rand.New(rand.NewPCG(11, uint64(who))), through: &through}
			defer w.close()
			for range each {
				if err := w.write(timed(t)); err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	finished := make(chan struct{})
	go func() {
		wg.Wait()
		close(finished)
	}()
	reader, killed := connect(t, direct), false
	for over := false; !over; {
		want(t, reader, "SELECT sluice.table_count('t') = (SELECT count(*) FROM t), (SELECT count(*) FROM sluice.table_counts WHERE row_count < 0 OR source <> 'counters'), "+
			"(SELECT sum(covered_count) FROM sluice.table_counts) = (SELECT count(DISTINCT (who, part)) FROM t)", "t|0|t")
		if !killed && done.Load() > sessions*each/2 {
			killed = true
			second := startChild(t, home.URL("postgres"))
			first.kill(t)
			through.Store(new(at(second.addr)))
		}
		select {
		case <-finished:
			over = true
		default:
		}
	}
	if !killed {
		t.Error("the proxy was not killed")
	}
	becomes(t, reader, "SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass AND pid <> pg_backend_pid()", "0") // those who were cut off have ended
	want(t, reader, "SELECT count(*) > 0, sum((stored <> actual)::int) FROM sluice.verify_statistics()", "t|0")
	want(t, reader, "SELECT sluice.table_count('t') = count(*) FROM t", "t")
}

// countedWriter writes rows of its own through whichever proxy there is.
type countedWriter struct {
	who, n  int
	random  *rand.Rand
	through *atomic.Pointer[string]
	conn    *pgconn.PgConn
}

// write runs one transaction. It is lost where the proxy is killed in it.
func (w *countedWriter) write(ctx context.Context) error {
	for w.conn == nil {
		var err error
		if w.conn, err = pgconn.Connect(ctx, *w.through.Load()); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond): // the other proxy is not there yet
		}
	}
	w.n++
	sql := fmt.Sprintf("INSERT INTO t VALUES (%d, %d)", w.who, w.n)
	if w.random.IntN(2) == 0 {
		sql = fmt.Sprintf("DELETE FROM t WHERE who = %d AND n = (SELECT max(n) FROM t WHERE who = %[1]d)", w.who)
	}
	switch w.random.IntN(4) {
	case 0:
		sql = "BEGIN; " + sql + "; ROLLBACK"
	case 1:
		sql = "BEGIN; SAVEPOINT a; " + sql + "; ROLLBACK TO a; " + fmt.Sprintf("INSERT INTO t VALUES (%d, -%d)", w.who, w.n) + "; COMMIT"
	}
	_, err := w.conn.Exec(ctx, sql).ReadAll()
	if err != nil && w.conn.IsClosed() {
		w.conn, err = nil, nil
	}
	return err
}

func (w *countedWriter) close() {
	if w.conn != nil {
		_ = w.conn.Close(context.Background())
	}
}
