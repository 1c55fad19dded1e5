package dialect

// Namer is the dialect of an engine that does not take any name for a column of a result.
type Namer interface {
	Dialect
	// Names reports whether a column of a result may have the name. Where one may not, all are numbered.
	Names(name string) bool
}
