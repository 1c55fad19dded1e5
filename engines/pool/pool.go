package pool

import (
	"context"
	"sync"
	"time"

	"github.com/sluicedb/sluice/pgerr"
)

// A Pool keeps up to keepIdle connections that nobody uses, each for keepFor.
const (
	keepIdle = 8
	keepFor  = 5 * time.Minute
)

// Mark is embedded by connections.
type Mark struct {
	// Reused says that the connection was idle before: that it turns out to be gone says nothing of the server.
	Reused bool
}

func (m *Mark) mark(reused bool) { m.Reused = reused }

type marked interface{ mark(reused bool) }

// Pool is the connections of one engine. All methods may be called concurrently.
type Pool[C marked] struct {
	dial  func(context.Context) (C, error)
	alive func(context.Context, C) bool
	close func(C)

	mu     sync.Mutex
	idle   []idle[C] // the one used last at the end
	busy   int
	closed bool
	prune  *time.Timer
}

type idle[C marked] struct {
	conn  C
	since time.Time
}

// New returns an empty pool. dial opens a connection, close ends one on which nothing runs, and alive, which may be nil, says whether
// one that was idle can be used again.
func New[C marked](dial func(context.Context) (C, error), alive func(context.Context, C) bool, close func(C)) *Pool[C] {
	return &Pool[C]{dial: dial, alive: alive, close: close}
}

// Acquire returns a connection that nobody else uses.
func (p *Pool[C]) Acquire(ctx context.Context) (C, error) {
	var none C
	if err := ctx.Err(); err != nil {
		return none, err
	}
	for {
		c, reused, err := p.take()
		if err == nil && !reused {
			if c, err = p.dial(ctx); err != nil {
				p.Lost()
			}
		}
		switch {
		case err != nil:
			return none, err
		case !reused || p.alive == nil || p.alive(ctx, c):
			c.mark(reused)
			return c, nil
		}
		p.close(c)
		p.Lost()
	}
}

// take counts a connection as used, one that was idle where there is one.
func (p *Pool[C]) take() (c C, reused bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return c, false, pgerr.New(pgerr.FdwUnableToConnect, "the server was closed")
	}
	p.busy++
	n := len(p.idle)
	if n == 0 {
		return c, false, nil
	}
	c = p.idle[n-1].conn
	p.idle = p.idle[:n-1]
	return c, true, nil
}

// Release gives back a connection on which nothing runs.
func (p *Pool[C]) Release(c C) {
	p.mu.Lock()
	p.busy--
	keep := !p.closed && len(p.idle) < keepIdle
	if keep {
		p.idle = append(p.idle, idle[C]{c, time.Now()})
		if p.prune == nil {
			p.prune = time.AfterFunc(keepFor, p.pruneIdle)
		}
	}
	p.mu.Unlock()
	if !keep {
		p.close(c)
	}
}

// Lost says that a connection is closed and does not come back.
func (p *Pool[C]) Lost() {
	p.mu.Lock()
	p.busy--
	p.mu.Unlock()
}

// pruneIdle closes connections that nobody has used for long.
func (p *Pool[C]) pruneIdle() {
	var old []idle[C]
	p.mu.Lock()
	for len(p.idle) > 0 && time.Since(p.idle[0].since) >= keepFor {
		old = append(old, p.idle[0])
		p.idle = p.idle[1:]
	}
	p.prune = nil
	if len(p.idle) > 0 {
		p.prune = time.AfterFunc(keepFor-time.Since(p.idle[0].since), p.pruneIdle)
	}
	p.mu.Unlock()
	for _, i := range old {
		p.close(i.conn)
	}
}

// Busy is how many connections are in use.
func (p *Pool[C]) Busy() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.busy
}

// Idle is how many connections wait to be used again.
func (p *Pool[C]) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// Close closes the connections that wait. Those in use are closed when they are given back.
func (p *Pool[C]) Close() {
	p.mu.Lock()
	list := p.idle
	p.idle, p.closed = nil, true
	if p.prune != nil {
		p.prune.Stop()
	}
	p.mu.Unlock()
	for _, i := range list {
		p.close(i.conn)
	}
}
