package proxy

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	pg_query "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/sluicedb/sluice/parser"
)

// describeBound returns what home says, asked by r, of the statement of ours that m binds, and refuses m where it has not the
// parameters that the statement takes. Postgres counts them before it looks at the statement anew, which may find that it
// does not hold any more, and home's Describe only afterwards.
func (s *Session) describeBound(ctx context.Context, r *request, st *parser.Statement, m *pgproto3.Bind) (*description, error) {
	d, err := s.readDescription(ctx, r)
	if pe, ok := err.(*pgconn.PgError); ok && pe.Severity != "FATAL" && s.holding == nil {
		taken := description{params: make([]uint32, paramsOf(st))}
		if wrong := taken.checkParams(m); wrong != nil {
			return nil, wrong
		}
	}
	if err == nil {
		err = d.checkParams(m)
	}
	return d, err
}

// paramsOf returns how many parameters a statement names.
func paramsOf(st *parser.Statement) (n int32) {
	parser.Walk(st.Node.Stmt, func(m proto.Message) bool {
		if p, ok := m.(*pg_query.ParamRef); ok {
			n = max(n, p.Number)
		}
		return true
	})
	return n
}

// heldStatements asks for the statements that the session has prepared, the latest first and 16 MB of text at most, as
// the proxy holds it all.
const heldStatements = `SELECT name, statement, from_sql FROM (
SELECT name, statement, from_sql, pg_catalog.sum(pg_catalog.length(statement)) OVER (ORDER BY prepare_time DESC, name) AS total
FROM pg_catalog.pg_prepared_statements) held WHERE total <= 16000000`

// reconsider looks again at what home holds prepared, once the catalog has names that it had not before: a statement that
// was none of ours is one now if a relation that it names has become foreign, and home plans it anew. Home is ours.
func (s *Session) reconsider(ctx context.Context) error {
	s.gained = false
	rows, err := s.Query(ctx, heldStatements)
	if err != nil {
		return err
	}
	for _, row := range rows {
		name := *row[0]
		if strings.HasPrefix(name, ownPrefix) || s.prepared(name) != nil || !s.mentions(*row[1]) {
			continue
		}
		if st := s.held(name, *row[1], *row[2] == "t"); st != nil {
			s.mu.Lock()
			s.stmts[name] = &prepared{statement: st}
			s.mu.Unlock()
		}
	}
	return nil
}

// held returns the statement that home holds under a name, nil where it is none that we handle. The text of one that SQL
// has prepared is that of the whole query in which its PREPARE stood.
func (s *Session) held(name, text string, sql bool) *parser.Statement {
	if !sql {
		return s.ours(text)
	}
	list, err := s.parse(text)
	if err != nil {
		return nil
	}
	for _, st := range list {
		if st.Node.Stmt.GetPrepareStmt().GetName() != name {
			continue
		}
		if inner, err := innerOf(st); err == nil && s.handles(inner) {
			return inner
		}
	}
	return nil
}
