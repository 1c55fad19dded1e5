package guard

import (
	"context"

	"github.com/sluicedb/sluice/engines"
)

// stream gives its permit back when it is over.
type stream struct {
	engines.Stream
	engine  *Engine
	release func()
}

func (s *stream) Next(ctx context.Context) (engines.Batch, error) {
	b, err := s.Stream.Next(ctx)
	if err != nil {
		s.release()
		s.engine.breaker.remember(err)
	}
	return b, err
}

func (s *stream) Close() error {
	defer s.release()
	return s.Stream.Close()
}

// frameStream is a stream of frames.
type frameStream struct {
	stream
	frames engines.FrameStream
}

func (s *frameStream) Formats() []int16 { return s.frames.Formats() }

// guarded returns a stream that holds a permit.
func (e *Engine) guarded(s engines.Stream, release func()) engines.Stream {
	if f, ok := s.(engines.FrameStream); ok {
		return &frameStream{stream{s, e, release}, f}
	}
	return &stream{s, e, release}
}

// tx gives its permit back when it is over.
type tx struct {
	engines.Tx
	release func()
}

func (t *tx) Commit(ctx context.Context) error {
	defer t.release()
	return t.Tx.Commit(ctx)
}

func (t *tx) Rollback() error {
	defer t.release()
	return t.Tx.Rollback()
}

// maker is a tx that makes tables.
type maker struct {
	tx
	of engines.Maker
}

func (m *maker) Make(ctx context.Context, table string, columns []engines.Column) error {
	return m.of.Make(ctx, table, columns)
}

func (m *maker) Fill(ctx context.Context, table string, columns []engines.Column, q engines.Query) (int64, bool, error) {
	return m.of.Fill(ctx, table, columns, q)
}
