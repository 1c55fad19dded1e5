package activity

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

func everybody(uint32) bool { return true }

// TestTotals counts statements alike as one, each once, and those of other roles apart.
func TestTotals(t *testing.T) {
	b := New()
	run := func(role uint32, text string, rows int64, failed bool) {
		s := b.Begin(Origin{Database: "d", Role: role}, text, "remote", time.Now().Add(-time.Second))
		o := s.Open("lake", []string{"t"}, time.Now())
		o.Read(rows, 8*rows)
		s.Sent(rows, 10*rows)
		s.Sent(rows, 10*rows)
		s.End(-1, failed)
		s.End(-1, failed)
		o.Close()
	}
	run(1, "SELECT 1", 3, false)
	run(1, "SELECT  2", 4, true)
	run(2, "SELECT 1", 5, false)
	list := b.Statements(func(role uint32) bool { return role == 1 }, false)
	if len(list) != 1 {
		t.Fatalf("%d rows", len(list))
	}
	r := list[0]
	if r.Calls != 2 || r.Failed != 1 || r.Rows != 14 || r.Bytes != 140 || r.Query != "SELECT ?" || *r.FirstRow < 1000 || r.Total < 2*r.Mean-1 || r.Most < r.Mean {
		t.Errorf("%+v", r)
	}
	if s := r.Servers["lake"]; s.Streams != 2 || *s.Rows != 7 || *s.Bytes != 56 || s.FirstRow == nil {
		t.Errorf("%+v", s)
	}
	if n := len(b.Sources()); n != 0 {
		t.Errorf("%d streams are left", n)
	}
	if b.Reset(); len(b.Statements(everybody, true)) != 0 {
		t.Error("statements are left behind a reset")
	}
}

// TestGovernedTotals tells how much was read to those alone who may know all.
func TestGovernedTotals(t *testing.T) {
	b := New()
	s := b.Begin(Origin{}, "SELECT 1", "remote", time.Now())
	s.Governed = true
	s.Open("lake", nil, time.Now()).Read(7, 7)
	s.End(-1, false)
	for _, all := range []bool{false, true} {
		if server := b.Statements(everybody, all)[0].Servers["lake"]; (server.Rows != nil) != all || (server.Bytes != nil) != all {
			t.Errorf("all %v: %+v", all, server)
		}
	}
}

// TestBookIsBounded forgets statements beyond the number that is kept, however short, and however long.
func TestBookIsBounded(t *testing.T) {
	b := New()
	for i := range mostStatements + 100 {
		b.Begin(Origin{Role: uint32(i)}, "SELECT 1", "remote", time.Now()).End(0, false)
	}
	if n := len(b.Statements(everybody, true)); n > mostStatements || n < mostStatements-100 {
		t.Errorf("%d statements are kept", n)
	}
	for i := range 2000 {
		b.Begin(Origin{}, fmt.Sprintf("SELECT \"%d%s\" FROM t", i, strings.Repeat("a", 15000)), "remote", time.Now()).End(0, false)
	}
	bytes := 0
	for _, r := range b.Statements(everybody, true) {
		bytes += len(r.Query)
	}
	if bytes > mostBytes {
		t.Errorf("%d bytes of text are kept", bytes)
	}
}

// TestBookIsShared is used by several goroutines.
func TestBookIsShared(t *testing.T) {
	b := New()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				s := b.Begin(Origin{}, "SELECT 1", "remote", time.Now())
				o, task := s.Open("lake", nil, time.Now()), s.Start("work", "t", 2)
				o.Read(1, 1)
				task.Add(1)
				b.Sources()
				b.Tasks()
				s.Sent(1, 1)
				s.End(-1, false)
				o.Close()
				task.End()
				b.Statements(everybody, true)
			}
		})
	}
	wg.Wait()
	if r := b.Statements(everybody, true)[0]; r.Calls != 800 || r.Rows != 800 || *r.Servers["lake"].Rows != 800 || len(b.Sources())+len(b.Tasks()) != 0 {
		t.Errorf("%+v", r)
	}
}

// TestNothing lets nil count nothing.
func TestNothing(t *testing.T) {
	var s *Statement
	s.Sent(1, 1)
	s.Yielded(1)
	s.Drop()
	s.End(1, true)
	s.Open("lake", nil, time.Now()).Read(1, 1)
	s.Open("lake", nil, time.Now()).Close()
	s.Start("work", "t", 1).Add(1)
	s.Start("work", "t", 1).Total(1)
	s.Start("work", "t", 1).End()
}

// TestReckon says how fast work is, and nothing where nobody knows.
func TestReckon(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		took        time.Duration
		want        Progress
	}{
		{25, 100, time.Second, Progress{25, 100, 25, 3 * time.Second}},
		{0, 100, time.Second, Progress{0, 100, 0, -1}},
		{25, 0, time.Second, Progress{25, 0, 25, -1}},
		{120, 100, time.Second, Progress{120, 100, 120, -1}}, // the total was an estimate
		{100, 100, 2 * time.Second, Progress{100, 100, 50, 0}},
		{1, 100, 0, Progress{1, 100, 0, -1}},
	} {
		if got := Reckon(c.done, c.total, c.took); got != c.want {
			t.Errorf("%d of %d in %s: %+v", c.done, c.total, c.took, got)
		}
	}
}

// BenchmarkStatement is what a statement that has run before costs, with one stream.
func BenchmarkStatement(b *testing.B) {
	book := New()
	for b.Loop() {
		s := book.Begin(Origin{Database: "d", Role: 1}, "SELECT a, b FROM t WHERE id = $1", "remote", time.Now())
		o := s.Open("lake", nil, time.Now())
		o.Read(1, 8)
		s.Sent(1, 8)
		s.End(-1, false)
		o.Close()
	}
}
