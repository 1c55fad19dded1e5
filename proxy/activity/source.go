package activity

import (
	"sync/atomic"
	"time"
)

// Source is a stream of rows that is open at a server, for a statement. All methods may be called on nil.
type Source struct {
	Origin
	Server    string
	Relations []string
	Began     time.Time
	Governed  bool // as of its statement

	book        *Book
	rows, bytes atomic.Int64
	first, last atomic.Int64 // nanoseconds from Began until rows came
}

// Open notes that a stream is opened for a statement.
func (s *Statement) Open(server string, relations []string, began time.Time) *Source {
	if s == nil {
		return nil
	}
	o := &Source{Origin: s.Origin, Server: server, Relations: relations, Began: began, Governed: s.Governed, book: s.book}
	s.mu.Lock()
	s.sources = append(s.sources, o)
	s.mu.Unlock()
	s.book.mu.Lock()
	s.book.sources[o] = struct{}{}
	s.book.mu.Unlock()
	return o
}

// Read counts rows that have come.
func (s *Source) Read(rows, bytes int64) {
	if s == nil {
		return
	}
	s.rows.Add(rows)
	s.bytes.Add(bytes)
	took := max(int64(time.Since(s.Began)), 1)
	s.first.CompareAndSwap(0, took)
	s.last.Store(took)
}

// Progress returns what has come so far.
func (s *Source) Progress() (rows, bytes int64) { return s.rows.Load(), s.bytes.Load() }

// Close notes that the stream is closed.
func (s *Source) Close() {
	if s == nil {
		return
	}
	s.book.mu.Lock()
	delete(s.book.sources, s)
	s.book.mu.Unlock()
}
