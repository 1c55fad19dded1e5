package proxy

import (
	"net"
	"time"
)

const (
	defaultKeepAlive = time.Minute
	keepAliveProbes  = 4
)

// watchOver has the system find out by itself that the client at the other end of c is gone without a word: after idle
// without any word, by probes for as long again; and, where user is not 0, after user without an acknowledgement.
func watchOver(c net.Conn, idle, user time.Duration) error {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	if idle <= 0 {
		idle = defaultKeepAlive
	}
	err := t.SetKeepAliveConfig(net.KeepAliveConfig{
		Enable: true, Idle: idle, Interval: max(idle/keepAliveProbes, time.Second), Count: keepAliveProbes,
	})
	if err != nil || user <= 0 {
		return err
	}
	return setUserTimeout(t, user)
}
