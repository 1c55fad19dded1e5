package proxy

import (
	"context"
	"io"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/plan"
)

// shut reports whether an input has no rows, as a condition above it is not true: its server is not asked then.
func (s *Session) shut(ctx context.Context, x *execution, in *plan.Input) (bool, error) {
	if in == nil || in.Gate == 0 {
		return false, nil
	}
	value, err := s.pick(ctx, x, []int{in.Gate})
	return err == nil && (value[0] == nil || *value[0] != "true"), err
}

// noRows is the stream of an input without rows.
type noRows struct{ input *plan.Input }

func (n noRows) Fields() []engines.Field                     { return inputFields(n.input) }
func (n noRows) Next(context.Context) (engines.Batch, error) { return nil, io.EOF }
func (n noRows) Close() error                                { return nil }
