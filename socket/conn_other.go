//go:build !linux || race

package socket

import "net"

// New returns c. The race detector must see what is read and written, and other systems have system calls of their own.
func New(c net.Conn) net.Conn { return c }
