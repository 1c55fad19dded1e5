package proxy

import (
	"context"

	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/pgerr"
)

// analyze carries out ANALYZE with a list of tables: foreign tables of ours are skipped with the warning that Postgres
// has for a wrapper that collects no statistics, home does the rest.
func (s *Session) analyze(ctx context.Context, x *execution) (*cursor, error) {
	references, err := s.resolve(ctx, x)
	if err != nil {
		return nil, err
	}
	x.tag = fixedTag("ANALYZE")
	if references == nil {
		_, err := s.Exec(ctx, x.statement.Text)
		return nil, err
	}
	rest := x.statement.Clone()
	v := rest.Node.Stmt.GetVacuumStmt()
	kept := v.Rels[:0]
	for i, r := range references { // one relation an entry, in the order of the list
		if r.Relation == nil || r.Relation.Kind != 'f' {
			kept = append(kept, v.Rels[i])
			continue
		}
		w := pgerr.New("01000", "skipping %q --- cannot analyze this foreign table", r.Relation.Name)
		w.Severity, w.SeverityUnlocalized = "WARNING", "WARNING"
		s.say(noticeResponse(w))
	}
	if len(kept) == 0 {
		return nil, nil
	}
	v.Rels = kept
	sql, err := parser.Deparse(rest.Node)
	if err != nil {
		return nil, err
	}
	_, err = s.Exec(ctx, sql)
	return nil, err
}
