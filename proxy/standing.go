package proxy

import (
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/proxy/wire"
)

// syncInterval is the longest for which home gets no Sync while a client fetches the rows of a portal of ours: by it home
// sees the session idle too early at most.
const syncInterval = 10 * time.Millisecond

// standing is what home last said of itself, for as long as nothing that it answers was sent to it since. While it holds
// home could answer a Sync in no other way.
type standing struct {
	since  time.Time // of the ReadyForQuery; zero: something was sent
	status byte
}

// spares reports whether a Sync at this time may be answered in home's place: inside a transaction block that goes on, of
// whose end home tells without being asked.
func (s standing) spares(now time.Time) bool {
	return s.status == 'T' && !s.since.IsZero() && now.Sub(s.since) < syncInterval
}

// sparesSync reports whether a Sync may be answered in home's place.
func (b *backend) sparesSync() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.replies.Idle() && !b.replies.Failed() && b.err == nil && b.standing.spares(time.Now())
}

// standIn answers a Sync in home's place, together with the rows before it, where it directly follows an Execute that has
// left rows of a portal of ours: nothing is at stake then, and the way to home would cost more than the rows.
func (s *Session) standIn(size int) (answered bool, err error) {
	if !s.suspended || size != wire.HeaderSize || !s.home.sparesSync() {
		return false, s.flush()
	}
	if err := s.drop(size); err != nil {
		return false, err
	}
	s.say(&pgproto3.ReadyForQuery{TxStatus: 'T'})
	return true, s.flush()
}
