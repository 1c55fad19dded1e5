package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"sync"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one server as one user mapping logs in to it, with the connections that wait to be used again.
type Engine struct {
	server string
	source source

	mu     sync.Mutex
	idle   []*connection // the one used last at the end
	busy   int
	closed bool
}

var _ engines.Engine = (*Engine)(nil)

// keepIdle is how many connections that nobody uses an Engine keeps.
const keepIdle = 8

// Open starts q on a connection of its own.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	sql, args, err := placed(q)
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	for {
		c, err := e.acquire(ctx)
		if err != nil {
			return nil, e.reason(ctx, err)
		}
		s, err := e.start(ctx, c, sql, args, q.Fields)
		if err == nil {
			return s, nil
		}
		if c.reused && isBroken(err) && ctx.Err() == nil {
			continue // it had gone while it was idle, and this statement has not begun
		}
		return nil, e.reason(ctx, err)
	}
}

// isBroken reports whether an error says that a connection is gone.
func isBroken(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, errGone)
}

// errGone is what sources add to errors of connections that are gone.
var errGone = errors.New("the connection is gone")

// reason is the error of the driver as a client may see it; an interrupt where ctx has ended.
func (e *Engine) reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = pgerr.New(pgerr.QueryCanceled, "canceling statement due to user request")
	}
	return pgerr.AtServer(e.server, e.source.failure(err))
}

// acquire returns a connection that nobody else uses.
func (e *Engine) acquire(ctx context.Context) (*connection, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for {
		e.mu.Lock()
		if e.closed {
			e.mu.Unlock()
			return nil, pgerr.New(pgerr.FdwUnableToConnect, "the server was closed")
		}
		n := len(e.idle)
		if n == 0 {
			e.busy++
			e.mu.Unlock()
			break
		}
		c := e.idle[n-1]
		e.idle = e.idle[:n-1]
		e.mu.Unlock()
		if c.alive(ctx) {
			c.reused = true
			e.mu.Lock()
			e.busy++
			e.mu.Unlock()
			return c, nil
		}
		_ = c.Close()
	}
	c, err := e.source.connect(ctx)
	if err != nil {
		e.left()
	}
	return c, err
}

// left counts a connection as used no longer.
func (e *Engine) left() {
	e.mu.Lock()
	e.busy--
	e.mu.Unlock()
}

// release gives back a connection on which nothing runs.
func (e *Engine) release(c *connection) {
	e.mu.Lock()
	keep := !e.closed && len(e.idle) < keepIdle
	if keep {
		e.idle = append(e.idle, c)
	}
	e.busy--
	e.mu.Unlock()
	if !keep {
		_ = c.Close()
	}
}

// discard gives up a connection on which a statement may still run, and ends that.
func (e *Engine) discard(c *connection) {
	_ = c.Close()
	e.source.kill(c)
	e.left()
}

// Begin refuses: foreign tables are read only.
func (e *Engine) Begin(context.Context) (engines.Tx, error) {
	return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q is read only", e.server), "Servers of wrapper sluice_sql cannot be written to.")
}

// Introspect lists the tables and views of a schema: a database of MySQL, or "main" of SQLite.
func (e *Engine) Introspect(ctx context.Context, schema string) ([]engines.Table, error) {
	tables, err := e.source.introspect(ctx, e.texts, schema)
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	return tables, nil
}

// Ping runs a statement.
func (e *Engine) Ping(ctx context.Context) error {
	_, err := e.texts(ctx, "SELECT 'x'")
	return err
}

// Close frees connections that nobody uses; the others are freed as their streams end.
func (e *Engine) Close() error {
	e.mu.Lock()
	idle := e.idle
	e.idle, e.closed = nil, true
	e.mu.Unlock()
	for _, c := range idle {
		_ = c.Close()
	}
	return nil
}

// running returns how many statements run.
func (e *Engine) running() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.busy
}

// texts runs a catalog query and returns its rows as texts. It is for bounded results only.
func (e *Engine) texts(ctx context.Context, sql string, args ...string) ([][]*string, error) {
	q := engines.Query{SQL: sql}
	for i := range args {
		q.Args = append(q.Args, &args[i])
	}
	s, err := e.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.(*stream).texts(ctx)
}
