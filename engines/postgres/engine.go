package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one server as one user mapping logs in to it, with the connections that wait to be used again.
type Engine struct {
	server    string
	config    *pgconn.Config
	updatable bool

	mu     sync.Mutex
	idle   []*connection // the one used last at the end
	busy   int
	closed bool
	prune  *time.Timer
	facts  engines.Facts // once known
}

var (
	_ engines.Engine    = (*Engine)(nil)
	_ engines.Informant = (*Engine)(nil)
)

// An Engine keeps up to keepIdle connections that nobody uses, each for keepFor.
const (
	keepIdle = 8
	keepFor  = 5 * time.Minute
)

// Open starts q on a connection of its own.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	for {
		c, err := e.acquire(ctx)
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

// acquire returns a connection that nobody else uses.
func (e *Engine) acquire(ctx context.Context) (*connection, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, pgerr.New(pgerr.FdwUnableToConnect, "the server was closed")
	}
	e.busy++
	if n := len(e.idle); n > 0 {
		c := e.idle[n-1]
		e.idle = e.idle[:n-1]
		e.mu.Unlock()
		c.reused = true
		return c, nil
	}
	e.mu.Unlock()
	c, err := dial(ctx, e.config)
	if err != nil {
		e.mu.Lock()
		e.busy--
		e.mu.Unlock()
		if ctx.Err() != nil {
			return nil, pgerr.Interrupted(ctx, err)
		}
		return nil, connectError(e.server, err)
	}
	return c, nil
}

// release gives back a connection on which nothing runs.
func (e *Engine) release(c *connection) {
	c.in.rest()
	c.reused, c.idle = false, time.Now()
	e.mu.Lock()
	e.busy--
	keep := !e.closed && len(e.idle) < keepIdle
	if keep {
		e.idle = append(e.idle, c)
		if e.prune == nil {
			e.prune = time.AfterFunc(keepFor, e.pruneIdle)
		}
	}
	e.mu.Unlock()
	if !keep {
		c.close()
	}
}

// discard closes a connection that is broken, and reports whether it had been idle before. The server may have become
// another one meanwhile.
func (e *Engine) discard(c *connection) bool {
	e.mu.Lock()
	e.busy--
	e.facts = engines.Facts{}
	e.mu.Unlock()
	_ = c.socket.Close()
	return c.reused
}

// pruneIdle closes connections that nobody has used for long.
func (e *Engine) pruneIdle() {
	var old []*connection
	e.mu.Lock()
	for len(e.idle) > 0 && time.Since(e.idle[0].idle) >= keepFor {
		old = append(old, e.idle[0])
		e.idle = e.idle[1:]
	}
	e.prune = nil
	if len(e.idle) > 0 {
		e.prune = time.AfterFunc(keepFor-time.Since(e.idle[0].idle), e.pruneIdle)
	}
	e.mu.Unlock()
	for _, c := range old {
		c.close()
	}
}

// running returns how many connections are in use.
func (e *Engine) running() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.busy
}

// Ping runs a statement at the server.
func (e *Engine) Ping(ctx context.Context) error {
	_, err := e.texts(ctx, "SELECT 1")
	return err
}

// Close closes the connections that wait. Those in use close when they are given back.
func (e *Engine) Close() error {
	e.mu.Lock()
	idle := e.idle
	e.idle, e.closed = nil, true
	if e.prune != nil {
		e.prune.Stop()
	}
	e.mu.Unlock()
	for _, c := range idle {
		c.close()
	}
	return nil
}
