package sqldb

import (
	"context"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

var (
	_ engines.Keeper = (*Engine)(nil)
	_ keep.Store     = (*Engine)(nil)
)

// keeping is what a source that keeps results of queries has of its own.
type keeping struct {
	rules keep.Rules
	// read reports whether values of a type which are kept as text are brought to it as they are read.
	read func(t keep.Type) bool
	// writable opens a connection on which tables can be changed.
	writable func(ctx context.Context) (*connection, error)
	// listed asks for the names of tables that begin with a parameter.
	listed string
	// name quotes a name, and table one of a table.
	name, table func(name string) string
	// bind makes a value of the driver's of a text that home has written.
	bind func(c keep.Column, text []byte) (any, error)
	// fill is how rows that the database computes become those of a table; nil where it is not certain that all values stay the same.
	fill func(ctx context.Context, e *Engine, columns []keep.Column, q engines.Query) (*filling, error)
	// most is how many parameters a statement can have.
	most int
	// begin and commit are a transaction around an INSERT.
	begin, commit string
}

// spelled is the option of columns which hold texts as home writes them, and which home alone reads.
const spelled = "spelled"

// readable are types whose values are brought to them where they come as texts.
func readable(t keep.Type) bool {
	switch t.Name {
	case "text", "character varying", "character", "json", "jsonb", "uuid":
		return !t.List
	}
	return false
}

// Keeps says why the server keeps no results of queries.
func (e *Engine) Keeps() error {
	if e.handles {
		return nil
	}
	return keep.Unwilling(e.server, "option handles 'true'")
}

// Declare has columns say which of them hold text for another type: other values are brought to the type at home as they are read.
func (e *Engine) Declare(columns []engines.Column) ([]map[string]string, error) {
	k := e.source.keeping()
	options, err := k.rules.Declare(e.server, columns)
	if err != nil {
		return nil, err
	}
	for i, c := range columns {
		if t, _ := keep.Parse(c.Type); options[i]["remote_type"] == k.rules.Remote(keep.Type{Name: "text"}) && !k.read(t) {
			options[i][spelled] = "true"
		}
	}
	return options, nil
}

// Begin starts a transaction that makes tables for handles; foreign tables are read only otherwise.
func (e *Engine) Begin(context.Context) (engines.Tx, error) {
	if e.Keeps() == nil {
		return keep.Begin(e.server, e.source.keeping().rules, e), nil
	}
	return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q is read-only", e.server), "Write at the server itself.")
}

// Kept lists the tables whose names begin with prefix.
func (e *Engine) Kept(ctx context.Context, prefix string) ([]string, error) {
	rows, err := e.texts(ctx, e.source.keeping().listed, prefix)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = value(r[0])
	}
	return names, nil
}

// Forget drops a table.
func (e *Engine) Forget(ctx context.Context, table string) error {
	_, err := e.change(ctx, &filling{}, "DROP TABLE IF EXISTS "+e.source.keeping().table(table), nil)
	return err
}

// Create makes a table.
func (e *Engine) Create(ctx context.Context, table string, columns []keep.Column) error {
	k := e.source.keeping()
	_, err := e.change(ctx, &filling{}, "CREATE TABLE "+k.table(table)+" "+keep.Definitions(columns, k.name), nil)
	return err
}

// drop closes a connection that is not the pool's, and ends what runs there.
func (e *Engine) drop(c *connection, running bool) {
	_ = c.Close()
	if running {
		e.source.kill(c)
	}
}
