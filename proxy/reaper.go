package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/catalog"
)

// handlesInterval is how often it is looked whether handles of a database have expired, or have left tables at servers.
const handlesInterval = time.Second

// wait waits for a notification, and meanwhile looks now and then for handles that are to be dropped.
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

// reap has handles dropped that have expired, and tables at servers that have no handle, if there may be any. It does so beside,
// as that may wait for readers.
func (l *listener) reap(ctx context.Context) error {
	row, err := askExtension(ctx, l.conn, "SELECT EXISTS (SELECT FROM sluice.ctas_handle WHERE expires_at <= now())")
	if l.conn.IsClosed() {
		return err
	}
	expired := err == nil && string(row[0]) == "t"
	l.unswept = l.watch.sweep.Swap(false) || l.unswept
	var snapshot *catalog.Snapshot
	if l.unswept && !l.reaping.Load() {
		if snapshot, err = l.snapshot(ctx); err != nil { // it is asked for again
			l.tell(ctx, err)
		}
		if l.conn.IsClosed() {
			return err
		}
	}
	sweep := snapshot != nil
	if !expired && !sweep || !l.reaping.CompareAndSwap(false, true) {
		return nil
	}
	l.unswept = l.unswept && !sweep
	l.watches.wg.Go(func() {
		defer l.reaping.Store(false)
		var err error
		if expired {
			err = l.watches.reapHandles(ctx, l.database)
		}
		if sweep {
			done, serr := l.watches.sweepServers(ctx, l.database, snapshot)
			if err = errors.Join(err, serr); !done {
				time.AfterFunc(watchRetry, func() { l.watch.sweep.Store(true) })
			}
		}
		l.tell(ctx, err)
	})
	return nil
}

// snapshot is the catalog as sessions have it, or as it is now where none has asked since it has changed.
func (l *listener) snapshot(ctx context.Context) (*catalog.Snapshot, error) {
	if shared := l.watches.server.cache.Get(l.database); shared != nil {
		return shared, nil
	}
	return catalog.Load(ctx, asking{l.conn})
}

// asking is a connection as what catalogs are read by.
type asking struct{ conn *pgconn.PgConn }

// Query runs one statement, whose values are texts.
func (a asking) Query(ctx context.Context, sql string, args ...string) (rows [][]*string, err error) {
	values := make([][]byte, len(args))
	for i, arg := range args {
		values[i] = []byte(arg)
	}
	result := a.conn.ExecParams(ctx, sql, values, nil, nil, nil).Read()
	for _, r := range result.Rows {
		row := make([]*string, len(r))
		for i, v := range r {
			if v != nil {
				text := string(v)
				row[i] = &text
			}
		}
		rows = append(rows, row)
	}
	return rows, result.Err
}

// tell logs why handles are not dropped, where that is not what was said last.
func (l *listener) tell(ctx context.Context, err error) {
	if text := fmt.Sprint(err); text != l.said && ctx.Err() == nil {
		if l.said = text; err != nil && !errors.Is(err, errNotInstalled) {
			l.watches.server.config.Logger.Warn("handles that are over are not dropped", "database", l.database, "error", err)
		}
	}
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
