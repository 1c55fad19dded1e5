package startup

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/pgerr"
)

// How long a login waits depends on how many have failed before it: nothing up to a number that a person or a pool with
// an old password reaches, then twice as long each time.
const (
	roleFailures    = 4  // of one role from one address
	addressFailures = 32 // from one address, whatever the role: several people may be behind it
	firstWait       = 100 * time.Millisecond
	longestWait     = 5 * time.Second
	paceForgets     = 10 * time.Minute
	paceRemembers   = 1 << 13 // keys of one generation
	longestName     = 63      // of a role
)

// Pace slows down logins after repeated failures, so that passwords are not found by trying. A login waits before anything
// is asked of home or the client, with a right password as with a wrong one: the time tells nothing. It is shared by
// all connections of a server. The zero value is ready; nil never waits.
type Pace struct {
	mu      sync.Mutex
	now     func() time.Time                           // nil: time.Now
	sleep   func(ctx context.Context, d time.Duration) // nil: a timer
	current map[paceKey]int                            // failures by who failed
	old     map[paceKey]int                            // of the generation before
	since   time.Time                                  // when current was begun
}

// paceKey is a role at an address, or an address alone.
type paceKey struct{ address, role string }

// keys returns what the failures of a client are counted under. On this machine an address says nothing of who it is.
func paceKeys(client net.Addr, role string) (key, address paceKey) {
	role = role[:min(len(role), longestName)]
	if Local(client) {
		return paceKey{"local", role}, paceKey{}
	}
	host := client.String()
	if t, ok := client.(*net.TCPAddr); ok {
		ip := t.IP
		if ip.To4() == nil { // who has one address of a /64 has them all
			ip = ip.Mask(net.CIDRMask(64, 128))
		}
		host = ip.String()
	}
	return paceKey{host, role}, paceKey{address: host}
}

// wait lets a login wait as long as the failures before it have earned.
func (p *Pace) wait(ctx context.Context, client net.Addr, role string) {
	if p == nil {
		return
	}
	key, address := paceKeys(client, role)
	p.mu.Lock()
	p.turn()
	d := max(waitAfter(p.count(key)-roleFailures), waitAfter(p.count(address)-addressFailures))
	sleep := p.sleep
	p.mu.Unlock()
	switch {
	case d == 0:
	case sleep != nil:
		sleep(ctx, d)
	default:
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

// waitAfter returns the wait of a login after n failures too many.
func waitAfter(n int) time.Duration {
	if n < 0 {
		return 0
	}
	return min(firstWait<<min(n, 10), longestWait)
}

// note remembers how a login ended: err is nil for one that succeeded.
func (p *Pace) note(client net.Addr, role string, err error) {
	if p == nil {
		return
	}
	key, address := paceKeys(client, role)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn()
	var e *pgconn.PgError
	switch {
	case err == nil:
		delete(p.current, key)
		delete(p.old, key)
	case errors.As(err, &e) && (e.Code == pgerr.InvalidPassword || e.Code == pgerr.InvalidAuthorization):
		p.add(key)
		if address != (paceKey{}) {
			p.add(address)
		}
	}
}

func (p *Pace) count(k paceKey) int { return max(p.current[k], p.old[k]) }

func (p *Pace) add(k paceKey) { p.current[k] = p.count(k) + 1 }

// turn begins a new generation where the present one is old or full; what is in neither is forgotten.
func (p *Pace) turn() {
	now := time.Now
	if p.now != nil {
		now = p.now
	}
	age := now().Sub(p.since)
	switch {
	case p.current == nil || age > 2*paceForgets:
		p.old = nil
	case age > paceForgets || len(p.current) >= paceRemembers:
		p.old = p.current
	default:
		return
	}
	p.current, p.since = map[paceKey]int{}, now()
}
