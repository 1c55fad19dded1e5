package guard

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// TestQueue lets statements beyond the limit in when others end, in the order in which they came.
func TestQueue(t *testing.T) {
	e := guarded(t, &fake{}, map[string]string{"max_sessions": "1"})
	first := opens(t, Hold(t.Context()), e)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var order []int
	for i := range 5 {
		wg.Go(func() {
			s, err := e.Open(Hold(t.Context()), engines.Query{})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			_ = s.Close()
		})
		queued(t, e, i+1)
	}
	if h := e.Health(); h.State != Waiting || h.Running != 1 {
		t.Errorf("%+v", h)
	}
	_ = first.Close()
	_ = first.Close()
	wg.Wait()
	for i, n := range order {
		if i != n {
			t.Fatalf("let in in the order %v", order)
		}
	}
	if h := e.Health(); h.State != OK || h.Running != 0 || h.Queued != 0 {
		t.Errorf("%+v", h)
	}
}

// TestPermitsEnd gives permits back at the end of rows, of transactions, of lists and of what fails.
func TestPermitsEnd(t *testing.T) {
	f := &fake{}
	e := guarded(t, f, map[string]string{"max_sessions": "1"})
	for range 2 {
		s := opens(t, t.Context(), e)
		if _, err := s.Next(t.Context()); err == nil {
			t.Error("no end")
		}
		for _, end := range []func(engines.Tx) error{engines.Tx.Rollback, func(x engines.Tx) error { return x.Commit(t.Context()) }} {
			x, err := e.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(end(x), x.Rollback()); err != nil {
				t.Error(err)
			}
		}
		if _, err := e.Introspect(t.Context(), "s"); err != nil {
			t.Error(err)
		}
		f.set(func() { f.failing = pgerr.New("22012", "division by zero") })
		if _, err := e.Open(t.Context(), engines.Query{}); code(err) != "22012" {
			t.Error(err)
		}
		f.set(func() { f.failing = nil })
		if n := e.Health().Running; n != 0 {
			t.Fatalf("%d permits are left", n)
		}
	}
}

// TestOwnPermit lets a session that holds a permit go on, while others wait before it.
func TestOwnPermit(t *testing.T) {
	e := guarded(t, &fake{}, map[string]string{"max_sessions": "1"})
	mine := Hold(t.Context())
	first := opens(t, mine, e)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = opens(t, Hold(t.Context()), e).Close()
	}()
	queued(t, e, 1)
	x, err := e.Begin(mine)
	if err != nil {
		t.Fatal(err)
	}
	second := opens(t, mine, e)
	for _, end := range []func() error{first.Close, second.Close, x.Rollback} {
		queued(t, e, 1)
		_ = end()
	}
	<-done
}

// TestCircle lets go on who waits for those that wait for it, at two servers and at three.
func TestCircle(t *testing.T) {
	for _, n := range []int{2, 3} {
		yard := new(Yard)
		var servers []*Engine
		var holders []context.Context
		for range n {
			e := guarded(t, &fake{}, map[string]string{"max_sessions": "1"})
			e.gate.yard = yard
			servers, holders = append(servers, e), append(holders, Hold(t.Context()))
		}
		var streams []engines.Stream
		for i, e := range servers {
			streams = append(streams, opens(t, holders[i], e))
		}
		var wg sync.WaitGroup
		for i, e := range servers {
			wg.Go(func() {
				s := opens(t, holders[(i+1)%n], e)
				_ = s.Close()
				_ = streams[(i+1)%n].Close()
			})
			if i < n-1 {
				queued(t, e, 1)
			}
		}
		wg.Wait()
		for _, e := range servers {
			if h := e.Health(); h.Running != 0 || h.Queued != 0 {
				t.Errorf("%+v", h)
			}
		}
	}
}

// TestPatience ends a wait that takes too long by 53300, which says what to change.
func TestPatience(t *testing.T) {
	e := guarded(t, &fake{}, map[string]string{"max_sessions": "1", "queue_timeout": "1"})
	held := opens(t, Hold(t.Context()), e)
	_, err := e.Open(Hold(t.Context()), engines.Query{})
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || pe.Code != "53300" || !strings.Contains(pe.Message, `"far"`) || !strings.Contains(pe.Hint, "max_sessions") {
		t.Errorf("%+v", pe)
	}
	if h := e.Health(); h.Queued != 0 || h.Late != 1 {
		t.Errorf("%+v", h)
	}
	_ = held.Close()
	_ = opens(t, t.Context(), e).Close()
}

// TestImpatience ends a wait with the statement, and for its reason.
func TestImpatience(t *testing.T) {
	e := guarded(t, &fake{}, map[string]string{"max_sessions": "1"})
	held := opens(t, Hold(t.Context()), e)
	ctx, cancel := context.WithCancelCause(Hold(t.Context()))
	failed := make(chan error)
	go func() {
		_, err := e.Open(ctx, engines.Query{})
		failed <- err
	}()
	queued(t, e, 1)
	cancel(pgerr.New(pgerr.QueryCanceled, "canceling statement due to statement timeout"))
	if err := <-failed; code(err) != "57014" || !strings.Contains(err.Error(), "statement timeout") {
		t.Error(err)
	}
	if h := e.Health(); h.Queued != 0 || h.Late != 0 {
		t.Errorf("%+v", h)
	}
	_ = held.Close()
}

// TestLimitChanges lets in who waits once the limit is raised, or gone.
func TestLimitChanges(t *testing.T) {
	for _, limit := range []string{"2", "0"} {
		e := guarded(t, &fake{}, map[string]string{"max_sessions": "1"})
		held := opens(t, Hold(t.Context()), e)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = opens(t, Hold(t.Context()), e).Close()
		}()
		queued(t, e, 1)
		e.DefineServer(map[string]string{"max_sessions": limit})
		<-done
		_ = held.Close()
	}
}

// TestGateIsShared has many sessions at two servers at once, each of which may hold one and want the other.
func TestGateIsShared(t *testing.T) {
	yard := new(Yard)
	a, b := guarded(t, &fake{}, map[string]string{"max_sessions": "2"}), guarded(t, &fake{}, map[string]string{"max_sessions": "1"})
	a.gate.yard, b.gate.yard = yard, yard
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 50 {
				ctx, first, second := Hold(t.Context()), a, b
				if (i+j)%2 == 0 {
					first, second = b, a
				}
				s := opens(t, ctx, first)
				r := opens(t, ctx, second)
				_, _ = s.Close(), r.Close()
			}
		})
	}
	wg.Wait()
	for _, e := range []*Engine{a, b} {
		if h := e.Health(); h.Running != 0 || h.Queued != 0 {
			t.Errorf("%+v", h)
		}
	}
}
