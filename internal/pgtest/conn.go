package pgtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// patience is how long a script waits for one message before it calls the target hung.
const patience = 8 * time.Second

// errClosed reports that the server closed the connection, in whatever way.
var errClosed = errors.New("the server closed the connection")

// conn is one frontend's side of a connection, without any help from a driver: what is sent is what the script says.
type conn struct {
	net.Conn
	in  *pgproto3.Frontend
	key *pgproto3.BackendKeyData // nil before login
}

// dial opens a connection and sends nothing.
func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, in: pgproto3.NewFrontend(c, io.Discard)}, nil
}

// startup logs in and hands each message up to ReadyForQuery or an error to see.
func (c *conn) startup(params map[string]string, see func(pgproto3.BackendMessage)) error {
	msg := pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: params}
	buf, err := msg.Encode(nil)
	if err != nil {
		return err
	}
	if err := c.write(buf); err != nil {
		return err
	}
	for {
		m, err := c.receive(patience)
		if err != nil {
			return err
		}
		see(m)
		switch m := m.(type) {
		case *pgproto3.BackendKeyData:
			c.key = &pgproto3.BackendKeyData{ProcessID: m.ProcessID, SecretKey: append([]byte(nil), m.SecretKey...)}
		case *pgproto3.ReadyForQuery, *pgproto3.ErrorResponse:
			return nil
		}
	}
}

// write sends bytes under a deadline.
func (c *conn) write(buf []byte) error {
	if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := c.Write(buf)
	return err
}

// receive reads one message, which is valid until the next call. It returns errClosed at the end of the connection.
func (c *conn) receive(wait time.Duration) (pgproto3.BackendMessage, error) {
	if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return nil, err
	}
	m, err := c.in.Receive()
	switch {
	case err == nil:
		return m, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("nothing came for %v", wait)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE):
		return nil, errClosed
	}
	return nil, err
}

// cancel sends a CancelRequest for c on a connection of its own and waits until the server closes that one. flip is
// added to the secret, to make a wrong one.
func (c *conn) cancel(addr string, flip byte) error {
	if c.key == nil {
		return errors.New("this connection got no BackendKeyData")
	}
	d, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return err
	}
	defer d.Close()
	secret := append([]byte(nil), c.key.SecretKey...)
	secret[len(secret)-1] ^= flip
	buf := binary.BigEndian.AppendUint32(nil, uint32(12+len(secret)))
	buf = binary.BigEndian.AppendUint32(buf, 80877102)
	buf = binary.BigEndian.AppendUint32(buf, c.key.ProcessID)
	buf = append(buf, secret...)
	if _, err := d.Write(buf); err != nil {
		return err
	}
	if err := d.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if n, err := d.Read(make([]byte, 1)); n != 0 {
		return errors.New("the server answered on a cancel connection")
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		return errors.New("the server left a cancel connection open")
	}
	return nil
}
