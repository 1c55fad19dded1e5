package proxy

import (
	pg_query "github.com/pganalyze/pg_query_go/v6"

	"github.com/sluicedb/sluice/parser"
)

// longestControl is longer than any statement of transaction control but for comments.
const longestControl = 256

var controlWords = map[string]bool{
	"commit": true, "end": true, "abort": true, "rollback": true, "savepoint": true, "release": true, "prepare": true,
	"execute": true, "fetch": true, "move": true, "close": true, "alter": true, "drop": true, "discard": true,
}

// noteControl remembers under its name that a prepared statement controls transactions: it passes through to home unless
// the transaction has written to a foreign server, which nobody knows at Parse.
func (s *Session) noteControl(name, text string) {
	delete(s.control, name)
	if st := s.controls(text); st != nil {
		if s.control == nil {
			s.control = map[string]*prepared{}
		}
		s.control[name] = &prepared{statement: st, fetched: s.fetchedFields(st)}
	}
}

// controls returns the statement of a text that is one of transaction control, nil for any other.
func (s *Session) controls(text string) *parser.Statement {
	if len(s.snapshot.Servers) == 0 || len(text) > longestControl ||
		!parser.Concerns(text, func(word string) bool { return controlWords[word] }) {
		return nil
	}
	list, err := parser.Parse(text)
	if err != nil || len(list) != 1 || !mayControl(list[0].Node.Stmt) {
		return nil
	}
	return list[0]
}

func mayControl(n *pg_query.Node) bool {
	return n.GetTransactionStmt() != nil || n.GetExecuteStmt() != nil || n.GetFetchStmt() != nil || n.GetClosePortalStmt() != nil ||
		n.GetDiscardStmt() != nil || alterationOf(n) != nil
}

// toBind returns the statement of a Bind where it is ours to run, nil where home does.
func (s *Session) toBind(name string) *prepared {
	if p := s.control[name]; p != nil && s.handles(p.statement) {
		return p
	}
	return s.prepared(name)
}
