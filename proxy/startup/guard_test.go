package startup

import (
	"context"
	"net"
	"testing"
	"time"
)

// deadlineConn remembers the deadlines that it was given.
type deadlineConn struct {
	net.Conn
	set chan time.Time
}

func (c *deadlineConn) SetDeadline(t time.Time) error {
	c.set <- t
	return nil
}

func newDeadlineConn() *deadlineConn { return &deadlineConn{set: make(chan time.Time, 10)} }

// A startup that went well leaves no deadline on its connections, whatever happens to its context later.
func TestGuardRelease(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g, c := newGuard(ctx), newDeadlineConn()
	g.add(c)
	if err := g.release(); err != nil {
		t.Fatal(err)
	}
	cancel()
	g.fire() // as if it had been on its way
	if len(c.set) > 0 {
		t.Error("a deadline was set")
	}
}

// The end of the context ends what waits, also on connections that come later.
func TestGuardFires(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g, early, late := newGuard(ctx), newDeadlineConn(), newDeadlineConn()
	g.add(early)
	cancel()
	g.add(late)
	for _, c := range []*deadlineConn{early, late} {
		if d := <-c.set; d.After(time.Now()) {
			t.Errorf("deadline %v", d)
		}
	}
	if g.release() == nil {
		t.Error("release forgets that the context had ended")
	}
}
