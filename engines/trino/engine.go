package trino

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/columnar"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one cluster as one user mapping logs in to it.
type Engine struct {
	server  string
	client  *client
	catalog string
	schema  string
	handles bool

	background engines.Background
}

var _ engines.Engine = (*Engine)(nil)

// Open runs q to where its columns are known.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	if ctx.Err() != nil {
		return nil, pgerr.AtServer(e.server, pgerr.Ended(ctx))
	}
	sql, err := statement(q)
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	if e.client.headers.Get("X-Trino-User") == "" {
		return nil, pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.InvalidAuthorization, "no user of the cluster is known"),
			`CREATE USER MAPPING … OPTIONS ("user" 'NAME').`))
	}
	s := &source{engine: e}
	if err := s.begin(ctx, sql, q.Tag.String()); err != nil {
		s.Close(false)
		return nil, pgerr.AtServer(e.server, pgerr.Interrupted(ctx, err))
	}
	s.pause()
	return columnar.NewStream(e.server, s.fields(), s), nil
}

// Begin refuses where no handles are taken: most catalogs have no transactions that could be undone with home's.
func (e *Engine) Begin(context.Context) (engines.Tx, error) {
	if e.handles {
		return keep.Begin(e.server, keepRules, e), nil
	}
	return nil, pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "foreign tables of Trino cannot be written to"),
		"Write to them by a client of Trino."))
}

// Ping has the cluster execute a statement.
func (e *Engine) Ping(ctx context.Context) error {
	_, err := e.texts(ctx, "SELECT 'x'")
	return err
}

// Close waits for the requests that cancel statements.
func (e *Engine) Close() error {
	e.background.Close()
	e.client.http.CloseIdleConnections()
	return nil
}

// cancel ends a statement at the cluster. It does not wait for that.
func (e *Engine) cancel(next *url.URL) {
	e.background.Cancel(func(ctx context.Context) error {
		return e.client.call(ctx, http.MethodDelete, next, "", "", &bytes.Buffer{})
	})
}

// keepAlive is how often a cluster hears of a client that pauses. It forgets a statement that it has not been asked about for
// query.client.timeout, which is five minutes unless somebody has it be less, and five seconds at least.
const keepAlive = 4 * time.Second

// wait tells the cluster that the next page is still wanted, until ctx ends.
func (e *Engine) wait(ctx context.Context, next *url.URL) {
	e.background.While(ctx, func(ctx context.Context) {
		for pause(ctx, keepAlive) == nil {
			_ = e.client.call(ctx, http.MethodHead, next, "", "", &bytes.Buffer{}) // who reads on learns what became of it
		}
	})
}

// texts runs a statement whose columns are all varchar and returns its rows, with empty texts for NULL. It is for bounded results only.
func (e *Engine) texts(ctx context.Context, sql string, args ...string) ([][]string, error) {
	q := engines.Query{SQL: sql}
	for i := range args {
		q.Args = append(q.Args, &args[i])
	}
	s, err := e.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var rows [][]string
	for {
		b, err := s.Next(ctx)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		record := b.(engines.Columns).Record
		for i := range b.NumRows() {
			row := make([]string, record.NumCols())
			for k, column := range record.Columns() {
				texts, ok := column.(*array.String)
				if !ok {
					return nil, pgerr.AtServer(e.server, malformed(errJSON))
				}
				if texts.IsValid(i) {
					row[k] = string([]byte(texts.Value(i)))
				}
			}
			rows = append(rows, row)
		}
	}
}
