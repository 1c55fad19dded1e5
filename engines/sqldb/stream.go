package sqldb

import (
	"context"
	"database/sql/driver"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// stream reads the rows of one statement from its driver. Whoever holds the turn uses the connection: Next for one call,
// Close for good. The statement runs under a context of its own, which ends with Close and with that of a Next.
type stream struct {
	engine  *Engine
	fields  []engines.Field
	columns []*column
	schema  *arrow.Schema

	turn      chan struct{} // holds one token
	closing   chan struct{}
	once      sync.Once
	interrupt context.CancelFunc
	calm      func() bool // ends the connection's watch of the statement's context

	// Used with the turn only.
	connection *connection
	stmt       driver.Stmt
	rows       driver.Rows
	row        []driver.Value
	most       int  // rows of the next batch
	held       bool // row was read, and is not in a batch yet
	err        error
}

// A batch has at most mostRows; the first one has two, so that it comes soon and a single row is known to be the last, and each next one
// four times as many.
const (
	firstRows = 2
	mostRows  = 8192
)

// start runs a statement on a connection, which is the stream's if there is no error and else given up.
func (e *Engine) start(ctx context.Context, c *connection, sql string, args []driver.NamedValue, wanted []engines.Field) (*stream, error) {
	own, interrupt := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, interrupt)
	calm := c.watch(own)
	stmt, rows, err := c.query(own, sql, args)
	if stop(); err == nil && own.Err() != nil {
		e.source.abandon(c)
		_ = rows.Close()
		_ = stmt.Close()
		err = own.Err()
	}
	if err != nil {
		failed := own.Err() != nil || isBroken(err)
		calm()
		interrupt()
		if failed {
			e.discard(c)
		} else {
			e.pool.Release(c)
		}
		return nil, err
	}
	s := &stream{
		engine: e, connection: c, stmt: stmt, rows: rows, interrupt: interrupt, calm: calm, row: make([]driver.Value, len(rows.Columns())),
		most: firstRows, turn: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	s.turn <- struct{}{}
	if err := s.describe(wanted); err != nil {
		s.letGo(false)
		return nil, err
	}
	return s, nil
}

// describe makes the columns: of the types wanted, or of the result's own.
func (s *stream) describe(wanted []engines.Field) error {
	if wanted == nil {
		for i, name := range s.rows.Columns() {
			f := s.engine.source.natural(s.rows, i)
			f.Name = name
			wanted = append(wanted, f)
		}
	}
	if len(wanted) != len(s.row) {
		return pgerr.New(pgerr.InternalError, "the statement yields %d columns where %d are expected", len(s.row), len(wanted))
	}
	s.fields = wanted
	var list []arrow.Field
	for _, f := range wanted {
		c := newColumn(f, s.engine.source.strict())
		s.columns = append(s.columns, c)
		list = append(list, arrow.Field{Name: f.Name, Type: c.builder.Type(), Nullable: true})
	}
	s.schema = arrow.NewSchema(list, nil)
	return nil
}

// Fields returns the columns.
func (s *stream) Fields() []engines.Field { return s.fields }

// Next reads as many rows as a batch takes.
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
	stop := context.AfterFunc(ctx, s.interrupt)
	n, err := s.fill()
	if !stop() && ctx.Err() != nil { // the statement was interrupted, whatever has come of it
		err = ctx.Err()
	}
	if n > 0 && (err == nil || err == io.EOF) {
		s.err = err
		s.letGoAtEnd(err)
		return engines.Columns{Record: s.batch(int64(n))}, nil
	}
	if n > 0 && ctx.Err() == nil { // the rows before the failure are the client's
		s.err = s.engine.reason(ctx, err)
		s.letGo(false)
		return engines.Columns{Record: s.batch(int64(n))}, nil
	}
	s.err = err
	if err == io.EOF {
		s.letGoAtEnd(err)
		return nil, err
	}
	select {
	case <-s.closing:
		return nil, closed()
	default:
	}
	s.err = s.engine.reason(ctx, err)
	s.letGo(false)
	return nil, s.err
}

func closed() error { return pgerr.New("24000", "the stream was closed") }

// fill brings rows into the columns and returns how many. After an error there may be some, whole ones.
func (s *stream) fill() (n int, err error) {
	size, most := 0, s.most
	s.most = min(4*s.most, mostRows)
	for _, c := range s.columns {
		c.begin()
	}
	for n < most {
		if !s.held {
			if err := s.rows.Next(s.row); err != nil {
				return n, err
			}
		}
		s.held = true
		width := widthOf(s.row)
		if n > 0 && size+width > engines.BatchBytes {
			return n, nil
		}
		size += width
		if err := s.append(); err != nil {
			return n, err
		}
		s.held = false
		n++
	}
	return n, nil
}

// append adds the row to the columns, some of which have it after an error.
func (s *stream) append() error {
	for i, c := range s.columns {
		v := s.row[i]
		if v == nil {
			c.builder.AppendNull()
			continue
		}
		if err := c.append(v); err != nil {
			return err
		}
	}
	return nil
}

// widthOf is about what a row takes in a batch.
func widthOf(row []driver.Value) int {
	size := 0
	for _, v := range row {
		switch v := v.(type) {
		case []byte:
			size += len(v) + 4
		case string:
			size += len(v) + 4
		default:
			size += 8
		}
	}
	return size
}

// batch takes the rows out of the columns.
func (s *stream) batch(n int64) arrow.RecordBatch {
	arrays := make([]arrow.Array, len(s.columns))
	for i, c := range s.columns {
		arrays[i] = c.take(int(n))
	}
	return array.NewRecordBatch(s.schema, arrays, n)
}

// texts reads a bounded result.
func (s *stream) texts(ctx context.Context) (list [][]*string, err error) {
	for {
		b, err := s.Next(ctx)
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		record := b.(engines.Columns).Record
		for row := range b.NumRows() {
			line := make([]*string, len(s.columns))
			for i := range line {
				if a := record.Column(i); a.IsValid(row) {
					text := a.ValueStr(row)
					line[i] = &text
				}
			}
			list = append(list, line)
		}
	}
}

// letGoAtEnd gives the connection back where all rows were read.
func (s *stream) letGoAtEnd(err error) {
	if err == io.EOF {
		s.letGo(true)
	}
}

// letGo frees the statement. A connection whose rows were not read to the end is given up: a driver would read them all
// before it is of use again.
func (s *stream) letGo(atEnd bool) {
	c := s.connection
	if c == nil {
		return
	}
	s.connection = nil
	if atEnd {
		s.calm()
	} else {
		s.interrupt()
		s.engine.source.abandon(c)
	}
	_ = s.rows.Close()
	_ = s.stmt.Close()
	s.interrupt()
	if atEnd {
		s.engine.pool.Release(c)
	} else {
		s.engine.discard(c)
	}
}

// Close ends the statement at the server.
func (s *stream) Close() error {
	s.once.Do(func() {
		close(s.closing)
		s.interrupt()
		<-s.turn
		s.letGo(s.err == io.EOF)
	})
	return nil
}
