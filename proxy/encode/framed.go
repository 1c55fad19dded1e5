package encode

import (
	"context"

	"github.com/sluicedb/sluice/engines"
)

// Framed is an engine whose batches come as frames in text format, as rows go to a client: what is looked at as its row
// terminal.
func Framed(e engines.Engine) engines.Engine { return framed{e} }

type framed struct{ engines.Engine }

// Open opens a stream of frames.
func (f framed) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	s, err := f.Engine.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	e, err := New(s.Fields(), nil, s.Fields(), Home)
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return &framedStream{Stream: s, encoder: e}, nil
}

type framedStream struct {
	engines.Stream
	encoder *Encoder
	data    []byte
}

// Next encodes a batch of columns, and passes on one of frames.
func (s *framedStream) Next(ctx context.Context) (engines.Batch, error) {
	b, err := s.Stream.Next(ctx)
	if err != nil {
		return nil, err
	}
	c, ok := b.(engines.Columns)
	if !ok {
		return b, nil
	}
	if s.data, err = s.encoder.Append(s.data[:0], c.Record, 0, c.NumRows()); err != nil {
		return nil, err
	}
	return engines.Frames{Data: s.data, Rows: c.NumRows()}, nil
}
