package proxy

import (
	"context"

	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/pgerr"
)

// point is a savepoint that was set after the transaction's first foreign write. Engines have none: one can be rolled back
// to while nothing was written since, and one from before the first write by rolling back all that the engine did.
type point struct {
	name   string
	writes int // foreign writes before it
}

// savepoint carries out SAVEPOINT, RELEASE and ROLLBACK TO while a write to a foreign server is open.
func (s *Session) savepoint(ctx context.Context, t *pg_query.TransactionStmt, sql string) (tag string, err error) {
	w := s.writing
	last := -1 // of this name, the one in force; -1: it was set before the first foreign write
	for i, p := range w.points {
		if p.name == t.SavepointName {
			last = i
		}
	}
	undo := t.Kind == pg_query.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO
	if undo && last >= 0 && (w.broken || w.points[last].writes != w.writes) {
		return "", pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot roll back to savepoint %q: server %q was written to both before and after it", t.SavepointName, w.server.Name),
			"ROLLBACK the transaction, or begin to write to the server behind the savepoint.")
	}
	if tag, err = s.Exec(ctx, sql); err != nil {
		return "", err
	}
	w.truncated = nil
	switch {
	case t.Kind == pg_query.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		w.points = append(w.points, point{t.SavepointName, w.writes})
	case undo && last < 0:
		s.undoWrite()
	case undo:
		w.points = w.points[:last+1]
	default:
		w.points = w.points[:max(last, 0)]
	}
	return tag, nil
}
