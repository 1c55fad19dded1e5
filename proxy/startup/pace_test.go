package startup

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"
)

// paced is a Pace whose time stands still but for what a test adds.
type paced struct {
	Pace
	at     time.Time
	waited time.Duration
}

func newPaced() *paced {
	p := &paced{at: time.Unix(1e9, 0)}
	p.now = func() time.Time { return p.at }
	p.sleep = func(_ context.Context, d time.Duration) { p.waited = d }
	return p
}

// next returns what the next login of a role from an address waits.
func (p *paced) next(address, role string) time.Duration {
	p.waited = 0
	p.wait(context.Background(), addr(address), role)
	return p.waited
}

func addr(s string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(s), Port: 4711} }

var wrong = fatal("28P01", "password authentication failed")

// Waits begin behind the failures that anybody may have, double, and have an end; a success ends them.
func TestPaceOfRole(t *testing.T) {
	p := newPaced()
	want := []time.Duration{0, 0, 0, 0, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000}
	for i, ms := range want {
		if got := p.next("10.0.0.1", "alice"); got != ms*time.Millisecond {
			t.Errorf("login %d waits %v, want %d ms", i+1, got, ms)
		}
		p.note(addr("10.0.0.1"), "alice", wrong)
	}
	for _, other := range []struct{ address, role string }{{"10.0.0.1", "bob"}, {"10.0.0.2", "alice"}, {"127.0.0.1", "alice"}} {
		if got := p.next(other.address, other.role); got != 0 {
			t.Errorf("%v waits %v", other, got)
		}
	}
	p.note(addr("10.0.0.1"), "alice", nil)
	if got := p.next("10.0.0.1", "alice"); got != 0 {
		t.Errorf("after a success: %v", got)
	}
}

// An address that tries one role after the other waits too, and one of IPv6 is as good as its neighbours.
func TestPaceOfAddress(t *testing.T) {
	p := newPaced()
	for i := range addressFailures {
		p.note(addr("10.0.0.1"), fmt.Sprint("role", i), wrong)
		p.note(addr(fmt.Sprintf("2001:db8::%x", i+1)), fmt.Sprint("role", i), wrong)
		p.note(addr("127.0.0.1"), fmt.Sprint("role", i), wrong)
	}
	for address, want := range map[string]time.Duration{
		"10.0.0.1": firstWait, "10.0.0.2": 0, "2001:db8::ffff": firstWait, "2001:db8:0:1::1": 0, "127.0.0.1": 0,
	} {
		if got := p.next(address, "fresh"); got != want {
			t.Errorf("%s waits %v, want %v", address, got, want)
		}
	}
}

// Failures are forgotten, other errors are none, and what is remembered is bounded.
func TestPaceForgets(t *testing.T) {
	p := newPaced()
	for range 20 {
		p.note(addr("10.0.0.1"), "alice", wrong)
		p.note(addr("10.0.0.1"), "bob", fatal("3D000", "no such database"))
		p.note(addr("10.0.0.1"), "bob", net.ErrClosed)
	}
	if got := p.next("10.0.0.1", "bob"); got != 0 {
		t.Errorf("bob waits %v", got)
	}
	p.at = p.at.Add(paceForgets + time.Second)
	if got := p.next("10.0.0.1", "alice"); got != longestWait {
		t.Errorf("a generation later alice waits %v", got)
	}
	p.at = p.at.Add(paceForgets + time.Second)
	if got := p.next("10.0.0.1", "alice"); got != 0 {
		t.Errorf("two generations later alice waits %v", got)
	}
	for i := range 5 * paceRemembers {
		p.note(addr("10.0.0.1"), fmt.Sprint("role", i), wrong)
	}
	if n := len(p.current) + len(p.old); n > 2*paceRemembers+2 {
		t.Errorf("%d keys are remembered", n)
	}
	if got := p.next("10.0.0.1", "fresh"); got != longestWait {
		t.Errorf("the address that flooded us waits %v", got)
	}
	var none *Pace
	none.wait(t.Context(), addr("10.0.0.1"), "alice")
	none.note(addr("10.0.0.1"), "alice", wrong)
}
