package certify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sluicedb/sluice/engines"
)

// Result is whether a server has a capability.
type Result struct {
	Capability string
	Certified  bool
	Detail     string // what was looked at, or what is wrong
}

// capabilities are what checks that must all pass show, in the order in which they are looked at. The first check is of few
// rows: what fails it is asked for no more.
var capabilities = []struct {
	name   string
	checks []string
}{
	{"stream", []string{"I2_Bounded", "I5_FirstRow", "I6_EarlyStop", "I7_BackPressure", "I22_MidStreamFailure", "Batches", "Close"}},
	{"cancel", []string{"Cancel", "CancelMidStream", "CancelManyTimes"}},
	{"interleave", []string{"Interleaved"}},
	{"schema", []string{"I16_Schema"}},
	{"errors", []string{"Errors"}},
}

// What a live server is asked for, and how far the process may grow meanwhile, in which others work too.
const (
	liveRows    = 1_000_000
	liveBudget  = 96 << 20
	livePatient = 20 * time.Second
)

// Of makes a harness of an engine's own probes. Whatever wrap makes of the engine is looked at.
func Of(ctx context.Context, e engines.Engine, wrap func(engines.Engine) engines.Engine) (Harness, string, error) {
	c, ok := engines.As[engines.Certifiable](e)
	if !ok {
		return Harness{}, "", errors.New("the engine has no statements to be certified by")
	}
	p, err := c.Probes(ctx)
	if err != nil {
		return Harness{}, "", err
	}
	h := Harness{
		Open: func(context.Context) (engines.Engine, error) { return kept{wrap(e)}, nil },
		Rows: p.Rows, Blocking: p.Blocking, FailAt: p.FailAt, FailCode: p.FailCode,
		Drain: liveRows, Budget: liveBudget, Patience: livePatient,
	}
	for sql, code := range p.Errors {
		h.Errors = append(h.Errors, Failure{sql, code})
	}
	return h, p.Version, nil
}

// kept is an engine that checks do not close.
type kept struct{ engines.Engine }

func (kept) Close() error { return nil }

// Live runs what is safe on a server that is in use. It takes some seconds, and drains some hundred megabytes.
func Live(ctx context.Context, h Harness) []Result {
	h = h.WithDefaults()
	run := map[string]func(context.Context, Harness) error{"I2_Bounded": boundedLive}
	for _, c := range Checks {
		run[c.Name] = c.Run
	}
	var list []Result
	for i, c := range capabilities {
		r := Result{Capability: c.name, Certified: true}
		if i > 0 && !list[0].Certified {
			list = append(list, Result{Capability: c.name, Detail: "not looked at, as streams are not lazy"})
			continue
		}
		var passed []string
		for _, name := range c.checks {
			err := guarded(ctx, h, run[name])
			if errors.Is(err, ErrSkipped) {
				continue
			}
			if err != nil {
				r.Certified, r.Detail = false, name+": "+err.Error()
				break
			}
			passed = append(passed, name)
		}
		if r.Certified {
			r.Detail = strings.Join(passed, ", ")
		}
		list = append(list, r)
	}
	return list
}

// Certifies reports whether results have a capability.
func Certifies(list []Result, capability string) bool {
	return slices.ContainsFunc(list, func(r Result) bool { return r.Capability == capability && r.Certified })
}

// guarded runs a check, and ends it should memory rise by far: an engine that collects may have been asked for rows without end.
func guarded(ctx context.Context, h Harness, check func(context.Context, Harness) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	before, err := resident()
	if err != nil {
		return check(ctx, h)
	}
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			if now, err := resident(); err == nil && now > before+2*h.Budget {
				cancel(fmt.Errorf("memory rose by %d MiB", (now-before)>>20))
			}
		}
	}()
	err = check(ctx, h)
	close(done)
	<-ended
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		return cause
	}
	return err
}

// boundedLive drains some hundred megabytes and demands that memory rises by less.
func boundedLive(ctx context.Context, h Harness) error {
	const width = 208
	before, err := resident()
	if err != nil {
		return Skip("only Linux tells what a process holds: %v", err)
	}
	return h.withStream(ctx, h.Rows(h.Drain, width), func(ctx context.Context, s engines.Stream) error {
		rows, most := int64(0), before
		for rows < h.Drain {
			read, _, err := readFrom(ctx, s, rows, min(rows+50_000, h.Drain), width)
			if err != nil {
				return fmt.Errorf("after %d rows of %d: %w", rows, h.Drain, err)
			}
			rows = read
			if now, err := resident(); err == nil {
				most = max(most, now)
			}
		}
		if most > before+h.Budget {
			return fmt.Errorf("memory rose by %d MiB while %d MiB were drained", (most-before)>>20, h.Drain*(width+8)>>20)
		}
		return nil
	})
}

// resident is what the process holds.
func resident() (int64, error) {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(data), &size, &pages); err != nil {
		return 0, err
	}
	return pages * int64(os.Getpagesize()), nil
}

// Columns is an engine of which only batches of Arrow columns count.
func Columns(e engines.Engine) engines.Engine { return columnar{e} }

type columnar struct{ engines.Engine }

func (c columnar) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	s, err := c.Engine.Open(ctx, q)
	if err != nil {
		return nil, err
	}
	return columnStream{s}, nil
}

type columnStream struct{ engines.Stream }

func (s columnStream) Next(ctx context.Context) (engines.Batch, error) {
	b, err := s.Stream.Next(ctx)
	if _, ok := b.(engines.Frames); ok {
		return nil, errors.New("rows come as frames of Postgres' protocol, not as Arrow columns")
	}
	return b, err
}
