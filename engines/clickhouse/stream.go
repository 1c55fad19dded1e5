package clickhouse

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// stream reads the blocks of one statement as they come. Whoever holds the turn uses the connection: Next for one call, Close
// for good. Close interrupts a Next that waits.
type stream struct {
	engine  *Engine
	wanted  []engines.Field // the columns as home has them, if they are known
	fields  []engines.Field
	columns []*column
	schema  *arrow.Schema

	turn    chan struct{} // holds one token
	closing chan struct{}
	once    sync.Once
	// interrupt makes a read of the connection fail that waits.
	interrupt func()

	// Used with the turn only.
	connection *connection
	record     arrow.RecordBatch // the block
	row, rows  int               // of the block: the next row to give out, and how many there are
	heavy      bool              // the block does not fit into one batch
	err        error             // that ended the stream
}

// begin sends a statement on a connection and reads what columns it has. The connection is the stream's if there is no error;
// after one it is broken where the error says so.
func begin(ctx context.Context, e *Engine, c *connection, what statement, wanted []engines.Field) (*stream, error) {
	s := &stream{wanted: wanted, engine: e, connection: c, interrupt: c.interrupt, turn: make(chan struct{}, 1), closing: make(chan struct{})}
	stop := c.watch(ctx)
	err := c.start(what)
	more := false
	if err == nil {
		s.rows, more, err = c.block(s.take)
	}
	stop()
	switch {
	case err != nil:
		return nil, s.failed(err)
	case !more:
		return nil, errNoColumns
	}
	s.turn <- struct{}{}
	return s, nil
}

// failed is an error on the stream's connection, which is closed then: a server may have left a part of the statement unread
// that it has refused.
func (s *stream) failed(err error) error {
	if !isRemote(err) {
		s.connection.cancel()
	}
	return broken(err)
}

// take reads a block into the columns, which the first one makes.
func (s *stream) take(r *reader) (int, error) {
	columns, rows, err := header(r)
	if err != nil || columns == 0 { // which says that no more rows come
		return 0, err
	}
	if s.columns == nil {
		s.columns = make([]*column, 0, min(columns, 2000))
	} else if columns != len(s.columns) {
		return 0, malformed()
	}
	for i := range columns {
		if i < len(s.columns) {
			err = s.columns[i].again(r)
		} else if c, e := readColumn(r); e == nil {
			c.declare(s.wanted, i)
			s.columns = append(s.columns, c)
		} else {
			err = e
		}
		if err == nil {
			err = s.columns[i].load(r, rows)
		}
		if err != nil {
			return 0, err
		}
	}
	s.describe()
	if rows > 0 {
		s.load(rows)
	}
	return rows, nil
}

// describe makes the fields of the first block's columns.
func (s *stream) describe() {
	if s.schema != nil {
		return
	}
	list := make([]arrow.Field, len(s.columns))
	s.fields = make([]engines.Field, len(s.columns))
	for i, c := range s.columns {
		s.fields[i] = c.field
		list[i] = arrow.Field{Name: c.field.Name, Type: c.typ, Nullable: true}
	}
	s.schema = arrow.NewSchema(list, nil)
}

// load makes a record batch of the block.
func (s *stream) load(rows int) {
	arrays := make([]arrow.Array, len(s.columns))
	size := 0
	for i, c := range s.columns {
		arrays[i] = array.MakeFromData(c.values.data(rows, nil))
	}
	for i := range rows {
		if size += s.weigh(i); size > engines.BatchBytes {
			break
		}
	}
	s.record, s.row, s.heavy = array.NewRecordBatch(s.schema, arrays, int64(rows)), 0, size > engines.BatchBytes
}

func (s *stream) weigh(i int) int {
	size := 0
	for _, c := range s.columns {
		size += c.values.weigh(i)
	}
	return size
}

// Fields returns the columns as the server has described them.
func (s *stream) Fields() []engines.Field { return s.fields }

// Next returns the rows of the block that has come, as many as a batch should have, and reads one where none is left.
func (s *stream) Next(ctx context.Context) (engines.Batch, error) {
	select {
	case <-s.closing:
		return nil, closed()
	case <-s.turn:
		defer func() { s.turn <- struct{}{} }()
	}
	if s.err != nil {
		return nil, s.err
	}
	batch, err := s.next(ctx)
	if err == nil {
		return batch, nil
	}
	s.err = s.end(ctx, err)
	return nil, s.err
}

func closed() error { return pgerr.New("24000", "the stream was closed") }

// next reads on to a block with rows, and gives out a part of it: io.EOF at the end, or the statement's error.
func (s *stream) next(ctx context.Context) (engines.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for s.row >= s.rows {
		stop := s.connection.watch(ctx)
		rows, more, err := s.connection.block(s.take)
		stop()
		switch {
		case err != nil:
			return nil, s.failed(err)
		case !more:
			return nil, io.EOF
		}
		s.row, s.rows = 0, rows
	}
	from := s.row
	s.row = s.rows
	if s.heavy {
		size := s.weigh(from)
		for s.row = from + 1; s.row < s.rows; s.row++ {
			if size += s.weigh(s.row); size > engines.BatchBytes {
				break
			}
		}
	}
	return engines.Columns{Record: s.record.NewSlice(int64(from), int64(s.row))}, nil
}

// end lets go of the connection and returns the error that the stream has ended with.
func (s *stream) end(ctx context.Context, err error) error {
	select {
	case <-s.closing:
		return closed() // Close has the connection then
	default:
	}
	s.letGo(err)
	if err == io.EOF {
		return err
	}
	return pgerr.AtServer(s.engine.server, pgerr.Interrupted(ctx, err))
}

// letGo gives the connection back where the statement has ended, and else ends that.
func (s *stream) letGo(err error) {
	c := s.connection
	if c == nil {
		return
	}
	s.connection = nil
	if err == io.EOF {
		s.engine.giveBack(c)
		return
	}
	if !errors.Is(err, errBroken) {
		c.cancel()
	}
	s.engine.discard(c)
}

// interruptEvery is how often Close interrupts a Next that waits until that gives in.
const interruptEvery = 5 * time.Millisecond

// Close ends the statement at the server. It never waits for rows.
func (s *stream) Close() error {
	s.once.Do(func() {
		close(s.closing)
		for held := false; !held; {
			select {
			case <-s.turn:
				held = true
			case <-time.After(interruptEvery):
				s.interrupt()
			}
		}
		s.letGo(nil)
	})
	return nil
}
