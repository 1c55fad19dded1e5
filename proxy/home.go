package proxy

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/wire"
)

// Names that the proxy's own statements and portals bear on the client's home connection.
const (
	ownPrefix = "sluice_"
	ownPortal = "sluice_portal"
	onceName  = "sluice_once"
)

// request is a group of messages to home, none of them a Sync, whose answers are captured.
type request struct {
	data    []byte
	replies []wire.Reply
	// readers take the answers to some of the messages, by number, in the place of who asks.
	readers map[int]frameReader
	// own are messages, by number, that run functions of ours.
	own map[int]bool
}

// frameReader takes a frame, type and body; the body is its to keep.
type frameReader func(typ byte, body []byte) error

// to hands the answer to the message that was added last to a reader.
func (r *request) to(f frameReader) *request {
	if r.readers == nil {
		r.readers = map[int]frameReader{}
	}
	r.readers[len(r.replies)-1] = f
	return r
}

// ours says that the message that was added last runs functions of ours: an error does not tell where in these it arose.
func (r *request) ours() *request {
	if r.own == nil {
		r.own = map[int]bool{}
	}
	r.own[len(r.replies)-1] = true
	return r
}

func (r *request) add(kind byte, m pgproto3.FrontendMessage) *request {
	r.data = appendMessage(r.data, m)
	r.replies = append(r.replies, wire.Reply{Kind: kind, Fate: wire.Capture})
	return r
}

func appendMessage(dst []byte, m pgproto3.FrontendMessage) []byte {
	out, err := m.Encode(dst)
	if err != nil { // only a body beyond 1 GiB: home would refuse it as well
		return dst
	}
	return out
}

// silent keeps the answers from everybody.
func (r *request) silent() *request {
	for i := range r.replies {
		r.replies[i].Fate = wire.Swallow
	}
	return r
}

// quiet captures notices as well.
func (r *request) quiet() *request {
	for i := range r.replies {
		r.replies[i].Fate = wire.CaptureAll
	}
	return r
}

func (r *request) parse(name, sql string, types []uint32) *request {
	return r.add('P', &pgproto3.Parse{Name: name, Query: sql, ParameterOIDs: types})
}

func (r *request) describe(kind byte, name string) *request {
	return r.add('D', &pgproto3.Describe{ObjectType: kind, Name: name})
}

func (r *request) bind(portal, statement string, args [][]byte) *request {
	return r.add('B', &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: statement, Parameters: args})
}

func (r *request) execute(portal string) *request {
	return r.add('E', &pgproto3.Execute{Portal: portal})
}

func (r *request) close(kind byte, name string) *request {
	return r.add('C', &pgproto3.Close{ObjectType: kind, Name: name})
}

// ask sends a request and hands each frame of the answer to each, where the message has no reader of its own. An
// ErrorResponse ends it as a *pgconn.PgError; home then skips everything until a Sync.
func (s *Session) ask(ctx context.Context, r *request, each frameReader) error {
	if s.home.failed() {
		return errSkipped
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.data = append(r.data, flushMessage...)
	asked := time.Now()
	defer func() { s.waited += time.Since(asked) }()
	if err := s.home.send(r.data, r.replies...); err != nil {
		return homeGone(err)
	}
	var failure error
	for i := 0; i < len(r.replies); {
		frame, err := s.home.next(s.ctx) // a cancelled statement still ends with an answer
		if err != nil {
			return homeGone(err)
		}
		typ, body := frame[0], frame[wire.HeaderSize:]
		if typ == 'E' {
			e := readError(body)
			if r.own[i] {
				e.Where, e.InternalQuery, e.InternalPosition = "", "", 0
			}
			return e
		}
		read := each
		if own := r.readers[i]; own != nil {
			read = own
		}
		if read != nil && failure == nil {
			failure = read(typ, body)
		}
		if wire.Ends(r.replies[i].Kind, typ) {
			i++
		}
	}
	return failure
}

// homeGone says that the home connection broke.
func homeGone(err error) error {
	if _, ok := err.(*pgconn.PgError); ok || err == errSkipped {
		return err
	}
	e := pgerr.New(pgerr.ConnectionFailure, "the connection to home was lost: %v", err)
	e.Severity, e.SeverityUnlocalized = "FATAL", "FATAL"
	return e
}

func readError(body []byte) *pgconn.PgError {
	var m pgproto3.ErrorResponse
	if err := m.Decode(body); err != nil {
		return pgerr.New(pgerr.ProtocolViolation, "home sent an unreadable error: %v", err)
	}
	return pgconn.ErrorResponseToPgError(&m)
}

func textRow(body []byte) ([]*string, error) {
	var m pgproto3.DataRow
	if err := m.Decode(body); err != nil {
		return nil, err
	}
	row := make([]*string, len(m.Values))
	for i, v := range m.Values {
		if v != nil {
			text := string(v)
			row[i] = &text
		}
	}
	return row, nil
}

// Exec implements catalog.Executor: it runs one statement at home, within the transaction that is open there, and
// returns its command tag. Notices go to the client as they come.
func (s *Session) Exec(ctx context.Context, sql string) (string, error) {
	_, tag, err := s.once(ctx, sql, nil, nil)
	return tag, err
}

// once runs one statement at home with the parameters of bind (nil: none) and returns its rows, in text, and its tag.
// It is for bounded results only.
func (s *Session) once(ctx context.Context, sql string, types []uint32, bind *pgproto3.Bind) (rows [][]*string, tag string, err error) {
	m := pgproto3.Bind{DestinationPortal: ownPortal, PreparedStatement: onceName}
	if bind != nil {
		m.Parameters, m.ParameterFormatCodes = bind.Parameters, bind.ParameterFormatCodes
	}
	var r request // a failed transaction block may still hold a portal of ours
	r.close('P', ownPortal).close('S', onceName).parse(onceName, sql, types).add('B', &m).execute(ownPortal).close('P', ownPortal)
	err = s.ask(ctx, &r, func(typ byte, body []byte) error {
		switch typ {
		case 'C':
			tag = string(body[:max(len(body)-1, 0)])
		case 'D':
			row, err := textRow(body)
			rows = append(rows, row)
			return err
		}
		return nil
	})
	return rows, tag, err
}

// describe prepares sql under name and returns what home says of it: parameter types and result columns.
func (s *Session) describe(ctx context.Context, name, sql string, types []uint32) (*description, error) {
	return s.readDescription(ctx, analysis(name, sql, types))
}

// analysis makes home prepare sql under name and describe it, notices captured.
func analysis(name, sql string, types []uint32) *request {
	var r request
	return r.close('S', name).parse(name, sql, types).describe('S', name).quiet()
}

// description is what home's analysis says of a statement.
type description struct {
	params []uint32
	fields []pgproto3.FieldDescription // nil: the statement returns no rows
	rows   bool
	// notices are whole frames that the client must get if the statement runs by this analysis.
	notices []byte
}

func (s *Session) readDescription(ctx context.Context, r *request) (*description, error) {
	d := &description{}
	err := s.ask(ctx, r, func(typ byte, body []byte) error {
		switch typ {
		case 't':
			var m pgproto3.ParameterDescription
			if err := m.Decode(body); err != nil {
				return err
			}
			d.params = append([]uint32(nil), m.ParameterOIDs...)
		case 'N':
			d.notices = appendFrame(d.notices, typ, body)
		case 'T':
			var m pgproto3.RowDescription
			if err := m.Decode(body); err != nil {
				return err
			}
			d.fields, d.rows = append([]pgproto3.FieldDescription{}, m.Fields...), true
		}
		return nil
	})
	return d, err
}

// syncHome ends the group of messages at home with a Sync whose answer the client does not see.
func (s *Session) syncHome(ctx context.Context) error {
	if err := s.home.send(syncMessage, wire.Reply{Kind: 'S', Fate: wire.Capture}); err != nil {
		return homeGone(err)
	}
	return s.awaitReady(ctx)
}

// awaitReady reads captured frames up to ReadyForQuery, and returns the error that was among them.
func (s *Session) awaitReady(ctx context.Context) (failure error) {
	for {
		frame, err := s.home.next(ctx)
		switch {
		case err != nil && failure != nil:
			return failure
		case err != nil:
			return homeGone(err)
		case frame[0] == 'Z':
			return failure
		case frame[0] == 'E':
			failure = readError(frame[wire.HeaderSize:])
		}
	}
}

// queryHome runs a simple query at home that returns no rows, home owing nothing.
func (s *Session) queryHome(sql string) error {
	if err := s.home.send(appendMessage(nil, &pgproto3.Query{String: sql}), wire.Reply{Kind: 'Q', Fate: wire.Capture}); err != nil {
		return homeGone(err)
	}
	return s.awaitReady(s.ctx)
}

// abortHome makes home fail the transaction that is open there, as an error of its own would. Home then skips until Sync.
func (s *Session) abortHome() error {
	if s.home.failed() {
		return nil
	}
	var r request
	r.parse(ownPrefix+"abort", "sluice: the statement failed at a foreign server, so the transaction must", nil)
	err := s.ask(s.ctx, &r, nil)
	if e, ok := err.(*pgconn.PgError); ok && e.Severity != "FATAL" {
		return nil
	}
	return err
}
