package tests

import (
	"errors"
	"flag"
	"strconv"
	"testing"
	"time"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/internal/pgtest"
	"github.com/sluicedb/sluice/internal/wirefuzz"
)

var (
	sequences       = flag.Int("sequence.n", 80, "how many random sequences of messages are compared")
	sequenceSeconds = flag.Int("sequence.seconds", 0, "compare random sequences for so long instead")
	sequenceSeed    = flag.Uint64("sequence.seed", 1, "seed of the random sequences")
	sequenceFirst   = flag.Uint64("sequence.first", 0, "number of the first sequence, to run a found one again")
)

// mostFailures is how many differences are shrunk and shown.
const mostFailures = 12

// TestSequences compares what the proxy answers to random sequences of messages, legal and illegal, with what Postgres
// answers; the tables are foreign for one and plain for the other.
func TestSequences(t *testing.T) {
	f := newFuzz(t)
	end := time.Now().Add(time.Duration(*sequenceSeconds) * time.Second)
	var n uint64
	for ; f.failures < mostFailures; n++ {
		if *sequenceSeconds > 0 && time.Now().After(end) || *sequenceSeconds == 0 && n >= uint64(*sequences) {
			break
		}
		f.compare(t, *sequenceSeed, *sequenceFirst+n)
	}
	t.Logf("%d sequences from number %d of seed %d, %d differ", n, *sequenceFirst, *sequenceSeed, f.failures)
}

// fuzz is the two sites that are compared.
type fuzz struct {
	fresh    func() [2]*pgtest.Site
	sites    [2]*pgtest.Site
	major    int // of Postgres
	failures int
}

func newFuzz(t *testing.T) *fuzz {
	home := hometest.Start(t)
	tmpl := template(t, home)
	addr := startProxy(t, home)
	bare := pgtest.Target{Name: "Postgres", Addr: home.Addr(), Home: home.URL("postgres")}
	proxy := pgtest.Target{Name: "the proxy", Addr: addr, Home: home.URL("postgres"), Template: tmpl}
	major, err := strconv.Atoi(majorOf(t, home))
	if err != nil {
		t.Fatal(err)
	}
	f := &fuzz{major: major, fresh: func() (sites [2]*pgtest.Site) {
		foreign := proxy
		foreign.Foreign = foreignIn(home, addr, t.TempDir())
		for i, target := range []pgtest.Target{bare, foreign} {
			sites[i] = pgtest.NewSite(t, target, wirefuzz.Tables)
			if err := sites[i].Exec(t.Context(), wirefuzz.Setup...); err != nil {
				t.Fatal(err)
			}
		}
		return sites
	}}
	f.sites = f.fresh()
	return f
}

// run sends a sequence to both sites and makes their relations what they were.
func (f *fuzz) run(t *testing.T, q wirefuzz.Sequence, ddl bool, wait time.Duration) (out [2]wirefuzz.Transcript) {
	var errs [2]error
	done := make(chan struct{})
	go func() {
		defer close(done)
		out[1], errs[1] = wirefuzz.Run(t.Context(), f.sites[1], q, wait)
	}()
	out[0], errs[0] = wirefuzz.Run(t.Context(), f.sites[0], q, wait)
	<-done
	switch {
	case ddl:
		for i, site := range f.sites {
			errs[i] = errors.Join(errs[i], site.Drop(t.Context()))
		}
		f.sites = f.fresh()
	case wirefuzz.Changes(out[0]) || wirefuzz.Changes(out[1]):
		for i, site := range f.sites {
			errs[i] = errors.Join(errs[i], site.Exec(t.Context(), wirefuzz.Reset...))
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatalf("%v, at or behind\n%s", err, q.Script("", out[0]))
	}
	return out
}

func (f *fuzz) compare(t *testing.T, seed, n uint64) {
	q, ddl := wirefuzz.Generate(seed, n, f.major)
	out := f.run(t, q, ddl, patience/4)
	if wirefuzz.Difference(out[0], out[1]) == "" {
		return
	}
	f.failures++
	first := wirefuzz.Difference(out[0], out[1])
	hangs := out[1].Hangs()
	tries := 200
	if hangs || ddl {
		tries = 50
	}
	q = wirefuzz.Shrink(q, tries, func(c wirefuzz.Sequence) bool {
		out := f.run(t, c, ddl, time.Second)
		return wirefuzz.Difference(out[0], out[1]) != "" && (out[1].Hangs() == hangs)
	})
	out = f.run(t, q, ddl, time.Second)
	last := wirefuzz.Difference(out[0], out[1])
	if last == "" {
		last = "not any more; at first in " + first
	}
	t.Errorf("sequence %d of seed %d: Postgres and the proxy differ: %s\n%s", n, seed, last, q.Script("", out[0]))
}
