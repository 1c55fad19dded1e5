package engines

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// Background is what an engine asks of its server without that somebody waits for it, such as to cancel a statement that nobody reads
// any more. The zero value is ready; all methods may be called concurrently, and none but Close after Close.
type Background struct {
	running sync.WaitGroup
	begin   sync.Once
	open    context.Context // until Close
	end     context.CancelFunc
}

const (
	cancelRequest = 10 * time.Second // that one request may take
	cancelFor     = time.Minute      // that a server out of reach is asked again
	cancelPause   = 500 * time.Millisecond
)

func (b *Background) life() context.Context {
	b.begin.Do(func() { b.open, b.end = context.WithCancel(context.Background()) })
	return b.open
}

// Go runs something that ends by itself.
func (b *Background) Go(run func()) { b.running.Go(run) }

// While runs something that ends with its context: with ctx, or with Close.
func (b *Background) While(ctx context.Context, run func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	undo := context.AfterFunc(b.life(), cancel)
	b.running.Go(func() {
		defer cancel()
		defer undo()
		run(ctx)
	})
}

// Cancel has ask cancel a statement. While the server is out of reach it is asked again and again, for a minute at most and not behind
// Close: a statement whose client is gone may go on at its server for as long as that likes. Whatever else the server says, such as that
// the statement has ended, is as good as done.
func (b *Background) Cancel(ask func(ctx context.Context) error) {
	open := b.life()
	b.running.Go(func() {
		for deadline := time.Now().Add(cancelFor); ; {
			ctx, stop := context.WithTimeout(context.Background(), cancelRequest)
			err := ask(ctx)
			stop()
			if !outOfReach(err) || time.Now().After(deadline) {
				return
			}
			select {
			case <-open.Done():
				return
			case <-time.After(cancelPause):
			}
		}
	})
}

func outOfReach(err error) bool {
	var pe *pgconn.PgError
	if !errors.As(err, &pe) {
		return false
	}
	switch pe.Code {
	case pgerr.UnableToConnect, pgerr.ConnectionFailure, pgerr.FdwUnableToConnect, pgerr.CannotConnectNow:
		return true
	}
	return false
}

// Close has nothing be asked again, and waits for what is under way.
func (b *Background) Close() {
	b.life()
	b.end()
	b.running.Wait()
}
