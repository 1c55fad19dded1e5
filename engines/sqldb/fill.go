package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

var _ keep.Filler = (*Engine)(nil)

// filling is how the rows of a query are put into a table where they are.
type filling struct {
	// sql stands behind INSERT INTO and the table, with the parameters of the query.
	sql string
	// ready prepares the connection for it, until it is released; nil where there is nothing to do.
	ready func(ctx context.Context, c *connection) (release func(), err error)
	// refused is the value that is none of its column's type, for which the statement has failed; nil where that is said by the server alone.
	refused func() error
}

// Fill makes a table of the rows of a query, which do not leave the server.
func (e *Engine) Fill(ctx context.Context, table string, columns []keep.Column, q engines.Query) (rows int64, ok bool, err error) {
	k := e.source.keeping()
	if len(q.Fields) != len(columns) {
		return 0, false, nil
	}
	f, err := k.fill(ctx, e, columns, q)
	if err != nil || f == nil {
		return 0, false, err
	}
	q.SQL = "INSERT INTO " + k.table(table) + " " + f.sql
	sql, args, err := placed(q, e.source.placeholder)
	if err != nil {
		return 0, false, err
	}
	if err := e.Create(ctx, table, columns); err != nil {
		return 0, false, err
	}
	rows, err = e.change(ctx, f, q.Tag.Comment()+sql, args)
	if err != nil && f.refused == nil && unfit(err) {
		return 0, false, e.Forget(ctx, table)
	}
	return rows, err == nil, err
}

// unfit reports whether a statement was refused for a value, or is none that the server reads there: what is wrong with values is said
// better as they come through the proxy.
func unfit(err error) bool {
	code := pgerr.From(err).Code
	return strings.HasPrefix(code, "22") || code == pgerr.SyntaxError || code == pgerr.FeatureNotSupported
}

// change runs a statement that changes the database, on a connection of its own, and returns how many rows it has written.
func (e *Engine) change(ctx context.Context, f *filling, sql string, args []driver.NamedValue) (rows int64, err error) {
	c, err := e.source.keeping().writable(ctx)
	if err != nil {
		return 0, e.reason(ctx, err)
	}
	calm := c.watch(ctx)
	release := func() {}
	if f.ready != nil {
		release, err = f.ready(ctx, c)
	}
	if err == nil {
		rows, err = c.write(ctx, sql, args)
		release()
	}
	calm()
	e.drop(c, err != nil)
	if err != nil && f.refused != nil && ctx.Err() == nil {
		err = errors.Join(f.refused(), err) // of which reason takes the first that has a SQLSTATE
	}
	if err != nil {
		return 0, e.reason(ctx, err)
	}
	return rows, nil
}

// write runs a statement that writes rows.
func (c *connection) write(ctx context.Context, sql string, args []driver.NamedValue) (int64, error) {
	p, ok := c.Conn.(driver.ConnPrepareContext)
	if !ok {
		return 0, pgerr.New(pgerr.InternalError, "the driver prepares no statements")
	}
	stmt, err := p.PrepareContext(ctx, sql)
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	x, ok := stmt.(driver.StmtExecContext)
	if !ok {
		return 0, pgerr.New(pgerr.InternalError, "the driver cannot be cancelled")
	}
	result, err := x.ExecContext(ctx, args)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// named is a query under a name, whose columns are called after their numbers.
func named(sql string, columns int) string {
	return "WITH q (" + strings.Join(numbered(columns), ", ") + ") AS (" + sql + ")"
}

func numbered(columns int) []string {
	names := make([]string, columns)
	for i := range names {
		names[i] = "c" + strconv.Itoa(i+1)
	}
	return names
}

// recast is the rows of a query with each column's values as they are kept; nil where values of one could become others.
func recast(sql string, columns []keep.Column, value func(i int, name string) (sql string, ok bool)) *filling {
	values := numbered(len(columns))
	for i, name := range values {
		var ok bool
		if values[i], ok = value(i, name); !ok {
			return nil
		}
	}
	return &filling{sql: named(sql, len(columns)) + " SELECT " + strings.Join(values, ", ") + " FROM q"}
}
