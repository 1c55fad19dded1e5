package snowflake

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/snowflakedb/gosnowflake"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/columnar"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one server as one user mapping logs in to it, with the sessions that wait to be used again.
type Engine struct {
	server   string
	database string
	schema   string
	binary   bool // columns of text have no collation
	handles  bool
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
	binary, _ := engines.ParseBool(s.Options["binary_text"], false) // which was checked
	handles, _ := engines.ParseBool(s.Options["handles"], false)    // likewise
	return &Engine{server: s.Name, database: upper(s.Options["database"]), schema: upper(cmp.Or(s.Options["schema"], "PUBLIC")), binary: binary, handles: handles, config: c}
}

// errGone says that a session had ended while nobody used it.
var errGone = errors.New("the session has ended")

// Open runs q to where its result can be read.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	s, loader, err := e.execute(ctx, q)
	if err != nil {
		return nil, err
	}
	r, fields, err := newResult(e, s, loader, q.Fields)
	if err != nil {
		e.release(s)
		return nil, pgerr.AtServer(e.server, err)
	}
	return columnar.NewStream(e.server, fields, r), nil
}

// Begin makes tables for handles, and writes nothing else.
func (e *Engine) Begin(context.Context) (engines.Tx, error) {
	if e.handles {
		return keep.Begin(e.server, keepRules, e), nil
	}
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
