package engines

import "context"

// Estimator is an Engine that knows what a statement would take before it runs.
type Estimator interface {
	// Estimate says it in words for EXPLAIN, such as "1048576 bytes processed", without running the statement.
	Estimate(ctx context.Context, q Query) (string, error)
}
