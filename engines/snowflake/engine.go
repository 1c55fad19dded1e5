package snowflake

import (
	"context"
	"errors"
	"sync"

	"github.com/snowflakedb/gosnowflake"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/columnar"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one server as one user mapping logs in to it, with the sessions that wait to be used again.
type Engine struct {
	server   string
	database string
	config   *gosnowflake.Config

	work sync.WaitGroup // what goes on in the background

	mu     sync.Mutex
	idle   []*session // the one used last at the end
	closed bool
}

var (
	_ engines.Engine = (*Engine)(nil)
	_ engines.Pooled = (*Engine)(nil)
)

func newEngine(s engines.Server, c *gosnowflake.Config) *Engine {
	return &Engine{server: s.Name, database: upper(s.Options["database"]), config: c}
}

// errGone says that a session had ended while nobody used it.
var errGone = errors.New("the session has ended")

// Open runs q to where its result can be read.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	for {
		s, err := e.acquire(ctx)
		if err != nil {
			return nil, pgerr.AtServer(e.server, err)
		}
		loader, err := e.execute(ctx, s, q)
		if err == errGone {
			continue // the statement has not begun
		}
		if err != nil {
			return nil, pgerr.AtServer(e.server, err)
		}
		r, fields, err := newResult(e, s, loader, q.Fields)
		if err != nil {
			e.release(s)
			return nil, pgerr.AtServer(e.server, err)
		}
		return columnar.NewStream(e.server, fields, r), nil
	}
}

// Begin refuses: foreign tables are read only.
func (e *Engine) Begin(context.Context) (engines.Tx, error) {
	return nil, pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "foreign tables of Snowflake cannot be written to"),
		"Write at Snowflake itself."))
}

// Ping runs a statement that needs no warehouse.
func (e *Engine) Ping(ctx context.Context) error {
	s, err := e.Open(ctx, engines.Query{SQL: "SELECT 1"})
	if err != nil {
		return err
	}
	return s.Close()
}

// Close logs out of sessions that nobody uses, and waits for what goes on in the background; the other sessions end with their
// streams.
func (e *Engine) Close() error {
	e.mu.Lock()
	idle := e.idle
	e.idle, e.closed = nil, true
	e.mu.Unlock()
	for _, s := range idle {
		e.discard(s)
	}
	e.work.Wait()
	e.config.Transporter.(*gate).transport.CloseIdleConnections()
	return nil
}
