package proxy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
)

// execution is a statement of ours that is ready to run: analysed by home, planned, its privileges checked.
type execution struct {
	statement *parser.Statement
	described *description
	questions *questions
	facts     *catalog.Facts
	rules     *rules
	plan      *plan.Plan     // nil for a statement that the proxy runs itself
	request   plan.Request   // what the plan was made from
	bind      *pgproto3.Bind // parameters as the client gave them; nil for none
	own       func(ctx context.Context, x *execution) (*cursor, error)
	denied    error // what the role lacks a privilege for, of a statement that is checked at Execute
	tag       func(rows int64) string
	texts     []*string               // parameters in text form, once asked for
	moments   map[plan.Moment]*string // likewise
	alone     bool                    // it is the only one of a simple query
	explained bool                    // it is not run, its plan is shown
	shows     bool                    // home was given what views of activity show, for the transaction that is open
	kept      bool                    // it is what an EXECUTE names
	handle    bool                    // its rows are those of a handle
	estimated bool                    // with how many rows are expected

	ledger     *ledger           // nil for none
	within     *parser.Statement // the EXPLAIN that it stands in
	references []plan.Reference
}

// atHome reports whether home runs the statement, over inputs that are shipped to it, and answers the client by itself.
func (x *execution) atHome() bool {
	return x.denied == nil && x.plan != nil && x.plan.Route == plan.HomeJoin && x.plan.Write == nil && !x.counted()
}

// apart reports whether home has no part in the statement once it is planned.
func (x *execution) apart() bool {
	if x.denied != nil || x.plan == nil || x.plan.Write != nil || x.plan.Copy != nil {
		return false
	}
	ofHome := slices.ContainsFunc(x.plan.Inputs, func(in plan.Input) bool { return in.Server == nil })
	return x.plan.Route == plan.Remote || x.plan.Route == plan.Federated && !ofHome && !x.plan.Sends()
}

// homeSQL is the text of the statement that home runs.
func (x *execution) homeSQL() string { return withSource(x.plan.HomeSQL, x.statement.Source) }

// timeout returns the statement_timeout under which the statement was analysed, 0 for none.
func (x *execution) timeout() time.Duration {
	if x.facts == nil {
		return 0
	}
	return x.facts.StatementTimeout
}

// temps returns the temporary tables of the plan.
func (x *execution) temps() []temp {
	temps := make([]temp, 0, len(x.plan.Inputs))
	for _, in := range x.plan.Inputs {
		if !in.Spelled && !in.Sealed {
			temps = append(temps, temp{in.TempName, x.facts.User})
		}
	}
	if x.plan.Write != nil {
		for _, name := range x.plan.Write.Temps {
			temps = append(temps, temp{name, x.facts.User})
		}
	}
	return temps
}

// portal makes the portal that runs x when it is executed.
func (x *execution) portal(s *Session, formats []int16) *portal {
	p := &portal{formats: formats, apart: x.apart(), last: x.alone, kept: x.kept, tag: x.tag, timeout: x.timeout, reads: x.reads(), ledger: x.ledger}
	if x.described.rows {
		p.fields = x.described.fields
	}
	if p.tag == nil {
		p.tag = selectTag
	}
	p.again = selectTag
	if x.plan != nil && x.plan.Write != nil {
		p.again = fixedTag(writeTag(x.plan.Write.Kind, 0))
	}
	p.open = func(ctx context.Context) (*cursor, error) {
		if x.denied == nil && x.own == nil {
			if err := s.sendValues(ctx, x, nil); err != nil {
				return nil, err
			}
		}
		switch {
		case x.denied != nil:
			return nil, x.denied
		case x.own != nil:
			c, err := x.own(ctx, x)
			if x.tag != nil {
				p.tag, p.again = x.tag, x.tag
			}
			return c, err
		case x.plan.Copy != nil && x.plan.Route != plan.HomeJoin:
			err := s.copyOut(ctx, x)
			p.tag = x.tag
			return nil, err
		case x.plan.Write != nil:
			c, err := s.runWrite(ctx, x, p)
			p.tag = x.tag
			return c, err
		case x.plan.Route == plan.HomeJoin:
			p.settings = s.encodeSettings(x)
			return s.openCounted(ctx, x, p)
		default:
			p.settings = s.encodeSettings(x)
			return s.openFirst(ctx, x, p)
		}
	}
	return p
}

// parse parses a query text by the rule for backslashes that is in force.
func (s *Session) parse(text string) ([]*parser.Statement, error) {
	if s.setting("standard_conforming_strings") != "off" || !strings.Contains(text, `\`) {
		return parser.Parse(text)
	}
	list, err := parser.Parse(parser.Conforming(text))
	if err == nil && len(list) == 1 { // home reads, and warns of, the text as it came
		st := *list[0]
		st.Text, st.Source = text, text
		list = []*parser.Statement{&st}
	}
	return list, err
}

// ours parses a text that mentions something of ours and returns its statement, nil where it is none that we handle:
// several statements, one that home has to complain of, or a kind that passes through.
func (s *Session) ours(text string) *parser.Statement {
	statements, err := s.parse(text)
	if err != nil || len(statements) != 1 || !s.handles(statements[0]) {
		return nil
	}
	return statements[0]
}

// prepare makes an execution of a prepared statement and the parameters of m. It returns nil where the statement turns
// out to name nothing of ours. Home is ours.
func (s *Session) prepare(p *prepared, m *pgproto3.Bind) (*execution, error) {
	run := s.begin()
	defer run.end()
	var r request
	s.addHeld(&r)
	q := s.foresee(r.describe('S', m.PreparedStatement), p.statement)
	d, err := s.describeBound(run.ctx, &r, p.statement, m)
	s.holding = nil
	if err != nil {
		return nil, err
	}
	x := &execution{statement: p.statement, described: d, questions: q, bind: m}
	if n := len(m.ResultFormatCodes); d.rows && n > 1 && n != len(d.fields) {
		return nil, pgerr.New(pgerr.ProtocolViolation, "bind message has %d result formats but query has %d columns", n, len(d.fields))
	}
	ours, err := s.plan(run.ctx, x)
	err = s.enter(run.ctx, x, err)
	if lacksPrivilege(err) && !s.home.failed() { // which Postgres looks for behind parameters, and in what writes at Execute
		if perr := s.checkParams(run.ctx, x); perr != nil || x.statement.Kind.Writes() {
			x.denied = err
			return x, perr
		}
	}
	if err != nil || !ours {
		return nil, s.cause(err)
	}
	return x, nil
}

func lacksPrivilege(err error) bool {
	pe, ok := err.(*pgconn.PgError)
	return ok && pe.Code == pgerr.InsufficientPrivilege
}

// plan analyses and plans x.statement; false where nothing of ours is in it.
func (s *Session) plan(ctx context.Context, x *execution) (bool, error) {
	if x.questions == nil {
		x.questions = &questions{session: s}
	}
	defer x.questions.done()
	if own := s.utility(x.statement); own != nil {
		x.own = own
		s.describeFetch(x)
		return true, nil
	}
	return s.planBody(ctx, x)
}

// planBody is plan for a statement that the proxy does not run itself, or whose part it has done.
func (s *Session) planBody(ctx context.Context, x *execution) (bool, error) {
	if x.questions == nil {
		x.questions = &questions{session: s}
		defer x.questions.done()
	}
	if executed(x.statement.Node.Stmt) != nil {
		return s.planExecute(ctx, x)
	}
	if !parser.Plans(x.statement) { // it was ours by what there was when it was bound
		return false, nil
	}
	if err := s.showActivity(ctx, x); err != nil {
		return false, err
	}
	if err := s.showCounts(ctx, x); err != nil {
		return false, err
	}
	s.noteVerify(x)
	if !s.snapshot.Installed { // the text has our name in it; it may have been installed since
		if err := s.refresh(ctx); err != nil || !s.snapshot.Installed {
			return false, err
		}
	}
	for range mostMoves {
		if ours, err := s.planResolved(ctx, x); !errors.Is(err, catalog.ErrMoved) {
			return ours, err
		}
		s.markStale()
		if err := s.refresh(ctx); err != nil {
			return false, err
		}
	}
	return false, pgerr.Hint(pgerr.New(pgerr.SerializationFailure, "could not plan the statement: views that it reads are changed all the time"), "Try again.")
}

// mostMoves is how often a statement is planned anew because DDL of others came between.
const mostMoves = 100

// planResolved plans a statement by what its names mean now. The error is catalog.ErrMoved where that has changed meanwhile.
func (s *Session) planResolved(ctx context.Context, x *execution) (bool, error) {
	references, err := s.resolve(ctx, x)
	if err != nil || references == nil {
		return false, err
	}
	x.references = references
	fields := engineFields(x.described.fields)
	if x.statement.Kind == parser.CopyTo {
		if fields, err = s.copyFields(ctx, x.statement); err != nil {
			return false, err
		}
	}
	run := s.begin() // engines may be asked of their tables
	defer run.end()
	defer run.limit(x.timeout())()
	x.rules = s.rulesFor(ctx, x)
	req := plan.Request{
		Statement: x.statement, Snapshot: s.snapshot, References: references,
		Params: x.described.params, Fields: fields,
		Settings: plan.Settings{
			TimeZone: x.facts.TimeZone, DateStyle: x.facts.DateStyle, IntervalStyle: x.facts.IntervalStyle,
			ExtraFloatDigits: x.facts.ExtraFloatDigits, ClientEncoding: s.setting("client_encoding"),
		},
		Force: plan.Route(x.facts.Route), ReadOnly: x.facts.ReadOnly, OnFullScan: x.facts.OnFullScan, TempPrefix: s.tempPrefix(x.facts.ReadOnly),
		Facts: s.askFacts(ctx, x.facts.User), Definition: s.askDefinition(ctx), Rules: x.rules.of, Guards: x.rules.guard,
		Rows: s.askRows(ctx, x.facts.User), Estimates: x.estimated,
	}
	if x.explained {
		req.OnFullScan = "" // it tells what is in the way
	}
	if req.Federation, err = s.federationServer(x.facts); err != nil {
		return false, err
	}
	if req.Home, err = s.homeRelations(ctx, x, references); err != nil {
		return false, err
	}
	if x.plan, err = s.build(req, x); err != nil || x.plan.Route == plan.Home {
		return false, err
	}
	x.request = req
	if err := x.checkLocking(); err != nil {
		return true, err
	}
	if err := s.checkPrivileges(ctx, x, &req); err != nil {
		return true, err
	}
	if err := s.checkCopy(ctx, x); err != nil {
		return true, err
	}
	if !x.plan.ShipsParams() {
		if x.plan.Write != nil {
			err = s.checkParams(ctx, x)
		}
		return true, err
	}
	texts, err := s.shippedTexts(ctx, x)
	if err == nil && !x.plan.Takes(x.plan.ParamTypes(x.described.params), texts) {
		req.HoldParams, x.request.HoldParams = true, true
		if x.plan, err = s.build(req, x); err == nil { // it may ship what the first plan did not
			err = s.checkPrivileges(ctx, x, &req)
		}
	}
	return true, err
}

// resolve asks home which relations the statement names, and for the session's settings and the catalog version with
// them. It returns nil where none of the relations is ours.
func (s *Session) resolve(ctx context.Context, x *execution) ([]plan.Reference, error) {
	oids, facts, err := catalog.Resolve(ctx, x.questions, namesIn(x.statement))
	if err != nil {
		return nil, err
	}
	x.facts, s.role = facts, facts.User
	s.setStatus("client_encoding", facts.ClientEncoding) // home reports a change at the next ReadyForQuery only
	if facts.Version != s.snapshot.Version {
		s.markStale()
		if err := s.refresh(ctx); err != nil {
			return nil, err
		}
	}
	ours := false
	references := make([]plan.Reference, len(oids))
	for i, oid := range oids {
		references[i] = plan.Reference{OID: oid, Relation: s.snapshot.Relations[oid]}
		ours = ours || references[i].Relation != nil
	}
	if !ours {
		return nil, nil
	}
	return references, nil
}

func engineFields(fields []pgproto3.FieldDescription) []engines.Field {
	out := make([]engines.Field, len(fields))
	for i, f := range fields {
		out[i] = engines.Field{Name: string(f.Name), OID: f.DataTypeOID, Typmod: f.TypeModifier}
	}
	return out
}
