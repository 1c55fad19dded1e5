package proxy

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
	"time"
)

// handlesInterval is how often it is looked whether handles of a database have expired.
const handlesInterval = time.Second

// wait waits for a notification, and meanwhile looks now and then for handles that have expired.
func (l *listener) wait(ctx context.Context) error {
	for {
		tick, stop := context.WithTimeout(ctx, handlesInterval)
		err := l.conn.WaitForNotification(tick)
		expired := tick.Err() != nil && ctx.Err() == nil
		stop()
		if err == nil || !expired || !pgconn.Timeout(err) || l.conn.IsClosed() {
			return err
		}
		if err := l.reap(ctx); err != nil {
			return err
		}
	}
}

// reap has handles dropped that have expired, if there are any, over a connection of its own: that may wait for readers.
func (l *listener) reap(ctx context.Context) error {
	row, err := askExtension(ctx, l.conn, "SELECT EXISTS (SELECT FROM sluice.ctas_handle WHERE expires_at <= now())")
	if l.conn.IsClosed() {
		return err
	}
	if err == nil && string(row[0]) == "t" && l.reaping.CompareAndSwap(false, true) {
		l.watches.wg.Go(func() {
			defer l.reaping.Store(false)
			if err := l.watches.reapHandles(ctx, l.database); err != nil && ctx.Err() == nil {
				l.watches.server.config.Logger.Warn("handles that have expired are not dropped", "database", l.database, "error", err)
			}
		})
	}
	return nil
}

// reapHandles drops handles that have expired, each in a transaction of its own. Any number of proxies may do so: home lets
// one at a time.
func (w *watches) reapHandles(ctx context.Context, database string) error {
	c, err := w.connect(ctx, database, nil)
	if err != nil {
		return err
	}
	defer closeConn(c)
	const begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL statement_timeout = 0"
	for {
		row, err := inExtension(ctx, c, begin, "COMMIT", "SELECT sluice.reap_handle()")
		if err != nil || string(row[0]) != "t" {
			return err
		}
	}
}
