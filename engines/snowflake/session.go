package snowflake

import (
	"context"
	"database/sql/driver"
	"errors"
	"maps"

	"github.com/snowflakedb/gosnowflake"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// arrows is what a connection of the library can that database/sql does not know.
type arrows interface {
	QueryArrowStream(ctx context.Context, sql string, args ...driver.NamedValue) (gosnowflake.ArrowStreamLoader, error)
}

// session is one login.
type session struct {
	conn   driver.Conn
	reused bool // it was idle
}

// login makes a session.
func (e *Engine) login(ctx context.Context) (*session, error) {
	ctx, t := noting(ctx)
	config := *e.config
	config.Params = maps.Clone(config.Params) // the library adds what the server says
	conn, err := gosnowflake.NewConnector(gosnowflake.SnowflakeDriver{}, config).Connect(ctx)
	if err != nil {
		return nil, failed(ctx, t, err)
	}
	return &session{conn: conn}, nil
}

// acquire returns a session that nobody else uses.
func (e *Engine) acquire(ctx context.Context) (*session, error) {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, pgerr.New(pgerr.FdwUnableToConnect, "the server was closed")
	}
	if n := len(e.idle); n > 0 {
		s := e.idle[n-1]
		e.idle = e.idle[:n-1]
		e.mu.Unlock()
		s.reused = true
		return s, nil
	}
	e.mu.Unlock()
	return e.login(ctx)
}

// keepIdle is how many sessions that nobody uses an Engine keeps.
const keepIdle = 8

// Idle is how many sessions wait to be used again.
func (e *Engine) Idle() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.idle)
}

// release gives back a session on which nothing runs.
func (e *Engine) release(s *session) {
	e.mu.Lock()
	keep := !e.closed && len(e.idle) < keepIdle
	if keep {
		e.idle = append(e.idle, s)
	}
	e.mu.Unlock()
	if !keep {
		e.discard(s)
	}
}

// discard logs out, which nobody waits for.
func (e *Engine) discard(s *session) {
	e.work.Go(func() { _ = s.conn.Close() })
}

// outcome is what has come of a statement.
type outcome[T any] struct {
	result T
	err    error
}

// execute runs a query on a session, which is the caller's if there is no error.
func (e *Engine) execute(ctx context.Context, q engines.Query) (*session, gosnowflake.ArrowStreamLoader, error) {
	return perform(ctx, e, q, func(ctx context.Context, conn driver.Conn, sql string, args []driver.NamedValue) (gosnowflake.ArrowStreamLoader, error) {
		return conn.(arrows).QueryArrowStream(ctx, sql, args...)
	})
}

// doing has the library do a statement.
type doing[T any] func(ctx context.Context, conn driver.Conn, sql string, args []driver.NamedValue) (T, error)

// perform has a statement done on a session, which is the caller's if there is no error. Where one turns out to have ended while nobody
// used it, the statement has not begun, and another session gets it.
func perform[T any](ctx context.Context, e *Engine, q engines.Query, do doing[T]) (s *session, result T, err error) {
	for err = errGone; err == errGone; {
		if s, err = e.acquire(ctx); err == nil {
			result, err = performOn(ctx, e, s, q, do)
		}
	}
	return s, result, pgerr.AtServer(e.server, err)
}

// performOn has a statement done on a session, which is the caller's if there is no error and else was let go. Where ctx ends, the library
// tells the server to abort, which is not waited for.
func performOn[T any](ctx context.Context, e *Engine, s *session, q engines.Query, do doing[T]) (T, error) {
	args := make([]driver.NamedValue, len(q.Args))
	for i, v := range q.Args {
		args[i] = driver.NamedValue{Ordinal: i + 1}
		if v != nil {
			args[i].Value = *v
		}
	}
	own, t := noting(ctx)
	if tag := q.Tag.String(); tag != "" {
		own = gosnowflake.WithQueryTag(own, tag)
	}
	done := make(chan outcome[T], 1)
	e.work.Go(func() {
		result, err := do(own, s.conn, numbered(q.SQL), args)
		done <- outcome[T]{result, err}
	})
	var none T
	select {
	case got := <-done:
		if got.err == nil {
			return got.result, nil
		}
		if states(got.err) {
			e.release(s)
		} else {
			e.discard(s)
		}
		if isGone(got.err) && s.reused && ctx.Err() == nil {
			return none, errGone
		}
		return none, failed(ctx, t, got.err)
	case <-ctx.Done():
		e.work.Go(func() {
			if got := <-done; got.err == nil || t.err == nil && errors.Is(got.err, context.Canceled) {
				e.release(s)
			} else {
				e.discard(s)
			}
		})
		return none, pgerr.Ended(ctx)
	}
}
