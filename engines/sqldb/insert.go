package sqldb

import (
	"context"
	"database/sql/driver"
	"strings"

	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/pgerr"
)

// insert adds rows to a table by statements of many rows each, whose values are bound.
type insert struct {
	engine     *Engine
	keeping    *keeping
	connection *connection // nil when it is over
	table      string
	columns    []keep.Column
	stmt       driver.Stmt // for so many rows
	rows       int
	args       []driver.NamedValue
}

// Insert begins to add rows.
func (e *Engine) Insert(ctx context.Context, table string, columns []keep.Column) (keep.Sink, error) {
	k := e.source.keeping()
	c, err := k.writable(ctx)
	if err != nil {
		return nil, e.reason(ctx, err)
	}
	return &insert{engine: e, keeping: k, connection: c, table: table, columns: columns}, nil
}

// statementRows is how many rows a statement has at most.
const statementRows = 512

// Write adds rows in a transaction of their own.
func (s *insert) Write(ctx context.Context, rows *keep.Batch) error {
	calm := s.connection.watch(ctx)
	defer calm()
	err := s.connection.execute(ctx, s.keeping.begin)
	most := max(min(statementRows, s.keeping.most/len(s.columns)), 1)
	for from := 0; err == nil && from < rows.Rows(); from += most {
		err = s.add(ctx, rows, from, min(from+most, rows.Rows()))
	}
	if err == nil {
		err = s.connection.execute(ctx, s.keeping.commit)
	}
	if err != nil {
		return s.engine.reason(ctx, err)
	}
	return nil
}

// add runs one statement. A driver may not heed a context that has ended before it begins.
func (s *insert) add(ctx context.Context, rows *keep.Batch, from, to int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := s.prepare(ctx, to-from); err != nil {
		return err
	}
	s.args = s.args[:0]
	for row := from; row < to; row++ {
		for i, c := range s.columns {
			var v any
			if text := rows.Value(row, i); text != nil {
				var err error
				if v, err = s.keeping.bind(c, text); err != nil {
					pe := pgerr.From(err)
					pe.Where = `column "` + c.Name + `"`
					return pe
				}
			}
			s.args = append(s.args, driver.NamedValue{Ordinal: len(s.args) + 1, Value: v})
		}
	}
	_, err := s.stmt.(driver.StmtExecContext).ExecContext(ctx, s.args)
	return err
}

// prepare has the statement be one for so many rows.
func (s *insert) prepare(ctx context.Context, rows int) error {
	if s.rows == rows {
		return nil
	}
	s.close()
	names := make([]string, len(s.columns))
	for i, c := range s.columns {
		names[i] = s.keeping.name(c.Name)
	}
	var b strings.Builder
	b.WriteString("INSERT INTO " + s.keeping.table(s.table) + " (" + strings.Join(names, ", ") + ") VALUES ")
	for i, n := 0, 0; i < rows; i++ {
		for k := range s.columns {
			n++
			b.WriteString(map[bool]string{true: "(", false: ", "}[k == 0])
			b.WriteString(s.engine.source.placeholder(n))
		}
		b.WriteString(map[bool]string{true: ")", false: "), "}[i == rows-1])
	}
	stmt, err := s.connection.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, b.String())
	if err != nil {
		return err
	}
	s.stmt, s.rows = stmt, rows
	return nil
}

func (s *insert) close() {
	if s.stmt != nil {
		_ = s.stmt.Close()
		s.stmt, s.rows = nil, 0
	}
}

// End has all rows there already.
func (s *insert) End(context.Context) error {
	s.leave(false)
	return nil
}

// Abort closes the connection, which undoes what is not committed.
func (s *insert) Abort() { s.leave(true) }

func (s *insert) leave(running bool) {
	if s.connection == nil {
		return
	}
	s.close()
	s.engine.drop(s.connection, running)
	s.connection = nil
}
