package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// listener is what is said to the watch of one database. Only home's own functions know the channel of cancels, and they
// announce there what home has allowed: it needs no further check.
type listener struct {
	watches  *watches
	watch    *watch
	database string
	conn     *pgconn.PgConn
	channel  string   // of cancels; empty where the extension has none, or does not tell us
	changed  bool     // the channel may have
	cancels  []cancel // not yet carried out
	counting func()   // ends the keeping of counters; nil where no table is counted

	reaping atomic.Bool // handles are being dropped
	said    string      // of why they are not, while they are
	unswept bool        // the catalog has changed since servers were looked through for tables without handles
}

// cancel is a call of pg_cancel_backend that home has allowed.
type cancel struct {
	pid  uint32
	time int64 // of the call, by home's clock, in microseconds
}

// hear takes a notification. It may be called whenever the connection is read.
func (l *listener) hear(n *pgconn.Notification) {
	if n.Channel != l.channel {
		l.watches.server.cache.Invalidate(l.database)
		l.changed = true
		return
	}
	var c cancel
	if _, err := fmt.Sscan(n.Payload, &c.pid, &c.time); err == nil && len(l.watches.server.sessionsOf(c.pid)) > 0 {
		l.cancels = append(l.cancels, c)
	}
}

// sessions returns those that a process ID may mean. Where servers behind one name have given it twice, it is that of the
// server which the watch listens to.
func (l *listener) sessions(pid uint32) []*Session {
	list := l.watches.server.sessionsOf(pid)
	if len(list) < 2 {
		return list
	}
	here := l.conn.Conn().RemoteAddr().String()
	return slices.DeleteFunc(list, func(s *Session) bool { return s.login.Home.RemoteAddr().String() != here })
}

// work does what notifications ask for.
func (l *listener) work(ctx context.Context) error {
	for l.changed || len(l.cancels) > 0 {
		if l.changed {
			l.changed, l.unswept = false, true
			if err := errors.Join(l.follow(ctx), l.count(ctx)); err != nil {
				return err
			}
			continue
		}
		cancels := l.cancels
		l.cancels = nil
		if err := l.carryOut(ctx, cancels); err != nil {
			return err
		}
	}
	return nil
}

// follow listens to the channel of cancels, if there is a new one.
func (l *listener) follow(ctx context.Context) error {
	row, err := askExtension(ctx, l.conn, "SELECT sluice.cancel_channel()")
	if l.conn.IsClosed() {
		return err
	}
	channel := ""
	if err == nil {
		channel = string(row[0])
	}
	if channel == l.channel {
		return nil
	}
	listen := "LISTEN " + pgx.Identifier{channel}.Sanitize()
	if channel == "" {
		listen = "UNLISTEN " + pgx.Identifier{l.channel}.Sanitize()
	}
	l.channel = channel
	return l.conn.Exec(ctx, listen).Close()
}

// carryOut cancels what ran when the calls were made. How long ago that was, home says, as our clock may be another.
func (l *listener) carryOut(ctx context.Context, cancels []cancel) error {
	asked := time.Now()
	result := l.conn.ExecParams(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", nil, nil, nil, nil).Read()
	if result.Err != nil {
		return result.Err
	}
	now, err := strconv.ParseInt(string(result.Rows[0][0]), 10, 64)
	if err != nil {
		return err
	}
	for _, c := range cancels {
		called := asked.Add(-time.Duration(max(now-c.time, 0)) * time.Microsecond)
		for _, session := range l.sessions(c.pid) {
			l.watches.wg.Go(func() { session.cancelBegun(called) })
		}
	}
	return nil
}
