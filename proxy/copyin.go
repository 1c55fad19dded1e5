package proxy

import (
	"errors"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/proxy/wire"
)

// stopCopyIn ends a COPY FROM STDIN that home waits for, before any data, and returns why.
func (s *Session) stopCopyIn(why error) error {
	end := appendMessage(nil, &pgproto3.CopyFail{Message: why.Error()})
	if err := s.home.send(append(end, flushMessage...)); err != nil {
		return homeGone(err)
	}
	frame, err := s.home.next(s.ctx)
	if err != nil {
		return homeGone(err)
	}
	if pe := readError(frame[wire.HeaderSize:]); pe.Severity == "FATAL" {
		return pe
	}
	return why
}

// relayCopyIn passes the client's COPY data to home, up to their end or to home's first complaint.
func (s *Session) relayCopyIn() error {
	for {
		typ, size, err := s.copyHeader()
		if err != nil || size == 0 {
			return err
		}
		switch typ {
		case 'd':
			err = s.in.Walk(size)
		case 'H', 'S': // mean nothing here
			err = s.drop(size)
		default: // the end, or what home complains of
			if err := s.pass(wire.CopyEnd, size); err != nil {
				return err
			}
			return s.forward()
		}
		if err != nil {
			return err
		}
	}
}

// copyHeader returns the header of the client's next message, size 0 where home has failed: a client that has seen the
// error may wait for what follows and send nothing.
func (s *Session) copyHeader() (typ byte, size int, err error) {
	if !s.home.interruptOnFailure(s.client) {
		return 0, 0, s.forward()
	}
	typ, size, err = s.in.Header()
	s.home.interruptOnFailure(nil)
	if cerr := s.client.SetReadDeadline(time.Time{}); cerr != nil && err == nil {
		err = cerr
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && s.home.failed() {
		return 0, 0, nil
	}
	return typ, size, err
}
