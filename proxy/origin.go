package proxy

import (
	"context"

	"github.com/jackc/pgx/v5/pgproto3"
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/proxy/encode"
)

// described is what home says of the rows of a cursor's own query. The statement that the cursor runs in its place hides
// where columns come from if it has a view written out, or rows.
type described struct {
	fields []pgproto3.FieldDescription
	hold   bool
}

// hidesOrigins reports whether home cannot see in the statement over inputs where its columns come from.
func (x *execution) hidesOrigins() bool {
	for _, p := range x.plan.Privileges {
		if p.View != 0 {
			return true
		}
	}
	return x.facts.ReadOnly || len(x.plan.Home) > 0
}

// noteDescription asks home for the description of a cursor's query, for FETCH.
func (s *Session) noteDescription(ctx context.Context, x *execution) error {
	n := x.statement.Node.Stmt.GetDeclareCursorStmt()
	if n == nil {
		return nil
	}
	delete(s.described, n.Portalname)
	if !x.hidesOrigins() {
		return nil
	}
	inner, err := x.statement.Inner()
	if err != nil {
		return err
	}
	d, err := s.describe(ctx, onceName, inner.Text, x.described.params)
	if err != nil {
		return err
	}
	if s.described == nil {
		s.described = map[string]described{}
	}
	s.described[n.Portalname] = described{d.fields, n.Options&cursorHold != 0}
	return nil
}

// forgetDescriptions forgets what noteDescription has noted of cursors that end with their transaction.
func (s *Session) forgetDescriptions() {
	for name, d := range s.described {
		if !d.hold {
			delete(s.described, name)
		}
	}
}

// fetchesHidden returns the fields of the portal or cursor at home that a FETCH names, nil where home itself knows them.
func (s *Session) fetchesHidden(n *pg_query.Node) []pgproto3.FieldDescription {
	fetch := n.GetFetchStmt()
	if fetch == nil || fetch.Ismove {
		return nil
	}
	if p := s.portals[fetch.Portalname]; p != nil && p.hidden {
		return p.fields
	}
	return s.described[fetch.Portalname].fields
}

// hidesAny reports whether fetchesHidden may return any.
func (s *Session) hidesAny() bool {
	for _, p := range s.portals {
		if p.hidden {
			return true
		}
	}
	return len(s.described) > 0
}

// withOrigins returns what home says of the rows of a FETCH, with the origins of the fields given where they are what it
// speaks of.
func (s *Session) withOrigins(says, fields []pgproto3.FieldDescription) []pgproto3.FieldDescription {
	out := append([]pgproto3.FieldDescription(nil), says...)
	if len(says) != len(fields) {
		return out
	}
	for i, f := range fields {
		ours := out[i].TableOID == 0 || s.snapshot.Relations[out[i].TableOID] != nil
		if ours && string(out[i].Name) == string(f.Name) && out[i].DataTypeOID == f.DataTypeOID {
			out[i].TableOID, out[i].TableAttributeNumber = f.TableOID, f.TableAttributeNumber
		}
	}
	return out
}

// describeFetched has a portal of a FETCH described as the one that it names.
func (s *Session) describeFetched(ctx context.Context, st *parser.Statement, name string, p *portal) error {
	fields := s.fetchesHidden(st.Node.Stmt)
	if fields == nil {
		return nil
	}
	var r request
	d, err := s.readDescription(ctx, r.describe('P', name))
	if err == nil && d.rows {
		p.fields, p.described = s.withOrigins(d.fields, fields), false
	}
	return err
}

// fetchFormats returns the formats of what a simple query gives for a statement: binary for FETCH of a binary cursor.
func (s *Session) fetchFormats(n *pg_query.Node) ([]int16, error) {
	fetch := n.GetFetchStmt()
	if fetch == nil || s.home.state() == 'E' {
		return nil, nil
	}
	rows, err := s.Query(s.ctx, "SELECT FROM pg_catalog.pg_cursors WHERE name OPERATOR(pg_catalog.=) $1 AND is_binary", fetch.Portalname)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return []int16{encode.Binary}, nil
}
