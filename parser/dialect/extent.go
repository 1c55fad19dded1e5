package dialect

// Extent is how much of a statement an engine may be sent. What it is not sent, home computes.
type Extent int

// An engine is sent names of columns alone, or conditions on a table's columns as well, or whole statements.
const (
	Columns Extent = iota
	Conditions
	Statements
)
