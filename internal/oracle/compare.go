package oracle

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

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
	Lacks    string // a table that the schema does not have: statements that name it are not asked
	url      string
	conn     *pgconn.PgConn
	taken    int // statements that the route took
}

// Oracle compares the answers of plain tables with those of foreign ones.
type Oracle struct {
	ctx   context.Context
	plain *pgconn.PgConn
	sides []*Side
	asked int
}

// New connects to home, where schema plain lies, and to the proxy once for each side. Connections end with the test.
func New(t *testing.T, home, proxy string, sides ...*Side) *Oracle {
	o := &Oracle{ctx: t.Context(), sides: sides}
	o.plain = connect(t, home)
	for _, s := range sides {
		s.url = proxy
		s.open(t)
	}
	return o
}

// open connects a side and forces its route.
func (s *Side) open(t *testing.T) {
	s.conn = connect(t, s.url)
	if s.ReadOnly {
		if _, err := s.conn.Exec(t.Context(), "SET default_transaction_read_only = on").ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	if s.Route == "" {
		return
	}
	if _, err := s.conn.Exec(t.Context(), "SET sluice.route = "+literal(s.Route)).ReadAll(); err != nil {
		t.Fatalf("force route %s: %v", s.Route, err)
	}
}

func connect(t *testing.T, url string) *pgconn.PgConn {
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Compare asks one statement everywhere, in every form of the protocol, and reports what differs.
func (o *Oracle) Compare(t *testing.T, s Statement) {
	t.Helper()
	if s.Setting {
		o.set(t, s)
		return
	}
	taken := map[*Side]bool{}
	for _, p := range protocols {
		if p.simple && s.Params != nil {
			continue
		}
		want, err := ask(o.ctx, o.plain, s.in("plain"), s.Params, p)
		if err != nil {
			t.Fatalf("%s: %s: Postgres itself: %v", s.Pos, s.SQL, err)
		}
		if s.Loose && strings.HasPrefix(want.code, "22") {
			return
		}
		for _, side := range o.sides {
			if side.Quick && !p.simple || side.ReadOnly && !reads.MatchString(s.SQL) || side.Lacks != "" && strings.Contains(s.SQL, "{s}."+side.Lacks) {
				continue
			}
			if o.check(t, s, side, p, want) {
				taken[side] = true
			}
		}
	}
	o.asked++
	for side := range taken {
		side.taken++
	}
}

// reads matches what a read-only transaction takes.
var reads = regexp.MustCompile(`(?is)^\s*\(*(SELECT|WITH|VALUES|TABLE)\b`)

// check asks one side and reports whether its route took the statement.
func (o *Oracle) check(t *testing.T, s Statement, side *Side, p protocol, want answer) bool {
	t.Helper()
	got, err := ask(o.ctx, side.conn, s.in(side.Schema), s.Params, p)
	if err != nil {
		t.Errorf("%s: %s\n%s, %s: %v", s.Pos, s.SQL, side.Name, p.name, err)
		side.open(t)
		return false
	}
	if side.Route != "" && got.code == notSupported && want.code != notSupported {
		return false
	}
	if s.Loose && strings.HasPrefix(got.code, "22") && strings.Contains(s.SQL, " JOIN ") {
		return true // another plan of a join comes to other rows
	}
	if s.Loose && p.simple {
		want.dropModifiers()
		got.dropModifiers()
	}
	if d := difference(want, got, s.Ordered); d != "" {
		t.Errorf("%s: %s\n%s, %s: %s", s.Pos, s.SQL, side.Name, p.name, d)
	}
	return true
}

// set runs SET or RESET everywhere.
func (o *Oracle) set(t *testing.T, s Statement) {
	t.Helper()
	set := func(conn *pgconn.PgConn, schema string) {
		if _, err := conn.Exec(o.ctx, s.in(schema)).ReadAll(); err != nil {
			t.Fatalf("%s: %v", s.SQL, err)
		}
	}
	set(o.plain, "plain")
	for _, side := range o.sides {
		set(side.conn, side.Schema)
	}
}

// Taken is how many statements the side's route took.
func (s *Side) Taken() int { return s.taken }

// Report says how many statements were asked and how many each side's route took.
func (o *Oracle) Report() string {
	parts := []string{fmt.Sprintf("%d statements", o.asked)}
	for _, s := range o.sides {
		parts = append(parts, fmt.Sprintf("%s %d", s.Name, s.taken))
	}
	return strings.Join(parts, ", ")
}
