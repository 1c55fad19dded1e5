package main

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

const (
	clientBuffer = 256 << 10
	headerSize   = 5
	maxError     = 64 << 10
)

// client reads frames and counts them: the leanest that a client can be.
type client struct {
	net.Conn
	buf        []byte
	start, end int
	version    string // of the server
}

// drained is what a query yielded.
type drained struct {
	rows, bytes int64
	first       time.Duration // to the first row
	total       time.Duration
	suspended   bool // a portal has rows left
}

func (d drained) rate() float64 { return float64(d.rows) / d.total.Seconds() }

// connect logs in as postgres, without a password.
func connect(ctx context.Context, addr, database string) (*client, error) {
	return dial(ctx, addr, database, nil)
}

// dial does as connect, with TLS where secure is not nil.
func dial(ctx context.Context, addr, database string, secure *tls.Config) (*client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if secure != nil {
		if conn, err = startTLS(ctx, conn, secure); err != nil {
			return nil, fmt.Errorf("%s: %w", addr, err)
		}
	}
	c := &client{Conn: conn, buf: make([]byte, clientBuffer)}
	m := &pgproto3.StartupMessage{
		ProtocolVersion: pgproto3.ProtocolVersion30,
		Parameters:      map[string]string{"user": "postgres", "database": database},
	}
	if _, err := c.ask(ctx, m); err != nil {
		c.close()
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return c, nil
}

// startTLS asks a server for TLS. The connection is closed where that fails.
func startTLS(ctx context.Context, conn net.Conn, config *tls.Config) (net.Conn, error) {
	request, err := (&pgproto3.SSLRequest{}).Encode(nil)
	answer := make([]byte, 1)
	if err == nil {
		_, err = conn.Write(request)
	}
	if err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	if err == nil && answer[0] != 'S' {
		err = errors.New("the server speaks no TLS")
	}
	secure := tls.Client(conn, config)
	if err == nil {
		err = secure.HandshakeContext(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

func (c *client) close() { _ = c.Close() }

// exec runs SQL for its effect.
func (c *client) exec(ctx context.Context, sql string) error {
	_, err := c.query(ctx, sql)
	return err
}

// query runs SQL and drains what it yields.
func (c *client) query(ctx context.Context, sql string) (drained, error) {
	d, err := c.ask(ctx, &pgproto3.Query{String: sql})
	if err != nil {
		return d, fmt.Errorf("%w (%.200s)", err, sql)
	}
	return d, nil
}

// ask sends a message and reads frames up to ReadyForQuery. An error among them is returned then.
func (c *client) ask(ctx context.Context, m pgproto3.FrontendMessage) (d drained, err error) {
	out, err := m.Encode(nil)
	if err != nil {
		return d, err
	}
	return c.exchange(ctx, out)
}

// exchange sends messages of which one brings ReadyForQuery, and reads frames up to that. An error of the server leaves the
// client to be used again, unless the server has closed the connection.
func (c *client) exchange(ctx context.Context, out []byte) (d drained, err error) {
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	began := time.Now()
	if _, err := c.Write(out); err != nil {
		return d, err
	}
	var failure *pgconn.PgError
	for {
		typ, size, err := c.header()
		if err != nil && failure != nil {
			return d, failure
		}
		if err != nil {
			return d, errors.Join(ctx.Err(), err)
		}
		switch typ {
		case 'D':
			if d.rows == 0 {
				d.first = time.Since(began)
			}
			d.rows++
			d.bytes += int64(size)
			err = c.skip(size)
		case 'Z':
			d.total = time.Since(began)
			if err = c.skip(size); err == nil && failure != nil {
				err = failure
			}
			return d, err
		case 'E', 'S':
			if err = c.look(typ, size); errors.As(err, &failure) {
				err = c.skip(size)
			}
		case 's':
			d.suspended = true
			err = c.skip(size)
		default:
			err = c.skip(size)
		}
		if err != nil {
			return d, err
		}
	}
}

// header returns the type and whole size of the next frame.
func (c *client) header() (byte, int, error) {
	if err := c.have(headerSize); err != nil {
		return 0, 0, err
	}
	return c.buf[c.start], 1 + int(binary.BigEndian.Uint32(c.buf[c.start+1:])), nil
}

// have reads until n bytes are in the buffer.
func (c *client) have(n int) error {
	if c.end-c.start < n && len(c.buf)-c.start < n {
		c.end = copy(c.buf, c.buf[c.start:c.end])
		c.start = 0
	}
	for c.end-c.start < n {
		got, err := c.Read(c.buf[c.end:])
		c.end += got
		if err != nil {
			return err
		}
	}
	return nil
}

// skip steps over n bytes.
func (c *client) skip(n int) error {
	for {
		step := min(n, c.end-c.start)
		c.start += step
		n -= step
		if c.start == c.end {
			c.start, c.end = 0, 0
		}
		if n == 0 {
			return nil
		}
		got, err := c.Read(c.buf)
		c.end = got
		if err != nil && got == 0 {
			return err
		}
	}
}

// look reads a frame whose body matters: the server's version, or an error, over which it does not step.
func (c *client) look(typ byte, size int) error {
	if size > maxError {
		return io.ErrShortBuffer
	}
	if err := c.have(size); err != nil {
		return err
	}
	body := c.buf[c.start+headerSize : c.start+size]
	if typ == 'S' {
		m := &pgproto3.ParameterStatus{}
		if err := m.Decode(body); err != nil {
			return err
		}
		if m.Name == "server_version" {
			c.version = m.Value
		}
		return c.skip(size)
	}
	m := &pgproto3.ErrorResponse{}
	if err := m.Decode(body); err != nil {
		return err
	}
	return pgconn.ErrorResponseToPgError(m)
}
