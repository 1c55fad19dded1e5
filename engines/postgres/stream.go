package postgres

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// stream reads the rows of one statement as they come. Whoever holds the turn uses the connection: Next for one call,
// Close for good. Close interrupts a Next that waits.
type stream struct {
	engine  *Engine
	fields  []engines.Field
	formats []int16

	turn    chan struct{} // holds one token
	closing chan struct{}
	once    sync.Once
	// interrupt makes a read of the connection fail that waits.
	interrupt func()

	// Used with the turn only.
	connection *connection
	borrowed   bool // the connection is a transaction's
	err        error
}

var _ engines.FrameStream = (*stream)(nil)

// begin starts q on a connection, which is the stream's if there is no error. After one the connection is broken where
// the error says so.
func begin(ctx context.Context, e *Engine, c *connection, q engines.Query) (*stream, error) {
	stop := c.watch(ctx)
	fields, formats, err := c.start(q)
	stop()
	switch {
	case err == nil && fields == nil: // it may have set something, so that the connection is not used again
		if err = c.sync(); err == nil {
			c.Reused = false
			err = errors.Join(pgerr.New(pgerr.FdwError, "the statement for the foreign server yields no rows"), errBroken)
		}
	case errors.Is(err, os.ErrDeadlineExceeded) && c.cancel():
		err = pgerr.Interrupted(ctx, err) // and the connection is as good as before
	}
	if err != nil {
		return nil, err
	}
	s := &stream{
		engine: e, fields: fields, formats: formats, connection: c, interrupt: c.interrupt,
		turn: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	s.turn <- struct{}{}
	return s, nil
}

// Fields returns the columns as the remote server has described them.
func (s *stream) Fields() []engines.Field { return s.fields }

// Formats returns the formats of the columns.
func (s *stream) Formats() []int16 { return s.formats }

// Next returns the rows that have come, and waits for one where none has.
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
	stop := s.connection.watch(ctx)
	batch, err := s.next()
	stop()
	if err == nil {
		return batch, nil
	}
	s.err = s.end(ctx, err)
	return nil, s.err
}

func closed() error { return pgerr.New("24000", "the stream was closed") }

// next reads a batch, or what stands behind the last one: io.EOF or the statement's error.
func (s *stream) next() (engines.Batch, error) {
	c := s.connection
	for {
		data, n, err := c.in.rows()
		if err != nil {
			return nil, errors.Join(readError(err), errBroken)
		}
		if n > 0 {
			return engines.Frames{Data: data, Rows: n}, nil
		}
		typ, frame, err := c.frame()
		switch {
		case err != nil:
			return nil, errors.Join(err, errBroken)
		case typ == 'C':
			if err := c.sync(); err != nil {
				return nil, err
			}
			return nil, io.EOF
		case typ == 'E':
			return nil, c.failed(frame[headerSize:])
		case !aside(typ):
			return nil, errors.Join(malformed(), errBroken)
		}
	}
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

// letGo gives the connection back. Where the statement may still run, as a nil or interrupted err says, it is cancelled.
func (s *stream) letGo(err error) {
	c := s.connection
	if c == nil {
		return
	}
	s.connection = nil
	if err != io.EOF {
		c.tagged = unknownTag // what fails takes it back
	}
	running := err == nil || errors.Is(err, os.ErrDeadlineExceeded)
	good := !running && !errors.Is(err, errBroken) || running && c.cancel()
	switch {
	case good && s.borrowed:
	case good:
		s.engine.release(c)
	case s.borrowed:
		_ = c.socket.Close() // its transaction finds out
	default:
		s.engine.discard(c)
	}
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
