package duckdb

import (
	"context"
	"io"
	"sync"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// stream reads one cursor chunk by chunk. Whoever holds the turn uses the connection: Next for one call, Close for
// good. Close interrupts the connection until it gets the turn, so it never waits for a chunk to be computed.
type stream struct {
	server  string
	fields  []engines.Field
	columns []*column
	schema  *arrow.Schema

	turn    chan struct{} // holds one token
	closing chan struct{}
	once    sync.Once

	// Used with the turn only.
	connection *connection
	borrowed   bool // the connection is another's, or was given back
	cursor     *cursor
	chunk      bindings.DataChunk
	row, rows  int   // of the chunk: the next row to give out, and how many there are
	heavy      bool  // the chunk does not fit into one batch
	err        error // that ended the stream
}

func newStream(server string, c *connection, cur *cursor) (*stream, error) {
	s := &stream{
		server: server, connection: c, cursor: cur,
		turn: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	fields := make([]arrow.Field, cur.columnCount())
	for i := range fields {
		t := cur.columnType(i)
		col, err := newColumn(cur.columnName(i), t)
		bindings.DestroyLogicalType(&t)
		if err != nil {
			return nil, err
		}
		s.columns = append(s.columns, col)
		s.fields = append(s.fields, col.field)
		fields[i] = arrow.Field{Name: col.field.Name, Type: col.typ, Nullable: true}
	}
	s.schema = arrow.NewSchema(fields, nil)
	s.turn <- struct{}{}
	return s, nil
}

// Fields returns the columns with the Postgres types that their DuckDB types naturally have.
func (s *stream) Fields() []engines.Field { return s.fields }

// Next returns the rest of the current chunk or the next one, cut to the size of a batch.
func (s *stream) Next(ctx context.Context) (engines.Batch, error) {
	select {
	case <-s.closing:
		return nil, pgerr.New(codeCursorState, "the stream was closed")
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	}
	if s.err != nil {
		return nil, s.err
	}
	batch, err := s.next(ctx)
	if err != nil {
		if err != io.EOF {
			err = pgerr.AtServer(s.server, err)
		}
		s.err = err
		if s.release(); err != io.EOF {
			s.giveBack(false)
		}
		return nil, err
	}
	return batch, nil
}

func (s *stream) next(ctx context.Context) (engines.Batch, error) {
	for s.row == s.rows {
		bindings.DestroyDataChunk(&s.chunk)
		chunk, err := s.cursor.fetch(ctx)
		if err != nil {
			return nil, s.reason(ctx, err)
		}
		if chunk.Ptr == nil {
			return nil, io.EOF
		}
		s.take(chunk)
	}
	end := s.end()
	arrays := make([]arrow.Array, len(s.columns))
	for i, c := range s.columns {
		data, err := c.build(c, s.row, end)
		if err != nil {
			return nil, err
		}
		arrays[i] = array.MakeFromData(data)
	}
	record := array.NewRecordBatch(s.schema, arrays, int64(end-s.row))
	s.row = end
	return engines.Columns{Record: record}, nil
}

// reason returns why a fetch failed: an interrupt for which there is a cause is one, any other stands for an error.
func (s *stream) reason(ctx context.Context, err error) error {
	select {
	case <-s.closing:
		return err
	default:
	}
	if pgerr.From(err).Code != pgerr.QueryCanceled || ctx.Err() != nil {
		return err
	}
	return s.cursor.reason(ctx)
}

func (s *stream) take(chunk bindings.DataChunk) {
	s.chunk = chunk
	s.row, s.rows = 0, int(bindings.DataChunkGetSize(chunk))
	total := 0
	for i, c := range s.columns {
		c.take(vectorOf(bindings.DataChunkGetVector(chunk, bindings.IdxT(i)), s.rows))
		total += s.rows * c.width
		if c.weigh != nil {
			for row := range s.rows {
				total += c.weigh(c, row)
			}
		}
	}
	s.heavy = total > engines.BatchBytes
}

// end returns where the batch that begins at s.row ends: before the row that would make it larger than a batch should
// be, but never before the second row.
func (s *stream) end() int {
	if !s.heavy {
		return s.rows
	}
	size := 0
	for row := s.row; row < s.rows; row++ {
		for _, c := range s.columns {
			size += c.width
			if c.weigh != nil {
				size += c.weigh(c, row)
			}
		}
		if size > engines.BatchBytes && row > s.row {
			return row
		}
	}
	return s.rows
}

// Close interrupts what runs, and frees the result and the connection, which is used again only where the result was read
// to its end: what DuckDB still computes of one that is thrown away can fail the connection's next statement.
func (s *stream) Close() error {
	s.once.Do(func() {
		close(s.closing)
		select {
		case <-s.turn:
			s.release()
			s.giveBack(s.err == io.EOF)
		default:
			s.takeTurn()
			s.release()
			s.giveBack(false)
		}
	})
	return nil
}

// giveBack lets go of the connection, once. clean says that it can be used again.
func (s *stream) giveBack(clean bool) {
	if s.borrowed {
		return
	}
	s.borrowed = true
	if clean {
		s.connection.reuse()
	} else {
		s.connection.disconnect()
	}
}

// takeTurn interrupts the call of Next that has the turn until it gives it up.
func (s *stream) takeTurn() {
	done, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		s.connection.interruptUntil(done)
	}()
	<-s.turn
	close(done)
	<-finished
}

// release frees the result. The connection stays with the stream.
func (s *stream) release() {
	bindings.DestroyDataChunk(&s.chunk)
	s.cursor.close()
	s.row, s.rows = 0, 0
}
