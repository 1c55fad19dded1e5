package activity

import (
	"slices"
	"sync"
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

	mu      sync.Mutex // guards the totals, and what follows
	sources map[*Source]struct{}
	tasks   map[*Task]struct{}
}

// New returns an empty Book.
func New() *Book {
	return &Book{statements: lru.New[key, *totals](mostBytes), sources: map[*Source]struct{}{}, tasks: map[*Task]struct{}{}}
}

// Reset forgets the statements that have ended.
func (b *Book) Reset() { b.statements.Drop(func(key, *totals) bool { return true }) }

// Sources returns what is being read, what began first in front.
func (b *Book) Sources() []*Source {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]*Source, 0, len(b.sources))
	for s := range b.sources {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *Source) int { return a.Began.Compare(b.Began) })
	return list
}

// Tasks returns the work that is under way, what began first in front.
func (b *Book) Tasks() []*Task {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]*Task, 0, len(b.tasks))
	for t := range b.tasks {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *Task) int { return a.Began.Compare(b.Began) })
	return list
}

// milliseconds is a duration as views show it.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
