package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// table stands for the audit of a database: sinks write to it unless something is wrong.
type table struct {
	mu    sync.Mutex
	gate  sync.Cond // held writes go on
	rows  []string  // application names, by which tests tell rows
	held  bool
	wrong func(document []byte) error // nil: nothing is
	opens int
}

func newTable() *table {
	t := &table{}
	t.gate.L = &t.mu
	return t
}

func (t *table) Write(_ context.Context, document []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.held {
		t.gate.Wait()
	}
	if t.wrong != nil {
		if err := t.wrong(document); err != nil {
			return err
		}
	}
	var list []struct {
		Application string `json:"application_name"`
	}
	if err := json.Unmarshal(document, &list); err != nil {
		return err
	}
	for _, r := range list {
		t.rows = append(t.rows, r.Application)
	}
	return nil
}

func (t *table) Close() {}

func (t *table) open(context.Context, string) (Sink, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opens++
	return t, nil
}

func (t *table) set(held bool, wrong func([]byte) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held, t.wrong = held, wrong
	t.gate.Broadcast()
}

// numbers reports whether the table has rows 0 … n-1, in order.
func (t *table) numbers(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, name := range t.rows {
		if name != fmt.Sprint(i) {
			return false
		}
	}
	return len(t.rows) == n
}

func put(w *Writer, from, to int, required bool) {
	for i := from; i < to; i++ {
		w.Put("db", Row{Application: fmt.Sprint(i), Statement: "SELECT 1", Required: required})
	}
}

func newWriter(open func(context.Context, string) (Sink, error)) *Writer {
	return New(open, slog.New(slog.DiscardHandler))
}

// until waits for a state of the writer.
func until(t *testing.T, w *Writer, what string, is func(written, lost int64, queued int) bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		written, lost, queued := w.Stats()
		if is(written, lost, queued) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %s: written %d, lost %d, queued %d", what, written, lost, queued)
		}
	}
}

func full(_, _ int64, queued int) bool { return queued == mostRows }

// TestFullQueueWaits has who puts a row wait for room, and loses none.
func TestFullQueueWaits(t *testing.T) {
	table := newTable()
	table.set(true, nil)
	w := newWriter(table.open)
	const n = 3 * mostRows
	done := make(chan struct{})
	go func() { put(w, 0, n, false); close(done) }()
	until(t, w, "full queue", full)
	table.set(false, nil)
	<-done
	w.Close()
	if written, lost, queued := w.Stats(); written != n || lost != 0 || queued != 0 || !table.numbers(n) {
		t.Errorf("written %d, lost %d, queued %d of %d", written, lost, queued, n)
	}
}

// TestFullOfText bounds the queue by its bytes as well, but for a row that is larger than all.
func TestFullOfText(t *testing.T) {
	table := newTable()
	table.set(true, nil)
	w := newWriter(table.open)
	text := "SELECT '" + strings.Repeat("x", mostBytes) + "'"
	done := make(chan struct{})
	go func() {
		for i := range 3 {
			w.Put("db", Row{Application: fmt.Sprint(i), Statement: text})
		}
		close(done)
	}()
	until(t, w, "row in the queue", func(_, _ int64, queued int) bool { return queued == 1 })
	select {
	case <-done:
		t.Error("three rows of more than the queue holds were put at once")
	default:
	}
	table.set(false, nil)
	<-done
	w.Close()
	if !table.numbers(3) {
		t.Errorf("the table has %v", table.rows)
	}
}

var errDown = errors.New("home is down")

// TestGivesUp counts what is lost while the audit cannot be written, and need not be.
func TestGivesUp(t *testing.T) {
	table := newTable()
	table.set(false, func([]byte) error { return errDown })
	w := newWriter(table.open)
	put(w, 0, mostRows+5, false)
	if written, lost, queued := w.Stats(); written != 0 || lost != 5 || queued != mostRows {
		t.Errorf("written %d, lost %d, queued %d", written, lost, queued)
	}
	w.Close()
	if written, lost, queued := w.Stats(); written != 0 || lost != mostRows+5 || queued != 0 {
		t.Errorf("at the end: written %d, lost %d, queued %d", written, lost, queued)
	}
}

// TestRequiredRowsWait keeps rows that must not be lost until they can be written.
func TestRequiredRowsWait(t *testing.T) {
	table := newTable()
	table.set(false, func([]byte) error { return errDown })
	w := newWriter(table.open)
	const n = mostRows + 5
	done := make(chan struct{})
	go func() { put(w, 0, n, true); close(done) }()
	until(t, w, "full queue", full)
	var pe *pgconn.PgError
	if err := w.Check(t.Context(), "db"); !errors.As(err, &pe) || pe.Code != "58000" {
		t.Errorf("new statements are answered %v", err)
	}
	table.set(false, nil)
	if err := w.Check(t.Context(), "db"); err != nil {
		t.Error(err)
	}
	<-done
	w.Close()
	if _, lost, _ := w.Stats(); lost != 0 || !table.numbers(n) {
		t.Errorf("lost %d of %d", lost, n)
	}
}

// TestNoAudit gives up at once what no table is there for.
func TestNoAudit(t *testing.T) {
	w := newWriter(func(context.Context, string) (Sink, error) { return nil, ErrGone })
	put(w, 0, 3, true)
	until(t, w, "loss", func(_, lost int64, queued int) bool { return lost == 3 && queued == 0 })
	if err := w.Check(t.Context(), "db"); err == nil {
		t.Error("a statement that must be audited may run")
	}
	w.Close()
}

// TestStaleConnection writes over a new connection what the one at hand has failed to write.
func TestStaleConnection(t *testing.T) {
	table := newTable()
	w := newWriter(table.open)
	put(w, 0, 1, false)
	until(t, w, "first row", func(written, _ int64, _ int) bool { return written == 1 })
	failed := false
	table.set(false, func([]byte) error {
		if failed {
			return nil
		}
		failed = true
		return errDown
	})
	put(w, 1, 2, false)
	w.Close()
	if _, lost, _ := w.Stats(); lost != 0 || !table.numbers(2) || !failed {
		t.Errorf("lost %d, have %v", lost, table.rows)
	}
}

// slow is a sink that takes its time to close.
type slow struct {
	*table
	closing, closed chan struct{}
}

func (s slow) Close() {
	s.closing <- struct{}{}
	<-s.closed
}

// TestRowWhileClosing writes a row over a new connection while the one before is closed, as nothing was written for a while.
func TestRowWhileClosing(t *testing.T) {
	table := newTable()
	sink := slow{table, make(chan struct{}, 2), make(chan struct{})}
	w := newWriter(func(ctx context.Context, database string) (Sink, error) {
		_, err := table.open(ctx, database)
		return sink, err
	})
	put(w, 0, 1, false)
	<-sink.closing
	put(w, 1, 2, false)
	until(t, w, "second row", func(written, _ int64, _ int) bool { return written == 2 })
	close(sink.closed)
	w.Close()
	if !table.numbers(2) || table.opens != 2 {
		t.Errorf("have %v over %d connections", table.rows, table.opens)
	}
}

// TestForeignCharacters writes what the database's encoding has, where it has not all.
func TestForeignCharacters(t *testing.T) {
	table := newTable()
	table.set(false, func(document []byte) error {
		for _, foreign := range []string{"ž", `\u2028`, `\ufffd`} {
			if strings.Contains(string(document), foreign) {
				return &pgconn.PgError{Code: "22P05"}
			}
		}
		return nil
	})
	w := newWriter(table.open)
	w.Put("db", Row{Application: "ža\u2028\xff", Statement: "SELECT \"ž\xff\u2028\"", KeepText: true})
	w.Close()
	if len(table.rows) != 1 || table.rows[0] != "?a??" {
		t.Errorf("the table has %v", table.rows)
	}
}
