package pool

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// conn is a connection that counts who uses it.
type conn struct {
	Mark
	used   atomic.Int32
	closed atomic.Bool
	gone   atomic.Bool
}

// counted makes a pool of them, and counts those that were opened.
func counted() (*Pool[*conn], *atomic.Int32) {
	opened := new(atomic.Int32)
	dial := func(context.Context) (*conn, error) {
		opened.Add(1)
		return new(conn), nil
	}
	return New(dial, func(_ context.Context, c *conn) bool { return !c.gone.Load() }, func(c *conn) { c.closed.Store(true) }), opened
}

func acquire(t *testing.T, p *Pool[*conn]) (*conn, bool) {
	t.Helper()
	c, err := p.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c, c.Reused
}

// TestReuse gives out the connection used last, and none that is gone.
func TestReuse(t *testing.T) {
	p, opened := counted()
	defer p.Close()
	a, reused := acquire(t, p)
	b, _ := acquire(t, p)
	if reused || p.Busy() != 2 || p.Idle() != 0 {
		t.Errorf("busy %d, idle %d", p.Busy(), p.Idle())
	}
	p.Release(a)
	p.Release(b)
	if c, reused := acquire(t, p); c != b || !reused {
		t.Error("not the one used last")
	}
	a.gone.Store(true)
	if c, reused := acquire(t, p); c == a || reused || !a.closed.Load() || opened.Load() != 3 {
		t.Error("one that is gone")
	}
	if p.Lost(); p.Busy() != 1 || p.Idle() != 0 {
		t.Errorf("busy %d, idle %d", p.Busy(), p.Idle())
	}
}

// TestKeepsFew closes connections beyond those that it keeps, and those that nobody has used for long.
func TestKeepsFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := counted()
		defer p.Close()
		var list []*conn
		for range keepIdle + 2 {
			c, _ := acquire(t, p)
			list = append(list, c)
		}
		for i, c := range list {
			p.Release(c)
			if c.closed.Load() != (i >= keepIdle) {
				t.Errorf("connection %d", i)
			}
			if i == 0 {
				time.Sleep(keepFor / 2)
			}
		}
		time.Sleep(keepFor/2 + time.Second)
		synctest.Wait()
		if n := p.Idle(); n != keepIdle-1 || !list[0].closed.Load() {
			t.Errorf("%d are kept", n)
		}
		time.Sleep(keepFor)
		synctest.Wait()
		if n := p.Idle(); n != 0 {
			t.Errorf("%d are kept", n)
		}
	})
}

// TestClose closes what waits at once, what is in use when it comes back, and opens nothing more.
func TestClose(t *testing.T) {
	p, _ := counted()
	a, _ := acquire(t, p)
	b, _ := acquire(t, p)
	p.Release(a)
	p.Close()
	if !a.closed.Load() || b.closed.Load() {
		t.Error("closed the wrong one")
	}
	p.Release(b)
	var pe *pgconn.PgError
	if _, err := p.Acquire(t.Context()); !errors.As(err, &pe) || pe.Code != "HV00N" || !b.closed.Load() || p.Busy() != 0 {
		t.Error(err)
	}
}

// TestFailures counts no connection that has not come.
func TestFailures(t *testing.T) {
	refused := errors.New("refused")
	p := New(func(context.Context) (*conn, error) { return nil, refused }, nil, func(*conn) {})
	if _, err := p.Acquire(t.Context()); !errors.Is(err, refused) || p.Busy() != 0 {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Acquire(ctx); !errors.Is(err, context.Canceled) || p.Busy() != 0 {
		t.Error(err)
	}
}

// TestPoolIsShared gives no connection to two.
func TestPoolIsShared(t *testing.T) {
	p, _ := counted()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for j := range 200 {
				c, err := p.Acquire(t.Context())
				if err != nil || c.used.Add(1) != 1 {
					t.Errorf("used by two: %v", err)
					return
				}
				c.used.Add(-1)
				if (i+j)%7 == 0 {
					p.Lost()
				} else {
					p.Release(c)
				}
			}
		})
	}
	wg.Wait()
	if p.Busy() != 0 || p.Idle() > keepIdle {
		t.Errorf("busy %d, idle %d", p.Busy(), p.Idle())
	}
	p.Close()
}
