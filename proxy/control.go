package proxy

import (
	"github.com/sluicedb/sluice/parser"
)

// longestControl is longer than any statement of transaction control but for comments.
const longestControl = 256

var controlWords = map[string]bool{
	"commit": true, "end": true, "abort": true, "rollback": true, "savepoint": true, "release": true, "prepare": true,
}

// noteControl remembers under its name that a prepared statement controls transactions: it passes through to home unless
// the transaction has written to a foreign server, which nobody knows at Parse. Home is not asked whether it has accepted
// the statement; it will complain when the name is used.
func (s *Session) noteControl(name, text string) {
	delete(s.control, name)
	if len(s.snapshot.Servers) == 0 || len(text) > longestControl ||
		!parser.Concerns(text, func(word string) bool { return controlWords[word] }) {
		return
	}
	list, err := parser.Parse(text)
	if err == nil && len(list) == 1 && list[0].Node.Stmt.GetTransactionStmt() != nil {
		if s.control == nil {
			s.control = map[string]*prepared{}
		}
		s.control[name] = &prepared{list[0]}
	}
}

// toBind returns the statement of a Bind where it is ours to run, nil where home does.
func (s *Session) toBind(name string) *prepared {
	if p := s.control[name]; p != nil && (s.writing != nil || p.statement.Node.Stmt.GetTransactionStmt().GetChain()) {
		return p
	}
	return s.prepared(name)
}
