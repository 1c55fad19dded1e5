package proxy

import (
	"context"
	"time"

	"github.com/sluicedb/sluice/engines"
)

// meter is a stream that counts what passes through it, for EXPLAIN ANALYZE and for a ledger.
type meter struct {
	engines.Stream
	started     time.Time
	rows, bytes int64         // bytes as the batches hold them: Arrow's buffers, or DataRow messages
	first, last time.Duration // from the start until the first batch was there, and the last
	ledger      *ledger       // of what is read into home; nil for none
}

func measured(stream engines.Stream, started time.Time) *meter {
	return &meter{Stream: stream, started: started}
}

// Next is Stream.Next.
func (m *meter) Next(ctx context.Context) (engines.Batch, error) {
	b, err := m.Stream.Next(ctx)
	m.last = time.Since(m.started)
	if m.first == 0 {
		m.first = m.last
	}
	rows, bytes := m.rows, m.bytes
	switch b := b.(type) {
	case engines.Columns:
		for _, c := range b.Record.Columns() {
			m.bytes += int64(c.Data().SizeInBytes())
		}
	case engines.Frames:
		m.bytes += int64(len(b.Data))
	}
	if b != nil {
		m.rows += int64(b.NumRows())
	}
	if m.ledger != nil && err == nil {
		err = m.ledger.Read(m.rows-rows, m.bytes-bytes, m.ledger.kept)
	}
	return b, err
}
