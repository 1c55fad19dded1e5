package proxy

import (
	"bytes"
	"context"
	"errors"
	"strconv"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/proxy/activity"
	"github.com/sluicedb/sluice/proxy/encode"
	"github.com/sluicedb/sluice/proxy/limit"
	"github.com/sluicedb/sluice/proxy/wire"
)

// openCounted opens a statement that home computes over shipped inputs, and whose rows are counted.
func (s *Session) openCounted(ctx context.Context, x *execution, p *portal) (*cursor, error) {
	if x.statement.Kind != parser.CopyTo {
		return s.openJoined(ctx, x, p)
	}
	if err := s.shipInputs(ctx, x); err != nil {
		return nil, err
	}
	p.temps = x.temps()
	err := s.copyHome(ctx, x, x.homeSQL())
	p.tag = x.tag
	return nil, err
}

// copyHome lets home copy rows to the client, and sets the tag.
func (s *Session) copyHome(ctx context.Context, x *execution, sql string) error {
	var r request
	r.close('S', onceName).parse(onceName, sql, nil).bind(ownPortal, onceName, nil).execute(ownPortal).close('P', ownPortal)
	header := hasHeader(x.statement.Node.Stmt.GetCopyStmt())
	var over *limit.Exceeded
	err := s.ask(ctx, &r, func(typ byte, body []byte) error {
		switch typ {
		case 'H', 'd', 'c':
			row := typ == 'd' && !header && !bytes.Equal(body, copyTrailer)
			header = header && typ != 'd'
			if over != nil && row {
				return nil
			}
			at := len(s.out)
			s.out = appendFrame(s.out, typ, body)
			if row && x.ledger != nil {
				length, _, err := x.ledger.Admit(s.out[at:], 1)
				if s.out = s.out[:at+length]; errors.As(err, &over) && !over.Truncate {
					return over.PgError()
				}
			}
			if len(s.out) >= flushBytes {
				return s.flush()
			}
		case 'C':
			x.tag = fixedTag(string(bytes.TrimRight(body, "\x00")))
		}
		return nil
	})
	if err == nil && over != nil {
		s.truncated(over)
		x.tag = copyTag(x.ledger.Rows)
	}
	return err
}

var copyTrailer = encode.CopyTrailer[wire.HeaderSize:]

func copyTag(rows int64) func(int64) string { return fixedTag("COPY " + strconv.FormatInt(rows, 10)) }

// hasHeader reports whether a COPY TO sends a line of names first.
func hasHeader(n *pg_query.CopyStmt) bool {
	for _, o := range n.GetOptions() {
		if d := o.GetDefElem(); d.GetDefname() == "header" {
			return d.Arg == nil || booleans[optionText(d.Arg)]
		}
	}
	return false
}

// admitting returns a write of runs of CopyData messages, each a row but for the end of the binary form, that passes on those
// that a ledger admits.
func (l *ledger) admitting(write func([]byte) error) func([]byte) error {
	if l == nil {
		return write
	}
	return func(run []byte) error {
		rows, ended := run, bytes.HasSuffix(run, encode.CopyTrailer)
		if ended {
			rows = run[:len(run)-len(encode.CopyTrailer)]
		}
		length, _, over := l.Admit(rows, countFrames(rows))
		if over == nil {
			length = len(run)
		}
		if err := write(run[:length]); err != nil {
			return err
		}
		return over
	}
}

// countFrames counts the messages of a run.
func countFrames(run []byte) (n int) {
	for at := 0; at < len(run); n++ {
		at = skipFrames(run, at, 1)
	}
	return n
}

// cut ends COPY data that go beyond a limit, if that truncates them.
func (c *copying) cut(over *limit.Exceeded, rows int64, write func([]byte) error) error {
	if !over.Truncate {
		return over.PgError()
	}
	if c.format != encode.Binary {
		return nil
	}
	c.buf = append(c.buf[:0], encode.CopyTrailer...)
	if rows == 0 { // the message that began with the header is not sent
		c.begun = false
		c.header(0)
	}
	return write(c.buf)
}

// ends returns what an error in the rows of a result means to the client, nil where it truncates it, and notes it.
func (s *Session) ends(c *cursor, err error) error {
	var over *limit.Exceeded
	if errors.As(err, &over) {
		if over.Truncate {
			c.ended, c.batch = true, nil
			s.truncated(over)
			return nil
		}
		err = over.PgError()
	}
	s.settle(c.ledger, err)
	return err
}

func (s *Session) truncated(over *limit.Exceeded) {
	s.notices([]*pgconn.PgError{over.PgError()})
}

// executeHome passes on an Execute of a portal of home's for up to limit rows (0: all), and settles it where it is in a ledger.
func (s *Session) executeHome(p *portal, size int, limit int64) error {
	if p == nil || p.ledger == nil {
		return s.pass('E', size)
	}
	if !p.ledger.strict {
		return s.passFor('E', size, s.executedAtHome(p.ledger.doing, limit))
	}
	if err := s.pass('E', size); err != nil {
		return err
	}
	err := s.takeHome()
	s.settleAtHome(p.ledger, err)
	return ignoreCopyIn(err)
}

// executedAtHome returns what notes the outcome of an Execute that home answers by itself. It is called with home's last tag
// locked, which is empty where rows are left.
func (s *Session) executedAtHome(doing *activity.Statement, limit int64) func(ok bool) {
	return func(ok bool) {
		if ok && len(s.home.tag) == 0 {
			doing.Yielded(limit)
			return
		}
		if rows, known := taggedRows(bytes.TrimRight(s.home.tag, "\x00")); ok && known {
			doing.Yielded(rows)
		}
		doing.End(-1, !ok)
	}
}

// bound returns what notes the outcome of a Bind that home answers by itself.
func (l *ledger) bound() func(ok bool) {
	if l == nil || l.doing == nil {
		return nil
	}
	return func(ok bool) {
		if !ok {
			l.doing.End(-1, true)
		}
	}
}

// settleBound settles a statement that home was told to bind over shipped inputs, if that has failed.
func (s *Session) settleBound(l *ledger, err error) error {
	if l == nil {
		return err
	}
	if err == nil && l.strict {
		err = s.waitHome()
	}
	if err != nil || l.strict && s.home.failed() {
		s.settleAtHome(l, err)
	}
	return err
}
