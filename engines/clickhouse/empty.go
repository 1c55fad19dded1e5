package clickhouse

import (
	"context"
	"io"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// empty is the stream of a statement whose answer was empty. Over HTTP that says nothing of the columns, which the server is asked
// for then.
func (e *Engine) empty(ctx context.Context, q engines.Query) (engines.Stream, error) {
	none := pgerr.New(pgerr.FdwError, "the statement for the foreign server yields no rows")
	if !e.config.http {
		return nil, pgerr.AtServer(e.server, none)
	}
	rows, err := e.table(ctx, engines.Query{SQL: "DESCRIBE TABLE (" + q.SQL + "\n)", Args: q.Args, Tag: q.Tag})
	if err != nil {
		return nil, err
	}
	s := &stream{engine: e, interrupt: func() {}, turn: make(chan struct{}, 1), closing: make(chan struct{}), err: io.EOF}
	for i, r := range rows {
		if len(r) < 2 {
			return nil, pgerr.AtServer(e.server, none)
		}
		c, err := newColumn(r[0], r[1], 0)
		if err != nil {
			return nil, pgerr.AtServer(e.server, err)
		}
		c.declare(q.Fields, i)
		s.columns = append(s.columns, c)
	}
	s.describe()
	s.turn <- struct{}{}
	return s, nil
}
