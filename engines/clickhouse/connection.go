package clickhouse

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
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
	in     reader
}

// Revisions of the protocol. The one spoken is so old that the server sends columns of dictionaries as plain ones, and says how
// its own settings are written.
const (
	revision      = 54404
	leastRevision = 54401 // has all that hello sends
)

// Packets of clients and servers.
const (
	clientHello, clientQuery, clientData, clientCancel, clientPing = 0, 1, 2, 3, 4

	serverHello, serverData, serverException, serverProgress, serverPong, serverEnd = 0, 1, 2, 3, 4, 5
	serverProfile, serverTotals, serverExtremes, serverLog                          = 6, 7, 8, 10
)

// dial opens a connection.
func dial(ctx context.Context, c *config) (*connection, error) {
	ctx, stop := context.WithTimeout(ctx, c.timeout)
	defer stop()
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
	conn := &connection{socket: socket, in: reader{Reader: bufio.NewReaderSize(socket, bufferSize)}}
	unwatch := conn.watch(ctx)
	err = conn.hello(c)
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

// unreachable says why there is no connection.
func unreachable(c *config, err error) error {
	e := pgerr.Detail(pgerr.New("08001", "could not connect to ClickHouse at %s", c.address()), "%s", reasonOf(err))
	return pgerr.Hint(e, `Check options "host", "port" (that of the native protocol) and "secure" of the server.`)
}

// hello logs in.
func (c *connection) hello(cfg *config) error {
	out := appendSizes(nil, clientHello)
	out = appendText(out, clientName)
	out = appendSizes(out, 1, 0, revision)
	out = appendTexts(out, cfg.database, cfg.user, cfg.password)
	if _, err := c.socket.Write(out); err != nil {
		return err
	}
	packet, err := c.in.size()
	switch {
	case err != nil:
		return err
	case packet == serverException:
		return c.exception()
	case packet != serverHello:
		return malformed()
	}
	return c.welcome()
}

const clientName = "sluice"

// welcome reads what the server says of itself.
func (c *connection) welcome() error {
	if _, err := c.in.text(); err != nil {
		return err
	}
	var numbers [3]uint64 // the version's major and minor number, the revision
	for i := range numbers {
		var err error
		if numbers[i], err = c.in.size(); err != nil {
			return err
		}
	}
	if numbers[2] < leastRevision {
		return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "ClickHouse %d.%d is too old", numbers[0], numbers[1]), "Upgrade the server to 18.16 or later.")
	}
	for range 2 { // time zone, name
		if _, err := c.in.text(); err != nil {
			return err
		}
	}
	_, err := c.in.size() // the last part of the version
	return err
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

// cancel tells the server to end what runs, and closes the connection: to wait until it has stopped sending could take long.
func (c *connection) cancel() {
	_ = c.socket.SetDeadline(time.Now().Add(cancelTime))
	_, _ = c.socket.Write([]byte{clientCancel}) // the server notices a closed socket too
	_ = c.socket.Close()
}

const cancelTime = time.Second

// ping asks for a sign of life.
func (c *connection) ping() error {
	if _, err := c.socket.Write([]byte{clientPing}); err != nil {
		return err
	}
	for {
		packet, err := c.in.size()
		switch {
		case err != nil:
			return err
		case packet == serverPong:
			return nil
		case packet == serverProgress: // of a statement that has ended
			err = c.sizes(3)
		default:
			err = malformed()
		}
		if err != nil {
			return err
		}
	}
}

// sizes skips so many numbers.
func (c *connection) sizes(n int) error {
	for range n {
		if _, err := c.in.size(); err != nil {
			return err
		}
	}
	return nil
}

// interrupted reports whether an error is that of a socket whose time was made to run out.
func interrupted(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
