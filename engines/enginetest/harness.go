package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
)

// Harness says how to use the engine under test.
type Harness struct {
	// Open returns the engine. It is called once for each check, and the check closes it.
	Open func(ctx context.Context) (engines.Engine, error)
	// Rows is a statement that lazily yields n rows of (i bigint counting from 0, s text of width bytes).
	Rows func(n int64, width int) string
	// Blocking is a statement that computes for hours before its first row.
	Blocking string
	// FailAt is a statement that yields rows and fails with FailCode when it comes to row n.
	FailAt   func(n int64) string
	FailCode string
	// Errors are statements that fail before their first row.
	Errors []Failure
	// Types are values whose field and content are checked.
	Types []Type

	// Running says how many statements the engine runs at present; nil where it cannot be told.
	Running func(e engines.Engine) int
	// Produced says how many rows the engine's source has made so far; nil where it cannot be told.
	Produced func() int64
	// Source says which calls the engine's package must not make, and where.
	Source Source

	Drain    int64         // rows that the memory checks drain, by default 5 million of 216 bytes
	Budget   int64         // how far memory may rise above the baseline or vary between runs, by default 32 MiB
	Wide     int           // width of the rows of the check on wide rows, by default 1 MiB
	Chunk    int64         // rows that the engine itself makes at once, whatever their width; by default 1
	Patience time.Duration // after which something that should be immediate is taken to hang, by default 30 s

	self string // pattern of the test to run in a child
}

// Failure is a statement and the SQLSTATE that it fails with.
type Failure struct{ SQL, Code string }

// Type is a statement of one column, and what it must yield.
type Type struct {
	SQL   string
	Field engines.Field
	Want  []string // Arrow's text of each value, or Postgres' where batches are Frames; (null) for NULL
}

// check is one invariant. It returns what is wrong.
type check struct {
	name string
	run  func(ctx context.Context, h Harness) error
}

// errSkipped says that a harness lacks what a check needs.
var errSkipped = errors.New("skipped")

func skip(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errSkipped, fmt.Sprintf(format, args...))
}

var checks = []check{
	{"I1_OneProducer", oneProducer},
	{"I2_Bounded", bounded},
	{"I4_FlatPeak", flatPeak},
	{"I4_FlatPeakOfWideRows", flatPeakWide},
	{"I5_FirstRow", firstRow},
	{"I6_EarlyStop", earlyStop},
	{"I7_BackPressure", backPressure},
	{"I7_BackPressureOfMemory", backPressureMemory},
	{"I16_Schema", sameSchema},
	{"I22_MidStreamFailure", midStreamFailure},
	{"Batches", boundedBatches},
	{"Cancel", cancelBlocked},
	{"CancelMidStream", cancelMidStream},
	{"CancelManyTimes", cancelManyTimes},
	{"Close", closing},
	{"Interleaved", interleaved},
	{"Errors", failures},
	{"Types", types},
}

// Run runs all checks. In a child process it does what the parent's check asks for instead.
func Run(t *testing.T, h Harness) {
	h = h.withDefaults(t)
	if task := os.Getenv(childEnv); task != "" {
		if err := h.child(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			err := c.run(t.Context(), h)
			switch {
			case errors.Is(err, errSkipped):
				t.Skip(err)
			case err != nil:
				t.Error(err)
			}
		})
	}
}

func (h Harness) withDefaults(t testing.TB) Harness {
	h.self = patternOf(t.Name())
	if h.Drain == 0 {
		h.Drain = 5_000_000
	}
	if h.Budget == 0 {
		h.Budget = 32 << 20
	}
	if h.Wide == 0 {
		h.Wide = 1 << 20
	}
	if h.Chunk == 0 {
		h.Chunk = 1
	}
	if h.Patience == 0 {
		h.Patience = 30 * time.Second
	}
	return h
}

// endless is so many rows that nobody waits for the last.
const endless = 1 << 40

// withEngine runs use on a fresh engine under the harness' patience, and closes the engine.
func (h Harness) withEngine(ctx context.Context, use func(ctx context.Context, e engines.Engine) error) error {
	ctx, cancel := context.WithTimeout(ctx, h.Patience)
	defer cancel()
	e, err := h.Open(ctx)
	if err != nil {
		return fmt.Errorf("open engine: %w", err)
	}
	return errors.Join(use(ctx, e), e.Close())
}

// withStream runs use on the stream of one statement, and closes it.
func (h Harness) withStream(ctx context.Context, sql string, use func(ctx context.Context, s engines.Stream) error) error {
	return h.withEngine(ctx, func(ctx context.Context, e engines.Engine) error { return onStream(ctx, e, sql, use) })
}

// rowFields are the columns of Harness.Rows.
var rowFields = []engines.Field{{Name: "i", OID: 20, Typmod: -1}, {Name: "s", OID: 25, Typmod: -1}}

func onStream(ctx context.Context, e engines.Engine, sql string, use func(ctx context.Context, s engines.Stream) error) error {
	return onQuery(ctx, e, engines.Query{SQL: sql, Fields: rowFields}, use)
}

func onQuery(ctx context.Context, e engines.Engine, q engines.Query, use func(ctx context.Context, s engines.Stream) error) error {
	s, err := e.Open(ctx, q)
	if err != nil {
		return fmt.Errorf("open stream: %w", err)
	}
	return errors.Join(use(ctx, s), s.Close())
}
