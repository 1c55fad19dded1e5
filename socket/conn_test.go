package socket_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/sluicedb/sluice/socket"
)

// pair returns the two ends of a connection, one of them by New.
func pair(t *testing.T) (conn net.Conn, other *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Close(), accepted.Close() })
	return socket.New(accepted), c.(*net.TCPConn)
}

// TestTransfer sends more than the system holds, so that both directions have to wait.
func TestTransfer(t *testing.T) {
	conn, other := pair(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	failed := make(chan error, 1)
	go func() {
		n, err := conn.Write(want)
		if err == nil && n != len(want) {
			err = io.ErrShortWrite
		}
		failed <- err
	}()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(other, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("what was written arrives otherwise: %v", err)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := other.Write(want)
		failed <- errors.Join(err, other.CloseWrite())
	}()
	got, err := io.ReadAll(conn)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("what was sent is read otherwise: %d bytes, %v", len(got), err)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(nil); n != 0 || err != nil {
		t.Errorf("a read of nothing: %d, %v", n, err)
	}
}

func TestDeadline(t *testing.T) {
	conn, _ := pair(t)
	if err := conn.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	_, rerr := conn.Read(make([]byte, 1))
	_, werr := conn.Write([]byte{1})
	for _, err := range []error{rerr, werr} {
		var timeout net.Error
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("behind the deadline: %v", err)
		}
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte{1}); err != nil {
		t.Errorf("the deadline was taken back: %v", err)
	}
}

// TestClose ends a read that waits.
func TestClose(t *testing.T) {
	conn, other := pair(t)
	ended := make(chan error, 1)
	go func() {
		_, err := io.ReadFull(conn, make([]byte, 2))
		ended <- err
	}()
	if _, err := other.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("a read of what is closed: %v", err)
	}
	if _, err := conn.Write([]byte{1}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a write to what is closed: %v", err)
	}
}

// TestReset tells why a peer that has broken off cannot be spoken to.
func TestReset(t *testing.T) {
	conn, other := pair(t)
	if err := other.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a read from a peer that has broken off: %v", err)
	}
	if _, err := conn.Write([]byte{1}); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a write to a peer that has broken off: %v", err)
	}
}

// TestNoSocket leaves alone what is none.
func TestNoSocket(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if socket.New(a) != a {
		t.Error("a pipe is taken for a socket")
	}
}
