package activity

import (
	"sync"
	"sync/atomic"
	"time"
)

// Origin is who does something, and where.
type Origin struct {
	Database string `json:"database"`
	PID      uint32 `json:"pid"`  // home's, of the session
	Role     uint32 `json:"role"` // the OID of the current one
	User     string `json:"user"` // the name of the session's own
}

// Statement is one that runs, or has run. All methods may be called on nil, which counts nothing.
type Statement struct {
	Origin
	ID    string // of this run, which no other statement of any proxy has
	Text  string // as the client wrote it
	Route string
	Began time.Time
	// Governed says that what is read of servers may be more than the role sees, so that nobody learns how much it is but
	// those who may know it of everybody.
	Governed bool

	book        *Book
	rows, bytes atomic.Int64
	first       atomic.Int64 // nanoseconds from Began until rows were sent; 0 before
	ended       atomic.Bool

	mu      sync.Mutex
	sources []*Source
}

// Begin returns a statement that begins to run.
func (b *Book) Begin(o Origin, text, route string, began time.Time) *Statement {
	return &Statement{Origin: o, ID: b.id(), Text: text, Route: route, Began: began, book: b}
}

// Sent counts what the client is sent.
func (s *Statement) Sent(rows, bytes int64) {
	if s == nil || rows == 0 {
		return
	}
	s.bytes.Add(bytes)
	if s.rows.Add(rows) == rows {
		s.first.Store(max(int64(time.Since(s.Began)), 1))
	}
}

// Progress returns what the client was sent so far, and whether the statement still runs.
func (s *Statement) Progress() (rows, bytes int64, running bool) {
	if s == nil {
		return 0, 0, false
	}
	return s.rows.Load(), s.bytes.Load(), !s.ended.Load()
}

// Yielded counts rows that home has sent by itself.
func (s *Statement) Yielded(rows int64) {
	if s != nil {
		s.rows.Add(rows)
	}
}

// Drop forgets a statement that has not run.
func (s *Statement) Drop() {
	if s != nil {
		s.ended.Store(true)
	}
}

// End counts a statement that has ended, once. rows are those that it has written or that home has sent by itself; negative
// where it has sent its rows here.
func (s *Statement) End(rows int64, failed bool) {
	if s == nil || s.ended.Swap(true) {
		return
	}
	if rows >= 0 {
		s.rows.Store(rows)
	}
	s.book.count(s, failed)
}
