package proxy

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
)

// openFirst opens a statement that one engine computes whole, and fetches its first batch. An engine's data exception is
// not believed: which rows an expression is evaluated on is the plan's affair, and some of what is shipped is only proven
// for values within bounds that the engine itself checks. While nothing was sent yet, home has the last word.
func (s *Session) openFirst(ctx context.Context, x *execution, p *portal) (*cursor, error) {
	c, err := s.openRemote(ctx, x, p.formats)
	if err == nil {
		if p.announce && !p.kept { // what the engine refuses from now on, it refuses as it runs
			p.announce = false
			s.say(&pgproto3.RowDescription{Fields: p.fields})
		}
		if err = c.fetch(ctx); err == nil || err == io.EOF {
			return c, nil
		}
		_ = c.stream.Close()
	}
	if !dataException(err) && !x.misread(err) || s.home.failed() {
		return nil, err
	}
	if x.request.Force == x.plan.Route && !x.plan.Governed { // else nobody may learn which rows the engine has met it with
		if x.plan.Guarded {
			err = pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the statement cannot run %s: %s", x.plan.Route, pgerr.From(err).Message),
				"RESET sluice.route lets home compute what the engine cannot.")
		}
		return nil, err
	}
	return s.openAtHome(ctx, x, p)
}

// dataException reports whether an engine's error concerns values: class 22, and what it says to be beyond its bounds.
func dataException(err error) bool {
	var pe *pgconn.PgError
	return errors.As(err, &pe) && (strings.HasPrefix(pe.Code, "22") || pe.Code == pgerr.FeatureNotSupported)
}

// misread reports whether a server that computes over tables of others finds no sense in a statement that home has found some in:
// its catalogs may not have what the others have, or not the values.
func (x *execution) misread(err error) bool {
	var pe *pgconn.PgError
	return x.plan.Route == plan.Federated && x.plan.Server != nil && errors.As(err, &pe) && slices.Contains([]string{"42", "3D", "3F", "54", "HV"}, pe.Code[:2])
}

// openAtHome lets home compute the statement instead, over inputs shipped to it.
func (s *Session) openAtHome(ctx context.Context, x *execution, p *portal) (*cursor, error) {
	req := x.request
	req.Force, req.Facts = plan.HomeJoin, s.askFacts(ctx, x.facts.User)
	home := *x
	var err error
	if home.plan, err = plan.Build(req); err != nil {
		return nil, err
	}
	if err := s.checkPrivileges(ctx, &home, &req); err != nil {
		return nil, err
	}
	return s.openJoined(ctx, &home, p)
}

// openJoined ships the inputs of a query that home computes, and returns its rows.
func (s *Session) openJoined(ctx context.Context, x *execution, p *portal) (*cursor, error) {
	if err := s.shipInputs(ctx, x); err != nil {
		return nil, err
	}
	p.temps = x.temps()
	rows, err := s.openRows(ctx, x.request.TempPrefix+"rows", x.homeSQL(), x, p.formats)
	if err != nil {
		return nil, err
	}
	return &cursor{stream: rows}, nil
}
