package bigquery

import (
	"context"
	"strconv"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Engine is one server: a project that runs jobs.
type Engine struct {
	server   string
	client   *client
	project  string
	location string
	dataset  string
	handles  bool
	limits   limits

	background engines.Background
}

// limits are what the server's options allow a job.
type limits struct {
	bytes   int64 // billed, 0 for any
	timeout int64 // milliseconds, 0 for any
	// expiration is how long tables for handles stay at most, 0 for ever.
	expiration time.Duration
}

var (
	_ engines.Engine    = (*Engine)(nil)
	_ engines.Estimator = (*Engine)(nil)
)

func newEngine(s engines.Server) (*Engine, error) {
	c, err := newClient(s)
	if err != nil {
		return nil, err
	}
	e := &Engine{server: s.Name, client: c, project: s.Options["project"], location: s.Options["location"], dataset: s.Options["dataset"]}
	e.handles, _ = engines.ParseBool(s.Options["handles"], false)
	e.limits.expiration = seconds(s.Options["handle_expiration"], 0)
	e.limits.bytes, _ = strconv.ParseInt(s.Options["maximum_bytes_billed"], 10, 64)
	e.limits.timeout = seconds(s.Options["job_timeout"], 0).Milliseconds()
	return e, nil
}

// Open runs q to where its result can be read.
func (e *Engine) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	result, err := e.execute(ctx, q)
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	s, err := e.open(ctx, q, result)
	if err != nil {
		return nil, pgerr.AtServer(e.server, err)
	}
	return s, nil
}

// Ping has the service look at a statement without running it, which costs nothing.
func (e *Engine) Ping(ctx context.Context) error {
	_, err := e.dryRun(ctx, engines.Query{SQL: "SELECT 1"})
	return pgerr.AtServer(e.server, err)
}

// Estimate says how many bytes a statement would process, which it is billed by.
func (e *Engine) Estimate(ctx context.Context, q engines.Query) (string, error) {
	n, err := e.dryRun(ctx, q)
	if err != nil {
		return "", pgerr.AtServer(e.server, err)
	}
	return strconv.FormatInt(n, 10) + " bytes processed", nil
}

// Close waits for the requests that cancel jobs.
func (e *Engine) Close() error {
	e.background.Close()
	e.client.close()
	return nil
}
