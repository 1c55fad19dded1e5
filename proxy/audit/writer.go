package audit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/sluicedb/sluice/pgerr"
)

// Bounds of the queue of one database, and of what is written at once.
const (
	mostRows  = 1024
	mostBytes = 8 << 20
	batchRows = 256
)

const (
	retry   = time.Second      // after a failure
	linger  = time.Second      // for which a connection is kept without need, so that its database may be dropped
	trusted = 5 * time.Second  // for which a success proves that more can be written
	longest = 15 * time.Second // that one write may take
)

// ErrGone is the error of a Sink, or of opening one, whose table is there no more.
var ErrGone = errors.New("the database has no audit")

// Sink takes rows for the audit of one database.
type Sink interface {
	// Write writes a document for sluice.write_audit, whole or not at all.
	Write(ctx context.Context, document []byte) error
	Close()
}

// Writer writes the rows of all databases.
type Writer struct {
	open func(ctx context.Context, database string) (Sink, error)
	log  *slog.Logger
	wg   sync.WaitGroup

	mu            sync.Mutex
	room          sync.Cond // a queue has room, or fails, or the writer closes
	queues        map[string]*queue
	closing       bool
	closed        chan struct{} // once it is closing
	written, lost int64
}

// New returns a Writer that opens sinks as it needs them.
func New(open func(ctx context.Context, database string) (Sink, error), log *slog.Logger) *Writer {
	w := &Writer{open: open, log: log, queues: map[string]*queue{}, closed: make(chan struct{})}
	w.room.L = &w.mu
	return w
}

// Put queues a row. It waits while the queue is full: until there is room, or the row may be given up.
func (w *Writer) Put(database string, r Row) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.queue(database)
	for q.full(r.size()) && !w.closing {
		if q.failing != nil && !r.Required {
			q.lose(1)
			return
		}
		w.room.Wait()
	}
	q.rows, q.bytes = append(q.rows, r), q.bytes+r.size()
	w.work(q)
}

// Check returns why rows of a database cannot be written, nil where they can as far as is known.
func (w *Writer) Check(ctx context.Context, database string) error {
	w.mu.Lock()
	q := w.queue(database)
	if q.failing == nil && time.Since(q.proven) < trusted {
		w.mu.Unlock()
		return nil
	}
	answer := make(chan error, 1)
	q.probes = append(q.probes, answer)
	w.work(q)
	w.mu.Unlock()
	select {
	case err := <-answer:
		if err == nil {
			return nil
		}
		return pgerr.Hint(pgerr.New(pgerr.SystemError, "the statement is not run, as it cannot be audited"),
			"sluice.audit_required is on for the role. The proxy's log says what keeps the audit from being written.")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Stats returns how many rows were written and given up, and how many are queued.
func (w *Writer) Stats() (written, lost int64, queued int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, q := range w.queues {
		queued += len(q.rows)
	}
	return w.written, w.lost, queued
}

// Drain lets nobody wait for room any more: what is left is written without delay, or given up.
func (w *Writer) Drain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closing {
		w.closing = true
		close(w.closed)
		w.room.Broadcast()
	}
}

// Close drains and waits until all is written, or cannot be. Nothing may be put after it.
func (w *Writer) Close() {
	w.Drain()
	w.wg.Wait()
}

// queue returns the queue of a database. mu is held.
func (w *Writer) queue(database string) *queue {
	q := w.queues[database]
	if q == nil {
		q = &queue{writer: w, database: database, wake: make(chan struct{}, 1)}
		w.queues[database] = q
	}
	return q
}

// work has the rows of a queue written. mu is held.
func (w *Writer) work(q *queue) {
	if !q.running {
		q.running = true
		w.wg.Go(q.run)
		return
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
