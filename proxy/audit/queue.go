package audit

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// queue is that of one database. The writer's lock guards all but the sink, which is run's own while it runs.
type queue struct {
	writer   *Writer
	database string
	wake     chan struct{}

	rows    []Row // the first of them may be being written
	bytes   int
	probes  []chan error // of those who want to know whether rows can be written
	running bool
	failing error     // of the last write; nil after a success
	losing  bool      // rows were given up since the last success
	proven  time.Time // the last success
	sink    Sink
}

// full reports whether a row has no room. One that is larger than any is has the queue for itself.
func (q *queue) full(size int) bool {
	return len(q.rows) > 0 && (len(q.rows) >= mostRows || q.bytes+size > mostBytes)
}

// run writes what is queued, and ends when nothing was for a while.
func (q *queue) run() {
	for q.step() {
	}
}

// step writes one batch, or waits for one; false at the end.
func (q *queue) step() bool {
	w := q.writer
	w.mu.Lock()
	batch := q.rows[:min(len(q.rows), batchRows)]
	probes := q.probes
	q.probes = nil
	w.mu.Unlock()
	if len(batch) == 0 && len(probes) == 0 {
		return q.await(linger) || q.goOn()
	}
	err := q.write(batch)
	for _, p := range probes {
		p <- err
	}
	switch closing := q.note(len(batch), err); {
	case err == nil:
		return true
	case closing:
		return q.goOn()
	}
	q.await(retry)
	return true
}

// await waits for somebody to wake the queue, which it reports, but not for long, and not at all once the writer closes.
func (q *queue) await(longest time.Duration) bool {
	select {
	case <-q.wake:
		return true
	case <-q.writer.closed:
	case <-time.After(longest):
	}
	return false
}

// goOn ends the run where nothing is left to do. The sink goes with it: once it is known that nothing runs, the next run may
// begin and open another.
func (q *queue) goOn() bool {
	q.writer.mu.Lock()
	if len(q.rows) > 0 || len(q.probes) > 0 {
		q.writer.mu.Unlock()
		return true
	}
	sink := q.sink
	q.running, q.sink = false, nil
	q.writer.mu.Unlock()
	if sink != nil {
		sink.Close()
	}
	return false
}

// write writes rows, none to see whether it can; over a new connection where the one at hand has gone stale.
func (q *queue) write(rows []Row) error {
	ctx, stop := context.WithTimeout(context.Background(), longest)
	defer stop()
	stale := q.sink != nil
	err := q.writeOnce(ctx, rows, every)
	switch {
	case untranslatable(err):
		return q.writeOnce(ctx, rows, common)
	case err != nil && stale && !errors.Is(err, ErrGone):
		return q.writeOnce(ctx, rows, every)
	}
	return err
}

// untranslatable reports whether an error may be of characters that the database's encoding lacks.
func untranslatable(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && (strings.HasPrefix(pe.Code, "22") || pe.Code == pgerr.FeatureNotSupported)
}

func (q *queue) writeOnce(ctx context.Context, rows []Row, keep func(rune) bool) error {
	doc, err := document(rows, keep)
	if err != nil {
		return err
	}
	if q.sink == nil {
		if q.sink, err = q.writer.open(ctx, q.database); err != nil {
			q.sink = nil
			return err
		}
	}
	if err = q.sink.Write(ctx, doc); err != nil {
		q.sink.Close()
		q.sink = nil
	}
	return err
}

// note notes how a write went, and reports whether the writer closes.
func (q *queue) note(rows int, err error) (closing bool) {
	w := q.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.room.Broadcast()
	if err == nil {
		w.written += int64(rows)
		if q.failing != nil {
			w.log.Info("the audit is written again", "database", q.database)
		}
		q.failing, q.losing, q.proven = nil, false, time.Now()
		q.drop(rows)
		return w.closing
	}
	if q.failing == nil {
		w.log.Warn("the audit cannot be written", "database", q.database, "error", err)
	}
	q.failing = err
	if gone := errors.Is(err, ErrGone); (gone || w.closing) && len(q.rows) > 0 {
		q.lose(len(q.rows))
		q.drop(len(q.rows))
	}
	return w.closing
}

// lose notes that rows are given up.
func (q *queue) lose(rows int) {
	q.writer.lost += int64(rows)
	if !q.losing {
		q.losing = true
		q.writer.log.Warn("rows of the audit are lost: sluice_audit_lost_total counts them", "database", q.database, "rows", rows)
	}
}

// drop takes the first rows out of the queue.
func (q *queue) drop(rows int) {
	for i := range rows {
		q.bytes -= q.rows[i].size()
		q.rows[i] = Row{}
	}
	if q.rows = q.rows[rows:]; len(q.rows) == 0 {
		q.rows = nil
	}
}
