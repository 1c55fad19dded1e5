package plan

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/govern"
)

// Route says who computes a statement.
type Route string

// The routes. Home means that nothing of ours is in the statement and it passes through as it is.
const (
	Home      Route = "home"
	Remote    Route = "remote"
	Federated Route = "federated"
	HomeJoin  Route = "home_join"
	Catalog   Route = "catalog"
)

// Reference is one mention of a relation in a statement, resolved by home. References are in the order of
// parser.Statement.Relations.
type Reference struct {
	OID      uint32            // 0 where home knows no such relation
	Relation *catalog.Relation // nil where the relation is home's own
}

// Request is what Build works from.
type Request struct {
	Statement  *parser.Statement
	Snapshot   *catalog.Snapshot
	References []Reference
	Params     []uint32        // parameter type OIDs as home described them
	Fields     []engines.Field // result columns as home described them, for COPY (SELECT …) TO those of the SELECT; nil for none
	Settings   Settings
	Force      Route                                        // the value of sluice.route; empty for free choice
	OnFullScan string                                       // the value of sluice.on_full_scan
	ReadOnly   bool                                         // the transaction takes no temporary tables: inputs are spelled out in the statement
	HoldParams bool                                         // parameters have values that engines may read otherwise: they stay at home
	TempPrefix string                                       // prefix for inputs of this statement that is in no text of the session: "sluice_7_"
	Rules      AskRules                                     // must be there if the snapshot has governed relations
	Guards     AskGuard                                     // as Rules, for what is written to
	Facts      AskFacts                                     // nil: nothing is known of servers
	Definition func(view *catalog.Relation) (string, error) // asks for the query of one of the snapshot's views
	// Rows asks for sizes of tables; nil: none is known. Estimates says that home's inputs have them as well, for EXPLAIN.
	Rows      AskRows
	Estimates bool
	// Only are the columns of a relation, by its OID, that home says the statement uses at most; nil where it was not asked.
	Only map[uint32][]int16
	// Home are the relations of home's own that the statement names, by OID; nil where nothing can be federated.
	Home map[uint32]*catalog.HomeRelation
	// Federation is the server that sluice.federation_server names, nil for none.
	Federation *catalog.Server
}

// AskFacts asks for what must be known of home, and of a server that is a Postgres too, before parts of a statement are
// shipped to it as they stand.
type AskFacts func(server *catalog.Server, role uint32) (home, remote engines.Facts, err error)

// AskRows asks for about how many rows a foreign table has, as a role, or (0) the current one; negative where that is not known.
type AskRows func(t *catalog.Relation, role uint32) int64

// AskRules asks for what governs the current role's reading of a relation, nil for nothing.
type AskRules func(r *catalog.Relation) (*govern.Rules, error)

// Guard is what holds for the current role where it writes to a governed table.
type Guard struct {
	RowSecurity bool     // home is to enforce the policies
	Masked      []string // columns that no expression of the statement may read
}

// AskGuard asks for the guard of a relation, nil for none.
type AskGuard func(r *catalog.Relation) (*Guard, error)

// Settings are those of the session that decide whether an engine's values read as home's would.
type Settings struct {
	TimeZone         string
	DateStyle        string
	IntervalStyle    string
	ExtraFloatDigits int
	ClientEncoding   string // empty is UTF8
}

// Plan is how one statement runs. It is immutable and holds no connection.
type Plan struct {
	Route  Route
	Reason string // why not a faster route: for EXPLAIN
	// Governed says that rules stand in the plan with values of the session: it is good for these alone, and its texts are
	// not for the client.
	Governed bool
	Masked   []string // columns of the statement's tables that are masked for the role, "schema.table.column"
	Refused  error    // what to answer in place of running it, once privileges are checked; nil for nothing

	// Remote: the whole statement in the server's dialect; Federated: in the federation engine's, over the Inputs. Params lists which statement parameters ($n, from 1) are
	// bound in which place.
	Server    *catalog.Server // of a federated one nil, unless a server computes it, over tables of the servers Over
	Over      []*catalog.Server
	Role      uint32 // whose user mapping is used, 0 for the current role
	RemoteSQL string
	Params    []int // those behind the statement's own are Moments
	Moments   []Moment
	whole     *catalog.Relation // all of whose rows leave the server, nil for none
	Typmods   []int32           // of the columns that home knows no digits of and the plan does, 0 for all others; it may end early
	Guarded   bool              // an error of class 22 may be the engine's alone: it is home then that computes
	checks    []check           // of the values of parameters
	Rows      int64             // an estimate of how many are yielded, 0 for none
	Copy      *CopyFormat       // the statement is a COPY (SELECT …) TO STDOUT of the rows; nil for none

	Binds []Bind // Federated: how some of the Inputs may restrict others

	// HomeJoin: inputs to ship, then HomeSQL to run over them with the statement's own parameters.
	Inputs  []Input
	HomeSQL string
	// OptionsSQL is a COPY TO with its options over no rows, for home to say what is wrong with them before anything is
	// shipped; empty for none. It is longer than the statement's own text, in front of the options, by Shift characters.
	OptionsSQL string
	Shift      int

	Home []*catalog.Relation // tables of home that HomeSQL reads through the views that have their masks

	Privileges []Privilege // on governed relations, checked before anything runs
	Write      *Write      // a foreign table that the statement writes to, nil for none
}

// CopyFormat says how a COPY TO STDOUT that is computed remote is written.
type CopyFormat struct {
	Binary bool            // else text, with its default options
	Fields []engines.Field // of the rows
}

// Input is one governed, filtered, projected scan of a foreign table, or of a view that its server computes, that is
// shipped to home or to the federation engine, or, for the latter, one of a relation of home's own.
type Input struct {
	Relation  *catalog.Relation
	Server    *catalog.Server // nil: home, whose own SQL RemoteSQL then is
	Role      uint32          // whose user mapping is used, 0 for the current role
	Columns   []int           // indexes into Relation.Columns, in order; never empty
	TempName  string          // the table in pg_temp that HomeSQL names, or the first part of its Placeholders
	Spelled   bool            // no table: the values stand in HomeSQL itself, in place of the Placeholders
	Blank     bool            // the role may read none of the columns: they are NULL, and only the number of rows counts
	RemoteSQL string          // yields exactly Columns, cast to their Postgres types' counterparts
	Params    []int           // as in Plan
	Filters   []string        // what was pushed, in the engine's dialect, for EXPLAIN
	Kept      []Kept          // conditions on the table alone that home evaluates
	Whole     bool            // all rows of a foreign table are read
	Gate      int             // as one of Params: a condition above the input, which has no rows where that is not true; 0 for none
	OneTime   string          // its text, for EXPLAIN
	Probes    [][]int         // sets of Columns by which the statement looks up rows again and again: a hash index for one, a btree for several

	// RowID says that RemoteSQL yields the row's identity as bigint in one more column, first, named sluice_rowid. The
	// temporary table then inherits from Parent, which has Columns alone: what a statement sees of Parent's rows is just
	// what the foreign table has.
	RowID  bool
	Parent string
	Sealed bool // by a Guard: the role cannot look into the table while it could run anything

	Screen *Screen // between the server and the input; nil for none: then RemoteSQL yields what it says

	Rows int64 // an estimate, 0 for none
	// Feed is what the columns are in the federation engine.
	Feed []engines.FeedColumn
	// BoundSQL is RemoteSQL for the rows alone that have one of some keys: its last parameter holds them, as an array of a
	// Postgres (Arrays) or of JSON. Empty where no Bind restricts the input.
	BoundSQL string
	Arrays   bool
}

// Kept is a condition that is not shipped.
type Kept struct {
	Condition *pg_query.Node
	Why       string
}

// Privilege is one privilege that a role needs on a relation.
type Privilege = govern.Privilege

// WriteKind is what is done to the rows of a foreign table.
type WriteKind int

// The kinds of write.
const (
	Insert WriteKind = iota + 1
	Update
	Delete
	Truncate
	CopyFrom
)

// Write describes DML on a foreign table. Its rows are computed at home: Table and Setup make temporary tables, Inputs
// are shipped, RunSQL fills the tables; RowsSQL yields the rows that go to the engine; then ReturningSQL, if any, answers
// the client.
type Write struct {
	Kind     WriteKind
	Relation *catalog.Relation
	Columns  []string // remote columns that the rows carry, behind the row identity for Update and Delete

	// Generated are those of Columns that home computes from others.
	Generated []string

	// Table is a temporary table to create first, in the likeness of the foreign table with its defaults, generated
	// columns and constraints; empty for none. It cannot be made by LIKE, which needs a privilege that DML does not.
	Table string
	// Setup are statements to run at home next, in order.
	Setup []string
	// StageSQL makes, after inputs are shipped, the temporary table that RunSQL notes changes and the RETURNING list in. It
	// has the statement's own parameters. Empty for none.
	StageSQL string
	// RunSQL is run at home with the statement's own parameters after inputs are shipped: an INSERT into, UPDATE or
	// DELETE of temporary tables, or a COPY into one. Empty for Truncate.
	RunSQL string
	// Shift is how much longer RunSQL is than the statement's own text where it is that but for the target's name, in
	// characters; 0 where it is another text.
	Shift  int
	Freeze bool // a COPY FROM with FREEZE
	Skip   bool // an INSERT that leaves out rows which conflict with others
	// RowsSQL is a SELECT over temporary tables that yields what the engine must get. Empty for Truncate.
	RowsSQL string
	// ReturningSQL is a SELECT over temporary tables that yields the RETURNING list, anonymous records as text; empty for
	// none.
	ReturningSQL string
	CopySQL      string // COPY of those rows, where the statement stands in one; empty for none
	// UserValue says that the statement has OVERRIDING USER VALUE, which matters where columns are identities.
	UserValue bool
	// Temps are the temporary tables made by Table, Setup and StageSQL.
	Temps []string

	// Guard says that home must enforce policies or masks, nil for none: Temps[0], and with it the input that inherits
	// from it, are sealed before StageSQL. They are Prefix with a "t" behind it, and Child, empty for an INSERT. Prefix with a
	// "k" behind it then has the row identities that the child had, each with its place.
	Guard  *Guard
	Prefix string
	Child  string
}
