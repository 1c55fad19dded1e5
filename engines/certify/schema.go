package certify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluicedb/sluice/engines"
)

// sameSchema demands the same fields of no rows and many, and one Arrow schema in all batches.
func sameSchema(ctx context.Context, h Harness) error {
	return h.WithEngine(ctx, func(ctx context.Context, e engines.Engine) error {
		var none, many []engines.Field
		err := OnStream(ctx, e, h.Rows(0, 8), func(ctx context.Context, s engines.Stream) error {
			none = s.Fields()
			if _, err := s.Next(ctx); err != io.EOF {
				return fmt.Errorf("no rows end with %w", err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = OnStream(ctx, e, h.Rows(10_000, 8), func(ctx context.Context, s engines.Stream) error {
			many = s.Fields()
			if err := oneSchema(ctx, s); err != nil {
				return err
			}
			if !slices.Equal(s.Fields(), many) {
				return errors.New("the fields changed while rows came")
			}
			return nil
		})
		if err == nil && !slices.Equal(none, many) {
			err = fmt.Errorf("fields of no rows are %v, of many %v", none, many)
		}
		return err
	})
}

func oneSchema(ctx context.Context, s engines.Stream) error {
	var first *arrow.Schema
	for {
		b, err := s.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		c, ok := b.(engines.Columns)
		if !ok {
			continue
		}
		if first == nil {
			first = c.Record.Schema()
		}
		if !first.Equal(c.Record.Schema()) {
			return fmt.Errorf("schema changed from %s to %s", first, c.Record.Schema())
		}
	}
}

// boundedBatches demands that a batch of several rows is not much larger than the size that batches aim at.
func boundedBatches(ctx context.Context, h Harness) error {
	return h.WithEngine(ctx, func(ctx context.Context, e engines.Engine) error {
		for _, width := range []int{0, 100, 5000, 300_000, engines.BatchBytes + 1} {
			n := int64(max(20, min(20_000, 8*engines.BatchBytes/(width+8))))
			err := OnStream(ctx, e, h.Rows(n, width), func(ctx context.Context, s engines.Stream) error {
				var rows int64
				for rows < n {
					b, err := s.Next(ctx)
					if err != nil {
						return err
					}
					if err := verify(b, rows, width); err != nil {
						return err
					}
					rows += int64(b.NumRows())
					if size := b.NumRows() * (width + 8); b.NumRows() > 1 && size > engines.BatchBytes+engines.BatchBytes/4 {
						return fmt.Errorf("a batch of %d rows of %d bytes", b.NumRows(), width+8)
					}
				}
				if _, err := s.Next(ctx); err != io.EOF {
					return fmt.Errorf("%d rows end with %w", n, err)
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("width %d: %w", width, err)
			}
		}
		return nil
	})
}

// types compares fields and values of the harness' statements.
func types(ctx context.Context, h Harness) error {
	if len(h.Types) == 0 {
		return Skip("the harness names no types")
	}
	return h.WithEngine(ctx, func(ctx context.Context, e engines.Engine) error {
		var all []error
		for _, typ := range h.Types {
			err := onQuery(ctx, e, engines.Query{SQL: typ.SQL, Fields: []engines.Field{typ.Field}}, func(ctx context.Context, s engines.Stream) error {
				if len(s.Fields()) != 1 || s.Fields()[0] != typ.Field {
					return fmt.Errorf("fields are %+v, not %+v", s.Fields(), typ.Field)
				}
				return wantValues(ctx, s, typ.Want)
			})
			if err != nil {
				all = append(all, fmt.Errorf("%s: %w", typ.SQL, err))
			}
		}
		return errors.Join(all...)
	})
}

func wantValues(ctx context.Context, s engines.Stream, want []string) error {
	var got []string
	for {
		b, err := s.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch b := b.(type) {
		case engines.Columns:
			for i := range b.NumRows() {
				got = append(got, b.Record.Column(0).ValueStr(i))
			}
		case engines.Frames:
			got = appendTexts(got, b)
		default:
			return fmt.Errorf("values of %T are not compared", b)
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("values are %q, not %q", got, want)
	}
	return nil
}
