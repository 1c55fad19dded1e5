package proxy

import (
	"bytes"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/proxy/wire"
)

// heldParse is a Parse of the unnamed statement, one of ours, that is not sent to home yet: with the Bind behind it, home
// is asked for all at once.
type heldParse struct {
	prepared *prepared
	message  []byte
}

// holdParse holds a Parse back where it may do some good, and reports whether it has.
func (s *Session) holdParse(name string, st *parser.Statement, size int) (bool, error) {
	if name != "" || s.parsing || st.Kind != parser.Select {
		return false, nil
	}
	frame, err := s.in.Frame(size)
	if err != nil {
		return false, err
	}
	held := &heldParse{&prepared{statement: st}, bytes.Clone(frame)}
	if err := s.drop(size); err != nil {
		return false, err
	}
	s.holding = held
	return true, nil
}

// releaseParse sends home the Parse that is held back, if any.
func (s *Session) releaseParse() error {
	h := s.holding
	if h == nil {
		return nil
	}
	s.holding, s.parsing = nil, true
	return s.relay(h.message, wire.Reply{Kind: 'P', Done: s.parsed("", h.prepared)})
}

// bindHeld answers a Bind of the statement whose Parse is held back. Where something else has to be asked before, or the
// Bind is of another statement, the Parse is sent, and held is false.
func (s *Session) bindHeld(size int, portal, statement string) (held bool, err error) {
	if s.holding == nil {
		return false, nil
	}
	if _, err := s.in.Frame(size); err != nil || s.holding == nil { // a read that waits releases it
		return false, err
	}
	if err := s.takeHome(); err != nil && err != errCopyIn {
		return false, err
	}
	s.settleTransaction()
	if statement != "" || portal != "" || s.portals[""] != nil || s.home.owes() || s.home.failed() || s.home.state() == 'E' || s.needsShadow(portal) {
		return false, s.releaseParse()
	}
	return true, s.bindOurs(size, s.holding.prepared)
}

// addHeld adds the Parse that is held back to what home is asked, if there is one.
func (s *Session) addHeld(r *request) {
	h := s.holding
	if h == nil {
		return
	}
	s.forget("")
	r.data, r.replies = append(r.data, h.message...), append(r.replies, wire.Reply{Kind: 'P', Fate: wire.Capture})
	done := s.parsed("", h.prepared)
	r.to(func(typ byte, _ []byte) error {
		if typ == '1' {
			s.holding = nil
			done(true)
			s.say(&pgproto3.ParseComplete{})
		}
		return nil
	})
}
