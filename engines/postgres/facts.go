package postgres

import (
	"context"
	"strconv"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// oldest is the first version that statements are written for.
const oldest = 150000

// Facts asks the server once.
func (e *Engine) Facts(ctx context.Context) (engines.Facts, error) {
	e.mu.Lock()
	facts := e.facts
	e.mu.Unlock()
	if facts.Version != 0 {
		return facts, nil
	}
	rows, err := e.texts(ctx, engines.FactsSQL)
	if err != nil {
		return facts, err
	}
	if len(rows) != 1 || len(rows[0]) != 2 || rows[0][0] == nil || rows[0][1] == nil {
		return facts, pgerr.AtServer(e.server, pgerr.New(pgerr.FdwError, "the foreign server does not say what it is"))
	}
	if facts.Version, err = strconv.Atoi(*rows[0][0]); err != nil {
		return facts, pgerr.AtServer(e.server, malformed())
	}
	if facts.Version < oldest {
		return facts, pgerr.AtServer(e.server, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "server %q runs a PostgreSQL older than 15", e.server),
			"Upgrade it, or reach it through postgres_fdw of home."))
	}
	facts.Collation = *rows[0][1]
	e.mu.Lock()
	e.facts = facts
	e.mu.Unlock()
	return facts, nil
}
