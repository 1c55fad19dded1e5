package proxy

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/proxy/wire"
)

// simpleName is the name at home of the statement of a simple query that is being analysed.
const simpleName = ownPrefix + "simple"

// onQuery handles a simple query. Where one of its statements is ours, the statements run one by one by extended
// messages with a single Sync at the end, which gives them the one implicit transaction that a simple query is.
func (s *Session) onQuery(size int) error {
	frame, err := s.in.Frame(size)
	if err != nil {
		return err
	}
	text, ok := queryText(frame[wire.HeaderSize:])
	if !ok {
		return s.pass('Q', size)
	}
	hit := s.mentions(text)
	s.defining = s.defining || defines(text)
	if err := s.dropUnnamed(text); err != nil {
		return err
	}
	if !hit && !s.namesPortals {
		return s.passQuery(size, text, text)
	}
	if hit {
		s.noteMasks(text)
	}
	original := text
	paged := hit && s.pages(text)
	concerns := true
	if paged {
		e, err := s.expandQuery(text)
		if err != nil {
			return s.refusePage('Q', size, err)
		}
		text, concerns = e.text, e.concerns
	}
	if edited, ok := s.shadow(text); ok {
		text = edited
	}
	if !concerns && !s.namesPortals {
		return s.passQuery(size, original, text)
	}
	statements, err := s.parseQuery(text)
	counts := false
	if err == nil && hit {
		statements, counts = s.readCountersInEach(statements, text)
	}
	if err != nil || !s.namesPortals && !counts && !s.handlesAny(statements) && !(paged && len(statements) > 1) {
		return s.query1(size, original, text)
	}
	if err := s.takeHome(); err != nil {
		if err == errCopyIn {
			return s.pass('Q', size)
		}
		return err
	}
	if err := s.drop(size); err != nil || s.home.failed() {
		return err
	}
	s.settleTransaction()
	var r request // a simple query destroys the unnamed statement, and its first statement the unnamed portal
	if r.close('S', ""); s.home.state() != 'E' {
		r.close('P', "")
	}
	s.home.post(r.silent())
	return s.simple(statements, text)
}

// passQuery lets home run a query text that does not concern us.
func (s *Session) passQuery(size int, original, text string) error {
	if err := s.query1(size, original, text); err != nil {
		return err
	}
	return s.afterSync()
}

// query1 lets home run a query text that we may have edited.
func (s *Session) query1(size int, original, text string) error {
	if text == original {
		return s.pass('Q', size)
	}
	if err := s.drop(size); err != nil {
		return err
	}
	return s.sendQuery(text)
}

func (s *Session) sendQuery(text string) error {
	return homeErr(s.relay(appendMessage(nil, &pgproto3.Query{String: text}), wire.Reply{Kind: 'Q'}))
}

// dropUnnamed forgets the unnamed statement, which a simple query destroys, and the unnamed portal, which its first
// statement does.
func (s *Session) dropUnnamed(text string) error {
	if len(s.portals) == 0 && !s.holdsStatements() {
		return nil
	}
	if err := s.settleParses(); err != nil {
		return err
	}
	if s.prepared("") == nil && s.portals[""] == nil {
		return nil
	}
	if err := s.takeHome(); err != nil {
		return ignoreCopyIn(err)
	}
	if s.home.failed() { // home skips the query
		return nil
	}
	s.forget("")
	if list, err := s.parse(text); err == nil && len(list) > 0 && (s.home.state() != 'E' || endsBlock(list[0].Node.Stmt)) {
		s.closePortal("")
	}
	return nil
}

func (s *Session) handlesAny(statements []*parser.Statement) bool {
	for _, st := range statements {
		if s.handles(st) {
			return true
		}
	}
	return false
}

// simple runs the statements of one simple query, home being ours, and ends with home's ReadyForQuery.
func (s *Session) simple(statements []*parser.Statement, text string) error {
	group := &implicit{session: s, several: len(statements) > 1}
	passed, err := s.simpleStatements(statements, group)
	if passed { // nothing of ours in it after all: home gets the text as it came
		if err := s.syncHome(s.ctx); err != nil {
			return err
		}
		return s.sendQuery(text)
	}
	if err == nil && !s.home.failed() {
		err = group.commit()
	}
	if err != nil {
		if err := s.fail(err); err != nil {
			return err
		}
	}
	if err := group.abandon(); err != nil {
		return err
	}
	if s.writing != nil {
		if err := s.commitGroup(); err != nil {
			return err
		}
	}
	if s.completed && !group.several && s.home.sparesReady() {
		s.completed = false
		return s.answerReady()
	}
	if err := s.relay(syncMessage, wire.Reply{Kind: 'S'}); err != nil {
		return homeGone(err)
	}
	return s.afterSync()
}

// simpleStatements runs statements up to the first error, which either is returned or has been told by home.
func (s *Session) simpleStatements(statements []*parser.Statement, group *implicit) (passed bool, err error) {
	for _, st := range statements {
		done, err := group.enter(st)
		if err == nil && !done {
			passed, err = s.simpleStatement(st, !group.several)
		}
		if err != nil || passed || s.home.failed() {
			return passed, positioned(err, st)
		}
	}
	return false, nil
}

// positioned makes the position of an error count from the start of the query text that a statement stands in.
func positioned(err error, st *parser.Statement) error {
	pe, ok := err.(*pgconn.PgError)
	if !ok || pe.Position == 0 || st.Start == 0 {
		return err
	}
	e := *pe
	e.Position += int32(st.Start)
	return &e
}

// simpleStatement runs one statement. alone says that it is the only one; then passed may say that it is not ours.
func (s *Session) simpleStatement(st *parser.Statement, alone bool) (passed bool, err error) {
	if !alone { // one that is alone has been looked at
		if st, err = s.expandStatement(st); err != nil {
			return false, err
		}
	}
	if !s.handles(st) {
		return false, s.passStatement(st)
	}
	run := s.begin()
	defer run.end()
	r := analysis(simpleName, st.Text, nil)
	q := s.foresee(r, st)
	d, err := s.readDescription(run.ctx, r)
	if err == nil && len(d.params) > 0 {
		err = s.refuseParams(st)
	}
	if err != nil {
		return false, err
	}
	x, ours, err := s.planQuery(run.ctx, st, d, q)
	err = s.enter(run.ctx, x, err)
	if err != nil || ours {
		s.out = append(s.out, d.notices...)
	}
	switch {
	case err != nil:
		return false, s.cause(err)
	case !ours && alone && !x.shows && s.fetchesHidden(st.Node.Stmt) == nil:
		return true, nil
	case !ours:
		return false, s.passStatement(st)
	}
	x.alone = alone
	return false, s.runSimple(x)
}

// runSimple runs a planned statement of a simple query and sends its whole result.
func (s *Session) runSimple(x *execution) error {
	if !x.atHome() {
		p := x.portal(s, nil)
		p.first = !s.hasExecuted()
		p.announce = x.described.rows
		if p.announce && !p.kept && x.plan != nil && x.plan.Write == nil && x.plan.Route != plan.Remote {
			p.announce = false
			s.say(&pgproto3.RowDescription{Fields: x.described.fields})
		}
		err := s.executePortal("", p, 0)
		if err != nil {
			s.failPortal("", p)
			return err
		}
		s.endPortal(p)
		if s.home.inBlock() { // whose next statement may alter what the portals read
			return s.closeUnread(s.ctx)
		}
		return nil
	}
	err := s.runAtHome(x)
	s.settleAtHome(x.ledger, err)
	return err
}

// runAtHome has home run a planned statement over its inputs, and answer the client.
func (s *Session) runAtHome(x *execution) error {
	if err := s.checkCursor(x); err != nil {
		return err
	}
	if err := s.shipAll(x); err != nil {
		return err
	}
	var r request
	r.close('P', ownPortal).close('S', joinName).parse(joinName, x.homeSQL(), x.described.params)
	bind := pgproto3.Bind{DestinationPortal: ownPortal, PreparedStatement: joinName}
	if x.bind != nil {
		bind.Parameters, bind.ParameterFormatCodes = x.bind.Parameters, x.bind.ParameterFormatCodes
	}
	if err := s.ask(s.ctx, r.add('B', &bind), nil); err != nil {
		return err
	}
	run := s.runPortal
	if x.statement.Kind.Writes() || x.kept {
		run = s.runReturning
	}
	if err := s.runOwn(run, x.described); err != nil {
		return err
	}
	if x.statement.Kind != parser.DeclareCursor {
		s.temps = append(s.temps, x.temps()...)
	}
	return nil
}

// mostPadding is how many characters a statement is moved by, to where it stands in the client's text.
const mostPadding = 4 << 10

// passStatement runs a statement of home's own between statements of ours, in the same implicit transaction.
func (s *Session) passStatement(st *parser.Statement) error {
	text := st.Text
	if st.Start <= mostPadding { // then positions are right that home tells the client by itself
		text = strings.Repeat(" ", st.Start) + text
	}
	d, err := s.describe(s.ctx, onceName, text, nil)
	if pe, ok := err.(*pgconn.PgError); ok && pe.Position > 0 && len(text) > len(st.Text) {
		pe.Position -= int32(st.Start)
	}
	if err == nil && len(d.params) > 0 {
		err = s.refuseParams(st)
	}
	if err != nil {
		return err
	}
	s.out = append(s.out, d.notices...)
	formats, err := s.fetchFormats(st.Node.Stmt)
	if err != nil {
		return err
	}
	var r request
	r.close('P', ownPortal).add('B', &pgproto3.Bind{DestinationPortal: ownPortal, PreparedStatement: onceName, ResultFormatCodes: formats})
	if d, err = s.readDescription(s.ctx, r.describe('P', ownPortal)); err != nil {
		return err
	}
	if fields := s.fetchesHidden(st.Node.Stmt); fields != nil {
		d.fields = s.withOrigins(d.fields, fields)
	}
	if st.Kind == parser.Select {
		return s.runOwn(s.runPortal, d)
	}
	return s.runOwn(s.runReturning, d)
}

// runOwn runs our own portal at home in the place of the unnamed one.
func (s *Session) runOwn(run func(*description) error, d *description) error {
	err := run(d)
	if err != nil || s.home.failed() {
		s.failPortal("", &portal{fields: d.fields})
	}
	return err
}

// refuseParams has home complain of parameters in a simple query, which has none.
func (s *Session) refuseParams(st *parser.Statement) error {
	text := strings.Repeat(" ", st.Start) + st.Text // so that its position is right
	if err := s.relay(appendMessage(nil, &pgproto3.Query{String: text}), wire.Reply{Kind: 'Q', Fate: wire.Swallow}); err != nil {
		return homeGone(err)
	}
	if err := s.waitHome(); err != nil {
		return homeGone(err)
	}
	return errSkipped
}

// runPortal runs our own portal at home, its result going to the client: its columns first, which only now are sure to
// come.
func (s *Session) runPortal(d *description) error {
	if d.rows {
		s.say(&pgproto3.RowDescription{Fields: d.fields})
		if err := s.flush(); err != nil {
			return err
		}
	}
	data := appendMessage(nil, &pgproto3.Execute{Portal: ownPortal})
	if err := s.relay(data, wire.Reply{Kind: 'E'}); err != nil {
		return homeGone(err)
	}
	err := s.waitHome()
	if err == errCopyIn {
		if err := s.relayCopyIn(); err != nil {
			return err
		}
		err = s.waitHome()
	}
	if err != nil || s.home.failed() {
		return homeErr(err)
	}
	return homeErr(s.home.send(appendMessage(nil, &pgproto3.Close{ObjectType: 'P', Name: ownPortal}), wire.Reply{Kind: 'C', Fate: wire.Swallow}))
}

// runReturning is runPortal for what runs to its end before its first row is sent: an error comes without columns.
func (s *Session) runReturning(d *description) error {
	if !d.rows {
		return s.runPortal(d)
	}
	var r request
	r.add('E', &pgproto3.Execute{Portal: ownPortal, MaxRows: 1})
	var first, tag []byte
	err := s.ask(s.ctx, &r, func(typ byte, body []byte) error {
		switch typ {
		case 'D':
			first = appendFrame(nil, 'D', body)
		case 'C':
			tag = body
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.say(&pgproto3.RowDescription{Fields: d.fields})
	s.out = append(s.out, first...)
	if tag == nil {
		if tag, err = s.runRest(); err != nil {
			return err
		}
	}
	s.out = appendFrame(s.out, 'C', tag)
	if err := s.flush(); err != nil {
		return err
	}
	var c request
	return s.ask(s.ctx, c.close('P', ownPortal), nil)
}

// runRest sends the rows of our own portal behind the first and returns the body of the CommandComplete for all of them:
// home counts those of its last Execute.
func (s *Session) runRest() ([]byte, error) {
	if err := s.flush(); err != nil {
		return nil, err
	}
	data := appendMessage(nil, &pgproto3.Execute{Portal: ownPortal})
	if err := s.home.send(data, wire.Reply{Kind: 'E', Fate: wire.Swallow}); err != nil {
		return nil, homeGone(err)
	}
	if err := s.waitHome(); err != nil {
		return nil, homeGone(err)
	}
	if s.home.failed() {
		return nil, errSkipped
	}
	verb, count, _ := bytes.Cut(s.home.lastTag(), []byte(" "))
	numbers := bytes.Split(count, []byte(" "))
	rows, err := strconv.ParseInt(string(numbers[len(numbers)-1]), 10, 64)
	if err != nil { // a tag without a number, of SHOW and EXPLAIN
		return append(append([]byte{}, verb...), 0), nil
	}
	numbers[len(numbers)-1] = strconv.AppendInt(nil, rows+1, 10)
	return append(append(append(append([]byte{}, verb...), ' '), bytes.Join(numbers, []byte(" "))...), 0), nil
}
