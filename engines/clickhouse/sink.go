package clickhouse

import (
	"context"
	"strings"

	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

// sink is an INSERT that takes blocks. What the server says meanwhile is read beside, so that neither side waits for the other for good:
// a server that refuses a block reads no more of them.
type sink struct {
	engine     *Engine
	connection *connection // nil when it is over
	columns    []keep.Column
	out        []byte
	said       chan error // how the statement has ended; closed behind it
}

// Insert begins to add rows.
func (e *Engine) Insert(ctx context.Context, table string, columns []keep.Column) (keep.Sink, error) {
	c, err := e.lively(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = ident(c.Name)
	}
	s := &sink{engine: e, connection: c, columns: columns, said: make(chan error, 1)}
	stop := c.watch(ctx)
	err = c.feed(statement{sql: "INSERT INTO " + e.keptName(table) + " (" + strings.Join(names, ", ") + ")", settings: e.writeSettings()})
	stop()
	if err != nil {
		close(s.said)
		s.Abort()
		return nil, pgerr.Interrupted(ctx, broken(err))
	}
	go s.listen(c)
	return s, nil
}

// listen reads what the server says until the statement ends.
func (s *sink) listen(c *connection) {
	defer close(s.said)
	for {
		_, more, err := c.block(ignore)
		if err == nil && more {
			continue
		}
		if s.said <- err; err != nil {
			c.interrupt() // a write may wait
		}
		return
	}
}

// Write sends rows as one block.
func (s *sink) Write(ctx context.Context, rows *keep.Batch) (err error) {
	out := appendSizes(s.out[:0], uint64(len(s.columns)), uint64(rows.Rows()))
	for i, c := range s.columns {
		out = appendTexts(out, c.Name, c.Remote)
		if out, err = appendValues(out, rows, i, c); err != nil {
			return err
		}
	}
	if s.out = out; cap(s.out) > keepCapacity {
		s.out = nil
	}
	return s.send(ctx, out)
}

// send writes to the server, unless that has ended the statement.
func (s *sink) send(ctx context.Context, out []byte) error {
	select {
	case err := <-s.said:
		return s.refused(ctx, err)
	default:
	}
	stop := s.connection.watch(ctx)
	defer stop()
	if err := s.connection.transport.send(out); err != nil {
		s.connection.interrupt()                                  // so that the reader ends
		if told := <-s.said; isRemote(told) || interrupted(err) { // or the reader has ended, and interrupted this
			err = told
		}
		return s.refused(ctx, err)
	}
	return nil
}

func (s *sink) refused(ctx context.Context, err error) error {
	if err == nil { // an end that nobody has asked for
		err = malformed()
	}
	return pgerr.Interrupted(ctx, broken(err))
}

// End sends the block that is the last, and waits for the server to have them all.
func (s *sink) End(ctx context.Context) error {
	if err := s.send(ctx, nil); err != nil {
		return err
	}
	stop := s.connection.watch(ctx)
	err := <-s.said
	stop()
	if err != nil {
		return s.refused(ctx, err)
	}
	c := s.connection
	s.connection = nil
	s.engine.giveBack(c)
	return nil
}

// Abort closes the connection, by which the server ends the statement.
func (s *sink) Abort() {
	c := s.connection
	if c == nil {
		return
	}
	s.connection = nil
	c.interrupt()
	for range s.said { // the reader has ended then, and knows whether the statement has
	}
	c.cancel()
	s.engine.discard(c)
}

// appendValues writes a column of a block: which values are NULL, and all values.
func appendValues(out []byte, rows *keep.Batch, column int, c keep.Column) ([]byte, error) {
	inner, _ := parseType(c.Remote).plain()
	write := writers[inner.name]
	if write == nil {
		return out, pgerr.New(pgerr.InternalError, "values of type %s are not written", c.Remote)
	}
	for row := range rows.Rows() {
		null := byte(0)
		if rows.Value(row, column) == nil {
			null = 1
		}
		out = append(out, null)
	}
	for row := range rows.Rows() {
		var err error
		if out, err = write(out, rows.Value(row, column), inner); err != nil {
			pe := pgerr.From(err)
			pe.Where = `column "` + c.Name + `"`
			return out, pe
		}
	}
	return out, nil
}
