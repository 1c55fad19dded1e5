package proxy

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/sluicedb/sluice/engines"
)

// prefix is a stream whose first batches were read and held, or all of them.
type prefix struct {
	engines.Stream // the rest
	held           []engines.Batch
	whole          bool // there is no rest
	next           int
	opened         atomic.Bool // it was handed to a scan
}

// Next returns the batches held, then those of the rest.
func (p *prefix) Next(ctx context.Context) (engines.Batch, error) {
	switch {
	case p.next < len(p.held):
		batch := p.held[p.next]
		p.held[p.next] = nil // it need not be held any longer
		p.next++
		return batch, nil
	case p.whole:
		return nil, io.EOF
	}
	return p.Stream.Next(ctx)
}
