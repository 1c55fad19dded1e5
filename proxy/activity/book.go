package activity

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicedb/sluice/lru"
)

// mostStatements bounds the statements that are known, and mostBytes what they take up.
const (
	mostStatements = 5000
	mostBytes      = 16 << 20
)

// Book is what one proxy knows. It is safe for use by several goroutines.
type Book struct {
	statements *lru.Cache[key, *totals]
	process    string // random
	made       atomic.Uint64

	mu      sync.Mutex // guards the totals, and what follows
	sources map[*Source]struct{}
	tasks   map[*Task]struct{}
}

// New returns an empty Book.
func New() *Book {
	var random [4]byte
	_, _ = rand.Read(random[:]) // never fails
	return &Book{statements: lru.New[key, *totals](mostBytes), process: hex.EncodeToString(random[:]), sources: map[*Source]struct{}{}, tasks: map[*Task]struct{}{}}
}

// id returns what no other statement is called.
func (b *Book) id() string { return b.process + "-" + strconv.FormatUint(b.made.Add(1), 16) }

// Reset forgets the statements that have ended.
func (b *Book) Reset() { b.statements.Drop(func(key, *totals) bool { return true }) }

// Sources returns what is being read, what began first in front.
func (b *Book) Sources() []*Source {
	return inOrder(b, b.sources, func(s *Source) time.Time { return s.Began })
}

// Tasks returns the work that is under way, what began first in front.
func (b *Book) Tasks() []*Task {
	return inOrder(b, b.tasks, func(t *Task) time.Time { return t.Began })
}

// inOrder lists a set of a book's by when each began.
func inOrder[T comparable](b *Book, set map[T]struct{}, began func(T) time.Time) []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.SortedFunc(maps.Keys(set), func(a, b T) int { return began(a).Compare(began(b)) })
}

// milliseconds is a duration as views show it.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
