package databricks

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one server: a SQL warehouse of a workspace.
type Engine struct {
	server    string
	client    *client
	warehouse string
	catalog   string
	schema    string // of tables that name none
	handles   bool

	checked    atomic.Pointer[time.Time] // when the warehouse was found to be set as statements need it
	background engines.Background
}

var _ engines.Engine = (*Engine)(nil)

// Open runs q to where its result can be read.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	if err := e.settle(ctx); err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	return e.open(ctx, q)
}

func (e *Engine) open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	a, err := e.execute(ctx, q)
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	s, err := newStream(e, a)
	if err != nil {
		e.cancel(a.ID)
		return nil, pgerr.AtServer(e.server, err)
	}
	return s, nil
}

// Begin refuses where no handles are taken: a warehouse has no transactions over several statements.
func (e *Engine) Begin(context.Context) (engines.Tx, error) {
	if e.handles {
		return keep.Begin(e.server, keepRules, e), nil
	}
	return nil, pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "foreign tables of Databricks cannot be written to"),
		"Write at the workspace itself."))
}

// Ping has the warehouse execute a statement, which starts it where it is stopped.
func (e *Engine) Ping(ctx context.Context) error {
	if _, err := e.execute(ctx, engines.Query{SQL: "SELECT 1"}); err != nil {
		return pgerr.AtServer(e.server, err)
	}
	return nil
}

// Close waits for the requests that cancel statements.
func (e *Engine) Close() error {
	e.background.Close()
	e.client.api.CloseIdleConnections()
	return nil
}
