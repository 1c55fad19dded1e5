package guard

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// broken makes a guard whose server is down, with so many failures that it is not asked any more.
func broken(t *testing.T, f *fake) (*Engine, *clock) {
	t.Helper()
	e, c := guarded(t, f, map[string]string{"max_failures": "3"}), &clock{now: time.Now()}
	e.breaker.now = c.time
	f.set(func() { f.down = pgerr.Detail(pgerr.New("08001", "could not connect"), "connection refused") })
	for i := range 3 {
		if h := e.Health(); h.Open || (h.State == Broken) != (i > 0) {
			t.Fatalf("after %d failures: %+v", i, h)
		}
		if _, err := e.Open(t.Context(), engines.Query{}); code(err) != "08001" {
			t.Fatal(err)
		}
	}
	if h := e.Health(); !h.Open || h.State != Broken || h.Error.Detail != "connection refused" || h.At.IsZero() {
		t.Fatalf("%+v", h)
	}
	return e, c
}

// TestBreaker lets statements fail at once while a server is down, asks it again after longer and longer pauses, one statement at a
// time, and lets all pass once it answers.
func TestBreaker(t *testing.T) {
	f := &fake{}
	e, c := broken(t, f)
	asked := f.count(&f.asked)
	_, err := e.Open(t.Context(), engines.Query{})
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || pe.Code != "08001" || !strings.Contains(pe.Message, `"far"`) || !strings.Contains(pe.Detail, "connection refused") || !strings.Contains(pe.Hint, "in 1s") {
		t.Errorf("%+v", pe)
	}
	for pause := leastPause; pause < 4*mostPause; pause *= 2 {
		c.pass(min(pause, mostPause) - time.Millisecond)
		pings := f.count(&f.pings)
		if _, err := e.Open(t.Context(), engines.Query{}); code(err) != "08001" || f.count(&f.pings) != pings {
			t.Fatalf("asked before %s: %v", pause, err)
		}
		c.pass(time.Millisecond)
		if _, err := e.Open(t.Context(), engines.Query{}); code(err) != "08001" || f.count(&f.pings) != pings+1 {
			t.Fatalf("not asked after %s: %v", pause, err)
		}
	}
	if n := f.count(&f.asked); n != asked {
		t.Errorf("%d statements came to a server that is down", n-asked)
	}
	f.set(func() { f.down = nil })
	c.pass(mostPause)
	for range 2 {
		_ = opens(t, t.Context(), e).Close()
	}
	if h := e.Health(); h.State != OK || h.Open || h.Refused == 0 || h.Error == nil {
		t.Errorf("%+v", h)
	}
}

// TestOpenByConnectionsOnly counts neither errors of statements, nor those that look like failed connections while the server
// answers, nor what its user has ended.
func TestOpenByConnectionsOnly(t *testing.T) {
	f := &fake{}
	e := guarded(t, f, map[string]string{"max_failures": "1"})
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx context.Context
		err error
	}{
		"statement": {t.Context(), pgerr.New("22012", "division by zero")},
		"dblink":    {t.Context(), pgerr.New("08001", "could not establish connection")},
		"canceled":  {ended, pgerr.New("08006", "the connection broke")},
	} {
		f.set(func() { f.failing = c.err })
		for range 3 {
			if _, err := e.Open(c.ctx, engines.Query{}); err == nil {
				t.Errorf("%s: no error", name)
			}
			if e.Health().Open {
				t.Fatalf("%s: not asked any more", name)
			}
		}
	}
}

// TestCanceledAsk leaves it to the next statement to ask, where the one that asked has ended.
func TestCanceledAsk(t *testing.T) {
	f := &fake{}
	e, c := broken(t, f)
	c.pass(leastPause)
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := e.breaker.check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.breaker.check(t.Context()); code(err) != "08001" {
		t.Errorf("two ask at once: %v", err)
	}
	e.breaker.told(ended, pgerr.New(pgerr.QueryCanceled, "canceled"))
	f.set(func() { f.down = nil })
	_ = opens(t, t.Context(), e).Close()
}

// TestNeverOpens asks each time where the option says so.
func TestNeverOpens(t *testing.T) {
	f := &fake{down: pgerr.New("08001", "could not connect")}
	e := guarded(t, f, map[string]string{"max_failures": "0"})
	for range 20 {
		if _, err := e.Open(t.Context(), engines.Query{}); code(err) != "08001" {
			t.Fatal(err)
		}
	}
	if n := f.count(&f.asked); n != 20 || e.Health().Open || e.Health().State != Broken {
		t.Errorf("asked %d times", n)
	}
}

// TestDefinedAnew asks a server at once that is defined anew.
func TestDefinedAnew(t *testing.T) {
	f := &fake{}
	e, _ := broken(t, f)
	f.set(func() { f.down = nil })
	e.DefineServer(map[string]string{"host": "elsewhere"})
	if h := e.Health(); h.State != Untried || h.Error != nil {
		t.Errorf("%+v", h)
	}
	_ = opens(t, t.Context(), e).Close()
}

// TestKinds shows what kind of engine is guarded, and asks none that is down.
func TestKinds(t *testing.T) {
	f := &fake{}
	e := guarded(t, f, nil)
	if err := e.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, ok := engines.As[engines.Keeper](e); ok {
		t.Error("a keeper")
	}
	i, ok := engines.As[engines.Informant](e)
	if !ok {
		t.Fatal("no informant")
	}
	if facts, err := i.Facts(t.Context()); err != nil || facts.Version != 150000 {
		t.Errorf("%+v: %v", facts, err)
	}
	f.set(func() { f.down = pgerr.New("08001", "could not connect") })
	for range 5 {
		_, _ = i.Facts(t.Context())
	}
	asked := f.count(&f.asked)
	if _, err := i.Facts(t.Context()); code(err) != "08001" || f.count(&f.asked) != asked {
		t.Errorf("asked: %v", err)
	}
	if err := e.Ready(t.Context()); code(err) != "08001" {
		t.Error(err)
	}
}

// TestStatementFailsOnce does not try a server anew for the statement that has found it down, and tells it the same again.
func TestStatementFailsOnce(t *testing.T) {
	f := &fake{down: pgerr.New("08001", "could not connect")}
	e := guarded(t, f, map[string]string{"max_failures": "2"})
	for n := 1; n <= 2; n++ {
		ctx := Statement(t.Context())
		for range 4 {
			if _, err := e.Open(ctx, engines.Query{}); code(err) != "08001" || !strings.Contains(err.Error(), "could not connect") {
				t.Error(err)
			}
		}
		if got := f.count(&f.asked); got != n || e.Health().Open != (n == 2) {
			t.Errorf("%d statements have asked %d times", n, got)
		}
	}
}
