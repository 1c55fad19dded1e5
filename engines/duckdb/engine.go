package duckdb

import (
	"context"
	"sync"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one server: a DuckDB instance that is opened at the first use and kept.
type Engine struct {
	server string
	config config

	mu      sync.Mutex
	current *instance // with one reference of ours
	closed  bool
}

var _ engines.Engine = (*Engine)(nil)

// Open starts q on a connection of its own.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	c, err := e.connect()
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	cur, err := c.execute(ctx, q.SQL, q.Args, onlyReads)
	if err != nil {
		c.disconnect()
		return nil, pgerr.AtServer(e.server, err)
	}
	cur.again = true
	s, err := newStream(e.server, c, cur)
	if err != nil {
		cur.close()
		c.disconnect()
		return nil, pgerr.AtServer(e.server, err)
	}
	return s, nil
}

// Ping opens the instance and runs a statement on it.
func (e *Engine) Ping(ctx context.Context) error {
	c, err := e.connect()
	if err == nil {
		defer c.disconnect()
		_, err = c.exec(ctx, "SELECT 1")
	}
	if err != nil {
		return pgerr.AtServer(e.server, err)
	}
	return nil
}

// Close lets go of the instance, which closes when its last stream has ended.
func (e *Engine) Close() error {
	e.mu.Lock()
	in := e.current
	e.current, e.closed = nil, true
	e.mu.Unlock()
	if in != nil {
		in.release()
	}
	return nil
}

// connect returns a connection that keeps the instance open until it is disconnected.
func (e *Engine) connect() (*connection, error) {
	in, err := e.instance()
	if err != nil {
		return nil, err
	}
	return in.open()
}

// instance returns the instance with a reference for the caller. It looks at the file each time, so that one that
// vanished or was replaced is noticed.
func (e *Engine) instance() (*instance, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, pgerr.New(pgerr.FdwUnableToConnect, "the server was closed")
	}
	if e.config.directory != "" && e.current != nil {
		if err := checkDirectory(e.config.directory); err != nil {
			return nil, err
		}
		e.current.retain()
		return e.current, nil
	}
	in, err := acquire(e.config)
	if err != nil {
		return nil, err
	}
	if in != e.current {
		if e.current != nil {
			e.current.release()
		}
		e.current = in
		in.retain()
	}
	return in, nil
}
