package proxy

import (
	"bytes"
	"context"
	"regexp"
	"strings"

	"github.com/sluicedb/sluice/catalog"
	"github.com/sluicedb/sluice/parser"
	"github.com/sluicedb/sluice/proxy/ddl"
	"github.com/sluicedb/sluice/proxy/wire"
)

// triggers are the words that make a statement worth parsing although it names no relation of ours: verbs of our DDL,
// and what must be answered in home's stead. Words are decoded identifiers.
var triggers = map[string]bool{
	"sluice": true, handleSchema: true, "foreign": true, "server": true, "mapping": true, "information_schema": true, "security": true,
	"pg_relation_is_updatable": true, "pg_column_is_updatable": true, ddl.Canceler: true,
	"table_count": true, "table_counts": true,
	"stat_statements": true, "stat_activity": true, "stat_streams": true, "stat_progress": true,
	"pg_cursor": true, "pg_cursors": true, "pg_prepared_statement": true, "pg_prepared_statements": true,
}

// mentions reports whether a text names anything that may concern us.
func (s *Session) mentions(text string) bool {
	if !s.snapshot.Installed {
		return parser.Concerns(text, isExtension)
	}
	if s.writing != nil {
		return true
	}
	holds, cursors := s.holdsStatements(), s.hasCursors() || s.hidesAny()
	counts, counted := false, false
	return parser.Concerns(text, func(word string) bool {
		counts, counted = counts || word == "count", counted || len(s.snapshot.Counted(word)) > 0
		return counts && counted || triggers[word] || s.snapshot.Mentions(word) || holds && word == "execute" || cursors && cursorWords[word] || len(s.inputs) > 0 && word == "discard"
	})
}

// cursorWords begin a statement on a cursor.
var cursorWords = map[string]bool{"fetch": true, "move": true, "close": true}

func isExtension(word string) bool { return word == "sluice" }

// shadow edits a text that asks home's catalog about what home cannot answer for foreign tables without a handler, or
// that cancels statements of other sessions.
func (s *Session) shadow(text string) (string, bool) {
	if !s.snapshot.Installed {
		return text, false
	}
	twins := s.snapshot.Shadows // an extension not yet updated has less of them
	edited, ok := ddl.ShadowCatalog(text, twins)
	if !ok {
		return s.readCounters(text)
	}
	if _, err := s.parse(text); err != nil { // of which home complains, where the client wrote it
		return text, false
	}
	if twins[ddl.Canceler] && strings.Contains(strings.ToLower(text), ddl.Canceler) {
		s.server.watch.await(s.ctx, s.database)
	}
	return withSource(edited, text), true
}

// isStale reports whether the session must read the catalog again, and adopts what another session has read.
func (s *Session) isStale() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stale {
		return true
	}
	if s.private {
		return false
	}
	shared := s.server.cache.Get(s.database)
	if shared == nil {
		return s.snapshot.Installed
	}
	s.adopt(shared)
	return false
}

// adopt takes a snapshot for the session's own.
func (s *Session) adopt(snapshot *catalog.Snapshot) {
	s.gained = s.gained || s.snapshot != nil && snapshot.Gained(s.snapshot)
	s.snapshot = snapshot
	s.twins.Store(&snapshot.Twins)
}

// early matches single statements that name no table of ours and may stand before the first query of a transaction, or
// must: SET TRANSACTION is refused after one, and LOCK is to come before the data is looked at.
var early = regexp.MustCompile(`(?i)^\s*(SET|RESET|SHOW|LOCK|BEGIN|START|COMMIT|END|ROLLBACK|ABORT|SAVEPOINT|RELEASE|LISTEN|UNLISTEN|NOTIFY|DEALLOCATE)\b[^;]*;?\s*$`)

// comesEarly reports whether a Query or Parse has such a statement: within a transaction nothing may be asked before it.
// What a Bind names may be one, unless the transaction has run DDL.
func (s *Session) comesEarly(typ byte, size int) (bool, error) {
	if typ == 'B' {
		s.mu.Lock()
		defer s.mu.Unlock()
		return !s.ddl, nil
	}
	const longest = 1 << 10
	if size > longest {
		return false, nil
	}
	frame, err := s.in.Frame(size)
	if err != nil {
		return false, err
	}
	text, rest, _ := cString(frame[wire.HeaderSize:])
	if typ == 'P' {
		text, _, _ = cString(rest)
	}
	return early.MatchString(text), nil
}

func (s *Session) markStale() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// refresh brings the session's snapshot up to date, home being ours. Inside a transaction that ran DDL the snapshot is
// the session's own; outside, the sessions of a database share it.
func (s *Session) refresh(ctx context.Context) error {
	s.mu.Lock()
	stale := s.stale
	s.stale, s.private = false, false
	s.mu.Unlock()
	if shared := s.server.cache.Get(s.database); shared != nil && !stale {
		s.adopt(shared)
		return nil
	}
	snapshot, err := catalog.Load(ctx, s)
	if err != nil {
		return err
	}
	s.adopt(snapshot)
	if snapshot.Uncommitted {
		s.mu.Lock()
		s.private = true
		s.mu.Unlock()
	}
	s.server.cache.Put(s.database, snapshot)
	s.server.plans.keep(s.database, s.server.cache.Get(s.database))
	if !snapshot.Uncommitted {
		s.server.engines.keep(s.database, snapshot.Servers)
	}
	s.server.watch.start(s.database, snapshot)
	return nil
}

// tag looks at each command tag of home for DDL, whatever it was run by, and for what ends prepared statements.
func (s *Session) tag(tag []byte) {
	switch {
	case bytes.HasPrefix(tag, []byte("SELECT")), bytes.HasPrefix(tag, []byte("INSERT")), bytes.HasPrefix(tag, []byte("UPDATE")):
		return
	case bytes.HasPrefix(tag, []byte("DISCARD ALL")), bytes.HasPrefix(tag, []byte("DEALLOCATE ALL")):
		s.mu.Lock()
		clear(s.stmts)
		s.forgetAsked = true
		s.mu.Unlock()
	case bytes.HasPrefix(tag, []byte("COMMIT\x00")), bytes.HasPrefix(tag, []byte("ROLLBACK\x00")):
		s.mu.Lock()
		s.committed = tag[0] == 'C'
		s.over = s.over || s.committed || !s.savepoints // else it may be a ROLLBACK TO
		s.mu.Unlock()
	case bytes.HasPrefix(tag, []byte("SAVEPOINT")):
		s.mu.Lock()
		s.savepoints = true
		s.mu.Unlock()
	}
	if bytes.HasPrefix(tag, []byte("ROLLBACK")) {
		s.mu.Lock()
		s.stale = s.stale || s.ddl
		s.mu.Unlock()
		return
	}
	for _, verb := range ddlTags {
		if bytes.HasPrefix(tag, verb) {
			s.noteDDL()
			return
		}
	}
}

// ddlTags begin the command tags behind which names of ours may have changed.
var ddlTags = [][]byte{
	[]byte("CREATE VIEW"), []byte("CREATE FOREIGN"), []byte("CREATE SERVER"), []byte("CREATE EXTENSION"),
	[]byte("CREATE MATERIALIZED"), []byte("CREATE SCHEMA"), []byte("ALTER "), []byte("DROP "), []byte("DO\x00"), []byte("CALL\x00"),
}

// missed says that a statement went to home although it reads a foreign table: the snapshot is not current.
func (s *Session) missed() {
	s.markStale()
	s.server.cache.Invalidate(s.database)
}

func (s *Session) hasSavepoints() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.savepoints
}

// hasCommitted reports whether home's last word on a transaction block was COMMIT.
func (s *Session) hasCommitted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.committed
}

// noteDDL remembers that the catalog may have changed, for this session now and for all once it is committed.
func (s *Session) noteDDL() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale, s.ddl = true, true
}

// ready sees each transaction status of home: DDL counts for others once it is committed.
func (s *Session) ready(status byte) {
	if s.verifying.Load() != nil {
		s.verifying.Swap(nil).End()
	}
	if status != 'I' {
		return
	}
	s.mu.Lock()
	s.savepoints, s.over, s.private = false, true, false
	ended := s.ddl
	if ended {
		s.ddl, s.stale = false, true
	}
	s.mu.Unlock()
	if ended {
		s.server.cache.Invalidate(s.database)
	}
}
