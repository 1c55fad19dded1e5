package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/certify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// harnessOf makes a harness for a fake. The memory checks are given less to drain than a real engine, for the fake is
// slow and the collecting one holds it all.
func harnessOf(f *fake) Harness {
	return Harness{
		Open:     func(context.Context) (engines.Engine, error) { return f, nil },
		Rows:     func(n int64, width int) string { return fmt.Sprintf("rows %d %d", n, width) },
		Blocking: "block",
		FailAt:   func(n int64) string { return fmt.Sprintf("fail %d", n) },
		FailCode: "22012",
		Errors:   []Failure{{SQL: "error 42P01", Code: "42P01"}},
		Types:    []Type{},
		Running:  func(engines.Engine) int { return int(f.running.Load()) },
		Produced: f.produced.Load,
		Source:   Source{Forbidden: []string{"database/sql"}, Only: map[string]string{"bufio.NewScanner": "memory.go"}},
		Drain:    500_000,
		Wide:     256 << 10,
		Patience: 20 * time.Second,
	}
}

func TestHonestEnginePasses(t *testing.T) { Run(t, harnessOf(&fake{})) }

// I3: an engine that collects and then slices must fail what laziness means.
func TestCollectingEngineFails(t *testing.T) {
	h := harnessOf(&fake{collecting: true})
	h.Patience = 2 * time.Second
	mustFail(t, h, "I2_Bounded", "I4_FlatPeak", "I4_FlatPeakOfWideRows", "I5_FirstRow", "I6_EarlyStop", "I7_BackPressure",
		"I22_MidStreamFailure", "CancelMidStream", "Close")
}

// An engine that reads ahead without bounds gives a first row at once, and must fail all the same.
func TestHurryingEngineFails(t *testing.T) {
	h := harnessOf(&fake{hurried: true})
	mustFail(t, h, "I7_BackPressure", "I7_BackPressureOfMemory")
}

func TestForgetfulEngineFails(t *testing.T) {
	mustFail(t, harnessOf(&fake{forgetful: true}), "I22_MidStreamFailure")
}

// mustFail runs checks on a bad engine. A child process that was started by one of them does its task.
func mustFail(t *testing.T, h Harness, names ...string) {
	t.Helper()
	h = h.WithDefaults()
	if task := os.Getenv(childEnv); task != "" {
		if err := child(t.Context(), h, task); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			err := find(t, name)(t.Context(), h)
			if err == nil || errors.Is(err, certify.ErrSkipped) {
				t.Errorf("the check passes a bad engine (%v)", err)
			}
			t.Log(err)
		})
	}
}

func find(t *testing.T, name string) func(context.Context, Harness) error {
	t.Helper()
	for _, c := range checks(patternOf(strings.TrimSuffix(t.Name(), "/"+name))) {
		if c.Name == name {
			return c.Run
		}
	}
	t.Fatalf("there is no check %s", name)
	return nil
}

// A call in the wrong file, a forbidden one, and one that nobody makes are found.
func TestOneProducerFails(t *testing.T) {
	for _, s := range []Source{
		{Forbidden: []string{"os/exec"}},
		{Forbidden: []string{"exec.CommandContext"}},
		{Only: map[string]string{"exec.CommandContext": "lazy.go"}},
		{Only: map[string]string{"exec.Nothing": "lazy.go"}},
	} {
		if err := oneProducer(t.Context(), Harness{Source: s}); err == nil {
			t.Errorf("%+v passes", s)
		}
	}
}

// Certification of a server in use tells the honest engine from those that are not.
func TestLive(t *testing.T) {
	for name, c := range map[string]struct {
		fake *fake
		want bool
	}{"honest": {&fake{}, true}, "collecting": {&fake{collecting: true}, false}, "forgetful": {&fake{forgetful: true}, false}} {
		h := harnessOf(c.fake)
		h.Drain, h.Budget = 1_000_000, 96<<20
		list := certify.Live(t.Context(), h)
		if got := certify.Certifies(list, "stream"); got != c.want {
			t.Errorf("%s: %+v", name, list)
		}
	}
}

// Frames are no Arrow columns.
func TestLiveColumns(t *testing.T) {
	h := harnessOf(&fake{})
	h.Open = func(context.Context) (engines.Engine, error) { return certify.Columns(framing{&fake{}}), nil }
	if certify.Certifies(certify.Live(t.Context(), h), "stream") {
		t.Error("an engine whose rows are frames is certified for Arrow")
	}
}

// framing has its batches as frames.
type framing struct{ *fake }

func (f framing) Open(ctx context.Context, q engines.Query) (engines.Stream, error) {
	s, err := f.fake.Open(ctx, q)
	return frameStream{s}, err
}

type frameStream struct{ engines.Stream }

func (s frameStream) Next(ctx context.Context) (engines.Batch, error) {
	b, err := s.Stream.Next(ctx)
	if err != nil {
		return nil, err
	}
	return engines.Frames{Rows: b.NumRows()}, nil
}
