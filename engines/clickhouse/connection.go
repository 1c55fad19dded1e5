package clickhouse

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"time"

	"github.com/sluicedb/sluice/engines/pool"
	"github.com/sluicedb/sluice/pgerr"
)

// connection is one session at the server. It runs one statement at a time and is used by one goroutine at a time, but for
// interrupt.
type connection struct {
	pool.Mark
	socket net.Conn
	transport
}

// transport is a protocol in which a server is spoken to over a socket.
type transport interface {
	// hello logs in.
	hello() error
	// start sends a statement.
	start(s statement) error
	// feed starts an INSERT, without what stands behind its list of columns, which takes blocks by send; nil is the end of them.
	feed(s statement) error
	send(block []byte) error
	// binds reports whether statements may have parameters.
	binds() bool
	// block reads on to the next block of rows, whose columns take fills: false at the statement's end.
	block(take func(r *reader) (rows int, err error)) (rows int, more bool, err error)
	// leave ends what runs at the server. The connection is of no further use.
	leave()
	// ping asks for a sign of life.
	ping() error
	// reusable reports whether the connection takes another statement behind the end of one.
	reusable() bool
}

// dial opens a connection.
func dial(ctx context.Context, c *config) (*connection, error) {
	ctx, stop := context.WithTimeout(ctx, c.timeout)
	defer stop()
	conn, err := greet(ctx, c)
	if err == nil && !conn.reusable() { // what was asked at first is known now
		_ = conn.socket.Close()
		conn, err = greet(ctx, c)
	}
	return conn, err
}

// greet opens a socket and logs in.
func greet(ctx context.Context, c *config) (*connection, error) {
	socket, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	conn := &connection{socket: socket, transport: c.speak(socket)}
	unwatch := conn.watch(ctx)
	err = conn.hello()
	unwatch()
	if err != nil {
		_ = socket.Close()
		var pe interface{ SQLState() string }
		if errors.As(err, &pe) {
			return nil, err
		}
		return nil, unreachable(c, err)
	}
	return conn, nil
}

const bufferSize = 64 << 10

// speak begins a server's protocol on a new socket.
func (c *config) speak(socket net.Conn) transport {
	if c.http {
		w := &web{config: c, socket: socket, raw: &io.LimitedReader{R: socket, N: math.MaxInt64}}
		w.in, w.blocks = bufio.NewReaderSize(w.raw, bufferSize), reader{Reader: bufio.NewReaderSize(nil, bufferSize), coded: true}
		return w
	}
	return &native{config: c, socket: socket, in: reader{Reader: bufio.NewReaderSize(socket, bufferSize)}}
}

// connect opens a socket, which encrypts where that is wanted.
func (c *config) connect(ctx context.Context) (net.Conn, error) {
	secured, err := c.tlsConfig()
	if err != nil {
		return nil, err
	}
	socket, err := (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext(ctx, "tcp", c.address())
	if err != nil {
		return nil, unreachable(c, err)
	}
	if secured != nil {
		socket = tls.Client(socket, secured)
	}
	return socket, nil
}

// unreachable says why there is no connection.
func unreachable(c *config, err error) error {
	e := pgerr.Detail(pgerr.New("08001", "could not connect to ClickHouse at %s", c.address()), "%s", reasonOf(err))
	return pgerr.Hint(e, `Check options "host", "port", "protocol" and "secure" of the server.`)
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

// cancel ends what runs, and closes the connection: to wait until the server has stopped sending could take long.
func (c *connection) cancel() {
	_ = c.socket.SetDeadline(time.Now().Add(cancelTime))
	c.leave()
	_ = c.socket.Close()
}

const cancelTime = time.Second

// interrupted reports whether an error is that of a socket whose time was made to run out.
func interrupted(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
