package engines

import "context"

// Probes are statements that read no table and change nothing, by which an engine's streams are looked at on a server that is
// in use. Their columns are i bigint and s text.
type Probes struct {
	Version string // of the server
	// Rows lazily yields n rows: numbers from 0, and texts of a width.
	Rows func(n int64, width int) string
	// Blocking computes for hours before its first row.
	Blocking string
	// FailAt yields rows and fails with FailCode when it comes to row n; nil where a statement has failed before its first row.
	FailAt   func(n int64) string
	FailCode string
	// Errors are statements that fail at once, with their SQLSTATE.
	Errors map[string]string
}

// Certifiable is an Engine that has Probes.
type Certifiable interface {
	Probes(ctx context.Context) (Probes, error)
}
