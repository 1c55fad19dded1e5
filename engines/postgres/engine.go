package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/pool"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one server as one user mapping logs in to it.
type Engine struct {
	server    string
	config    *pgconn.Config
	updatable bool
	pool      *pool.Pool[*connection]

	mu    sync.Mutex
	facts engines.Facts // once known
}

var (
	_ engines.Engine    = (*Engine)(nil)
	_ engines.Informant = (*Engine)(nil)
	_ engines.Pooled    = (*Engine)(nil)
)

func newEngine(server string, config *pgconn.Config, updatable bool) *Engine {
	e := &Engine{server: server, config: config, updatable: updatable}
	e.pool = pool.New(e.connect, nil, (*connection).close)
	return e
}

// Open starts q on a connection of its own.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	for {
		c, err := e.pool.Acquire(ctx)
		if err != nil {
			return nil, pgerr.AtServer(e.server, err)
		}
		s, err := begin(ctx, e, c, q)
		switch {
		case err == nil:
			return s, nil
		case !errors.Is(err, errBroken):
			e.release(c)
		case e.discard(c) && ctx.Err() == nil:
			continue // it had gone while it was idle, and this statement has not begun
		}
		return nil, pgerr.AtServer(e.server, pgerr.Interrupted(ctx, err))
	}
}

// connect opens a connection.
func (e *Engine) connect(ctx context.Context) (*connection, error) {
	c, err := dial(ctx, e.config)
	if err != nil {
		if ctx.Err() != nil {
			return nil, pgerr.Ended(ctx)
		}
		return nil, connectError(e.server, err)
	}
	return c, nil
}

// release gives back a connection on which nothing runs.
func (e *Engine) release(c *connection) {
	c.in.rest()
	e.pool.Release(c)
}

// discard closes a connection that is broken, and reports whether it had been idle before. The server may have become
// another one meanwhile.
func (e *Engine) discard(c *connection) bool {
	e.mu.Lock()
	e.facts = engines.Facts{}
	e.mu.Unlock()
	e.pool.Lost()
	_ = c.socket.Close()
	return c.Reused
}

// Idle is how many connections wait to be used again.
func (e *Engine) Idle() int { return e.pool.Idle() }

// Ping runs a statement at the server.
func (e *Engine) Ping(ctx context.Context) error {
	_, err := e.texts(ctx, "SELECT 1")
	return err
}

// Close closes the connections that wait. Those in use close when they are given back.
func (e *Engine) Close() error {
	e.pool.Close()
	return nil
}
