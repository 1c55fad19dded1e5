package postgres

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/pool"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/socket"
)

// connection is one session at the remote server. It runs one statement at a time and is used by one goroutine at a time,
// but for interrupt.
type connection struct {
	pool.Mark
	login  *pgconn.PgConn // what it was opened by: its socket is ours, but it still knows how to cancel
	socket net.Conn
	in     reader
	out    []byte
	owed   int  // ReadyForQuery that the server has still to send
	torn   bool // a message was written in part

	styles   engines.Styles // in force at the remote session
	name     string         // of the session without a tag
	tagged   engines.Tag    // in force at the remote session
	taggable bool           // tagName is prepared
	prepared statements
}

// fixed are the settings that bear on what statements mean. They are set on each connection and never changed, as
// postgres_fdw has it.
const fixed = `SET search_path = pg_catalog; SET default_transaction_read_only = on; SET default_transaction_isolation = 'read committed';
SET standard_conforming_strings = on; SET transform_null_equals = off; SET array_nulls = on; SET xmloption = content; SET xmlbinary = base64;
SET lc_monetary = 'C'; SET lc_numeric = 'C'; SET lc_time = 'C'; SET row_security = on`

// dial opens a connection.
func dial(ctx context.Context, config *pgconn.Config) (*connection, error) {
	login, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := login.Exec(ctx, fixed).Close(); err != nil {
		_ = login.Close(ctx)
		return nil, err
	}
	h, err := login.Hijack()
	if err != nil {
		return nil, err
	}
	c := socket.New(h.Conn)
	return &connection{login: login, socket: c, in: reader{src: c}, name: config.RuntimeParams["application_name"]}, nil
}

// watch makes a read that waits fail when ctx ends. The function it returns ends the watch.
func (c *connection) watch(ctx context.Context) (stop func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	done := make(chan struct{})
	disarm := context.AfterFunc(ctx, func() {
		defer close(done)
		c.interrupt()
	})
	return func() {
		if !disarm() {
			<-done
			_ = c.socket.SetDeadline(time.Time{}) // a broken socket says so at the next read
		}
	}
}

// interrupt makes a read or write that waits fail. Any goroutine may call it.
func (c *connection) interrupt() { _ = c.socket.SetDeadline(time.Unix(1, 0)) }

// flush writes what was put into out.
func (c *connection) flush() error {
	_, err := c.socket.Write(c.out)
	c.out = c.out[:0]
	if cap(c.out) > bufferSize {
		c.out = nil
	}
	if err != nil {
		c.torn = true
		return readError(err)
	}
	return nil
}

// send adds a message to those that flush writes.
func (c *connection) send(m pgproto3.FrontendMessage) (err error) {
	if _, ok := m.(*pgproto3.Sync); ok {
		c.owed++
	}
	c.out, err = m.Encode(c.out)
	return err
}

// frame returns the next frame.
func (c *connection) frame() (typ byte, frame []byte, err error) {
	if typ, frame, err = c.in.frame(); err != nil {
		return 0, nil, readError(err)
	}
	if typ == 'Z' {
		c.owed--
	}
	return typ, frame, nil
}

// next returns type and body of the next frame that is part of an answer.
func (c *connection) next() (typ byte, body []byte, err error) {
	for {
		typ, frame, err := c.frame()
		if err != nil {
			return 0, nil, errors.Join(err, errBroken)
		}
		if !aside(typ) {
			return typ, frame[headerSize:], nil
		}
	}
}

// aside reports whether a frame may come at any time: notices, settings, notifications.
func aside(typ byte) bool { return typ == 'N' || typ == 'S' || typ == 'A' }

// readError keeps an interrupt apart from a broken connection.
func readError(err error) error {
	var pe *pgconn.PgError
	if errors.As(err, &pe) || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return lost(err)
}

// sync reads up to ReadyForQuery and returns the error that came before it, if any.
func (c *connection) sync() error {
	var first error
	for {
		typ, body, err := c.next()
		switch {
		case err != nil:
			return err
		case typ == 'Z':
			return first
		case typ == 'E' && first == nil:
			first = remoteError(body)
		}
	}
}

// errBroken marks that a connection is of no further use.
var errBroken = errors.New("connection broken")

// settleTime bounds how long a statement that was cancelled may take to give in before its connection is given up.
const settleTime = 2 * time.Second

// cancel ends the statement that runs and reads on until the server is ready again, false where that fails. The Sync
// behind the request is answered only after the server has seen its signal, so that it cannot hit a later statement.
func (c *connection) cancel() bool {
	if c.torn {
		return false
	}
	ctx, stop := context.WithTimeout(context.Background(), settleTime)
	defer stop()
	if err := c.login.CancelRequest(ctx); err != nil {
		return false
	}
	if c.socket.SetDeadline(time.Now().Add(settleTime)) != nil || c.send(&pgproto3.Sync{}) != nil || c.flush() != nil {
		return false
	}
	for c.owed > 0 {
		typ, frame, err := c.frame()
		if err != nil || typ == 'E' && isFatal(frame) {
			return false
		}
	}
	return c.socket.SetDeadline(time.Time{}) == nil
}

func isFatal(frame []byte) bool {
	var pe *pgconn.PgError
	return errors.As(remoteError(frame[headerSize:]), &pe) && pe.Code == pgerr.ConnectionFailure
}

// close ends the session.
func (c *connection) close() {
	_ = c.socket.SetDeadline(time.Now().Add(time.Second))
	c.out = c.out[:0]
	if c.send(&pgproto3.Terminate{}) == nil {
		_ = c.flush() // the server notices a closed socket too
	}
	_ = c.socket.Close()
}
