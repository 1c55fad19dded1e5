package proxy

import (
	"context"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/proxy/activity"
)

// meter is a stream that counts what passes through it, for EXPLAIN ANALYZE, for a ledger and for what others see of it.
type meter struct {
	engines.Stream
	started     time.Time
	rows, bytes int64         // bytes as the batches hold them: Arrow's buffers, or DataRow messages
	first, last time.Duration // from the start until the first batch was there, and the last
	ledger      *ledger       // of what is read into home; nil for none
	source      *activity.Source
	task        *activity.Task
}

func measured(stream engines.Stream, started time.Time) *meter {
	return &meter{Stream: stream, started: started}
}

// Close is Stream.Close.
func (m *meter) Close() error {
	m.source.Close()
	m.task.End()
	return m.Stream.Close()
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
	if err == nil {
		m.source.Read(m.rows-rows, m.bytes-bytes)
		m.task.Add(m.rows - rows)
	}
	if m.ledger != nil && err == nil {
		err = m.ledger.Read(m.rows-rows, m.bytes-bytes, m.ledger.kept)
	}
	return b, err
}
