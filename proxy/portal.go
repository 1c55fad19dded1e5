package proxy

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/encode"
	"github.com/sluicedb/sluice/proxy/wire"
)

// portal is a portal of ours: a result that we compute (open), or one that home holds over inputs we shipped (home).
type portal struct {
	fields  []pgproto3.FieldDescription // nil: returns no rows
	formats []int16
	home    bool
	hidden  bool // home cannot tell FETCH where its columns come from
	apart   bool // home has no part in computing it
	last    bool // it is the only one of a simple query
	first   bool // nothing was executed before it in its transaction
	// late is set until the first Execute of a utility.
	late *late
	// shadowed says that home has a portal of the same name, which lives and dies as this one would; described, that it
	// describes this one as well.
	shadowed, described bool
	// announce has the columns sent before the rows, once it is sure that there are any: RETURNING runs to its end first.
	announce bool
	kept     bool     // of EXECUTE, which like RETURNING has no columns if it fails at its first row
	temps    []temp   // temporary tables that a home portal reads
	reads    []uint32 // relations of ours
	ledger   *ledger  // nil for none

	open func(ctx context.Context) (*cursor, error) // the first Execute; a nil cursor returns no rows
	// timeout is the statement_timeout in force, known once the statement was analysed.
	timeout func() time.Duration
	tag     func(rows int64) string
	again   func(rows int64) string // the tag of an Execute after the last
	cursor  *cursor
	ran     bool

	position int64           // rows given so far
	limit    int64           // of the last Execute that left rows
	ended    bool            // the end was met
	settings encode.Settings // that values are written by as text
	done     bool            // what returns no rows runs once
	failed   bool            // it is there to be described and closed, until its transaction ends
}

// bindPortal makes the portal that a Bind asks for. Home is ours.
func (s *Session) bindPortal(x *execution, m *pgproto3.Bind) error {
	if x.plan != nil && x.atHome() {
		err := s.bindHome(x, m)
		return s.settleBound(x.ledger, err)
	}
	p := x.portal(s, m.ResultFormatCodes)
	p.shadowed = s.needsShadow(m.DestinationPortal)
	s.portals[m.DestinationPortal] = p
	s.say(&pgproto3.BindComplete{})
	if next := s.in.Next(); p.apart && (next == 'E' || next == 'D') { // home has nothing to say before it has run
		return nil
	}
	return s.flush()
}

// bindHome ships the inputs and lets home bind the statement over them: from then on the portal is home's.
func (s *Session) bindHome(x *execution, m *pgproto3.Bind) error {
	if err := s.shipAll(x); err != nil {
		return err
	}
	name := m.DestinationPortal
	p := &portal{fields: x.described.fields, formats: m.ResultFormatCodes, home: true, ledger: x.ledger, hidden: m.DestinationPortal != "" && x.hidesOrigins()}
	if x.statement.Kind != parser.DeclareCursor { // whose cursor reads them longer than this portal lives
		p.temps = x.temps()
	}
	s.portals[name] = p
	data, replies := s.parseJoin(x)
	bound := *m
	bound.PreparedStatement = joinName
	data = appendMessage(data, &bound)
	return homeErr(s.relay(data, append(replies, wire.Reply{Kind: 'B', Done: x.ledger.bound()})...))
}

// joinName is the name of the statement that home runs over shipped inputs.
const joinName = ownPrefix + "join"

func (s *Session) parseJoin(x *execution) ([]byte, []wire.Reply) {
	data := appendMessage(nil, &pgproto3.Close{ObjectType: 'S', Name: joinName})
	data = appendMessage(data, &pgproto3.Parse{Name: joinName, Query: x.homeSQL(), ParameterOIDs: x.described.params})
	return data, []wire.Reply{{Kind: 'C', Fate: wire.Swallow}, {Kind: 'P', Fate: wire.Swallow}}
}

func homeErr(err error) error {
	if err != nil {
		return homeGone(err)
	}
	return nil
}

// executePortal runs a portal of ours for up to limit rows (0: all) and says how it went.
func (s *Session) executePortal(name string, p *portal, limit int64) (err error) {
	if err := p.runs(name); err != nil {
		return err
	}
	run := s.begin()
	defer run.end()
	defer run.limit(p.timeout())()
	defer run.spend(p.ledger)()
	defer func() { s.settleExecuted(p, err) }()
	if !p.ran {
		if err := p.start(run.ctx); err != nil {
			return s.cause(err)
		}
		if err := p.keep(run.ctx); err != nil {
			return s.cause(err)
		}
		if p.announce {
			s.say(&pgproto3.RowDescription{Fields: p.fields})
		}
	}
	if p.cursor == nil {
		p.done = true
		s.say(&pgproto3.CommandComplete{CommandTag: []byte(p.tag(0))})
		p.tag = p.again
		return s.flush()
	}
	rows, more, err := s.deliver(run.ctx, p.cursor, limit)
	if err != nil {
		return err
	}
	p.advance(rows, !more)
	if more {
		s.say(&pgproto3.PortalSuspended{})
		s.suspended, s.fetched, p.limit = true, p, limit
	} else {
		s.say(&pgproto3.CommandComplete{CommandTag: []byte(p.tag(rows))})
		p.tag = p.again
		s.completed = p.apart && len(p.temps) == 0 && p.first
	}
	if p.last || s.in.Next() == 'S' { // what follows may be answered with it
		return nil
	}
	return s.flush()
}

func (s *Session) closePortal(name string) {
	p := s.portals[name]
	if p == nil {
		return
	}
	delete(s.portals, name)
	s.endPortal(p)
	if err := s.closeUnread(s.ctx); err != nil { // whoever asks next meets the same error
		s.log.Debug("cannot close a portal at home", "error", err)
	}
}

// endPortal frees what a portal holds; its temporary tables are dropped with the next statement's.
func (s *Session) endPortal(p *portal) {
	s.settleEnded(p)
	s.temps = append(s.temps, p.temps...)
	if s.fetched == p {
		s.fetched = nil
	}
	if p.cursor != nil {
		_ = p.cursor.stream.Close()
	}
}

// failPortal keeps a portal that has failed under its name, as Postgres does up to the end of a transaction block.
func (s *Session) failPortal(name string, p *portal) {
	s.endPortal(p)
	p.cursor, p.temps, p.reads, p.failed = nil, nil, nil, true
	s.portals[name] = p
}

// keep fetches the first rows of what must have them before its columns are told.
func (p *portal) keep(ctx context.Context) error {
	c := p.cursor
	if !p.kept || c == nil || c.batch != nil {
		return nil
	}
	if err := c.fetch(ctx); err != io.EOF {
		return err
	}
	return nil
}

// runs refuses to run a portal that has failed, or that returns no rows and has run.
func (p *portal) runs(name string) error {
	if p.failed || p.done && p.fields == nil {
		return pgerr.New(pgerr.ObjectNotInPrerequisite, "portal %q cannot be run", name)
	}
	return nil
}

func (s *Session) closePortals() {
	for name, p := range s.portals {
		delete(s.portals, name)
		s.endPortal(p)
	}
}

func selectTag(rows int64) string { return "SELECT " + strconv.FormatInt(rows, 10) }
