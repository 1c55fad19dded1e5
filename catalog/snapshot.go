package catalog

import (
	"context"
	"sync"
)

// Querier runs one statement at home and returns all of its rows in text form, nil for NULL. It is for bounded catalog
// reads only. Arguments are bound as $1…$n in text form with types inferred by home. Errors are *pgconn.PgError.
type Querier interface {
	Query(ctx context.Context, sql string, args ...string) ([][]*string, error)
}

// Snapshot is what one database holds that concerns Sluice, at one catalog version. It is never changed, but that
// Definition keeps what it has read.
type Snapshot struct {
	Installed bool  // CREATE EXTENSION sluice was run here
	Version   int64 // sluice.catalog_version
	// Uncommitted says that the reading transaction itself has changed the catalog: the snapshot is for its session
	// alone, and only until the transaction ends.
	Uncommitted bool

	Servers   map[uint32]*Server
	Relations map[uint32]*Relation // foreign tables on our servers, tables of home with masks, and views (of any depth) over them, by OID
	// Shadows are names that pg_catalog's functions and operators share with others of this database that take built-in
	// types alone: which of them a statement means depends on its types and the search path.
	Shadows map[string]bool
	// Twins are the views of schema sluice_cat, each with the view of Postgres' own that it stands for.
	Twins map[uint32]uint32
	// Remotely are foreign tables, by OID, whose rows their servers count.
	Remotely []uint32

	names       map[string]struct{}
	counted     map[string][]*Counted
	masks       map[string]struct{} // names of tables of home with masks
	definitions sync.Map            // of views, by OID
}

// Server is a foreign server of one of our wrappers.
type Server struct {
	OID     uint32
	Name    string
	Wrapper string // "sluice_duckdb"
	Options map[string]string
}

// Relation is a foreign table of ours, a table of home with masks, or a view over one.
type Relation struct {
	OID     uint32
	Schema  string
	Name    string
	Kind    byte // relkind: 'f', 'v', 'm', or 'r' for a table of home with masks, partitioned or not
	Owner   uint32
	Options map[string]string
	Server  *Server // nil for views
	Columns []Column

	Invoker  bool // of a view: security_invoker
	Governed bool // of a table: row security or masks may hold for some role

	MaskView string // of a table of home: the view in schema sluice_masked that those read whom its masks may hold for
}

// Column is one live attribute of a Relation, in attnum order.
type Column struct {
	Num       int16
	Name      string
	Type      uint32
	Typmod    int32
	TypeName  string // format_type(atttypid, atttypmod)
	NotNull   bool
	Collation uint32
	Collate   string // the collation's qualified name where it is not the type's own, else empty
	BytewiseC bool   // the column's collation compares bytes (C, POSIX, or a default that does)
	Generated bool
	Options   map[string]string
}

// Counted is a table of home whose rows are counted.
type Counted struct {
	Schema, Name string
	Keys         []CountedKey // by which they are counted, and whose values can be had back from the counters
}

// CountedKey is a column, and its type as Postgres prints it.
type CountedKey struct{ Name, Type string }

// Counted returns the tables of a bare name whose rows are counted.
func (s *Snapshot) Counted(name string) []*Counted { return s.counted[name] }

// HasWrapper reports whether one of the servers is of a wrapper.
func (s *Snapshot) HasWrapper(name string) bool {
	for _, server := range s.Servers {
		if server.Wrapper == name {
			return true
		}
	}
	return false
}

// Mentions reports whether name is the bare name of a relation in the snapshot.
func (s *Snapshot) Mentions(name string) bool {
	_, ok := s.names[name]
	return ok
}

// Masks reports whether name is the bare name of a table of home with masks.
func (s *Snapshot) Masks(name string) bool {
	_, ok := s.masks[name]
	return ok
}

// HasMasks reports whether any table of home has masks.
func (s *Snapshot) HasMasks() bool { return len(s.masks) > 0 }

// Gained reports whether the snapshot has names of relations that an older one has not.
func (s *Snapshot) Gained(older *Snapshot) bool {
	for name := range s.names {
		if !older.Mentions(name) {
			return true
		}
	}
	return false
}
