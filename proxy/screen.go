package proxy

import (
	"context"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// screened opens the rows of a query, of which no more come through, and are counted, than the role may see: of a server that does
// not leave out the rest itself, the federation engine does. Errors of a governed statement do not tell of rows either.
func (s *Session) screened(ctx context.Context, x *execution, q query, open func(context.Context) (engines.Stream, error)) (engines.Stream, error) {
	if q.input != nil && q.input.Screen != nil {
		screen, raw := q.input.Screen, open
		federation := s.server.config.Federation
		if federation == nil {
			return nil, pgerr.New(pgerr.FeatureNotSupported, "row filters and masks of server %q need the federation engine", q.server.Name)
		}
		open = func(ctx context.Context) (engines.Stream, error) {
			return federation.Open(ctx, engines.FederatedQuery{
				Query: engines.Query{SQL: screen.SQL}, Feeds: []engines.Feed{{Columns: screen.Feed, Rows: q.input.Rows, Open: raw}},
			})
		}
	}
	began := time.Now()
	stream, err := open(ctx)
	if x.plan.Governed {
		stream, err = discreet(stream, q.server, err)
	}
	if err != nil {
		return nil, err
	}
	return x.seen(stream, q, began), nil
}
