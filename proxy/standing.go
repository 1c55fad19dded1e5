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

// sparesReady reports whether a Sync of what home had no part in ends nothing but home's reading of its catalog.
func (b *backend) sparesReady() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.replies.Idle() && !b.replies.Failed() && b.err == nil && b.status == 'I' && !b.guessed
}

// standIn answers a Sync in home's place, together with the rows before it, where it directly follows an Execute of a
// portal of ours at which nothing of home's is at stake: one that has left rows, or, outside a transaction block, one that
// has ended.
func (s *Session) standIn(size int) (answered bool, err error) {
	ended := s.completed && s.home.sparesReady()
	if size != wire.HeaderSize || !ended && !(s.suspended && s.home.sparesSync()) {
		return false, nil
	}
	if err := s.in.Drop(size); err != nil {
		return false, err
	}
	if ended {
		s.closePortals()
		return true, s.answerReady()
	}
	s.say(&pgproto3.ReadyForQuery{TxStatus: 'T'})
	return true, s.flush()
}

// answerReady says that home is ready without waiting for it: it has only read its catalog, which no Sync makes fail. The
// client is told first, and reads while home is woken.
func (s *Session) answerReady() error {
	s.say(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if err := s.flush(); err != nil {
		return err
	}
	return homeErr(s.home.send(syncMessage, wire.Reply{Kind: 'S', Fate: wire.Swallow}))
}
