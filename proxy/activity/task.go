package activity

import (
	"sync/atomic"
	"time"
)

// Task is work that may take long. All methods may be called on nil, which tells nobody.
type Task struct {
	Origin
	What, Relation string
	Began          time.Time
	Governed       bool // as of its statement

	book        *Book
	total, done atomic.Int64
}

// Start notes that work begins: total is how much there is to be done, as far as is known; 0 where nobody knows.
func (b *Book) Start(o Origin, what, relation string, total int64) *Task {
	return b.start(&Task{Origin: o, What: what, Relation: relation}, total)
}

// Start notes that work begins that is part of a statement.
func (s *Statement) Start(what, relation string, total int64) *Task {
	if s == nil {
		return nil
	}
	return s.book.start(&Task{Origin: s.Origin, What: what, Relation: relation, Governed: s.Governed}, total)
}

func (b *Book) start(t *Task, total int64) *Task {
	t.Began, t.book = time.Now(), b
	t.total.Store(total)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tasks[t] = struct{}{}
	return t
}

// Total says how much there is to be done.
func (t *Task) Total(n int64) {
	if t != nil {
		t.total.Store(n)
	}
}

// Add notes that so much more is done.
func (t *Task) Add(n int64) {
	if t != nil {
		t.done.Add(n)
	}
}

// End notes that the work has ended, well or not.
func (t *Task) End() {
	if t == nil {
		return
	}
	t.book.mu.Lock()
	defer t.book.mu.Unlock()
	delete(t.book.tasks, t)
}

// Progress is how far work has come.
type Progress struct {
	Done, Total int64
	Rate        float64       // done a second; 0 where nothing is
	Left        time.Duration // negative where nobody knows
}

// Progress returns how far the work has come.
func (t *Task) Progress() Progress {
	return Reckon(t.done.Load(), t.total.Load(), time.Since(t.Began))
}

// Reckon says how fast work is of which a part was done in a time, and how much time is left.
func Reckon(done, total int64, took time.Duration) Progress {
	p := Progress{Done: done, Total: total, Left: -1}
	if took <= 0 || done <= 0 {
		return p
	}
	p.Rate = float64(done) / took.Seconds()
	if total >= done {
		p.Left = time.Duration(float64(total-done) / float64(done) * float64(took))
	}
	return p
}
