package certify

import (
	"context"
	"errors"
	"fmt"
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
}

// Source says which ways to read rows the engine's package must not use. Tests run in the package's directory, so its
// files are at hand.
type Source struct {
	// Forbidden are import paths, and calls such as "bindings.Query", that no file may use.
	Forbidden []string
	// Only maps calls to the one file that may make them.
	Only map[string]string
}

// Failure is a statement and the SQLSTATE that it fails with.
type Failure struct{ SQL, Code string }

// Type is a statement of one column, and what it must yield.
type Type struct {
	SQL   string
	Field engines.Field
	Want  []string // Arrow's text of each value, or Postgres' where batches are Frames; (null) for NULL
}

// Check is one invariant.
type Check struct {
	Name string
	// Run returns what is wrong; ErrSkipped where the harness lacks what the check needs.
	Run func(ctx context.Context, h Harness) error
}

// ErrSkipped says that a harness lacks what a check needs.
var ErrSkipped = errors.New("skipped")

// Skip returns an error that is ErrSkipped, with the reason.
func Skip(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSkipped, fmt.Sprintf(format, args...))
}

// Checks need nothing but an engine that answers, and change nothing.
var Checks = []Check{
	{"I5_FirstRow", firstRow},
	{"I6_EarlyStop", earlyStop},
	{"I7_BackPressure", backPressure},
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

// WithDefaults fills in what is not said.
func (h Harness) WithDefaults() Harness {
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

// Endless is so many rows that nobody waits for the last.
const Endless = 1 << 40

// WithEngine runs use on a fresh engine under the harness' patience, and closes the engine.
func (h Harness) WithEngine(ctx context.Context, use func(ctx context.Context, e engines.Engine) error) error {
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
	return h.WithEngine(ctx, func(ctx context.Context, e engines.Engine) error { return OnStream(ctx, e, sql, use) })
}

// rowFields are the columns of Harness.Rows.
var rowFields = []engines.Field{{Name: "i", OID: 20, Typmod: -1}, {Name: "s", OID: 25, Typmod: -1}}

// OnStream runs use on the stream of one of the statements that yield rows, and closes it.
func OnStream(ctx context.Context, e engines.Engine, sql string, use func(ctx context.Context, s engines.Stream) error) error {
	return onQuery(ctx, e, engines.Query{SQL: sql, Fields: rowFields}, use)
}

func onQuery(ctx context.Context, e engines.Engine, q engines.Query, use func(ctx context.Context, s engines.Stream) error) error {
	s, err := e.Open(ctx, q)
	if err != nil {
		return fmt.Errorf("open stream: %w", err)
	}
	return errors.Join(use(ctx, s), s.Close())
}
