package proxy

import (
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/proxy/wire"
)

// late is a bound utility statement that may be ours. Postgres looks into a utility only when it is executed, and so do
// we: until then home holds the portal, which describes and closes it.
type late struct {
	statement *parser.Statement
	described *description
	bind      *pgproto3.Bind
}

// isLate reports whether a statement is looked into at Execute: all but those that have plans of their own, and those on
// portals of ours, which home cannot describe.
func (s *Session) isLate(st *parser.Statement) bool {
	return st.Kind != parser.Select && !st.Kind.Writes() && s.cursorUtility(st.Node.Stmt) == nil
}

// bindLate lets home bind a utility and remembers that its Execute is ours. Home is ours.
func (s *Session) bindLate(size int, p *prepared, m *pgproto3.Bind) error {
	if err := s.drop(size); err != nil {
		return err
	}
	var r request
	d, err := s.readDescription(s.ctx, r.describe('S', m.PreparedStatement))
	if err == nil {
		var b request
		err = s.ask(s.ctx, b.add('B', m), nil)
	}
	if err != nil {
		s.skip = true
		return s.fail(err)
	}
	bound := &portal{late: &late{p.statement, d, m}, formats: m.ResultFormatCodes, shadowed: true, described: true}
	if err := s.describeFetched(s.ctx, p.statement, m.DestinationPortal, bound); err != nil {
		s.skip = true
		return s.fail(err)
	}
	s.portals[m.DestinationPortal] = bound
	s.say(&pgproto3.BindComplete{})
	return s.flush()
}

// planLate plans a utility at its first Execute and puts the portal that runs it in its place; home runs what is not ours,
// and what it computes over shipped inputs. Home is ours.
func (s *Session) planLate(name string, p *portal) (*portal, error) {
	run := s.begin()
	defer run.end()
	if endsBlock(p.late.statement.Node.Stmt) { // home complains of a portal that was bound and not run in a failed block
		var r request
		if err := s.ask(run.ctx, r.close('P', name), nil); err != nil {
			return nil, err
		}
	}
	x := &execution{statement: p.late.statement, described: p.late.described, bind: p.late.bind}
	ours, err := s.plan(run.ctx, x)
	err = s.enter(run.ctx, x, err)
	switch {
	case err != nil:
		return nil, s.cause(err)
	case !ours:
		p = &portal{home: true, fields: p.fields, formats: p.formats, described: p.described}
	case x.plan != nil && x.atHome():
		p, err = s.rebindHome(name, x, p.late.bind)
		err = s.settleBound(x.ledger, err)
	default:
		p = x.portal(s, p.late.bind.ResultFormatCodes)
		p.shadowed, p.described, p.reads = true, true, nil // what a utility yields it has kept
	}
	if err == nil {
		s.portals[name] = p
	}
	return p, err
}

// rebindHome ships the inputs and puts home's statement over them in the place of the portal that home has.
func (s *Session) rebindHome(name string, x *execution, m *pgproto3.Bind) (*portal, error) {
	if err := s.checkCursor(x); err != nil {
		return nil, err
	}
	if err := s.shipAll(x); err != nil {
		return nil, err
	}
	p := &portal{home: true, fields: x.described.fields, formats: m.ResultFormatCodes, ledger: x.ledger}
	if x.statement.Kind != parser.DeclareCursor { // whose cursor reads them longer than this portal lives
		p.temps = x.temps()
	}
	data := appendMessage(nil, &pgproto3.Close{ObjectType: 'P', Name: name})
	more, replies := s.parseJoin(x)
	bound := pgproto3.Bind{DestinationPortal: name, PreparedStatement: joinName, ResultFormatCodes: m.ResultFormatCodes}
	if x.bind != nil {
		bound.Parameters, bound.ParameterFormatCodes = x.bind.Parameters, x.bind.ParameterFormatCodes
	}
	data = appendMessage(append(data, more...), &bound)
	replies = append([]wire.Reply{{Kind: 'C', Fate: wire.Swallow}}, replies...)
	return p, homeErr(s.relay(data, append(replies, wire.Reply{Kind: 'B', Fate: wire.Swallow, Done: x.ledger.bound()})...))
}
