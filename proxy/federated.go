package proxy

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/encode"
)

// homeRelations describes the relations of home that a statement names beside foreign tables, for a plan that may bring
// them to others; nil where no such plan can be.
func (s *Session) homeRelations(ctx context.Context, x *execution, references []plan.Reference) (map[uint32]*catalog.HomeRelation, error) {
	force := plan.Route(x.facts.Route)
	if s.server.config.Federation == nil && x.facts.FederationServer == "" || force != "" && force != plan.Federated ||
		x.statement.Kind != parser.Select && x.statement.Kind != parser.CopyTo {
		return nil, nil
	}
	var oids []uint32
	for _, r := range references {
		if r.OID != 0 && (r.Relation == nil || r.Relation.Kind == 'm') {
			oids = append(oids, r.OID)
		}
	}
	if oids == nil {
		return map[uint32]*catalog.HomeRelation{}, nil
	}
	return catalog.DescribeHome(ctx, x.questions, oids)
}

// openFederated opens a statement that the federation engine computes over its inputs.
func (s *Session) openFederated(ctx context.Context, x *execution, observe observer) (engines.Stream, error) {
	f := newFederatedStream(len(x.plan.Inputs))
	err := s.openFeeds(ctx, x, f)
	if err == nil {
		q := engines.FederatedQuery{Query: engines.Query{SQL: x.plan.RemoteSQL}}
		for i, open := range f.open {
			in := &x.plan.Inputs[i]
			q.Feeds = append(q.Feeds, engines.Feed{Columns: in.Feed, Rows: in.Rows, Open: observe.opening(i, open)})
		}
		if q.Args, err = s.pick(ctx, x, x.plan.Params); err == nil {
			f.give()
			f.Stream, err = s.server.config.Federation.Open(ctx, q)
			f.take()
		}
	}
	if err == nil {
		err = f.failure
	}
	if err != nil {
		_ = f.Close() // it has failed anyway
		return nil, err
	}
	return f, nil
}

// openFeeds says how each input is opened. Inputs whose keys restrict others are read first: those of engines, then those
// of home, which may be restricted themselves.
func (s *Session) openFeeds(ctx context.Context, x *execution, f *federatedStream) (err error) {
	var ofHome []int
	for i := range x.plan.Inputs {
		in := &x.plan.Inputs[i]
		if in.Server == nil {
			ofHome = append(ofHome, i)
		} else if f.open[i], err = s.remoteFeed(ctx, x, in, nil); err != nil {
			return err
		}
	}
	if err := s.bind(ctx, x, f, false); err != nil {
		return err
	}
	if f.home, err = s.openInputs(ctx, x, ofHome, f.bound); err != nil {
		return err
	}
	for i, h := range f.home {
		f.open[ofHome[i]] = f.feed(h)
	}
	f.give()
	err = s.bind(ctx, x, f, true)
	f.take()
	return err
}

// observer makes of the stream of an input what is read in its place.
type observer func(input int, stream engines.Stream) engines.Stream

func (o observer) opening(input int, open func(context.Context) (engines.Stream, error)) func(context.Context) (engines.Stream, error) {
	if o == nil {
		return open
	}
	return func(ctx context.Context) (engines.Stream, error) {
		stream, err := open(ctx)
		if err == nil {
			stream = o(input, stream)
		}
		return stream, err
	}
}

// remoteFeed returns what opens an input at its server, restricted to keys where they are given. The parameters are asked
// of home before anything runs.
func (s *Session) remoteFeed(ctx context.Context, x *execution, in *plan.Input, keys *string) (func(context.Context) (engines.Stream, error), error) {
	asked := x.inputQuery(in, []int16{encode.Binary})
	engine, q, err := s.locate(ctx, x, asked)
	if err != nil {
		return nil, err
	}
	if keys != nil {
		q.SQL, q.Args = dialect.Declared(asked.server, in.BoundSQL), append(slices.Clone(q.Args), keys)
	}
	return func(ctx context.Context) (engines.Stream, error) {
		return s.screened(ctx, x, asked, func(ctx context.Context) (engines.Stream, error) { return engine.Open(ctx, q) })
	}, nil
}

// snapshotTries is how often the inputs of home are opened anew because a transaction has ended between two of them.
const snapshotTries = 10

// openInputs opens portals at home over inputs of its own, by index, restricted to the keys that are bound for them. All see the same snapshot, as they would in one
// statement: under READ COMMITTED each takes its own, and what home says of the snapshot before and after them tells.
func (s *Session) openInputs(ctx context.Context, x *execution, inputs []int, bound map[int]*string) ([]*homeStream, error) {
	for range snapshotTries {
		var r, undo request
		var streams []*homeStream
		if len(inputs) > 1 {
			r.close('S', onceName).parse(onceName, "SELECT pg_catalog.pg_current_snapshot()", nil)
			r.bind(ownPortal, onceName, nil).execute(ownPortal).close('P', ownPortal)
		}
		for _, i := range inputs {
			in := &x.plan.Inputs[i]
			if err := s.addInput(ctx, &r, x, in, bound[i]); err != nil {
				return nil, err
			}
			undo.close('P', in.TempName)
			h := &homeStream{session: s, portal: in.TempName}
			for _, c := range in.Columns {
				h.fields = append(h.fields, engines.Field{Name: in.Relation.Columns[c].Name, OID: in.Relation.Columns[c].Type, Typmod: in.Relation.Columns[c].Typmod})
			}
			streams = append(streams, h)
		}
		if len(inputs) > 1 {
			r.bind(ownPortal, onceName, nil).execute(ownPortal).close('P', ownPortal)
		}
		var snapshots []string
		err := s.ask(ctx, &r, func(typ byte, body []byte) error {
			if typ == 'D' {
				snapshots = append(snapshots, string(body))
			}
			return nil
		})
		if err != nil || len(snapshots) == 0 || snapshots[0] == snapshots[1] {
			return streams, err
		}
		if err := s.ask(ctx, &undo, nil); err != nil {
			return nil, err
		}
	}
	return nil, errManySnapshots
}

// errManySnapshots says that home's relations could not be read as one statement of home's would.
var errManySnapshots = pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "home's tables change too fast to be read in one snapshot"),
	"RESET sluice.route lets home compute the statement, or use REPEATABLE READ.")

// addInput adds the messages that open a portal over one input of home.
func (s *Session) addInput(ctx context.Context, r *request, x *execution, in *plan.Input, keys *string) error {
	args, err := s.pick(ctx, x, in.Params)
	if err != nil {
		return err
	}
	m := pgproto3.Bind{DestinationPortal: in.TempName, PreparedStatement: rowsName, ResultFormatCodes: []int16{encode.Binary}}
	types := make([]uint32, len(args))
	for i, a := range args {
		types[i] = x.described.params[in.Params[i]-1]
		m.Parameters = append(m.Parameters, nil)
		if a != nil {
			m.Parameters[i] = []byte(*a)
		}
	}
	sql := in.RemoteSQL
	if keys != nil {
		sql, m.Parameters = in.BoundSQL, append(m.Parameters, []byte(*keys))
	}
	r.close('S', rowsName).parse(rowsName, sql, types).add('B', &m)
	return nil
}

// federatedStream is the result of a federated statement. What of it comes from home is read on the federation engine's
// threads, but only while the session waits for rows: the turn says who may talk to home.
type federatedStream struct {
	engines.Stream // nil until the statement runs
	open           []func(context.Context) (engines.Stream, error)
	prefixes       []*prefix       // of inputs that were read before the statement ran
	bound          map[int]*string // keys that inputs are restricted to
	home           []*homeStream
	turn           chan struct{} // holds one token while the inputs have the turn and none of them uses it
	failure        error         // of an input of home; who has the turn may look at it
}

func newFederatedStream(inputs int) *federatedStream {
	return &federatedStream{
		open: make([]func(context.Context) (engines.Stream, error), inputs), prefixes: make([]*prefix, inputs),
		bound: map[int]*string{}, turn: make(chan struct{}, 1),
	}
}

func (f *federatedStream) give() { f.turn <- struct{}{} }
func (f *federatedStream) take() { <-f.turn }

func (f *federatedStream) Next(ctx context.Context) (engines.Batch, error) {
	f.give()
	batch, err := f.Stream.Next(ctx)
	f.take()
	switch {
	case err == nil && f.failure != nil: // home has failed while rows were read ahead, and says nothing more
		return nil, f.failure
	case err == io.EOF && len(f.home) > 0: // what it read may be altered or dropped from now on
		if cerr := f.closeHome(ctx); cerr != nil {
			return nil, cerr
		}
	}
	return batch, err
}

// closeHome closes the portals at home.
func (f *federatedStream) closeHome(ctx context.Context) error {
	s := f.home[0].session
	for _, h := range f.home {
		_ = h.Close() // it only notes that the portal is read no more
	}
	f.home = nil
	return s.closeUnread(ctx)
}

// Close ends the statement. Portals that are left at home are closed with that of the client, or go with the transaction.
func (f *federatedStream) Close() (err error) {
	if f.Stream != nil {
		err = f.Stream.Close()
	}
	for _, p := range f.prefixes {
		if p != nil && !p.opened.Load() { // no scan has closed it
			err = errors.Join(err, p.Close())
		}
	}
	for _, h := range f.home {
		_ = h.Close() // it only notes that the portal is read no more
	}
	return err
}

// feed returns what opens the feed that reads a portal at home, which can be read but once.
func (f *federatedStream) feed(h *homeStream) func(context.Context) (engines.Stream, error) {
	var opened atomic.Bool
	return func(context.Context) (engines.Stream, error) {
		if opened.Swap(true) {
			return nil, pgerr.New(pgerr.InternalError, "an input of home is read twice")
		}
		return &homeFeed{h, f}, nil
	}
}

// homeFeed reads a portal at home when the turn is the inputs'.
type homeFeed struct {
	stream *homeStream
	of     *federatedStream
}

func (h *homeFeed) Fields() []engines.Field { return h.stream.fields }

func (h *homeFeed) Next(ctx context.Context) (engines.Batch, error) {
	select {
	case <-h.of.turn:
		defer h.of.give()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if h.of.failure != nil {
		return nil, h.of.failure
	}
	batch, err := h.stream.Next(ctx)
	if err != nil && !h.stream.done {
		h.of.failure = err
	}
	return batch, err
}

// Close leaves the portal to the session, which is the only one to write to home while the statement waits.
func (h *homeFeed) Close() error { return nil }
