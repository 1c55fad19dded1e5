package sqldb

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/pool"
	"github.com/sluicedb/sluice/pgerr"
)

// source is one database of one kind. All methods may be called concurrently.
type source interface {
	// connect opens a connection on which statements mean what the dialect says, and change nothing.
	connect(ctx context.Context) (*connection, error)
	// abandon makes that closing a statement's rows does not read what is left of them.
	abandon(c *connection)
	// kill ends what still runs at the server for a connection that was given up.
	kill(c *connection)
	// natural is the type of a result's column that nobody has named a type for.
	natural(rows driver.Rows, i int) engines.Field
	// introspect lists the tables of a schema; HV00Q where there is none.
	introspect(ctx context.Context, ask asker, schema string) ([]engines.Table, error)
	// probes are statements by which the source is certified.
	probes(ctx context.Context, ask asker) (engines.Probes, error)
	// failure gives an error of the driver its SQLSTATE.
	failure(err error) *pgconn.PgError
	// placeholder is the n-th parameter in a statement's text.
	placeholder(n int) string
	// keeping is how results of queries are kept.
	keeping() *keeping
	// strict reports that values have types of their own, which differ from row to row: a text is no number then.
	strict() bool
}

// asker runs a catalog query, with its parameters, and returns its rows as texts; nil is NULL.
type asker func(ctx context.Context, sql string, args ...string) ([][]*string, error)

// connection is one connection of a driver. It runs one statement at a time.
type connection struct {
	pool.Mark
	driver.Conn
	id    string // by which the server calls it
	hurry func() // makes what waits for the server fail soon, after the statement's context has ended; nil where the driver sees to that
}

// alive reports whether an idle connection may be used again.
func (c *connection) alive(ctx context.Context) bool {
	if r, ok := c.Conn.(driver.SessionResetter); ok && r.ResetSession(ctx) != nil {
		return false
	}
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

// watch has the connection hurry when a statement's context ends, until it is called off.
func (c *connection) watch(statement context.Context) (calm func() bool) {
	if c.hurry == nil {
		return func() bool { return false }
	}
	return context.AfterFunc(statement, c.hurry)
}

// query runs a statement, prepared, so that values come in the server's own binary form where it has one.
func (c *connection) query(ctx context.Context, sql string, args []driver.NamedValue) (driver.Stmt, driver.Rows, error) {
	var stmt driver.Stmt
	var err error
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		stmt, err = p.PrepareContext(ctx, sql)
	} else {
		stmt, err = c.Prepare(sql)
	}
	if err != nil {
		return nil, nil, err
	}
	if n := stmt.NumInput(); n >= 0 && n != len(args) {
		_ = stmt.Close()
		return nil, nil, pgerr.New(pgerr.InternalError, "a statement has %d parameters, %d are given", n, len(args))
	}
	q, ok := stmt.(driver.StmtQueryContext)
	if !ok {
		_ = stmt.Close()
		return nil, nil, pgerr.New(pgerr.InternalError, "the driver cannot be cancelled")
	}
	rows, err := q.QueryContext(ctx, args)
	if err != nil {
		_ = stmt.Close()
		return nil, nil, err
	}
	return stmt, rows, nil
}

// execute runs statements that yield nothing.
func (c *connection) execute(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		e, ok := c.Conn.(driver.ExecerContext)
		if !ok {
			return pgerr.New(pgerr.InternalError, "the driver runs no statements")
		}
		if _, err := e.ExecContext(ctx, sql, nil); err != nil {
			return err
		}
	}
	return nil
}
