package dialect

// Limiter is the dialect of an engine that spells LIMIT and OFFSET otherwise than Postgres.
type Limiter interface {
	Dialect
	// Limit prints, behind ORDER BY or in its place, how many rows a query yields and behind how many of them. Either is empty
	// where it is not limited, not both. It is false where the engine has no such limit.
	Limit(rows, skipped string, ordered bool) (string, bool)
}
