package proxy

import (
	"context"
	"fmt"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/parser/plan"
	"github.com/sluicedb/sluice/pgerr"
)

// write is the open write transaction of one foreign server. It is committed just before home's own transaction, so it
// must be the only writer of it.
type write struct {
	server *catalog.Server
	tx     engines.Tx
	writes int     // statements whose writes it holds
	broken bool    // one has failed at the engine, perhaps half done: nothing of it may be committed
	points []point // savepoints set since it began
	// handles says that it makes tables for handles and does nothing else. What is left of these where home then fails to commit
	// is found by sweep, so that home may have written as well.
	handles bool
	// truncated are the tables, by OID, that it has truncated since the last savepoint.
	truncated []uint32
}

// writeTx returns the transaction that a write belongs to, begun at the first write of home's transaction.
func (s *Session) writeTx(ctx context.Context, x *execution) (engines.Tx, error) {
	w := x.plan.Write
	verb := writeVerbs[w.Kind]
	if x.facts.ReadOnly {
		return nil, pgerr.New(pgerr.ReadOnlyTransaction, "cannot execute %s in a read-only transaction", verb)
	}
	server := w.Relation.Server
	if s.writing != nil && s.writing.handles && !x.handle {
		return nil, alone(verb, w.Relation, fmt.Sprintf("this transaction has made a handle at server %q", s.writing.server.Name))
	}
	if s.writing != nil {
		if s.writing.server.OID != server.OID {
			return nil, alone(verb, w.Relation, fmt.Sprintf("this transaction has written to server %q", s.writing.server.Name))
		}
		return s.writing.tx, nil
	}
	if wrote, err := s.wroteHome(ctx); err != nil {
		return nil, err
	} else if wrote {
		return nil, alone(verb, w.Relation, "this transaction has written to home")
	}
	engine, err := s.engine(ctx, server, x.facts.User)
	if err != nil {
		return nil, err
	}
	tx, err := engine.Begin(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.committed = false
	s.mu.Unlock()
	s.writing = &write{server: server, tx: tx}
	return tx, nil
}

// wroteSQL says whether the open transaction has written to a table of home's, or changed one: it then holds a lock of a
// writer's kind to its end. Temporary tables, among them our own, don't count, nor sequences, which no rollback undoes.
const wroteSQL = `SELECT EXISTS (SELECT FROM pg_catalog.pg_locks l
JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) l.relation
JOIN pg_catalog.pg_database d ON d.oid OPERATOR(pg_catalog.=) l.database AND d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
WHERE l.pid OPERATOR(pg_catalog.=) pg_catalog.pg_backend_pid() AND l.granted AND c.oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid
AND l.mode OPERATOR(pg_catalog.=) ANY ('{RowExclusiveLock,ShareUpdateExclusiveLock,ShareRowExclusiveLock,AccessExclusiveLock}')
AND c.relpersistence OPERATOR(pg_catalog.<>) 't' AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p,m}'))`

// wroteHome reports whether the open transaction has changed anything at home but temporary tables.
func (s *Session) wroteHome(ctx context.Context) (bool, error) {
	rows, err := s.Query(ctx, wroteSQL)
	return err == nil && *rows[0][0] == "t", err
}

// alone says that a write would not be the only one of its transaction.
func alone(verb string, r *catalog.Relation, why string) error {
	return pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot execute %s on foreign table %q: %s", verb, r.Name, why),
		"Write to one foreign server in a transaction of its own.")
}

// writes reports whether the open transaction has written to a server.
func (s *Session) writes(server *catalog.Server) bool {
	return s.writing != nil && s.writing.server.OID == server.OID
}

// build plans a statement. Where it reads a server that its transaction has written to, one connection alone sees the
// changes, so no result may be left open on that: all is shipped to home first.
func (s *Session) build(req plan.Request, x *execution) (*plan.Plan, error) {
	p, err := s.server.plans.plan(s, req, x)
	if err != nil || s.writing == nil || !p.Reads(s.writing.server) {
		return p, err
	}
	if req.Force == p.Route {
		return nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the statement cannot run %s: the transaction has written to its server", p.Route),
			"RESET sluice.route lets home compute it.")
	}
	req.Force = plan.HomeJoin
	if p, err = plan.Build(req); err == nil {
		p.Reason = "the transaction has written to the server"
	}
	return p, err
}

// commitWrite commits the open write transaction, if any, before home commits its part. Home must have none: nothing makes
// two commits one.
func (s *Session) commitWrite() error {
	if s.writing == nil {
		return nil
	}
	run := s.begin()
	defer run.end()
	wrote, err := s.wroteHome(run.ctx)
	if err == nil && wrote && !s.writing.handles {
		err = pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "cannot commit a transaction that has written to server %q and to home", s.writing.server.Name),
			"Write to one foreign server in a transaction of its own.")
	}
	if err != nil {
		s.undoWrite()
		return s.cause(err)
	}
	return s.endWrite()
}

// endWrite commits the open write transaction, if any.
func (s *Session) endWrite() error {
	w := s.writing
	if w == nil {
		return nil
	}
	s.writing = nil
	defer s.sweepAfter(w)
	run := s.begin()
	defer run.end()
	if err := w.tx.Commit(run.ctx); err != nil {
		_ = w.tx.Rollback()
		return s.cause(err)
	}
	return nil
}

// undoWrite rolls back the open write transaction, if any, whatever becomes of that: a server that cannot be told undoes it by itself, and
// a sweep finds tables for handles.
func (s *Session) undoWrite() {
	w := s.writing
	if w == nil {
		return
	}
	s.writing = nil
	defer s.sweepAfter(w)
	if err := w.tx.Rollback(); err != nil {
		s.log.Warn("rollback at a foreign server failed", "error", err)
	}
}

// sweepAfter has a transaction's tables for handles looked for soon, in case that home has none of them in the end.
func (s *Session) sweepAfter(w *write) {
	if w.handles {
		s.server.watch.sweepSoon(s.database)
	}
}
