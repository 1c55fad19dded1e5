package guard

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one server, as one role logs in to it, behind its guard.
type Engine struct {
	oid     uint32
	server  string
	wrapper engines.Wrapper
	resolve func(map[string]string) (map[string]string, error) // looks up secrets
	gate    *gate
	breaker *breaker
	opening chan struct{} // held by who opens what is guarded
	secret  definition    // by which it was opened; used by who holds opening

	mu      sync.Mutex
	defined definition
	limits  limits
	inner   engines.Engine // nil until it is needed
	looked  time.Time      // when secrets were looked up last
	closed  bool
}

var _ engines.Engine = (*Engine)(nil)

// New returns the guard of a server whose wrapper, OID and name never change. resolve looks up what references to secrets stand
// for. It is to be told by Define how the server is defined.
func New(yard *Yard, w engines.Wrapper, oid uint32, name string, resolve func(map[string]string) (map[string]string, error)) *Engine {
	return &Engine{
		oid: oid, server: name, wrapper: w, resolve: resolve, opening: make(chan struct{}, 1), limits: limitsOf(nil),
		gate:    &gate{yard: yard, limit: limitsOf(nil).sessions, holders: map[*Holder]int{}},
		breaker: &breaker{server: name, now: time.Now, limit: limitsOf(nil).failures},
	}
}

// Name is the server's.
func (e *Engine) Name() string { return e.server }

// try does something at the server, unless that is known not to answer, and once more with new secrets where these were refused.
func (e *Engine) try(ctx context.Context, do func(engines.Engine) error) error {
	turn, err := e.breaker.check(ctx)
	if err != nil {
		return err
	}
	if turn == ask {
		if err := e.ping(ctx); err != nil {
			return err
		}
	}
	return pgerr.AtServer(e.server, e.noted(ctx, e.attempt(ctx, do)))
}

// noted tells the breaker how an attempt has ended, and returns that.
func (e *Engine) noted(ctx context.Context, err error) error {
	if e.breaker.note(ctx, err) == ask {
		_ = e.ping(ctx) // the statement has failed, whatever this comes to
	}
	return err
}

// attempt is try where the server is asked. What was guarded may be closed just then, by a new definition or new secrets: then it is
// done with what has come in its place.
func (e *Engine) attempt(ctx context.Context, do func(engines.Engine) error) error {
	for {
		inner, err := e.current(ctx, false)
		if err != nil {
			return err
		}
		err = do(inner)
		if isClosed(err) && ctx.Err() == nil && !e.guards(inner) {
			continue
		}
		if !isLogin(err) || ctx.Err() != nil {
			return err
		}
		renewed, rerr := e.current(ctx, true)
		if rerr != nil || renewed == inner {
			return err
		}
		return do(renewed)
	}
}

// isClosed reports whether an error may be one of an engine that was closed: it has done nothing then.
func isClosed(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && pe.Code == pgerr.FdwUnableToConnect
}

// guards reports whether an engine is still the one that is guarded.
func (e *Engine) guards(inner engines.Engine) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed || e.inner == inner
}

// ping finds out whether the server answers, for the breaker. It is an error of the server's or of the statement's end.
func (e *Engine) ping(ctx context.Context) error {
	limited, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	err := e.attempt(limited, func(inner engines.Engine) error { return inner.Ping(limited) })
	if limited.Err() != nil && ctx.Err() == nil {
		err = pgerr.New("08001", "server %q has not answered within %s", e.server, askTime)
	}
	e.breaker.told(ctx, err)
	return pgerr.AtServer(e.server, err)
}

// enter waits for a permit to have something done at the server.
func (e *Engine) enter(ctx context.Context) (release func(), err error) {
	if err := e.breaker.refuses(ctx); err != nil {
		return nil, err
	}
	e.mu.Lock()
	patience := e.limits.wait
	e.mu.Unlock()
	return e.gate.acquire(ctx, holderOf(ctx), e.server, patience)
}

// Open starts q and returns its rows.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	release, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	var s engines.Stream
	err = e.try(ctx, func(inner engines.Engine) (err error) {
		s, err = inner.Open(ctx, q)
		return err
	})
	if err != nil {
		release()
		return nil, err
	}
	return e.guarded(s, release), nil
}

// Begin starts a write transaction.
func (e *Engine) Begin(ctx context.Context) (engines.Tx, error) {
	release, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	var t engines.Tx
	err = e.try(ctx, func(inner engines.Engine) (err error) {
		t, err = inner.Begin(ctx)
		return err
	})
	if err != nil {
		release()
		return nil, err
	}
	if m, ok := t.(engines.Maker); ok {
		return &maker{tx{t, release}, m}, nil
	}
	return &tx{t, release}, nil
}

// Introspect lists the tables of a schema.
func (e *Engine) Introspect(ctx context.Context, schema string) (tables []engines.Table, err error) {
	release, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	err = e.try(ctx, func(inner engines.Engine) (err error) {
		tables, err = inner.Introspect(ctx, schema)
		return err
	})
	return tables, err
}

// Ping says whether the server answers.
func (e *Engine) Ping(ctx context.Context) error {
	return e.try(ctx, func(inner engines.Engine) error { return inner.Ping(ctx) })
}

// Close frees what is guarded, for good.
func (e *Engine) Close() error {
	e.mu.Lock()
	inner := e.inner
	e.inner, e.closed = nil, true
	e.mu.Unlock()
	if inner == nil {
		return nil
	}
	return inner.Close()
}

// ident quotes s as an identifier.
func ident(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
