package proxy

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/parser/dialect"
	"github.com/sluicedb/sluice/parser/plan"
)

// specificBytes bounds the texts that are known to be planned as they are.
const specificBytes = 1 << 20

// specific is a text, as parser.General makes it, whose statement in a database is not one for another Postgres alone.
type specific struct{ database, text string }

// parseQuery parses the text of a simple query. A single SELECT that differs from others in integers alone becomes what
// they have in common, and those are its Values: another Postgres means the same by both, and one plan does for all.
func (s *Session) parseQuery(text string) ([]*parser.Statement, error) {
	if s.snapshot.HasWrapper("sluice_postgres") {
		if st := s.parseGeneral(text); st != nil {
			return []*parser.Statement{st}, nil
		}
	}
	return s.parse(text)
}

func (s *Session) parseGeneral(text string) *parser.Statement {
	general, values := parser.General(text)
	if len(values) == 0 {
		return nil
	}
	if _, known := s.server.specific.Get(specific{s.database, general}); known {
		return nil
	}
	list, err := s.parse(general)
	if err != nil || len(list) != 1 || list[0].Kind != parser.Select {
		return nil
	}
	st := *list[0]
	st.General, st.Values = st.Text, values
	st.Text, st.Source = strings.TrimRight(text, " \t\r\n;"), text
	return &st
}

// planQuery plans a statement of a simple query.
func (s *Session) planQuery(ctx context.Context, st *parser.Statement, d *description, q *questions) (*execution, bool, error) {
	x := &execution{statement: st, described: d, questions: q}
	if st.Values == nil {
		ours, err := s.plan(ctx, x)
		return x, ours, err
	}
	with := *d
	with.params = make([]uint32, len(st.Values))
	x.described, x.bind = &with, &pgproto3.Bind{}
	for i, v := range st.Values {
		with.params[i] = pgtype.Int4OID
		x.bind.Parameters = append(x.bind.Parameters, []byte(v))
	}
	ours, err := s.plan(ctx, x)
	if err == nil && (!ours || x.forPostgres()) || s.home.failed() {
		return x, ours, err
	}
	key := specific{s.database, st.General}
	s.server.specific.Put(key, true, len(key.text))
	list, err := s.parse(st.Source)
	if err != nil || len(list) != 1 {
		return x, ours, err
	}
	x = &execution{statement: list[0], described: d}
	ours, err = s.plan(ctx, x)
	return x, ours, err
}

// forPostgres reports whether another Postgres computes the whole statement.
func (x *execution) forPostgres() bool {
	if x.plan == nil || x.plan.Route != plan.Remote {
		return false
	}
	d, err := dialect.Of(x.plan.Server)
	_, is := d.(dialect.Postgres)
	return err == nil && is
}
