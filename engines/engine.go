package engines

import "context"

// Wrapper is the code behind one foreign-data wrapper.
type Wrapper interface {
	// Name is the wrapper's name in pg_foreign_data_wrapper, for instance "sluice_duckdb".
	Name() string
	// Options lists the options that objects of a kind may carry.
	Options(kind ObjectKind) []Option
	// Check looks at all options of one object together, after each was looked at alone; nil when they fit.
	Check(kind ObjectKind, options map[string]string) error
	// Open makes an Engine for one server. It may connect lazily. Errors name the server.
	Open(ctx context.Context, s Server) (Engine, error)
}

// Userless is a Wrapper some of whose servers know no users, and need no user mapping.
type Userless interface {
	// Userless looks at the options of a server.
	Userless(server map[string]string) bool
}

// Maps reports whether a server takes user mappings.
func Maps(w Wrapper, server map[string]string) bool {
	if u, ok := w.(Userless); ok && u.Userless(server) {
		return false
	}
	return len(w.Options(MappingObject)) > 0
}

// ObjectKind says which SQL/MED object an option belongs to.
type ObjectKind int

// The kinds of object that carry options.
const (
	ServerObject ObjectKind = iota
	MappingObject
	TableObject
	ColumnObject
)

// Option is one option of a server, user mapping, foreign table or column.
type Option struct {
	Name     string
	Required bool
	Default  string
	Doc      string                   // one line, without a full stop
	Check    func(value string) error // nil: any text; an error's text says what is allowed
}

// Server is what CREATE SERVER and the user mapping in force say, secrets resolved.
type Server struct {
	OID     uint32
	Name    string
	Options map[string]string
	Mapping map[string]string
}

// Engine is one open server, shared by all sessions of the proxy. All methods may be called concurrently.
type Engine interface {
	// Open starts q and returns its rows as a lazy Stream.
	Open(ctx context.Context, q Query) (Stream, error)
	// Begin starts a write transaction; 0A000 where the server does not take writes.
	Begin(ctx context.Context) (Tx, error)
	// Introspect lists the tables of one remote schema for IMPORT FOREIGN SCHEMA, sorted by name; HV00Q when there is
	// no such schema. A table with a column whose type does not map is returned with that column's Type empty.
	Introspect(ctx context.Context, schema string) ([]Table, error)
	// Ping says whether the server answers.
	Ping(ctx context.Context) error
	// Close frees the engine when its last stream has ended.
	Close() error
}

// Query is one statement in the engine's own dialect, with positional parameters.
type Query struct {
	SQL string
	// Args holds the values of $1…$n in Postgres' text form under ISO dates and UTC; nil is NULL. The SQL casts them.
	Args []*string
	// Formats and Styles say how values are wanted by an engine whose streams are FrameStreams; others don't heed them.
	// Formats are as in Bind: none for text, one for all columns, or one for each.
	Formats []int16
	Styles  Styles
	// Fields are the columns as home has them, for an engine whose own types do not say what values are; others don't heed them.
	Fields []Field
	// Tag is shown at the remote server: as a query tag or label where it has such, else by Tag.Comment before the SQL.
	Tag Tag
}

// Styles are the settings that the text form of values depends on. The zero value is ISO dates, UTC and all digits.
type Styles struct{ TimeZone, DateStyle, IntervalStyle, ExtraFloatDigits, ByteaOutput string }

// Facts are what a planner must know of a server that is a Postgres too.
type Facts struct {
	Version   int    // as in server_version_num
	Collation string // encoding, provider, locale and version of the database's collation; equal ones order alike
}

// FactsSQL asks a Postgres for its Facts: version and collation. The columns of pg_database differ between versions, so
// that its row is read as a document. Where no version of a collation is known, none is equal to it.
const FactsSQL = `SELECT pg_catalog.current_setting('server_version_num'), pg_catalog.concat_ws(' ', pg_catalog.pg_encoding_to_char(d.encoding),
 j OPERATOR(pg_catalog.->>) 'datlocprovider', j OPERATOR(pg_catalog.->>) 'datcollate', j OPERATOR(pg_catalog.->>) 'datctype',
 COALESCE(j OPERATOR(pg_catalog.->>) 'datlocale', j OPERATOR(pg_catalog.->>) 'daticulocale'), j OPERATOR(pg_catalog.->>) 'daticurules',
 COALESCE(pg_catalog.pg_database_collation_actual_version(d.oid), CASE WHEN d.datcollate OPERATOR(pg_catalog.~) '^(C|POSIX)(\.|$)' THEN '' ELSE pg_catalog.random()::pg_catalog.text END))
FROM pg_catalog.pg_database d, LATERAL pg_catalog.to_jsonb(d) j WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()`

// Varied is an Engine that stands before another and shows what kinds of engine that is.
type Varied interface {
	// As sets *target, a pointer to one of the interfaces below, if the engine is such a one.
	As(target any) bool
}

// As returns the engine as one of the kinds below, and whether it is such a one.
func As[T any](e Engine) (T, bool) {
	if v, ok := e.(Varied); ok {
		var t T
		ok = v.As(&t)
		return t, ok
	}
	t, ok := e.(T)
	return t, ok
}

// Pooled is an Engine that keeps connections.
type Pooled interface {
	// Idle is how many connections wait to be used again.
	Idle() int
}

// Informant is an Engine that knows Facts.
type Informant interface {
	Facts(ctx context.Context) (Facts, error)
}

// Keeper is an Engine that keeps results of queries as tables of its own.
type Keeper interface {
	// Keeps says why the server keeps no results, nil where it does.
	Keeps() error
	// Declare returns the options that each column of a foreign table is declared with which reads a table of Maker's, of columns by name
	// and Postgres type, AnyEnum for an enum's; 0A000 for a type whose values the engine cannot keep as they are.
	Declare(columns []Column) ([]map[string]string, error)
	// Kept lists the tables whose names begin with prefix, among those where Maker makes them.
	Kept(ctx context.Context, prefix string) ([]string, error)
	// Forget drops one of them.
	Forget(ctx context.Context, table string) error
}

// AnyEnum stands for the type of each enum.
const AnyEnum = "anyenum"

// Maker is a Tx of a Keeper.
type Maker interface {
	// Make makes a table of columns that Keeper.Declare takes, which a Target without schema_name means.
	Make(ctx context.Context, table string, columns []Column) error
	// Fill makes such a table of the rows of q and returns how many there are. Where these have other types than Make gives the
	// columns, there is no table then, and ok is false.
	Fill(ctx context.Context, table string, columns []Column, q Query) (rows int64, ok bool, err error)
}

// Counter is an Engine that knows how many rows a table has without reading them, or keeps count of them from when it is told to.
type Counter interface {
	// Count has the rows of a table counted from now on, whoever writes to it and in the writer's own transaction. Where they are
	// counted already, it counts them anew or (false) looks after what is kept. 0A000 says that the table's cannot be counted so.
	Count(ctx context.Context, t Target, anew bool) error
	// Uncount ends that. A table that is gone or was never counted is none to it.
	Uncount(ctx context.Context, t Target) error
	// CountQuery is the query for the number of rows of a counted table. It yields one row of two bigints: the number, NULL
	// where it is not known yet; and 1 where it is sure, 0 where rows may have been written that nobody counted.
	CountQuery(t Target) Query
	// Verify compares that number with the rows, both as of one moment, while writers go on. It has a wrong one put right where it is
	// to repair and the number is kept apart from the rows.
	Verify(ctx context.Context, t Target, repair bool) (Verified, error)
}

// Verified is what a comparison of a count with the rows has found.
type Verified struct {
	Stored   *int64 // nil where the number was not known
	Actual   int64
	Repaired bool // the number is right now
}

// Target is a remote table that is written to.
type Target struct {
	Relation string            // the foreign table's name at home, for messages
	Options  map[string]string // the foreign table's options (schema_name, table_name, …)
	Schema   string            // the foreign table's schema at home: remote default where no option names one
	// Generated are the remote columns whose values home computes from others. The engine leaves them out where it
	// computes them as well.
	Generated []string
	// Skip says that an insert leaves out rows that conflict with others, as ON CONFLICT DO NOTHING does.
	Skip bool
}

// Tx is one write transaction of an engine. Row streams are Frames in text format under ISO dates and UTC, or Columns.
type Tx interface {
	// Open is Engine.Open within the transaction, whose changes it sees. The stream must be closed before anything else is
	// asked of the Tx.
	Open(ctx context.Context, q Query) (Stream, error)
	// Insert adds rows: field i of the stream goes into columns[i]. It returns the number of rows.
	Insert(ctx context.Context, t Target, columns []string, rows Stream) (int64, error)
	// Update sets columns of the rows named by the stream's first field (the value of RowID in a scan).
	Update(ctx context.Context, t Target, columns []string, rows Stream) (int64, error)
	// Delete removes the rows named by the stream's only field.
	Delete(ctx context.Context, t Target, rows Stream) (int64, error)
	// Truncate removes all rows.
	Truncate(ctx context.Context, t Target) error
	Commit(ctx context.Context) error
	// Rollback is always legal; after Commit it does nothing.
	Rollback() error
}

// Table is a remote table as Introspect found it.
type Table struct {
	Name    string
	Comment string
	Options map[string]string // for CREATE FOREIGN TABLE … OPTIONS
	Columns []Column
}

// Column is a column of a remote table.
type Column struct {
	Name       string
	Type       string // as Postgres spells it, for instance "numeric(10,2)"; empty where there is no mapping
	RemoteType string // as the engine spells it, for messages
	NotNull    bool
	Comment    string
	Options    map[string]string // for the column's OPTIONS, nil for none
	Partition  bool              // it is not stored, and says in which partition a row is: IMPORT takes it where it is asked for

	// Of a Postgres, in its own words, empty for none.
	Collation string // with its schema, where it is not the type's own
	Default   string
	Generated string // what a generated column is computed from
}
