package databricks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// stream reads the files of one result. Whoever holds mu uses it: Next for one call, Close for good. Close ends what Next waits
// for, so that it never waits for a network.
type stream struct {
	engine *Engine
	id     string
	fields []engines.Field
	total  *int64 // rows that the service says there are

	ctx    context.Context // of all reading
	cancel context.CancelFunc
	once   sync.Once

	mu      sync.Mutex
	links   []link // of parts that come next, as far as they are known
	next    *int   // the part behind them, nil at the end
	open    *file
	record  arrow.RecordBatch // of the file, until its next one
	at      int64             // how many rows of it were given out
	batch   arrow.RecordBatch // that was given out last
	read    int64             // rows that were given out in all
	retries int
	err     error // that ended the stream
}

// file is one part of a result that is read.
type file struct {
	link   link
	body   io.Closer
	reader *ipc.Reader
	rows   int64 // that were read
	given  int64 // of these, in an earlier attempt at the same file, to be left out
}

func newStream(e *Engine, a *answer) (*stream, error) {
	s := &stream{engine: e, id: a.ID, total: a.Manifest.Rows, links: a.Result.Links}
	for _, c := range a.Manifest.Schema.Columns {
		f, err := c.field()
		if err != nil {
			return nil, err
		}
		s.fields = append(s.fields, f)
	}
	if first := 0; len(s.links) == 0 && (a.Manifest.Chunks == nil || *a.Manifest.Chunks > 0) {
		s.next = &first
	} else if len(s.links) > 0 {
		s.next = s.links[len(s.links)-1].Next
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Fields returns the columns as the service describes them.
func (s *stream) Fields() []engines.Field { return s.fields }

// Next returns the rest of a record batch of the service's, cut to the size of a batch.
func (s *stream) Next(ctx context.Context) (engines.Batch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	stop := context.AfterFunc(ctx, s.cancel)
	defer stop()
	batch, err := s.advance()
	if err == nil {
		return batch, nil
	}
	switch {
	case err == io.EOF:
	case ctx.Err() != nil:
		err = nameServer(s.engine.server, ended(ctx))
	case s.ctx.Err() != nil:
		err = pgerr.New("24000", "the stream was closed")
	default:
		err = nameServer(s.engine.server, broken(err))
	}
	s.err = err
	s.release()
	if err != io.EOF {
		s.engine.cancel(s.id)
	}
	return nil, err
}

// broken makes a Postgres error of a network's.
func broken(err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe
	}
	return pgerr.Hint(pgerr.New(pgerr.ConnectionFailure, "the result broke off: %s", err), "Run the statement again.")
}

func (s *stream) advance() (engines.Batch, error) {
	if s.batch != nil {
		s.batch.Release()
		s.batch = nil
	}
	for s.record == nil || s.at == s.record.NumRows() {
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.fetch(); err != nil {
			return nil, err
		}
	}
	end := min(s.at+perBatch(s.record), s.record.NumRows())
	s.batch = s.record.NewSlice(s.at, end)
	s.read += end - s.at
	s.at = end
	return engines.Columns{Record: s.batch}, nil
}

// perBatch is how many rows of a record batch make a batch.
func perBatch(record arrow.RecordBatch) int64 {
	size := int64(0)
	for _, c := range record.Columns() {
		size += int64(c.Data().SizeInBytes())
	}
	if size <= engines.BatchBytes {
		return record.NumRows()
	}
	return max(record.NumRows()*engines.BatchBytes/size, 1)
}

// tries is how often a file is opened whose reading breaks off. Its rows stay as they are, so that those that were given out
// are left out.
const tries = 3

// fetch comes to the next record batch, of this file or the next.
func (s *stream) fetch() error {
	s.record = nil
	err := s.step()
	if err == nil || err == io.EOF || s.ctx.Err() != nil {
		return err
	}
	f := s.open
	if s.retries++; f == nil || s.retries >= tries {
		return err
	}
	given := max(f.rows, f.given)
	s.closeFile()
	fresh, linkErr := s.engine.links(s.ctx, s.id, f.link.Chunk)
	if linkErr != nil || len(fresh.Links) == 0 {
		return err
	}
	s.openFile(fresh.Links[0], given)
	return nil
}

func (s *stream) step() error {
	if s.open == nil {
		l, err := s.following()
		if err != nil {
			return err
		}
		s.openFile(l, 0)
		return nil
	}
	f := s.open
	if f.reader == nil {
		return s.startFile(f)
	}
	if f.reader.Next() {
		return s.take(f, f.reader.RecordBatch())
	}
	if err := f.reader.Err(); err != nil && err != io.EOF {
		return err
	}
	if f.rows != f.link.Rows { // the format has no end that a cut could not be taken for
		return fmt.Errorf("a file has %d rows of %d", f.rows, f.link.Rows)
	}
	s.closeFile()
	s.retries = 0
	return nil
}

// take has rows of a file given out, but for those that were before.
func (s *stream) take(f *file, record arrow.RecordBatch) error {
	if int(record.NumCols()) != len(s.fields) {
		return malformed(fmt.Errorf("%d columns of %d", record.NumCols(), len(s.fields)))
	}
	skip := min(max(f.given-f.rows, 0), record.NumRows())
	f.rows += record.NumRows()
	s.record, s.at = record, skip
	return nil
}

// following returns the link to the next part; io.EOF at the end.
func (s *stream) following() (link, error) {
	if len(s.links) == 0 {
		if s.next == nil {
			return link{}, s.complete()
		}
		r, err := s.engine.links(s.ctx, s.id, *s.next)
		if err != nil {
			return link{}, err
		}
		if len(r.Links) == 0 {
			return link{}, malformed(fmt.Errorf("part %d has no link", *s.next))
		}
		s.links, s.next = r.Links, r.Links[len(r.Links)-1].Next
	}
	l := s.links[0]
	s.links = s.links[1:]
	return l, nil
}

func (s *stream) complete() error {
	if s.total != nil && *s.total != s.read {
		return fmt.Errorf("there are %d rows of %d", s.read, *s.total)
	}
	return io.EOF
}

// openFile makes a file the one that is read, without so many rows. It is opened at the first use.
func (s *stream) openFile(l link, given int64) {
	s.open = &file{link: l, given: given}
}

func (s *stream) startFile(f *file) error {
	body, err := s.engine.client.file(s.ctx, f.link)
	if err != nil {
		return err
	}
	f.body = body
	f.reader, err = ipc.NewReader(body)
	return err
}

func (s *stream) closeFile() {
	s.record = nil
	if s.open == nil {
		return
	}
	if s.open.reader != nil {
		s.open.reader.Release()
	}
	if s.open.body != nil {
		_ = s.open.body.Close()
	}
	s.open = nil
}

// Close ends reading, and the statement where it has not come to its end.
func (s *stream) Close() error {
	s.once.Do(func() {
		s.cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.release()
		if s.err == nil {
			s.err = pgerr.New("24000", "the stream was closed")
			s.engine.cancel(s.id)
		}
	})
	return nil
}

// release frees what the stream holds. A batch that was given out is over too.
func (s *stream) release() {
	if s.batch != nil {
		s.batch.Release()
		s.batch = nil
	}
	s.closeFile()
	s.links = nil
}
