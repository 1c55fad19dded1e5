package proxy

import (
	"context"
	"strconv"
	"time"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/proxy/encode"
)

// fresh is how long an estimate is used before the engine is asked again.
const fresh = time.Minute

// estimate is about how many rows a table has, negative where nobody knows.
type estimate struct {
	rows int64
	at   time.Time
}

type estimateKey struct {
	database string
	oid      uint32
}

// askRows returns what the planner asks for sizes of tables by. What goes wrong shows when the table is read.
func (s *Session) askRows(ctx context.Context, user uint32) plan.AskRows {
	return func(t *catalog.Relation, role uint32) int64 {
		key := estimateKey{s.database, t.OID}
		if known, ok := s.server.estimates.Load(key); ok && time.Since(known.(estimate).at) < fresh {
			return known.(estimate).rows
		}
		if role == 0 {
			role = user
		}
		rows, err := s.rowsOf(ctx, t, role)
		if err != nil {
			rows = -1
		}
		if ctx.Err() != nil { // which says nothing of the table to those who ask next
			return rows
		}
		s.server.estimates.Store(key, estimate{rows, time.Now()})
		return rows
	}
}

// rowsOf asks the table's engine.
func (s *Session) rowsOf(ctx context.Context, t *catalog.Relation, role uint32) (int64, error) {
	d, err := dialect.Of(t.Server)
	if err != nil {
		return 0, err
	}
	sql := d.RowsSQL(t)
	if sql == "" {
		return -1, nil
	}
	engine, err := s.engine(ctx, t.Server, role)
	if err != nil {
		return 0, err
	}
	stream, err := engine.Open(ctx, engines.Query{SQL: sql, Formats: []int16{encode.Binary}})
	if err != nil {
		return 0, err
	}
	defer stream.Close()
	answer := &prefix{Stream: stream}
	if err := answer.read(ctx); err != nil {
		return 0, err
	}
	values, err := answer.keys(plan.Bind{Type: 20})
	if err != nil || len(values) == 0 {
		return -1, err
	}
	return strconv.ParseInt(values[0], 10, 64)
}
