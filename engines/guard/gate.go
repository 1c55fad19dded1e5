package guard

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sluicedb/sluice/pgerr"
)

// Yard has the lock of all gates of a process: who waits at one may hold permits of others.
type Yard struct{ mu sync.Mutex }

// gate lets a number of holders through at once. The others wait, who came first in front. Its fields are guarded by the Yard's
// lock.
type gate struct {
	yard    *Yard
	limit   int             // 0 for any number
	holders map[*Holder]int // with how many permits each has
	waiting []*waiter
	refused uint64 // waits that ended without a permit, as time ran out
}

// waiter is a holder that waits at a gate.
type waiter struct {
	gate    *gate
	holder  *Holder
	ready   chan struct{} // closed when it has its permit
	granted bool
}

// acquire waits for a permit. release gives it back, once.
func (g *gate) acquire(ctx context.Context, h *Holder, server string, patience time.Duration) (release func(), err error) {
	g.yard.mu.Lock()
	if g.holders[h] > 0 || len(g.waiting) == 0 && g.room() {
		g.holders[h]++
		g.yard.mu.Unlock()
		return g.releaser(h), nil
	}
	w := &waiter{gate: g, holder: h, ready: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	if h.waits == nil {
		h.waits = map[*waiter]struct{}{}
	}
	h.waits[w] = struct{}{}
	if !g.moves() {
		g.grant(w)
	}
	g.yard.mu.Unlock()
	return w.wait(ctx, server, patience)
}

// wait waits until the waiter has its permit, nobody wants it any more, or patience ends.
func (w *waiter) wait(ctx context.Context, server string, patience time.Duration) (release func(), err error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.ready:
		return w.gate.releaser(w.holder), nil
	case <-ctx.Done():
		err = pgerr.Ended(ctx)
	case <-timer.C:
		err = tooMany(server, w.gate.atMost(), patience)
	}
	w.gate.yard.mu.Lock()
	defer w.gate.yard.mu.Unlock()
	if w.granted { // meanwhile
		if ctx.Err() == nil {
			return w.gate.releaser(w.holder), nil
		}
		w.gate.give(w.holder)
		return nil, err
	}
	w.leave()
	if ctx.Err() == nil {
		w.gate.refused++
	}
	return nil, err
}

// tooMany says that a statement has waited in vain.
func tooMany(server string, limit int, patience time.Duration) error {
	e := pgerr.Detail(pgerr.New(pgerr.TooManyConnections, "too many sessions of the role use server %q", server),
		"The statement has waited %s for one of %d to end.", patience, limit)
	return pgerr.Hint(e, `Try again later, or raise option "max_sessions" or "queue_timeout" by ALTER SERVER %s.`, ident(server))
}

func (g *gate) atMost() int {
	g.yard.mu.Lock()
	defer g.yard.mu.Unlock()
	return g.limit
}

// room reports whether one more holder may enter.
func (g *gate) room() bool { return g.limit == 0 || len(g.holders) < g.limit }

// releaser returns what gives a permit back, once.
func (g *gate) releaser(h *Holder) func() {
	return sync.OnceFunc(func() {
		g.yard.mu.Lock()
		defer g.yard.mu.Unlock()
		g.give(h)
	})
}

// give takes a permit back and lets in who comes next.
func (g *gate) give(h *Holder) {
	if g.holders[h]--; g.holders[h] == 0 {
		delete(g.holders, h)
	}
	g.admit()
}

// admit lets waiters in for whom there is room. A permit that was one too many makes none: whoever has counted on it is looked at
// again.
func (g *gate) admit() {
	for len(g.waiting) > 0 && (g.room() || !g.moves()) {
		g.grant(g.waiting[0])
	}
}

// grant gives a waiter its permit, and others of its holder, who hold one with it.
func (g *gate) grant(w *waiter) {
	h := w.holder
	for _, other := range slices.Clone(g.waiting) {
		if other.holder == h {
			other.leave()
			other.granted = true
			g.holders[h]++
			close(other.ready)
		}
	}
}

// leave takes a waiter out of the queue.
func (w *waiter) leave() {
	delete(w.holder.waits, w)
	if i := slices.Index(w.gate.waiting, w); i >= 0 {
		w.gate.waiting = slices.Delete(w.gate.waiting, i, i+1)
	}
}

// widen changes the limit.
func (g *gate) widen(limit int) {
	g.yard.mu.Lock()
	defer g.yard.mu.Unlock()
	g.limit = limit
	g.admit()
}

// moves reports whether a permit of the gate may come back by itself: that is so where one of its holders waits nowhere, or only
// at gates that move.
func (g *gate) moves() bool {
	reached := []*gate{g}
	for i := 0; i < len(reached); i++ {
		for h := range reached[i].holders {
			for w := range h.waits {
				if !slices.Contains(reached, w.gate) {
					reached = append(reached, w.gate)
				}
			}
		}
	}
	moving := map[*gate]bool{}
	for changed := true; changed; {
		changed = false
		for _, r := range reached {
			if !moving[r] && r.movesBy(moving) {
				moving[r], changed = true, true
			}
		}
	}
	return moving[g]
}

// movesBy reports whether a gate moves, if these do.
func (g *gate) movesBy(moving map[*gate]bool) bool {
	for h := range g.holders {
		free := true
		for w := range h.waits {
			free = free && moving[w.gate]
		}
		if free {
			return true
		}
	}
	return len(g.holders) == 0
}

// counts are how many hold permits, how many wait, and how many have waited in vain.
func (g *gate) counts() (running, queued int, refused uint64) {
	g.yard.mu.Lock()
	defer g.yard.mu.Unlock()
	for _, n := range g.holders {
		running += n
	}
	return running, len(g.waiting), g.refused
}
