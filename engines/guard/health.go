package guard

import (
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
)

// State says how a server is.
type State string

// The states of a server, the worst one last.
const (
	Untried State = "untried" // no connection was made since the proxy has started or the server was defined
	OK      State = "ok"
	Waiting State = "waiting" // statements wait for their turn
	Broken  State = "broken"  // the last connection has failed, or a secret is missing
)

// Rank orders states from the best to the worst.
func (s State) Rank() int {
	return map[State]int{Untried: 0, OK: 1, Waiting: 2, Broken: 3}[s]
}

// Health is how a server is for one role.
type Health struct {
	State   State
	Running int             // statements, and reads of one
	Queued  int             // statements that wait
	Idle    int             // connections that wait to be used again, -1 where nobody knows
	Error   *pgconn.PgError // the last one that said that the server cannot be used, nil for none
	At      time.Time       // of the error
	Open    bool            // statements fail at once
	Again   time.Time       // when the server is asked again, if so
	Late    uint64          // statements that have waited in vain
	Refused uint64          // statements that have failed at once
}

// Health looks at the server without asking it.
func (e *Engine) Health() Health {
	h := e.breaker.health()
	h.Running, h.Queued, h.Late = e.gate.counts()
	if h.State != Broken && h.Queued > 0 {
		h.State = Waiting
	}
	e.mu.Lock()
	inner := e.inner
	e.mu.Unlock()
	h.Idle = -1
	if p, ok := inner.(engines.Pooled); ok {
		h.Idle = p.Idle()
	}
	return h
}

func (b *breaker) health() Health {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := Health{State: Untried, Refused: b.refused, Open: b.open}
	if b.answered {
		h.State = OK
	}
	if b.failures > 0 || b.open || b.missing {
		h.State = Broken
	}
	if b.open {
		h.Again = b.again
	}
	if b.last != nil {
		h.Error, h.At = b.last.err, b.last.at
	}
	return h
}
