package clickhouse

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/engines/pool"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one server as one user mapping logs in to it.
type Engine struct {
	server string
	config *config
	pool   *pool.Pool[*connection]
	bare   atomic.Bool // the user may not set anything
}

var (
	_ engines.Engine = (*Engine)(nil)
	_ engines.Pooled = (*Engine)(nil)
)

func newEngine(server string, c *config) *Engine {
	dialed := func(ctx context.Context) (*connection, error) {
		conn, err := dial(ctx, c)
		if err != nil {
			return nil, pgerr.Interrupted(ctx, err)
		}
		return conn, nil
	}
	return &Engine{server: server, config: c, pool: pool.New(dialed, nil, func(c *connection) { _ = c.socket.Close() })}
}

// Open starts q on a connection of its own.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	for {
		c, err := e.pool.Acquire(ctx)
		if err != nil {
			return nil, pgerr.AtServer(e.server, err)
		}
		what := statement{tag: q.Tag, settings: e.settings()}
		if what.sql, what.parameters, err = bind(q.SQL, q.Args, c.binds()); err != nil {
			e.giveBack(c)
			return nil, pgerr.AtServer(e.server, err)
		}
		s, err := begin(ctx, e, c, what, q.Fields)
		switch {
		case err == nil:
			return s, nil
		case err == errNoColumns:
			e.giveBack(c)
			return e.empty(ctx, q)
		}
		gone := e.discard(c) && isLost(err) // while it was idle: the statement has not been answered, and only reads
		if ctx.Err() == nil && (gone || e.withoutSettings(err, what.settings)) {
			continue
		}
		return nil, pgerr.AtServer(e.server, pgerr.Interrupted(ctx, err))
	}
}

// settings are those to send along.
func (e *Engine) settings() []setting {
	if e.bare.Load() {
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
	e.bare.Store(true)
	return true
}

// giveBack returns a connection whose statement has ended to the pool, if it can be used again.
func (e *Engine) giveBack(c *connection) {
	if c.reusable() {
		e.pool.Release(c)
	} else {
		e.discard(c)
	}
}

// discard closes a connection that is broken, and reports whether it had been idle before.
func (e *Engine) discard(c *connection) bool {
	e.pool.Lost()
	_ = c.socket.Close()
	return c.Reused
}

// Idle is how many connections wait to be used again.
func (e *Engine) Idle() int { return e.pool.Idle() }

// Begin refuses where no handles are taken: ClickHouse has no transactions that could be undone with home's.
func (e *Engine) Begin(context.Context) (engines.Tx, error) {
	if e.Keeps() == nil {
		return keep.Begin(e.server, keepRules, e), nil
	}
	return nil, pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "foreign tables of ClickHouse cannot be written to"),
		"Write to them by a client of ClickHouse."))
}

// Ping asks the server for a sign of life.
func (e *Engine) Ping(ctx context.Context) error {
	for {
		c, err := e.pool.Acquire(ctx)
		if err != nil {
			return pgerr.AtServer(e.server, err)
		}
		stop := c.watch(ctx)
		err = c.ping()
		stop()
		if err == nil {
			e.giveBack(c)
			return nil
		}
		if !e.discard(c) || ctx.Err() != nil {
			return pgerr.AtServer(e.server, pgerr.Interrupted(ctx, broken(err)))
		}
	}
}

// Close closes the connections that wait. Those in use close when they are given back.
func (e *Engine) Close() error {
	e.pool.Close()
	return nil
}
