//go:build !race

package socket

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// New returns a connection that reads from and writes to c; c itself where it is not a socket. All else is left to c, which
// nobody else may read from or write to.
func New(c net.Conn) net.Conn {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return c
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return c
	}
	s := &conn{Conn: c}
	s.in = half{name: "read", number: unix.SYS_READ, await: raw.Read}
	s.out = half{name: "write", number: unix.SYS_WRITE, await: raw.Write}
	s.in.try, s.out.try = s.in.call, s.out.call
	return s
}

type conn struct {
	net.Conn
	in, out half
}

// NetConn returns the connection beneath, as tls.Conn does.
func (c *conn) NetConn() net.Conn { return c.Conn }

// Read is io.Reader.Read.
func (c *conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	n, err := c.in.transfer(p)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// Write is io.Writer.Write.
func (c *conn) Write(p []byte) (n int, err error) {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	for n < len(p) && err == nil {
		var some int
		some, err = c.out.transfer(p[n:])
		n += some
	}
	return n, err
}

// half is one direction of a connection.
type half struct {
	name   string
	number uintptr                               // of the system call
	await  func(try func(fd uintptr) bool) error // calls try whenever the socket may be ready, until it returns true
	try    func(fd uintptr) bool

	mu    sync.Mutex // guards what follows, which try works on
	data  []byte
	n     int
	errno syscall.Errno
}

// transfer makes one system call that does something. mu is held.
func (h *half) transfer(p []byte) (int, error) {
	h.data, h.n, h.errno = p, 0, 0
	err := h.await(h.try)
	h.data = nil
	if err == nil && h.errno != 0 {
		err = os.NewSyscallError(h.name, h.errno)
	}
	return h.n, err
}

// call makes the system call, and reports false where the socket is not ready.
func (h *half) call(fd uintptr) bool {
	for {
		n, _, errno := unix.RawSyscall(h.number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(h.data))), uintptr(len(h.data)))
		switch errno {
		case 0:
			h.n = int(n)
			return true
		case unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			h.errno = errno
			return true
		}
	}
}
