package proxy

import (
	"context"
	"strconv"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
)

// askFacts returns what the planner asks for facts by, as a role, or (0) the current one.
func (s *Session) askFacts(ctx context.Context, user uint32) plan.AskFacts {
	return func(server *catalog.Server, role uint32) (home, remote engines.Facts, err error) {
		if role == 0 {
			role = user
		}
		engine, err := s.engine(ctx, server, role)
		if err != nil {
			return home, remote, err
		}
		informant, ok := engines.As[engines.Informant](engine)
		if !ok {
			return home, remote, pgerr.New(pgerr.FeatureNotSupported, "server %q is no Postgres", server.Name)
		}
		if remote, err = informant.Facts(ctx); err != nil {
			return home, remote, err
		}
		home, err = s.homeFacts(ctx)
		return home, remote, err
	}
}

// askDefinition returns what the planner asks for the queries of views by.
func (s *Session) askDefinition(ctx context.Context) func(*catalog.Relation) (string, error) {
	snapshot := s.snapshot
	return func(view *catalog.Relation) (string, error) { return snapshot.Definition(ctx, s, view) }
}

// homeFacts asks home once for each database.
func (s *Session) homeFacts(ctx context.Context) (engines.Facts, error) {
	if f, ok := s.server.facts.Load(s.database); ok {
		return f.(engines.Facts), nil
	}
	rows, err := s.Query(ctx, engines.FactsSQL)
	if err != nil {
		return engines.Facts{}, err
	}
	var f engines.Facts
	if f.Version, err = strconv.Atoi(*rows[0][0]); err != nil {
		return f, err
	}
	f.Collation = *rows[0][1]
	s.server.facts.Store(s.database, f)
	return f, nil
}
