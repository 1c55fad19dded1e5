package clickhouse

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
	server string
	config *config

	mu     sync.Mutex
	idle   []*connection // the one used last at the end
	closed bool
	bare   bool // the user may not set anything
	prune  *time.Timer
}

var _ engines.Engine = (*Engine)(nil)

// An Engine keeps up to keepIdle connections that nobody uses, each for keepFor.
const (
	keepIdle = 8
	keepFor  = 5 * time.Minute
)

// Open starts q on a connection of its own.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	sql, err := bind(q.SQL, q.Args)
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	for {
		settings := e.settings()
		c, err := e.acquire(ctx)
		if err != nil {
			return nil, pgerr.AtServer(e.server, err)
		}
		s, err := begin(ctx, e, c, sql, settings)
		if err == nil {
			return s, nil
		}
		gone := e.discard(c) && isLost(err) // while it was idle: the statement has not been answered, and only reads
		if ctx.Err() == nil && (gone || e.withoutSettings(err, settings)) {
			continue
		}
		return nil, pgerr.AtServer(e.server, pgerr.Interrupted(ctx, err))
	}
}

// settings are those to send along.
func (e *Engine) settings() []setting {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.bare {
		return nil
	}
	return e.config.settings
}

// withoutSettings reports whether a statement was refused because the remote user may read, but not set anything: no settings
// are sent then.
func (e *Engine) withoutSettings(err error, sent []setting) bool {
	var pe *pgconn.PgError
	if len(sent) == 0 || !errors.As(err, &pe) || pe.Code != pgerr.ReadOnlyTransaction || !isSettingRefused(pe.Message) {
		return false
	}
	e.mu.Lock()
	e.bare = true
	e.mu.Unlock()
	return true
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
		return nil, pgerr.Interrupted(ctx, err)
	}
	return c, nil
}

// release gives back a connection on which nothing runs.
func (e *Engine) release(c *connection) {
	c.reused, c.idle = false, time.Now()
	e.mu.Lock()
	keep := !e.closed && len(e.idle) < keepIdle
	if keep {
		e.idle = append(e.idle, c)
		if e.prune == nil {
			e.prune = time.AfterFunc(keepFor, e.pruneIdle)
		}
	}
	e.mu.Unlock()
	if !keep {
		_ = c.socket.Close()
	}
}

// discard closes a connection that is broken, and reports whether it had been idle before.
func (e *Engine) discard(c *connection) bool {
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
		_ = c.socket.Close()
	}
}

// Begin refuses: ClickHouse has no transactions that could be undone with home's.
func (e *Engine) Begin(context.Context) (engines.Tx, error) {
	return nil, pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "foreign tables of ClickHouse cannot be written to"),
		"Write to them by a client of ClickHouse."))
}

// Ping asks the server for a sign of life.
func (e *Engine) Ping(ctx context.Context) error {
	for {
		c, err := e.acquire(ctx)
		if err != nil {
			return pgerr.AtServer(e.server, err)
		}
		stop := c.watch(ctx)
		err = c.ping()
		stop()
		if err == nil {
			e.release(c)
			return nil
		}
		if !e.discard(c) || ctx.Err() != nil {
			return pgerr.AtServer(e.server, pgerr.Interrupted(ctx, broken(err)))
		}
	}
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
		_ = c.socket.Close()
	}
	return nil
}
