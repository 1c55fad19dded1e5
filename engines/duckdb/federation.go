package duckdb

import (
	"context"
	"io"
	"slices"
	"sync"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Federation computes statements over the streams of other engines in a DuckDB of its own, which has no tables and can
// open no files. It is opened at the first use and kept.
type Federation struct {
	config config

	mu      sync.Mutex
	current *instance // with one reference of ours
	closed  bool
	runs    map[bindings.IdxT]*federated // by the connection that each runs on
}

var _ engines.Federation = (*Federation)(nil)

// NewFederation makes a Federation with the server options given, of those that bound what DuckDB may use: memory_limit,
// temp_directory, max_temp_directory_size and threads.
func NewFederation(options map[string]string) (*Federation, error) {
	f := &Federation{runs: map[bindings.IdxT]*federated{}}
	f.config.settings = [][2]string{
		{"memory_limit", defaultMemoryLimit}, {"preserve_insertion_order", "false"},
		{"disabled_optimizers", "window_self_join"}, // which reads a feed twice
	}
	for name, value := range options {
		i := slices.IndexFunc(serverOptions, func(o engines.Option) bool { return o.Name == name && !slices.Contains(ofFiles, name) })
		if i < 0 {
			return nil, pgerr.New(pgerr.FdwInvalidOption, "the federation engine has no option %q", name)
		}
		if err := serverOptions[i].Check(value); err != nil {
			return nil, pgerr.New(pgerr.FdwInvalidOption, "invalid value for option %q of the federation engine: %s", name, err)
		}
		if name == "temp_directory" {
			f.config.temp = value
			continue
		}
		f.config.settings = append(f.config.settings, [2]string{name, value})
	}
	return f, nil
}

// ofFiles are the server options that a DuckDB without files has no use for.
var ofFiles = []string{"database", "directory", "read_only"}

// Open starts q on a connection of its own.
func (f *Federation) Open(ctx context.Context, q engines.FederatedQuery) (engines.Stream, error) {
	c, err := f.connect()
	if err != nil {
		return nil, err
	}
	r := &federated{federation: f, connection: c.id(), feeds: q.Feeds}
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	f.begin(r)
	defer r.within(ctx)()
	cur, err := c.execute(r.ctx, q.SQL, q.Args, onlyReads)
	if err == nil {
		if r.stream, err = newStream("", c, cur); err != nil {
			cur.close()
		}
	}
	if err != nil {
		err = r.cause(err)
		r.end()
		c.disconnect()
		return nil, err
	}
	return r, nil
}

// Close lets go of the instance, which closes when its last stream has ended.
func (f *Federation) Close() error {
	f.mu.Lock()
	in := f.current
	f.current, f.closed = nil, true
	f.mu.Unlock()
	if in != nil {
		in.release()
	}
	return nil
}

func (f *Federation) connect() (*connection, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, pgerr.New(pgerr.CannotConnectNow, "the federation engine was closed")
	}
	if f.current == nil {
		in, err := open(f.config, "")
		if err != nil {
			return nil, err
		}
		in.slot = &slot{current: in}
		c, err := in.connect()
		if err == nil {
			err = registerFeeds(c, f)
			c.disconnect()
		}
		if err != nil {
			in.release()
			return nil, err
		}
		f.current = in
	}
	f.current.retain()
	return f.current.open()
}

func (f *Federation) begin(r *federated) {
	f.mu.Lock()
	f.runs[r.connection] = r
	f.mu.Unlock()
}

// running returns the run on a connection, nil for none.
func (f *Federation) running(connection bindings.IdxT) *federated {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.runs[connection]
}

// id is how DuckDB tells connections of one instance apart.
func (c *connection) id() bindings.IdxT {
	var client bindings.ClientContext
	bindings.ConnectionGetClientContext(c.handle, &client)
	defer bindings.DestroyClientContext(&client)
	return bindings.ClientContextGetConnectionId(client)
}

// federated is one run of a statement, and its stream.
type federated struct {
	federation *Federation
	connection bindings.IdxT
	feeds      []engines.Feed
	stream     *stream
	// ctx is that of all feeds: DuckDB reads ahead while nobody asks for rows. It ends with the first ctx of a caller that
	// ends, or with the stream.
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	scans   []*scan
	failure error // the first of a feed
}

func (r *federated) Fields() []engines.Field { return r.stream.Fields() }

func (r *federated) Next(ctx context.Context) (engines.Batch, error) {
	defer r.within(ctx)()
	batch, err := r.stream.Next(r.ctx)
	if err != nil && err != io.EOF {
		err = r.cause(err)
	}
	return batch, err
}

func (r *federated) Close() error {
	r.cancel(context.Canceled)
	err := r.stream.Close()
	r.end()
	return err
}

// within ends the run when ctx ends before the function it returns is called.
func (r *federated) within(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { r.cancel(context.Cause(ctx)) })
}

// end closes what the feeds have opened.
func (r *federated) end() {
	r.cancel(context.Canceled)
	r.federation.mu.Lock()
	if r.federation.runs[r.connection] == r { // the connection may run another statement by now
		delete(r.federation.runs, r.connection)
	}
	r.federation.mu.Unlock()
	r.mu.Lock()
	scans := r.scans
	r.scans = nil
	r.mu.Unlock()
	for _, s := range scans {
		s.close()
	}
}

func (r *federated) add(s *scan) {
	r.mu.Lock()
	r.scans = append(r.scans, s)
	r.mu.Unlock()
}

// fail notes why a feed failed, since DuckDB passes on the text alone, and returns it.
func (r *federated) fail(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = err
	}
	return err
}

// cause returns why the statement failed: by a feed, if one did.
func (r *federated) cause(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil {
		return r.failure
	}
	return err
}
