package proxy

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines/guard"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/wire"
)

// watchInterval is how often a session that is busy with a statement of ours looks whether its client is still there.
const watchInterval = 250 * time.Millisecond

// farewell is how long a client may take to read why its session ends.
const farewell = 2 * time.Second

var errClientGone = errors.New("the client is gone")

// running is a statement of ours at work, from begin to end. Its context ends with a cause that is told to the client.
type running struct {
	session *Session
	began   time.Time
	ctx     context.Context
	cancel  context.CancelCauseFunc
	outer   *running
}

// begin marks the start of work on a statement of ours. Nested calls belong to the outer one.
func (s *Session) begin() *running {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &running{session: s, began: time.Now(), outer: s.running}
	if r.outer != nil {
		r.ctx = r.outer.ctx
		return r
	}
	r.ctx, r.cancel = context.WithCancelCause(guard.Statement(s.ctx))
	s.running = r
	if s.interrupted != nil {
		r.cancel(s.interrupted)
		s.interrupted = nil
	}
	s.armWatch()
	return r
}

func (r *running) end() {
	if r.outer != nil {
		return
	}
	r.session.mu.Lock()
	r.session.running = nil
	r.session.watching--
	r.session.mu.Unlock()
	r.cancel(nil)
}

// limit ends the work of a statement at an engine after the time that statement_timeout gives it (0: no end). Home
// times what it does itself. stop must be called.
func (r *running) limit(timeout time.Duration) (stop func()) {
	if timeout <= 0 {
		return func() {}
	}
	return r.endAfter(timeout, pgerr.New(pgerr.QueryCanceled, "canceling statement due to statement timeout"))
}

// spend ends the work of a statement at an engine when it has spent its budget, with the work before it. stop must be called.
func (r *running) spend(l *ledger) (stop func()) {
	if l == nil || l.Budget == 0 {
		return func() {}
	}
	began, stopped := time.Now(), r.endAfter(l.Left(), l.Spent())
	return func() {
		stopped()
		l.Spend(time.Since(began))
	}
}

// endAfter ends the work that is under way after a time for a cause. stop must be called.
func (r *running) endAfter(timeout time.Duration, cause error) (stop func()) {
	top := r
	for top.outer != nil {
		top = top.outer
	}
	timer := time.AfterFunc(timeout, func() { top.cancel(cause) })
	return func() { timer.Stop() }
}

// watchClient has a timer look now and then whether the client has vanished, which nobody else sees while its session reads
// nothing. stop must be called.
func (s *Session) watchClient() (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armWatch()
	return func() {
		s.mu.Lock()
		s.watching--
		s.mu.Unlock()
	}
}

// armWatch begins what needs the client watched, until watching is lowered again. The timer goes on until it is next due, so
// that of many short works in a row only few set it. mu is held.
func (s *Session) armWatch() {
	s.watching++
	switch {
	case s.armed:
	case s.watch == nil:
		s.watch = time.AfterFunc(watchInterval, s.lookAtClient)
	default:
		s.watch.Reset(watchInterval)
	}
	s.armed = true
}

// lookAtClient ends the work that is under way if the client has vanished.
func (s *Session) lookAtClient() {
	s.mu.Lock()
	armed := s.watching > 0 && s.ctx.Err() == nil
	s.armed = armed
	s.mu.Unlock()
	switch {
	case !armed:
	case hungUp(s.login.Client):
		s.interrupt(errClientGone)
		_ = s.client.Close()
	default:
		s.watch.Reset(watchInterval)
	}
}

// Cancel interrupts the statement that runs now, at home or at an engine; when none runs it does nothing.
func (s *Session) Cancel() { s.interrupt(canceled()) }

func canceled() *pgconn.PgError {
	return pgerr.New(pgerr.QueryCanceled, "canceling statement due to user request")
}

// cancelBegun interrupts the statement of ours that runs now if it began before a time. One that home runs by itself it
// leaves alone.
func (s *Session) cancelBegun(before time.Time) {
	s.home.hold.Lock()
	defer s.home.hold.Unlock()
	s.mu.Lock()
	r := s.running
	s.mu.Unlock()
	if r == nil || !r.began.Before(before) {
		return
	}
	r.cancel(canceled())
	if s.home.owes() {
		cancelHome(s.login)
	}
}

// interrupt ends the statement that runs now for a cause. What the client sends meanwhile is held back from home until
// home has got its cancel request, so that this hits nothing else.
func (s *Session) interrupt(cause error) {
	s.home.hold.Lock()
	defer s.home.hold.Unlock()
	s.mu.Lock()
	r := s.running
	s.mu.Unlock()
	if r != nil {
		r.cancel(cause)
	}
	switch {
	case s.home.owes():
		cancelHome(s.login)
	case r == nil:
		s.mu.Lock()
		if s.handling {
			s.interrupted = cause
		}
		s.mu.Unlock()
	}
}

// handle handles one message of the client. What interrupts it before work on it has begun, or between two parts of that,
// interrupts what begins next, here or at home; then it is forgotten.
func (s *Session) handle(typ byte, size int) error {
	s.setHandling(true)
	err := s.message(typ, size)
	if missed := s.setHandling(false); missed != nil && err == nil {
		if err = s.forward(); err == nil {
			s.interrupt(missed)
		}
	}
	return err
}

// setHandling notes whether a message is being handled, and returns what was missed so far.
func (s *Session) setHandling(on bool) (missed error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	missed, s.interrupted, s.handling = s.interrupted, nil, on
	return missed
}

// cause returns why a statement of ours failed: what ended its context, if that was it.
func (s *Session) cause(err error) error {
	s.mu.Lock()
	r := s.running
	s.mu.Unlock()
	if r != nil && r.ctx.Err() != nil {
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		return context.Cause(r.ctx)
	}
	return err
}

// async takes a frame that home sent without being asked. An error, such as a timeout, ends the statement of ours that
// runs and is told to the client in its place; one that ends home's session is told at once, because nobody will be there
// to tell it. Everything else is forwarded.
func (s *Session) async(typ byte, frame []byte) bool {
	if typ != 'E' {
		return false
	}
	s.mu.Lock()
	r := s.running
	s.mu.Unlock()
	if r == nil {
		return false
	}
	e := readError(append([]byte(nil), frame[wire.HeaderSize:]...))
	r.cancel(e)
	if e.SeverityUnlocalized == "FATAL" || e.SeverityUnlocalized == "PANIC" {
		_ = s.client.SetWriteDeadline(time.Now().Add(farewell)) // also for what is being written to it
		_ = s.writeClient(frame)
		_ = s.client.Close()
	}
	return true
}
