package certify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicedb/sluice/engines"
)

const canceled = "57014"

// CodeOf returns an error's SQLSTATE, empty for none.
func CodeOf(err error) string {
	var pe interface{ SQLState() string }
	if errors.As(err, &pe) {
		return pe.SQLState()
	}
	return ""
}

func wantCode(err error, code string) error {
	if CodeOf(err) != code {
		return fmt.Errorf("error is %w (%s), not of SQLSTATE %s", err, CodeOf(err), code)
	}
	return nil
}

// midStreamFailure demands that a failure after rows is an error, not an end, and stays one.
func midStreamFailure(ctx context.Context, h Harness) error {
	const at = 300_000
	if h.FailAt == nil {
		return Skip("a statement of the server's fails before its first row")
	}
	return h.withStream(ctx, h.FailAt(at), func(ctx context.Context, s engines.Stream) error {
		rows, err := Drain(ctx, s)
		if err == nil {
			return fmt.Errorf("%d rows and a good end", rows)
		}
		if rows == 0 || rows > at {
			return fmt.Errorf("%d rows before the failure at row %d", rows, at)
		}
		if err := wantCode(err, h.FailCode); err != nil {
			return err
		}
		_, again := s.Next(ctx)
		return wantCode(again, h.FailCode)
	})
}

// cancelBlocked ends a statement that computes without yielding, and one that was cancelled before it began.
func cancelBlocked(ctx context.Context, h Harness) error {
	return h.WithEngine(ctx, func(ctx context.Context, e engines.Engine) error {
		before := h.running(e)
		canceledCtx, cancel := context.WithCancel(ctx)
		timer := time.AfterFunc(50*time.Millisecond, cancel)
		defer timer.Stop()
		if err := wantCode(OpenAndRead(canceledCtx, e, h.Blocking), canceled); err != nil {
			return fmt.Errorf("cancelled while it computes: %w", err)
		}
		if err := wantCode(OpenAndRead(canceledCtx, e, h.Rows(10, 8)), canceled); err != nil {
			return fmt.Errorf("cancelled before it began: %w", err)
		}
		if err := h.settle(ctx, e, before); err != nil {
			return err
		}
		return OpenAndRead(ctx, e, h.Rows(10, 8))
	})
}

// OpenAndRead reads one batch of a statement.
func OpenAndRead(ctx context.Context, e engines.Engine, sql string) error {
	return OnStream(ctx, e, sql, func(ctx context.Context, s engines.Stream) error {
		_, err := s.Next(ctx)
		return err
	})
}

// cancelMidStream cancels between two batches: the next one is an error, and so is the one after, whatever context it
// is asked under.
func cancelMidStream(ctx context.Context, h Harness) error {
	return h.withStream(ctx, h.Rows(Endless, 8), func(ctx context.Context, s engines.Stream) error {
		canceledCtx, cancel := context.WithCancel(ctx)
		if _, _, err := readRows(canceledCtx, s, 5000, 8); err != nil {
			cancel()
			return err
		}
		cancel()
		for {
			if _, err := s.Next(canceledCtx); err != nil {
				if err := wantCode(err, canceled); err != nil {
					return err
				}
				break
			}
		}
		_, err := s.Next(ctx)
		return wantCode(err, canceled)
	})
}

// cancelManyTimes asks for right answers after many cancels: a poisoned connection would give wrong ones.
func cancelManyTimes(ctx context.Context, h Harness) error {
	const rounds = 50
	return h.WithEngine(ctx, func(ctx context.Context, e engines.Engine) error {
		for range rounds {
			err := OnStream(ctx, e, h.Rows(Endless, 8), func(ctx context.Context, s engines.Stream) error {
				canceledCtx, cancel := context.WithCancel(ctx)
				defer cancel()
				_, _, err := readRows(canceledCtx, s, 1, 8)
				return err
			})
			if err != nil {
				return err
			}
		}
		for range rounds {
			err := OnStream(ctx, e, h.Rows(5000, 8), func(ctx context.Context, s engines.Stream) error {
				_, _, err := readRows(ctx, s, 5000, 8)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// failures checks the SQLSTATE of statements that fail, and that the engine is of use afterwards.
func failures(ctx context.Context, h Harness) error {
	return h.WithEngine(ctx, func(ctx context.Context, e engines.Engine) error {
		var all []error
		for _, f := range h.Errors {
			if err := wantCode(OpenAndRead(ctx, e, f.SQL), f.Code); err != nil {
				all = append(all, fmt.Errorf("%s: %w", f.SQL, err))
			}
		}
		return errors.Join(append(all, OpenAndRead(ctx, e, h.Rows(10, 8)))...)
	})
}
