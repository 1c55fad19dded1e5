package oracle

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// notSupported is what a forced route answers that cannot take a statement.
const notSupported = "0A000"

// Side is a connection to the proxy with the schema whose tables it asks, and the route that it forces.
type Side struct {
	Name   string
	Schema string
	Route  string // for sluice.route; empty for the proxy's own choice
	Quick  bool   // ask in the simple protocol only
	// ReadOnly asks in read-only transactions, and only what may be asked there.
	ReadOnly bool
	Lacks    []string // tables that the schema does not have: statements that name one are not asked
	// Blind is a schema that differs from Schema in what the connection's role may not see alone. What becomes of a statement that
	// ends in an error, on either side, must be the same there, down to the error's words.
	Blind  string
	url    string
	conn   *pgconn.PgConn
	counts counts
}

// Oracle compares the answers of plain tables with those of foreign ones.
type Oracle struct {
	Secret   *regexp.Regexp      // what no error may say; nil for nothing
	Lasting  func(string) string // the words of an error, without names that differ between a schema and its blind one
	ctx      context.Context
	plain    *pgconn.PgConn
	sides    []*Side
	settings []Statement // SET and RESET that were run, in order
	asked    int
	long     int
	errors   map[string]int // statements that Postgres itself refused, by SQLSTATE
}

// New connects to home, where schema plain lies, and to the proxy once for each side. Connections end with the test.
func New(t *testing.T, home, proxy string, sides ...*Side) *Oracle {
	o := &Oracle{ctx: t.Context(), sides: sides, errors: map[string]int{}}
	o.plain = connect(t, home)
	if err := run(o.ctx, o.plain, "SET statement_timeout = '5s'"); err != nil {
		t.Fatal(err)
	}
	for _, s := range sides {
		s.url, s.counts.reasons = proxy, map[string]int{}
		if err := s.open(o.ctx, nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.conn.Close(context.Background()) })
	}
	return o
}

// open connects a side, again where it was connected, forces its route and runs settings.
func (s *Side) open(ctx context.Context, settings []Statement) (err error) {
	if s.conn != nil {
		_ = s.conn.Close(ctx)
	}
	if s.conn, err = pgconn.Connect(ctx, s.url); err != nil {
		return err
	}
	var all []string
	if s.Route != "" {
		all = append(all, "SET sluice.route = "+literal(s.Route))
	}
	if s.ReadOnly {
		all = append(all, "SET default_transaction_read_only = on")
	}
	for _, set := range settings {
		all = append(all, set.in(s.Schema))
	}
	return run(ctx, s.conn, all...)
}

func connect(t *testing.T, url string) *pgconn.PgConn {
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Finding is one difference.
type Finding struct {
	What     string
	side     *Side
	protocol protocol
}

func (f Finding) String() string { return f.side.Name + ", " + f.protocol.name + ": " + f.What }

// Compare asks one statement everywhere, in every form of the protocol, and reports what differs.
func (o *Oracle) Compare(t *testing.T, s Statement) {
	t.Helper()
	findings, err := o.Ask(s)
	if err != nil {
		t.Fatalf("%s: %s: %v", s.Pos, s.SQL, err)
	}
	for _, f := range findings {
		t.Errorf("%s: %s\n%v", s.Pos, s.SQL, f)
	}
}

// long is what Postgres itself may take for a generated statement: others might take for ever.
const long = time.Second

// Ask asks one statement everywhere and returns what differs. An error is one of asking, not of an answer.
func (o *Oracle) Ask(s Statement) ([]Finding, error) {
	if s.Setting {
		return nil, o.Set(s)
	}
	var findings []Finding
	refused, taken, code := map[*Side]string{}, map[*Side]bool{}, ""
	for i, p := range protocols {
		if p.simple && s.Params != nil || s.Form > 0 && s.Form != i+1 {
			continue
		}
		asked := time.Now()
		want, err := ask(o.ctx, o.plain, s.in("plain"), s.Params, p)
		if err != nil {
			return nil, fmt.Errorf("asking bare Postgres: %w", err)
		}
		code = want.code
		if s.Generated && time.Since(asked) > long {
			o.long++
			continue
		}
		for _, side := range o.sides {
			if side.passes(s, p) || want.code == queryCanceled {
				continue
			}
			why, what, err := o.check(s, side, p, want)
			switch {
			case err != nil:
				return nil, err
			case why != "":
				refused[side] = why
				continue
			case what != "":
				findings = append(findings, Finding{what, side, p})
			}
			taken[side] = true
		}
	}
	o.asked++
	if code != "" {
		o.errors[code]++
	}
	for _, side := range o.sides {
		if taken[side] {
			side.counts.taken++
		} else if why := refused[side]; why != "" {
			side.counts.reasons[why]++
		}
	}
	return findings, nil
}

// Again asks one statement as a finding was made and reports whether it differs in the same way.
func (o *Oracle) Again(f Finding, s Statement) bool {
	if f.protocol.simple && s.Params != nil || f.side.passes(s, f.protocol) {
		return false
	}
	want, err := ask(o.ctx, o.plain, s.in("plain"), s.Params, f.protocol)
	if err != nil || want.code == queryCanceled {
		return false
	}
	_, what, err := o.check(s, f.side, f.protocol, want)
	return err == nil && what != "" && strings.Fields(what)[0] == strings.Fields(f.What)[0]
}

// A read-only transaction takes what reads, and does not lock rows.
var (
	reads = regexp.MustCompile(`(?is)^\s*\(*(SELECT|WITH|VALUES|TABLE)\b`)
	locks = regexp.MustCompile(`(?is)\bFOR\s+(NO\s+KEY\s+)?(UPDATE|KEY\s+SHARE|SHARE)\b`)
)

// passes reports whether a side is not asked a statement in a protocol.
func (s *Side) passes(st Statement, p protocol) bool {
	return s.Quick && !p.simple && st.Form == 0 ||
		s.ReadOnly && (!reads.MatchString(st.SQL) || locks.MatchString(st.SQL)) ||
		slices.ContainsFunc(s.Lacks, func(name string) bool { return strings.Contains(st.SQL, "{s}."+name) })
}

// check asks one side. It says why the side's route refused the statement, or else what differs.
func (o *Oracle) check(s Statement, side *Side, p protocol, want answer) (refused, differs string, err error) {
	got, err := ask(o.ctx, side.conn, s.in(side.Schema), s.Params, p)
	if err != nil {
		return "", "connection: " + err.Error(), side.open(o.ctx, o.settings)
	}
	if said := o.told(s, got); said != "" {
		return "", "secret: " + said, nil
	}
	if side.Route != "" && got.code == notSupported && want.code != notSupported {
		return reason(got.detail), "", nil
	}
	if side.Blind != "" && (want.code != "" || got.code != "") {
		if what, err := o.blind(s, side, p, got); what != "" || err != nil {
			return "", what, err
		}
	}
	if want.code != got.code && (s.Free && (raised(want.code) || raised(got.code)) || s.Generated && raised(want.code) && raised(got.code)) {
		side.counts.free++
		return "", "", nil
	}
	if s.Generated && s.Params != nil && want.code != got.code && (raised(want.code) || raised(got.code)) {
		if want, err = o.generic(s, p); err != nil {
			return "", "", err
		}
	}
	if s.Generated && !slices.Equal(want.fields, got.fields) { // a plan's modifiers may be those that folding brings out
		if want.fields, err = described(o.ctx, o.plain, s.in("plain"), want.fields); err != nil {
			return "", "", err
		}
		if got.fields, err = described(o.ctx, side.conn, s.in(side.Schema), got.fields); err != nil {
			return "", "description: " + err.Error(), nil
		}
	}
	if want.code != "" && want.code == got.code {
		side.counts.errors++
	}
	return "", difference(want, got, s.Ordered), nil
}

// generic asks bare Postgres for the answer that it gives once it plans a statement for all parameters: it computes then what a
// parameter that is NULL has it leave out while it plans.
func (o *Oracle) generic(s Statement, p protocol) (answer, error) {
	if err := run(o.ctx, o.plain, "SET plan_cache_mode = force_generic_plan"); err != nil {
		return answer{}, err
	}
	want, err := ask(o.ctx, o.plain, s.in("plain"), s.Params, p)
	if err != nil {
		return answer{}, err
	}
	return want, run(o.ctx, o.plain, "RESET plan_cache_mode")
}

// Set runs SET or RESET everywhere.
func (o *Oracle) Set(s Statement) error {
	o.settings = append(o.settings, s)
	if err := run(o.ctx, o.plain, s.in("plain")); err != nil {
		return err
	}
	for _, side := range o.sides {
		if err := run(o.ctx, side.conn, s.in(side.Schema)); err != nil {
			return err
		}
	}
	return nil
}
