package proxy

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/audit"
	"github.com/sluicedb/sluice/proxy/encode"
)

// streamKept makes a table at home of a query that engines compute without home's part, whose rows stream into it. ok is false
// where home computes the rows, or must: an error of an engine in the first of them concerns values, about which home has the last
// word.
func (s *Session) streamKept(ctx context.Context, x *execution, table, query string) (rows int64, ok bool, err error) {
	y, err := s.planKept(ctx, x, query)
	if err != nil {
		return 0, false, inQuery(err, query, "")
	}
	if y.plan == nil || !y.apart() {
		return 0, false, nil
	}
	prefix := "CREATE TABLE " + table + " AS "
	if _, err := s.Exec(ctx, prefix+query+"\nWITH NO DATA"); err != nil {
		return 0, false, inQuery(err, query, prefix)
	}
	if err := s.enter(ctx, y, nil); err != nil {
		return 0, false, err
	}
	run := s.begin()
	defer run.end()
	defer run.limit(y.timeout())()
	defer run.spend(y.ledger)()
	stream, err := s.openKept(run.ctx, y)
	if dataException(err) && !s.home.failed() {
		s.abandon(y.ledger)
		_, err := s.Exec(ctx, "DROP TABLE "+table)
		return 0, false, err
	}
	if err != nil {
		s.settle(y.ledger, s.cause(err))
		return 0, false, s.cause(err)
	}
	rows, err = s.copyKept(run.ctx, y, table, stream)
	s.settle(y.ledger, s.cause(err))
	return rows, true, s.cause(err)
}

// abandon ends the ledger of a query that others compute in the end.
func (s *Session) abandon(l *ledger) { s.record(l, audit.Partial, success) }

// openKept opens the rows of a query for COPY into home, and has the first of them.
func (s *Session) openKept(ctx context.Context, y *execution) (*headed, error) {
	stream, err := s.openPlain(ctx, y)
	if err != nil {
		return nil, err
	}
	h := &headed{Stream: stream}
	if h.first, err = stream.Next(ctx); err != nil && err != io.EOF {
		_ = stream.Close()
		return nil, err
	}
	return h, nil
}

// openPlain opens the rows of a query such that home reads them without doubt.
func (s *Session) openPlain(ctx context.Context, y *execution) (engines.Stream, error) {
	if y.plan.Joined() {
		return s.openFederated(ctx, y, nil)
	}
	var formats []int16
	foreign := slices.ContainsFunc(engineFields(y.described.fields), func(f engines.Field) bool { return !dialect.BuiltIn(f.OID) })
	if !foreign && s.setting("client_encoding") == "UTF8" {
		formats = []int16{encode.Binary}
	}
	q := y.remoteQuery(formats)
	q.styles = y.plainStyles(formats)
	return s.openStream(ctx, y, q)
}

// copyKept feeds rows into a table at home, and closes the stream.
func (s *Session) copyKept(ctx context.Context, y *execution, table string, stream *headed) (int64, error) {
	m := measured(stream, time.Now())
	defer m.Close()
	if m.ledger = y.ledger; y.ledger != nil {
		y.ledger.kept = true
	}
	m.task = y.task("handle rows", table, y.plan.Rows)
	err := s.copyStream(ctx, table, engineFields(y.described.fields), m)
	if err == nil && y.ledger != nil {
		y.ledger.wrote = m.rows
	}
	if dataException(err) {
		e := *pgerr.From(err)
		err = pgerr.Hint(&e, "SET sluice.route = home_join lets home compute the rows, which may meet no such error.")
	}
	return m.rows, err
}

// headed is a stream whose first batch was fetched ahead; nil says that it has none.
type headed struct {
	engines.Stream
	first engines.Batch
	begun bool
}

// Next is Stream.Next.
func (h *headed) Next(ctx context.Context) (engines.Batch, error) {
	if h.begun {
		return h.Stream.Next(ctx)
	}
	h.begun = true
	if h.first == nil {
		return nil, io.EOF
	}
	return h.first, nil
}
