package proxy

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// A burst of logins is over when none came for trimDelay; one of fewer than trimLogins leaves too little behind.
const (
	trimDelay  = 5 * time.Second
	trimLogins = 64
)

// trim returns memory to the system after a burst of logins. What they leave behind (handshakes, deep stacks) is as much
// as the sessions hold themselves, and sessions that idle allocate nothing that would have it collected.
type trim struct {
	mu     sync.Mutex
	timer  *time.Timer
	logins int
	over   bool
}

// note counts a login.
func (t *trim) note() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.logins++; t.over {
		return
	}
	if t.timer == nil {
		t.timer = time.AfterFunc(trimDelay, t.collect)
		return
	}
	t.timer.Reset(trimDelay)
}

// collect collects twice, since a stack is halved once a collection.
func (t *trim) collect() {
	if t.end() {
		runtime.GC()
		debug.FreeOSMemory()
	}
}

// end reports whether the burst that is over is worth a collection.
func (t *trim) end() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	worth := t.logins >= trimLogins && !t.over
	t.logins = 0
	return worth
}

// stop ends this for good.
func (t *trim) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.timer != nil {
		t.timer.Stop()
	}
}
