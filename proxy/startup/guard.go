package startup

import (
	"context"
	"net"
	"sync"
	"time"
)

// guard ends all reads and writes of its connections when a context ends, and leaves no deadline behind otherwise.
type guard struct {
	ctx  context.Context
	stop func() bool

	mu       sync.Mutex
	conns    []net.Conn
	released bool
}

func newGuard(ctx context.Context) *guard {
	g := &guard{ctx: ctx}
	g.stop = context.AfterFunc(ctx, g.fire)
	return g
}

func (g *guard) fire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.released {
		return
	}
	for _, c := range g.conns {
		_ = c.SetDeadline(time.Unix(1, 0))
	}
}

// add puts c under guard.
func (g *guard) add(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.conns = append(g.conns, c)
	if g.ctx.Err() != nil {
		_ = c.SetDeadline(time.Unix(1, 0))
	}
}

// release ends the guard. It returns the context's error if that ended before: then deadlines may be set.
func (g *guard) release() error {
	g.stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.released = true
	return g.ctx.Err()
}
