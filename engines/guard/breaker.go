package guard

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// A server that cannot be reached is asked again after leastPause, and after twice as long each time, up to mostPause. What asks
// it may take askTime.
const (
	leastPause = time.Second
	mostPause  = time.Minute
	askTime    = 15 * time.Second
)

// breaker counts connections that failed in a row. Once there are enough of them, and the server does not answer a Ping either,
// it is open: statements fail at once. After a pause the next statement asks the server again, alone.
type breaker struct {
	server string
	now    func() time.Time

	mu       sync.Mutex
	limit    int // 0: never opens
	failures int
	open     bool
	asking   bool // someone finds out how the server is
	pause    time.Duration
	again    time.Time // when an open one lets a statement ask
	answered bool      // a connection was made since the server was defined
	missing  bool      // what is guarded could not be opened
	last     *failure
	tried    *byte  // the statement that has failed last
	refused  uint64 // statements that have failed at once
}

// failure is what went wrong last.
type failure struct {
	at  time.Time
	err *pgconn.PgError
}

// turn says what a statement is to do.
type turn int

const (
	proceed turn = iota
	ask          // find out by a Ping, and tell
)

// check returns an error while the server is not asked, and what a statement is to do else.
func (b *breaker) check(ctx context.Context) (turn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failedFor(ctx):
		return proceed, b.last.err
	case !b.open:
		return proceed, nil
	case b.asking || b.now().Before(b.again):
		return proceed, b.refusal()
	}
	b.asking = true
	return ask, nil
}

// failedFor reports whether the statement has found out already that the server cannot be used.
func (b *breaker) failedFor(ctx context.Context) bool {
	s := statementOf(ctx)
	return s != nil && s == b.tried && b.failures > 0
}

// refuses is check for who does not ask yet.
func (b *breaker) refuses(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failedFor(ctx) {
		return b.last.err
	}
	if b.open && (b.asking || b.now().Before(b.again)) {
		return b.refusal()
	}
	return nil
}

// refusal says that the server is not asked.
func (b *breaker) refusal() error {
	b.refused++
	e := pgerr.New("08001", "server %q cannot be reached", b.server)
	if b.last != nil {
		pgerr.Detail(e, "%s: %s", b.last.err.Code, joined(b.last.err))
	}
	when := "is being asked again"
	if left := b.again.Sub(b.now()); left > 0 && !b.asking {
		when = "is asked again by the first statement in " + left.Round(time.Second/10).String()
	}
	return pgerr.Hint(e, "The server %s, or at once after ALTER SERVER %s.", when, ident(b.server))
}

// joined is a message with its detail.
func joined(e *pgconn.PgError) string {
	if e.Detail == "" {
		return e.Message
	}
	return e.Message + ": " + e.Detail
}

// note tells how an attempt has ended. It returns ask where that may have been one failure too many: it is to be found out.
func (b *breaker) note(ctx context.Context, err error) turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil:
		b.good()
	case ctx.Err() != nil || !isDown(err): // which says nothing of the server
	default:
		b.failures++
		b.tried = statementOf(ctx)
		b.last = &failure{b.now(), pgerr.From(err)}
		if b.limit > 0 && b.failures >= b.limit && !b.open && !b.asking {
			b.asking = true
			return ask
		}
	}
	return proceed
}

func (b *breaker) good() {
	b.failures, b.open, b.pause, b.answered = 0, false, 0, true
}

// told ends what check or note has asked for: ctx is that of the statement, err what the Ping has come to.
func (b *breaker) told(ctx context.Context, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asking = false
	switch {
	case err == nil || !isDown(err) && ctx.Err() == nil:
		b.good()
	case ctx.Err() != nil: // the next one asks
	default:
		b.last, b.tried = &failure{b.now(), pgerr.From(err)}, statementOf(ctx)
		b.failures = max(b.failures, 1)
		b.open, b.pause = true, min(max(2*b.pause, leastPause), mostPause)
		b.again = b.now().Add(b.pause)
	}
}

// opened tells whether what is guarded was opened: where a secret is missing the server cannot be used, and each statement looks for it
// again.
func (b *breaker) opened(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.missing = err != nil; b.missing {
		b.last = &failure{b.now(), pgerr.From(err)}
	}
}

// remember keeps an error of a stream that was open for who asks what went wrong last.
func (b *breaker) remember(err error) {
	if !isDown(err) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = &failure{b.now(), pgerr.From(err)}
}

// reset begins anew, as the server is another one.
func (b *breaker) reset(limit int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limit, b.failures, b.open, b.pause, b.answered, b.missing, b.last, b.tried = limit, 0, false, 0, false, false, nil, nil
}

// isDown reports whether an error says that the server cannot be used: no connection, no login.
func isDown(err error) bool {
	var pe *pgconn.PgError
	if !errors.As(err, &pe) || len(pe.Code) < 2 {
		return false
	}
	switch pe.Code {
	case pgerr.FdwUnableToConnect, pgerr.CannotConnectNow:
		return true
	}
	return pe.Code[:2] == "08" && pe.Code != "08007" || isLogin(err)
}

// isLogin reports whether an error says that a login was refused.
func isLogin(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && len(pe.Code) == 5 && pe.Code[:2] == "28"
}
