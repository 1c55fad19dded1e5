package columnar

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
)

// scripted yields what a test says, and then waits for its context or ends with err.
type scripted struct {
	records []arrow.RecordBatch
	err     error // nil: wait
	waits   chan struct{}
	closed  []bool
}

func (s *scripted) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if len(s.records) > 0 {
		r := s.records[0]
		s.records = s.records[1:]
		return r, nil
	}
	if s.err != nil {
		return nil, s.err
	}
	close(s.waits)
	<-ctx.Done()
	return nil, ctx.Err()
}

func (s *scripted) Close(complete bool) { s.closed = append(s.closed, complete) }

func numbers(t *testing.T, mem memory.Allocator, n, columns int) arrow.RecordBatch {
	t.Helper()
	var fields []arrow.Field
	var list []arrow.Array
	for range columns {
		b := array.NewInt64Builder(mem)
		for i := range n {
			b.Append(int64(i))
		}
		a := b.NewArray()
		b.Release()
		defer a.Release()
		fields, list = append(fields, arrow.Field{Name: "i", Type: arrow.PrimitiveTypes.Int64}), append(list, a)
	}
	r := array.NewRecordBatch(arrow.NewSchema(fields, nil), list, int64(n))
	t.Cleanup(r.Release)
	return r
}

var oneField = []engines.Field{{Name: "i", OID: 20, Typmod: -1}}

// Record batches are cut to the size of a batch, those without rows are none, and what was cut is freed.
func TestCut(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	const wide = 300_000 // rows of 8 bytes: 2.4 MB
	source := &scripted{records: []arrow.RecordBatch{numbers(t, mem, 0, 1), numbers(t, mem, wide, 1), numbers(t, mem, 3, 1)}, err: io.EOF}
	s := NewStream("x", oneField, source)
	rows, batches := 0, 0
	for {
		b, err := s.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if first := b.(engines.Columns).Record.Column(0).(*array.Int64).Value(0); rows < wide && first != int64(rows) {
			t.Errorf("a batch begins with %d instead of %d", first, rows)
		}
		if b.NumRows()*8 > engines.BatchBytes || b.NumRows() == 0 {
			t.Errorf("a batch has %d rows", b.NumRows())
		}
		rows += b.NumRows()
		batches++
	}
	if rows != wide+3 || batches != 4 {
		t.Errorf("%d rows in %d batches", rows, batches)
	}
	_ = s.Close()
	if len(source.closed) != 1 || !source.closed[0] {
		t.Errorf("closed: %v", source.closed)
	}
}

// Errors have a SQLSTATE and name the server, and the source is closed with the first.
func TestErrors(t *testing.T) {
	own := &pgconn.PgError{Code: "53100", Message: "full"}
	for _, c := range []struct {
		records []arrow.RecordBatch
		err     error
		code    string
	}{
		{err: errors.New("reset"), code: "08006"},
		{err: own, code: "53100"},
		{records: []arrow.RecordBatch{numbers(t, memory.DefaultAllocator, 1, 2)}, code: "08P01"},
	} {
		source := &scripted{records: c.records, err: c.err}
		s := NewStream("x", oneField, source)
		for range 2 { // it stays the same
			var pe *pgconn.PgError
			if _, err := s.Next(context.Background()); !errors.As(err, &pe) || pe.Code != c.code || pe.Where != `foreign server "x"` {
				t.Errorf("%+v: %v", c, err)
			}
		}
		_ = s.Close()
		if len(source.closed) != 1 || source.closed[0] {
			t.Errorf("%+v: closed %v", c, source.closed)
		}
	}
	if own.Where != "" {
		t.Error("the source's error was changed")
	}
}

// Close and the caller's context end a Next that waits.
func TestInterrupt(t *testing.T) {
	for _, close := range []bool{true, false} {
		source := &scripted{waits: make(chan struct{})}
		s := NewStream("x", oneField, source)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-source.waits
			if close {
				_ = s.Close()
			} else {
				cancel()
			}
		}()
		code := "57014"
		if close {
			code = "24000"
		}
		var pe *pgconn.PgError
		if _, err := s.Next(ctx); !errors.As(err, &pe) || pe.Code != code {
			t.Errorf("closed %v: %v", close, err)
		}
		cancel()
		_ = s.Close()
		if len(source.closed) != 1 || source.closed[0] {
			t.Errorf("closed %v: source %v", close, source.closed)
		}
	}
}
