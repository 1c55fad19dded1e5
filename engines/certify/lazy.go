package certify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicedb/sluice/engines"
)

// firstRow demands a row of a statement that never ends. Whoever collects first, never comes back.
func firstRow(ctx context.Context, h Harness) error {
	return h.withStream(ctx, h.Rows(Endless, 8), func(ctx context.Context, s engines.Stream) error {
		if len(s.Fields()) != 2 {
			return fmt.Errorf("fields are %v before the first row", s.Fields())
		}
		_, _, err := readRows(ctx, s, 1, 8)
		return err
	})
}

// early is how many batches a consumer reads before it leaves.
const early = 3

// earlyStop leaves an Endless statement after some batches: the engine must let go of it, and must not have worked
// far ahead.
func earlyStop(ctx context.Context, h Harness) error {
	return h.WithEngine(ctx, func(ctx context.Context, e engines.Engine) error {
		before := h.running(e)
		start := h.produced()
		var rows int64
		err := OnStream(ctx, e, h.Rows(Endless, 8), func(ctx context.Context, s engines.Stream) error {
			for range early {
				b, err := s.Next(ctx)
				if err != nil {
					return err
				}
				rows += int64(b.NumRows())
			}
			return h.notAhead(start, rows, early)
		})
		if err != nil {
			return err
		}
		return h.settle(ctx, e, before)
	})
}

// notAhead demands that the source made at most two batches more than were read.
func (h Harness) notAhead(start, rows int64, batches int) error {
	if h.Produced == nil {
		return nil
	}
	if made, most := h.Produced()-start, rows+2*rows/int64(batches); made > most {
		return fmt.Errorf("%d rows were made for %d read in %d batches", made, rows, batches)
	}
	return nil
}

// settle waits until the engine runs no more statements than before.
func (h Harness) settle(ctx context.Context, e engines.Engine, before int) error {
	for h.running(e) > before {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d statements still run at the engine", h.running(e)-before)
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

func (h Harness) running(e engines.Engine) int {
	if h.Running == nil {
		return 0
	}
	return h.Running(e)
}

func (h Harness) produced() int64 {
	if h.Produced == nil {
		return 0
	}
	return h.Produced()
}

// backPressure stops reading for a while: the source must stop too.
func backPressure(ctx context.Context, h Harness) error {
	if h.Produced == nil {
		return Skip("the harness cannot tell how many rows were produced")
	}
	return h.withStream(ctx, h.Rows(Endless, 8), func(ctx context.Context, s engines.Stream) error {
		start := h.Produced()
		b, err := s.Next(ctx)
		if err != nil {
			return err
		}
		rows := int64(b.NumRows())
		time.Sleep(stall) // nothing tells that a source does nothing
		return h.notAhead(start, rows, 1)
	})
}

// stall is how long the checks on back-pressure stop reading.
const stall = 200 * time.Millisecond

// closing checks that Close is legal at any time, any number of times, from anywhere.
func closing(ctx context.Context, h Harness) error {
	return h.WithEngine(ctx, func(ctx context.Context, e engines.Engine) error {
		before := h.running(e)
		err := errors.Join(closeUnread(ctx, e, h), closeAtEnd(ctx, e, h), closeWhileReading(ctx, e, h))
		if err != nil {
			return err
		}
		return h.settle(ctx, e, before)
	})
}

func closeUnread(ctx context.Context, e engines.Engine, h Harness) error {
	return OnStream(ctx, e, h.Rows(Endless, 8), func(ctx context.Context, s engines.Stream) error {
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			return fmt.Errorf("closed twice: %w", err)
		}
		if _, err := s.Next(ctx); err == nil {
			return errors.New("a closed stream yields rows")
		}
		return nil
	})
}

func closeAtEnd(ctx context.Context, e engines.Engine, h Harness) error {
	return OnStream(ctx, e, h.Rows(10, 8), func(ctx context.Context, s engines.Stream) error {
		rows, err := Drain(ctx, s)
		if err != nil || rows != 10 {
			return fmt.Errorf("%d rows of 10: %w", rows, err)
		}
		return s.Close()
	})
}

// closeWhileReading closes from one goroutine what another reads.
func closeWhileReading(ctx context.Context, e engines.Engine, h Harness) error {
	return OnStream(ctx, e, h.Rows(Endless, 8), func(ctx context.Context, s engines.Stream) error {
		first, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := s.Next(ctx)
			close(first)
			for err == nil {
				_, err = s.Next(ctx)
			}
			ended <- err
		}()
		<-first
		if err := s.Close(); err != nil {
			return err
		}
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			return errors.New("a stream yields rows after Close")
		}
	})
}

// interleaved reads several streams of one engine in turns.
func interleaved(ctx context.Context, h Harness) error {
	const streams, rows = 4, 20_000
	return h.WithEngine(ctx, func(ctx context.Context, e engines.Engine) error {
		open := make([]engines.Stream, streams)
		read := make([]int64, streams)
		for i := range open {
			s, err := e.Open(ctx, engines.Query{SQL: h.Rows(rows, i), Fields: rowFields})
			if err != nil {
				return err
			}
			defer s.Close()
			open[i] = s
		}
		for left := streams; left > 0; {
			left = 0
			for i, s := range open {
				if read[i] >= rows {
					continue
				}
				left++
				b, err := s.Next(ctx)
				if err != nil {
					return fmt.Errorf("stream %d after %d rows: %w", i, read[i], err)
				}
				if err := verify(b, read[i], i); err != nil {
					return fmt.Errorf("stream %d: %w", i, err)
				}
				read[i] += int64(b.NumRows())
			}
		}
		return nil
	})
}
