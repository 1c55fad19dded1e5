package proxy

import (
	"testing"
	"time"

	"github.com/sluicedb/sluice/proxy/wire"
)

// TestStanding answers Syncs in home's place only inside a block that goes on, only while home has nothing to answer, and
// never for longer than syncInterval.
func TestStanding(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		standing standing
		spares   bool
	}{
		"in a block":                    {standing{now, 'T'}, true},
		"in a block, a moment ago":      {standing{now.Add(1 - syncInterval), 'T'}, true},
		"in a block, an interval ago":   {standing{now.Add(-syncInterval), 'T'}, false},
		"outside a block":               {standing{now, 'I'}, false},
		"in a failed block":             {standing{now, 'E'}, false},
		"before any ReadyForQuery":      {standing{}, false},
		"in a block, something is sent": {standing{status: 'T'}, false},
	} {
		if got := c.standing.spares(now); got != c.spares {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSparesSync follows what the frames from and to home make of it.
func TestSparesSync(t *testing.T) {
	b := newBackend(nil, nil, 'I')
	sent := func(kind byte) {
		if err := b.send(nil, wire.Reply{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want bool, when string) {
		t.Helper()
		if !b.standing.since.IsZero() {
			b.standing.since = time.Now().Add(time.Hour) // the test may be slow
		}
		if got := b.sparesSync(); got != want {
			t.Errorf("%s: %v", when, got)
		}
	}
	ready := func(status byte) { b.account('Z', status, nil) }
	expect(false, "at first")
	sent('Q')
	ready('T')
	expect(true, "in a block")
	sent('B')
	expect(false, "while home owes an answer")
	b.account('2', 0, nil)
	expect(false, "before the Sync for what was sent")
	sent('S')
	sent('S')
	ready('T')
	expect(false, "while another Sync is on its way")
	ready('T')
	expect(true, "after the last Sync")
	b.account('E', 0, nil)
	expect(false, "after an error that came by itself")
	sent('S')
	ready('E')
	expect(false, "in a failed block")
}
