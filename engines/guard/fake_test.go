package guard

import (
	"context"
	"errors"
	"io"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a wrapper whose engines do what a test says.
type fake struct {
	mu       sync.Mutex
	down     error    // what connections fail with
	failing  error    // what statements fail with
	password string   // that is let in, empty for any
	opened   []string // passwords of the engines that were opened
	pings    int
	asked    int // statements
	closed   int
	during   func() // runs within the next statement, before it is asked
}

func (f *fake) Name() string                                      { return "sluice_fake" }
func (f *fake) Options(engines.ObjectKind) []engines.Option       { return nil }
func (f *fake) Check(engines.ObjectKind, map[string]string) error { return nil }
func (f *fake) Open(_ context.Context, s engines.Server) (engines.Engine, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened = append(f.opened, s.Mapping["password"])
	return &fakeEngine{f, s.Mapping["password"], new(atomic.Bool)}, nil
}

// set changes what a fake does.
func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fake) count(of *int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *of
}

type fakeEngine struct {
	*fake
	with string
	gone *atomic.Bool
}

func (e *fakeEngine) connect(count *int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	*count++
	if e.password != "" && e.password != e.with {
		return pgerr.New(pgerr.InvalidPassword, "wrong password")
	}
	return e.down
}

func (e *fakeEngine) Open(ctx context.Context, _ engines.Query) (engines.Stream, error) {
	e.mu.Lock()
	during := e.during
	e.during = nil
	e.mu.Unlock()
	if during != nil {
		during()
	}
	if e.gone.Load() {
		return nil, pgerr.New(pgerr.FdwUnableToConnect, "the server was closed")
	}
	if err := e.connect(&e.asked); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return fakeStream{}, errors.Join(e.failing, ctx.Err())
}

func (e *fakeEngine) Begin(context.Context) (engines.Tx, error) { return fakeTx{}, e.connect(&e.asked) }
func (e *fakeEngine) Introspect(context.Context, string) ([]engines.Table, error) {
	return nil, e.connect(&e.asked)
}
func (e *fakeEngine) Ping(context.Context) error { return e.connect(&e.pings) }
func (e *fakeEngine) Close() error {
	e.gone.Store(true)
	e.set(func() { e.closed++ })
	return nil
}
func (e *fakeEngine) Facts(context.Context) (engines.Facts, error) {
	return engines.Facts{Version: 150000}, e.connect(&e.asked)
}

type fakeStream struct{}

func (fakeStream) Fields() []engines.Field                     { return nil }
func (fakeStream) Next(context.Context) (engines.Batch, error) { return nil, io.EOF }
func (fakeStream) Close() error                                { return nil }

type fakeTx struct{ engines.Tx }

func (fakeTx) Commit(context.Context) error { return nil }
func (fakeTx) Rollback() error              { return nil }

// guarded makes a guard of a fake with options.
func guarded(t *testing.T, f *fake, options map[string]string) *Engine {
	t.Helper()
	e := New(new(Yard), f, 1, "far", func(o map[string]string) (map[string]string, error) { return maps.Clone(o), nil })
	e.Define(options, nil)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// opens opens a stream that must come.
func opens(t *testing.T, ctx context.Context, e *Engine) engines.Stream {
	t.Helper()
	s, err := e.Open(ctx, engines.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func code(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return ""
}

// becomes waits until something holds.
func becomes(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it has not come to be: %s", what)
		}
	}
}

// queued waits until so many wait.
func queued(t *testing.T, e *Engine, n int) {
	t.Helper()
	becomes(t, "a queue", func() bool { return e.Health().Queued == n })
}
