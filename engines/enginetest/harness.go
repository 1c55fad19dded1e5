package enginetest

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/sluicedb/sluice/engines/certify"
)

// What engines' tests say is what certification asks.
type (
	Harness = certify.Harness
	Failure = certify.Failure
	Type    = certify.Type
	Source  = certify.Source
)

// checks are those of certification, with those that look at the engine's source or measure it in a process of its own. self
// is the pattern of the test to run there.
func checks(self string) []certify.Check {
	list := []certify.Check{
		{Name: "I1_OneProducer", Run: oneProducer},
		{Name: "I2_Bounded", Run: measured(self, bounded)},
		{Name: "I4_FlatPeak", Run: measured(self, flatPeak)},
		{Name: "I4_FlatPeakOfWideRows", Run: measured(self, flatPeakWide)},
		{Name: "I7_BackPressureOfMemory", Run: measured(self, backPressureMemory)},
	}
	return append(list, certify.Checks...)
}

// measured makes a check of one that runs a child process.
func measured(self string, check func(ctx context.Context, m measurer) error) func(context.Context, Harness) error {
	return func(ctx context.Context, h Harness) error { return check(ctx, measurer{h, self}) }
}

// Run runs all checks. In a child process it does what the parent's check asks for instead.
func Run(t *testing.T, h Harness) {
	h = h.WithDefaults()
	if task := os.Getenv(childEnv); task != "" {
		if err := child(t.Context(), h, task); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, c := range checks(patternOf(t.Name())) {
		t.Run(c.Name, func(t *testing.T) {
			err := c.Run(t.Context(), h)
			switch {
			case errors.Is(err, certify.ErrSkipped):
				t.Skip(err)
			case err != nil:
				t.Error(err)
			}
		})
	}
}
