package enginetest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/certify"
)

// childEnv holds the task of a child process: what to read, how many rows, of which width.
const childEnv = "SLUICE_ENGINETEST_CHILD"

// width makes rows of 216 bytes, five million of which are a GiB.
const width = 208

// measurer runs a harness in child processes, which run the test of pattern self.
type measurer struct {
	Harness
	self string
}

// peak is what a child measured.
type peak struct{ baseline, highest int64 }

func (p peak) rise() int64 { return p.highest - p.baseline }

// bounded drains a GiB and demands that memory rises by no more than the budget.
func bounded(ctx context.Context, h measurer) error {
	p, err := h.measure(ctx, "drain", h.Drain, width)
	if err == nil && p.rise() > h.Budget {
		err = fmt.Errorf("memory rose by %d MiB over %d MiB while %d rows were drained", p.rise()>>20, p.baseline>>20, h.Drain)
	}
	return err
}

// flatPeak demands that ten times the rows, which are more than the budget, need no more memory.
func flatPeak(ctx context.Context, h measurer) error {
	return h.flat(ctx, h.Drain/10, width)
}

// flatPeakWide is flatPeak for rows so wide that a few fill a batch. An engine that makes its rows by chunks is given
// some whole chunks in both runs.
func flatPeakWide(ctx context.Context, h measurer) error {
	return h.flat(ctx, max(6*h.Chunk, 64), h.Wide)
}

func (h measurer) flat(ctx context.Context, n int64, width int) error {
	few, err := h.measure(ctx, "drain", n, width)
	if err != nil {
		return err
	}
	many, err := h.measure(ctx, "drain", 10*n, width)
	if err != nil {
		return err
	}
	// How many chunks are under way at once varies, and the longer run sees more of the rare moments with many.
	if slack := max(few.highest/10, h.Budget); many.highest > few.highest+slack {
		return fmt.Errorf("the peak is %d MiB for %d rows of %d bytes and %d MiB for ten times as many",
			few.highest>>20, n, width, many.highest>>20)
	}
	return nil
}

// backPressureMemory stops reading and demands that memory stays flat.
func backPressureMemory(ctx context.Context, h measurer) error {
	p, err := h.measure(ctx, "stall", certify.Endless, width)
	if err == nil && p.rise() > h.Budget {
		err = fmt.Errorf("memory rose by %d MiB while nobody read", p.rise()>>20)
	}
	return err
}

// patternOf makes a pattern for -test.run that matches exactly one test.
func patternOf(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// measure runs a task in a child process.
func (h measurer) measure(ctx context.Context, what string, rows int64, width int) (peak, error) {
	switch {
	case runtime.GOOS != "linux":
		return peak{}, certify.Skip("only Linux tells the peak of a process")
	case raceDetector:
		return peak{}, certify.Skip("the race detector's own memory is in the peak")
	}
	ctx, cancel := context.WithTimeout(ctx, 4*h.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run="+h.self, "-test.count=1", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", childEnv, what, rows, width))
	out, err := cmd.CombinedOutput()
	var p peak
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if _, scanErr := fmt.Sscanf(lines.Text(), report, &p.baseline, &p.highest); scanErr == nil {
			return p, err
		}
	}
	return p, fmt.Errorf("child process says nothing (%w):\n%s", err, out)
}

// stall is how long the check on back-pressure stops reading.
const stall = 200 * time.Millisecond

const report = "enginetest: baseline %d peak %d"

// child does a task and reports its peak.
func child(ctx context.Context, h Harness, task string) error {
	var what string
	var rows int64
	var width int
	if _, err := fmt.Sscanf(task, "%s %d %d", &what, &rows, &width); err != nil {
		return fmt.Errorf("task %q: %w", task, err)
	}
	h.Patience *= 4
	debug.SetGCPercent(25) // measure what is held, not what is left lying about
	return h.WithEngine(ctx, func(ctx context.Context, e engines.Engine) error {
		if err := certify.OpenAndRead(ctx, e, h.Rows(h.Chunk, 8)); err != nil { // what is made once is part of the baseline
			return err
		}
		baseline, err := resetPeak()
		if err != nil {
			return err
		}
		if what == "stall" {
			err = stalled(ctx, e, h.Rows(rows, width))
		} else {
			err = drained(ctx, e, h.Rows(rows, width), rows)
		}
		if err != nil {
			return err
		}
		highest, err := status("VmHWM")
		fmt.Printf(report+"\n", baseline, highest)
		return err
	})
}

func drained(ctx context.Context, e engines.Engine, sql string, rows int64) error {
	return certify.OnStream(ctx, e, sql, func(ctx context.Context, s engines.Stream) error {
		n, err := certify.Drain(ctx, s)
		if err == nil && n != rows {
			err = fmt.Errorf("%d rows of %d", n, rows)
		}
		return err
	})
}

func stalled(ctx context.Context, e engines.Engine, sql string) error {
	return certify.OnStream(ctx, e, sql, func(ctx context.Context, s engines.Stream) error {
		_, err := s.Next(ctx)
		time.Sleep(2 * stall)
		return err
	})
}

// resetPeak forgets the peak so far and returns what the process holds now.
func resetPeak() (int64, error) {
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return 0, fmt.Errorf("cannot reset the peak: %w", err)
	}
	return status("VmRSS")
}

// status reads a size from /proc/self/status.
func status(name string) (int64, error) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		var kib int64
		if _, err := fmt.Sscanf(line, name+": %d kB", &kib); err == nil {
			return kib << 10, nil
		}
	}
	return 0, errors.New(name + " is not in /proc/self/status")
}
