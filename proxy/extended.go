package proxy

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
	"github.com/sluicedb/sluice/proxy/wire"
)

// prepared is a statement of ours that the client has prepared, by protocol or by PREPARE. Home holds it as well, under
// the same name: home describes it, and only Bind and Execute are ours.
type prepared struct {
	statement *parser.Statement
	fetched   []pgproto3.FieldDescription // what a FETCH of a portal of ours yields; else nil
}

// onParse lets home prepare the statement and remembers it where it concerns us.
func (s *Session) onParse(size int) error {
	frame, err := s.in.Frame(size)
	if err != nil {
		return err
	}
	name, rest, ok1 := cString(frame[wire.HeaderSize:])
	text, _, ok2 := cString(rest)
	if !ok1 || !ok2 {
		return s.pass('P', size) // home refuses it
	}
	hit := s.mentions(text)
	if hit && s.pages(text) {
		if err := s.takeHome(); err != nil {
			return ignoreCopyIn(err)
		}
		s.settleTransaction()
		e, err := s.expand(text)
		switch {
		case err != nil:
			return s.refusePage('P', size, err)
		case e.text != text:
			return s.parseExpanded(name, e, size)
		}
		hit = s.mentions(text) // as home was asked for what is known by now
	}
	if name != "" && (s.control[name] != nil || s.prepared(name) != nil || s.controls(text) != nil) {
		return s.parseAgain(name, text, size)
	}
	s.noteControl(name, text)
	s.defining = s.defining || defines(text)
	if s.control[name] == nil && hit {
		s.noteMasks(text)
		if edited, ok := s.shadow(text); ok {
			return s.parseInstead(size, edited)
		}
		if st := s.ours(text); st != nil {
			if held, err := s.holdParse(name, st, size); held || err != nil {
				return err
			}
			return s.parseOurs(name, &prepared{statement: st}, size)
		}
	}
	if s.knows(name) {
		return s.parseOurs(name, nil, size)
	}
	return s.pass('P', size)
}

// parseAgain passes on a Parse to a name that may be in use. What was known of it stays until home has accepted another.
func (s *Session) parseAgain(name, text string, size int) error {
	accepted := false
	if err := s.passFor('P', size, func(ok bool) { accepted = ok }); err != nil {
		return err
	}
	if err := s.takeHome(); err != nil {
		return ignoreCopyIn(err)
	}
	s.parsing = false
	if !accepted {
		return nil
	}
	s.forget(name)
	s.noteControl(name, text)
	if st := s.ours(text); s.control[name] == nil && s.mentions(text) && st != nil {
		s.mu.Lock()
		s.stmts[name] = &prepared{statement: st}
		s.mu.Unlock()
	}
	return nil
}

// parseOurs passes a Parse on and notes under its name, once home has accepted it, that it is p (nil: not ours).
func (s *Session) parseOurs(name string, p *prepared, size int) error {
	s.parsing = true
	return s.passFor('P', size, s.parsed(name, p))
}

// parsed returns what notes the outcome of a Parse.
func (s *Session) parsed(name string, p *prepared) func(ok bool) {
	return func(ok bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case ok && p != nil:
			s.stmts[name] = p
		case ok || name == "":
			delete(s.stmts, name)
		}
	}
}

// parseInstead sends home the same Parse with another text.
func (s *Session) parseInstead(size int, text string) error {
	frame, err := s.in.Frame(size)
	if err != nil {
		return err
	}
	var m pgproto3.Parse
	if err := m.Decode(frame[wire.HeaderSize:]); err != nil {
		return s.pass('P', size)
	}
	m.Query = text
	data := appendMessage(nil, &m)
	if err := s.drop(size); err != nil {
		return err
	}
	return s.relay(data, wire.Reply{Kind: 'P'})
}

// knows reports whether name is that of a prepared statement of ours, once home has answered all Parses.
func (s *Session) knows(name string) bool { return s.prepared(name) != nil || s.parsing }

func (s *Session) prepared(name string) *prepared {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stmts[name]
}

func (s *Session) holdsStatements() bool {
	if s.parsing {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.stmts) > 0
}

// settleParses waits until home has answered the Parses of ours that are under way.
func (s *Session) settleParses() error {
	if !s.parsing {
		return nil
	}
	if err := s.takeHome(); err != nil {
		return ignoreCopyIn(err)
	}
	s.parsing = false
	return nil
}

func (s *Session) onBind(size int) error {
	if len(s.portals) == 0 && s.writing == nil && s.holding == nil && len(s.described) == 0 && !s.holdsStatements() {
		return s.pass('B', size)
	}
	portalName, name, err := s.bindNames(size)
	if err != nil {
		return err
	}
	if held, err := s.bindHeld(size, portalName, name); held || err != nil {
		return err
	}
	if err := s.settleParses(); err != nil {
		return err
	}
	p := s.toBind(name)
	if p == nil && s.portals[portalName] == nil {
		return s.pass('B', size)
	}
	if err := s.takeHome(); err != nil {
		if err == errCopyIn {
			return s.pass('B', size)
		}
		return err
	}
	if s.home.failed() {
		return s.drop(size)
	}
	s.settleTransaction()
	if s.refusesAll(cmp.Or(p, s.control[name])) { // and leaves the portal of the name
		return s.pass('B', size)
	}
	if old := s.portals[portalName]; old != nil {
		if lives, err := s.lives(portalName); err != nil {
			return s.refuse(size, err)
		} else if lives && portalName != "" {
			return s.refuseBind(size)
		}
		s.closePortal(portalName)
		if old.home && p != nil { // so that nothing reads its inputs any more
			var r request
			if err := s.ask(s.ctx, r.close('P', portalName), nil); err != nil {
				return err
			}
		}
	}
	if p == nil {
		return s.pass('B', size)
	}
	return s.bindOurs(size, p)
}

// bindNames reads the two names that a Bind starts with.
func (s *Session) bindNames(size int) (portal, statement string, err error) {
	for want := 160; ; want = size {
		body, err := s.in.Prefix(want, size)
		if err != nil {
			return "", "", err
		}
		portal, rest, ok := cString(body[wire.HeaderSize:])
		if ok {
			if statement, _, ok := cString(rest); ok {
				return portal, statement, nil
			}
		}
		if want >= size {
			return "", "", nil // home refuses it
		}
	}
}

// bindOurs makes a portal of a statement that concerns us. Home is ours.
func (s *Session) bindOurs(size int, p *prepared) error {
	frame, err := s.in.Frame(size)
	if err != nil {
		return err
	}
	var m pgproto3.Bind
	if err := m.Decode(append([]byte(nil), frame[wire.HeaderSize:]...)); err != nil {
		if err := s.releaseParse(); err != nil {
			return err
		}
		return s.pass('B', size) // home says what is wrong with it
	}
	if s.isLate(p.statement) {
		return s.bindLate(size, p, &m)
	}
	shadowed := s.needsShadow(m.DestinationPortal)
	if shadowed {
		if err := s.bindShadow(s.ctx, p, &m); err != nil {
			return s.refuse(size, err)
		}
	}
	x, err := s.prepare(p, &m)
	if shadowed && err == nil && (x == nil || x.atHome()) { // then home itself has the portal
		var r request
		err = s.ask(s.ctx, r.close('P', m.DestinationPortal), nil)
	}
	if err == nil && x == nil { // it names nothing of ours after all
		return s.pass('B', size)
	}
	if err := s.drop(size); err != nil {
		return err
	}
	if err == nil {
		err = s.bindPortal(x, &m)
	}
	if err != nil {
		s.skip = true
		return s.fail(err)
	}
	return nil
}

// refuseBind answers a Bind to a name that a portal of ours has, after what Postgres would complain of first.
func (s *Session) refuseBind(size int) error {
	frame, err := s.in.Frame(size)
	if err != nil {
		return err
	}
	var m pgproto3.Bind
	if err := m.Decode(append([]byte(nil), frame[wire.HeaderSize:]...)); err != nil {
		return s.pass('B', size)
	}
	var r request
	d, err := s.readDescription(s.ctx, r.describe('S', m.PreparedStatement))
	if err == nil {
		err = d.checkParams(&m)
	}
	if err == nil {
		err = pgerr.New(pgerr.DuplicateCursor, "cursor %q already exists", m.DestinationPortal)
	}
	return s.refuse(size, err)
}

// refusesAll reports that home is sure to refuse a Bind of p (nil: of no transaction control), for one reason or another:
// its block has failed.
func (s *Session) refusesAll(p *prepared) bool {
	return s.home.state() == 'E' && (p == nil || p.statement.Node.Stmt.GetTransactionStmt() == nil)
}

// checkParams refuses a Bind with another number of parameters than the statement has.
func (d *description) checkParams(m *pgproto3.Bind) error {
	if n := len(m.ParameterFormatCodes); n > 1 && n != len(m.Parameters) {
		return pgerr.New(pgerr.ProtocolViolation, "bind message has %d parameter formats but %d parameters", n, len(m.Parameters))
	}
	if len(m.Parameters) != len(d.params) {
		return pgerr.New(pgerr.ProtocolViolation, "bind message supplies %d parameters, but prepared statement %q requires %d",
			len(m.Parameters), m.PreparedStatement, len(d.params))
	}
	return nil
}

// refuse answers a message of an extended group with an error.
func (s *Session) refuse(size int, err error) error {
	if derr := s.drop(size); derr != nil {
		return derr
	}
	s.skip = true
	return s.fail(err)
}

func (s *Session) onDescribeOrClose(typ byte, size int) error {
	if len(s.portals) == 0 && len(s.described) == 0 && !s.holdsStatements() {
		return s.pass(typ, size)
	}
	frame, err := s.in.Frame(size)
	if err != nil {
		return err
	}
	kind := byte(0)
	if size > wire.HeaderSize {
		kind = frame[wire.HeaderSize]
	}
	name, _, ok := cString(frame[min(wire.HeaderSize+1, size):])
	if !ok {
		return s.pass(typ, size)
	}
	if kind == 'S' && typ == 'C' {
		s.parsing = true
		return s.passFor(typ, size, func(ok bool) {
			if ok {
				s.forget(name)
			}
		})
	}
	if p := s.control[name]; kind == 'S' && p != nil && p.fetched != nil {
		return s.describeControl(size, name, p.fetched)
	}
	if p := s.portals[name]; kind == 'P' && p != nil {
		return s.portalMessage(typ, size, name, p)
	}
	return s.pass(typ, size)
}

func (s *Session) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.stmts, name)
}

// portalMessage answers Describe and Close of a portal of ours.
func (s *Session) portalMessage(typ byte, size int, name string, p *portal) error {
	if err := s.takeHome(); err != nil {
		return err
	}
	if s.home.failed() {
		return s.drop(size)
	}
	s.settleTransaction()
	if typ == 'C' {
		s.closePortal(name)
	}
	if s.portals[name] != p || p.described { // gone, or home knows as much of it
		return s.pass(typ, size)
	}
	if err := s.checkPortal(name, p, false); err != nil {
		return s.refuse(size, err)
	}
	if err := s.drop(size); err != nil {
		return err
	}
	if p.fields == nil {
		s.say(&pgproto3.NoData{})
	} else {
		s.say(&pgproto3.RowDescription{Fields: withFormats(p.fields, p.formats)})
	}
	return s.flush()
}

func (s *Session) onExecute(size int) error {
	if len(s.portals) == 0 {
		return s.pass('E', size)
	}
	frame, err := s.in.Frame(size)
	if err != nil {
		return err
	}
	name, rest, ok := cString(frame[wire.HeaderSize:])
	p := s.portals[name]
	if !ok || len(rest) != 4 || p == nil {
		return s.pass('E', size)
	}
	limit := int64(int32(binary.BigEndian.Uint32(rest)))
	if p.home {
		return s.executeHome(p, size, limit)
	}
	if err := s.takeHome(); err != nil {
		return err
	}
	s.settleTransaction()
	if s.portals[name] == nil {
		return s.pass('E', size)
	}
	if !s.home.failed() {
		if err := s.checkPortal(name, p, true); err != nil {
			return s.refuse(size, err)
		}
	}
	if p.late != nil && !s.home.failed() {
		if p, err = s.planLate(name, p); err != nil {
			return s.refuse(size, err)
		}
		if p.home {
			return s.executeHome(p, size, limit)
		}
	}
	if err := s.drop(size); err != nil || s.home.failed() {
		return err
	}
	p.first = !s.hasExecuted()
	s.executed = true
	if err := s.executePortal(name, p, max(limit, 0)); err != nil {
		s.failPortal(name, p)
		s.skip = true
		return s.fail(err)
	}
	return nil
}

func (s *Session) onSync(size int) error {
	s.skip = false
	if answered, err := s.standIn(size); answered || err != nil {
		return err
	}
	if s.writing != nil {
		if err := s.commitGroup(); err != nil {
			return err
		}
	}
	if err := s.pass('S', size); err != nil {
		return err
	}
	return s.afterSync()
}

// afterSync frees what does not outlive a transaction, when home says that it is over.
func (s *Session) afterSync() error {
	if len(s.portals) == 0 && s.writing == nil {
		return nil
	}
	if err := s.takeHome(); err != nil {
		return ignoreCopyIn(err)
	}
	s.settleTransaction()
	if state := s.home.state(); state == 'T' || state == 'E' && s.hasSavepoints() { // it may be rolled back to one
		return nil
	}
	if s.hasCommitted() {
		return s.endWrite()
	}
	s.undoWrite()
	return nil
}

// settleTransaction forgets what went with a transaction that home has ended since the last call. Home is ours.
func (s *Session) settleTransaction() {
	s.mu.Lock()
	over := s.over
	s.over = false
	s.mu.Unlock()
	if over {
		s.executed = false
		s.closePortals()
		s.forgetPortalColumns()
		s.temps, s.unread, s.inputs = nil, nil, nil // gone with it
		s.forgetDescriptions()
	}
}

// commitGroup commits what a group of messages outside a transaction block has written to a foreign server, before
// home commits its part.
func (s *Session) commitGroup() error {
	if err := s.takeHome(); err != nil {
		return ignoreCopyIn(err)
	}
	if s.home.inBlock() {
		return nil
	}
	if s.home.failed() {
		s.undoWrite()
		return nil
	}
	if err := s.commitWrite(); err != nil {
		return s.fail(err)
	}
	return nil
}

// cString splits b behind its first zero byte.
func cString(b []byte) (text string, rest []byte, ok bool) {
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return "", nil, false
	}
	return string(b[:n]), b[n+1:], true
}

// withFormats returns the fields as a client sees them that asked for formats (one for all, or one each; none: text).
func withFormats(fields []pgproto3.FieldDescription, formats []int16) []pgproto3.FieldDescription {
	out := make([]pgproto3.FieldDescription, len(fields))
	for i, f := range fields {
		f.Format = formatOf(formats, i)
		out[i] = f
	}
	return out
}

func formatOf(formats []int16, i int) int16 {
	switch {
	case len(formats) == 0:
		return 0
	case len(formats) == 1:
		return formats[0]
	default:
		return formats[i]
	}
}
