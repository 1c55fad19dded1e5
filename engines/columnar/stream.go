package columnar

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// Source yields the record batches of one result, in order. It is used by one goroutine at a time.
type Source interface {
	// Next returns the next record batch, which may have no rows and stays the source's: it is read until the next call of Next
	// or Close. io.EOF is the end of all rows, which the source has made sure of; any other error that is not a
	// *pgconn.PgError is one of the network. ctx is the same at each call, and ends with the stream and with its callers'.
	Next(ctx context.Context) (arrow.RecordBatch, error)
	// Close frees what the source holds and, unless all rows were read, ends the statement at the service. It does not wait for
	// a network. It is called once.
	Close(complete bool)
}

// stream is one result. Whoever holds mu uses the source: Next for one call, Close for good. Close ends what Next waits for.
type stream struct {
	server string
	fields []engines.Field

	ctx    context.Context // of all reading
	cancel context.CancelFunc
	once   sync.Once

	mu     sync.Mutex
	source Source
	record arrow.RecordBatch // of the source, until its next one
	at     int64             // how many rows of it were given out
	batch  arrow.RecordBatch // that was given out last
	err    error             // that ended the stream
}

// NewStream returns the stream of a source's rows, whose columns have the types that the fields say. Errors name the server.
// The source is the stream's to close.
func NewStream(server string, fields []engines.Field, source Source) engines.Stream {
	s := &stream{server: server, fields: fields, source: source}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// Fields returns the columns.
func (s *stream) Fields() []engines.Field { return s.fields }

// Next returns the rest of a record batch, cut to the size of a batch.
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
		err = pgerr.AtServer(s.server, pgerr.Ended(ctx))
	case s.ctx.Err() != nil:
		err = closed()
	default:
		err = pgerr.AtServer(s.server, broken(err))
	}
	s.end(err)
	return nil, err
}

func closed() error { return pgerr.New("24000", "the stream was closed") }

// broken makes a Postgres error of a network's.
func broken(err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe
	}
	return pgerr.Hint(pgerr.New(pgerr.ConnectionFailure, "the result broke off: %s", err), "Run the statement again.")
}

func (s *stream) advance() (engines.Batch, error) {
	s.release()
	for s.record == nil || s.at == s.record.NumRows() {
		s.record, s.at = nil, 0
		if err := s.ctx.Err(); err != nil {
			return nil, err
		}
		record, err := s.source.Next(s.ctx)
		if err != nil {
			return nil, err
		}
		if int(record.NumCols()) != len(s.fields) {
			return nil, pgerr.New(pgerr.ProtocolViolation, "the foreign server sent %d columns of %d", record.NumCols(), len(s.fields))
		}
		s.record = record
	}
	end := min(s.at+perBatch(s.record), s.record.NumRows())
	s.batch = s.record.NewSlice(s.at, end)
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

// Close ends reading, and the statement where it has not come to its end.
func (s *stream) Close() error {
	s.once.Do(func() {
		s.cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.release()
		if s.err == nil {
			s.end(closed())
		}
	})
	return nil
}

// end lets go of the source, with what the stream has ended with.
func (s *stream) end(err error) {
	s.err, s.record = err, nil
	s.source.Close(err == io.EOF)
}

// release frees the batch that was given out last.
func (s *stream) release() {
	if s.batch != nil {
		s.batch.Release()
		s.batch = nil
	}
}
