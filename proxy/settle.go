package proxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/audit"
)

// settle ends the ledger of a statement, nil for none, that has ended: in err, or as it should. It waits where the audit has
// no room for its row.
func (s *Session) settle(l *ledger, err error) {
	if l == nil || l.ended {
		return
	}
	if err == errSkipped { // home has told the client by itself
		err = &pgconn.PgError{Code: s.home.lastCode()}
	}
	outcome, code := outcomeOf(err)
	s.record(l, outcome, code)
}

// record ends a ledger with an outcome.
func (s *Session) record(l *ledger, outcome, code string) {
	if l == nil || l.ended {
		return
	}
	l.ended = true
	l.doing.End(l.wrote, outcome != audit.OK && outcome != audit.Partial)
	if l.row == nil {
		return
	}
	r := *l.row
	r.At, r.Seconds, r.Outcome, r.SQLState = time.Now(), time.Since(l.began).Seconds(), outcome, code
	r.Rows, r.Bytes = l.Rows, l.Bytes
	if l.kept {
		r.Rows, r.Bytes = l.RowsRead, l.BytesRead
		if l.wrote >= 0 {
			r.Rows = l.wrote
		}
	}
	s.server.audit.Put(s.database, r)
}

const success = "00000"

// outcomeOf is what the audit calls the end of a statement, and its SQLSTATE.
func outcomeOf(err error) (outcome, code string) {
	switch {
	case err == nil:
		return audit.OK, success
	case isGone(err):
		return audit.Gone, pgerr.ConnectionFailure
	}
	switch pe := pgerr.From(err); {
	case pe.Code == pgerr.InsufficientPrivilege:
		return audit.Denied, pe.Code
	case pe.Code == pgerr.QueryCanceled:
		return audit.Cancelled, pe.Code
	default:
		return audit.Failed, pe.Code
	}
}

// isGone reports whether an error says that the client is gone.
func isGone(err error) bool {
	var broken net.Error
	return errors.Is(err, errClientGone) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) || errors.As(err, &broken)
}

// settleExecuted settles an Execute of a portal that has ended in err, or without one.
func (s *Session) settleExecuted(p *portal, err error) {
	if err != nil || p.cursor == nil || p.ended {
		s.settle(p.ledger, err)
	}
}

// settleEnded settles a portal that nobody can execute any more. One that never was has read nothing, unless its inputs were
// shipped when it was bound.
func (s *Session) settleEnded(p *portal) {
	switch {
	case !p.ran && !p.home:
		if p.ledger != nil {
			p.ledger.doing.Drop()
		}
	case s.ctx.Err() != nil:
		s.record(p.ledger, audit.Gone, pgerr.ConnectionFailure)
	case p.ended:
		s.settle(p.ledger, nil)
	default:
		s.record(p.ledger, audit.Partial, success)
	}
}

// settleAtHome settles a statement that home has run over shipped inputs, home owing nothing.
func (s *Session) settleAtHome(l *ledger, err error) {
	if l == nil {
		return
	}
	if err == nil && s.home.failed() {
		err = errSkipped
	}
	if err == nil {
		if n, ok := taggedRows(s.home.lastTag()); ok {
			l.wrote = n
		}
	}
	s.settle(l, err)
}

// taggedRows reads the number of rows at the end of a command tag.
func taggedRows(tag []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(tag[bytes.LastIndexByte(tag, ' ')+1:]), 10, 64)
	return n, err == nil
}
