package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/pool"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one server as one user mapping logs in to it.
type Engine struct {
	server  string
	source  source
	handles bool
	pool    *pool.Pool[*connection]
}

var (
	_ engines.Engine = (*Engine)(nil)
	_ engines.Pooled = (*Engine)(nil)
)

func newEngine(s engines.Server, src source) *Engine {
	alive := func(ctx context.Context, c *connection) bool { return c.alive(ctx) }
	handles, _ := engines.ParseBool(s.Options["handles"], false) // which was checked
	return &Engine{server: s.Name, source: src, handles: handles, pool: pool.New(src.connect, alive, func(c *connection) { _ = c.Close() })}
}

// Open starts q on a connection of its own.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	sql, args, err := placed(q, e.source.placeholder)
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	for {
		c, err := e.pool.Acquire(ctx)
		if err != nil {
			return nil, e.reason(ctx, err)
		}
		reused := c.Reused
		s, err := e.start(ctx, c, q.Tag.Comment()+sql, args, q.Fields)
		if err == nil {
			return s, nil
		}
		if reused && isBroken(err) && ctx.Err() == nil {
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

// discard gives up a connection on which a statement may still run, and ends that.
func (e *Engine) discard(c *connection) {
	_ = c.Close()
	e.source.kill(c)
	e.pool.Lost()
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

// Idle is how many connections wait to be used again.
func (e *Engine) Idle() int { return e.pool.Idle() }

// Close frees connections that nobody uses; the others are freed as their streams end.
func (e *Engine) Close() error {
	e.pool.Close()
	return nil
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
