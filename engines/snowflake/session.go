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
type outcome struct {
	loader gosnowflake.ArrowStreamLoader
	err    error
}

// execute runs a statement on a session, which is the caller's if there is no error and else was let go. Where ctx ends, the library
// tells the server to abort, which is not waited for.
func (e *Engine) execute(ctx context.Context, s *session, q engines.Query) (gosnowflake.ArrowStreamLoader, error) {
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
	done := make(chan outcome, 1)
	e.work.Go(func() {
		loader, err := s.conn.(arrows).QueryArrowStream(own, numbered(q.SQL), args...)
		done <- outcome{loader, err}
	})
	select {
	case got := <-done:
		if got.err == nil {
			return got.loader, nil
		}
		if states(got.err) {
			e.release(s)
		} else {
			e.discard(s)
		}
		if isGone(got.err) && s.reused && ctx.Err() == nil {
			return nil, errGone
		}
		return nil, failed(ctx, t, got.err)
	case <-ctx.Done():
		e.work.Go(func() {
			if got := <-done; got.err == nil || t.err == nil && errors.Is(got.err, context.Canceled) {
				e.release(s)
			} else {
				e.discard(s)
			}
		})
		return nil, pgerr.Ended(ctx)
	}
}
