//go:build !linux

package proxy

import (
	"net"
	"time"
)

// hungUp cannot tell on this system; the client's end is seen at the next write.
func hungUp(net.Conn) bool { return false }

// setUserTimeout does nothing: the system knows no such limit.
func setUserTimeout(*net.TCPConn, time.Duration) error { return nil }
