package proxy

import (
	"container/list"
	"context"
	"sync"

	"github.com/sluicedb/sluice/pgerr"
)

const defaultLoginLimit = 1000

// logins bounds how many clients are logging in at once. Whoever comes when there is no room ends the login that has
// lasted longest: a client that means it needs a moment, one that only holds a place needs for ever.
type logins struct {
	slots chan struct{}

	mu   sync.Mutex
	open list.List // of *login, the oldest first
}

// login is one client on its way in.
type login struct {
	ctx    context.Context // ends with a cause that is told to the client
	cancel context.CancelCauseFunc
	all    *logins
	place  *list.Element
	once   sync.Once
}

func newLogins(limit int) *logins {
	if limit <= 0 {
		limit = defaultLoginLimit
	}
	return &logins{slots: make(chan struct{}, limit)}
}

// begin makes room for one more login and waits until it is free.
func (a *logins) begin(ctx context.Context) *login {
	select {
	case a.slots <- struct{}{}:
	default:
		a.endOldest()
		a.slots <- struct{}{}
	}
	l := &login{all: a}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	a.mu.Lock()
	l.place = a.open.PushBack(l)
	a.mu.Unlock()
	return l
}

func (a *logins) endOldest() {
	a.mu.Lock()
	defer a.mu.Unlock()
	oldest := a.open.Front()
	if oldest == nil {
		return
	}
	e := pgerr.New(pgerr.TooManyConnections, "too many clients are logging in")
	e.Severity, e.SeverityUnlocalized = "FATAL", "FATAL"
	oldest.Value.(*login).cancel(e)
}

// end gives the place of a login to another, whatever became of it.
func (l *login) end() {
	l.once.Do(func() {
		l.all.mu.Lock()
		l.all.open.Remove(l.place)
		l.all.mu.Unlock()
		l.cancel(nil)
		<-l.all.slots
	})
}
