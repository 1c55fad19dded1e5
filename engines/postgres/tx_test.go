package postgres

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluicedb/sluice/engines"
)

// framesOf is a stream of rows in text form; NULL is NULL.
type framesOf struct {
	rows [][]string
	read bool
}

func (f *framesOf) Fields() []engines.Field { return make([]engines.Field, len(f.rows[0])) }
func (f *framesOf) Close() error            { return nil }
func (f *framesOf) Next(context.Context) (engines.Batch, error) {
	if f.read {
		return nil, io.EOF
	}
	f.read = true
	var data []byte
	for _, r := range f.rows {
		m := pgproto3.DataRow{}
		for _, v := range r {
			if v == "NULL" {
				m.Values = append(m.Values, nil)
			} else {
				m.Values = append(m.Values, []byte(v))
			}
		}
		var err error
		if data, err = m.Encode(data); err != nil {
			return nil, err
		}
	}
	return engines.Frames{Data: data, Rows: len(f.rows)}, nil
}

func TestWrites(t *testing.T) {
	s := server(t, map[string]string{"updatable": "true"}, "CREATE TABLE public.t (id int, v numeric(5,1), g int GENERATED ALWAYS AS (id * 2) STORED)")
	e := open(t, s)
	target := engines.Target{Relation: "t", Schema: "public", Generated: []string{"g"}}
	tx, err := e.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	rows := &framesOf{}
	for i := range 1201 {
		rows.rows = append(rows.rows, []string{fmt.Sprint(i), "NULL", "7"})
	}
	if n, err := tx.Insert(t.Context(), target, []string{"id", "v", "g"}, rows); n != 1201 || err != nil {
		t.Fatalf("insert: %d, %v", n, err)
	}
	place := func(id int) string {
		stream, err := tx.Open(t.Context(), engines.Query{SQL: fmt.Sprintf("SELECT (ctid::text::point)[0]::bigint << 16 | (ctid::text::point)[1]::bigint FROM public.t WHERE id = %d", id)})
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		got, err := collect(t.Context(), stream)
		if err != nil {
			t.Fatal(err)
		}
		return *got[0][0]
	}
	if n, err := tx.Update(t.Context(), target, []string{"v"}, &framesOf{rows: [][]string{{place(7), "1.25"}, {place(1200), "2"}}}); n != 2 || err != nil {
		t.Fatalf("update: %d, %v", n, err)
	}
	if n, err := tx.Delete(t.Context(), target, &framesOf{rows: [][]string{{place(8)}, {place(9)}}}); n != 2 || err != nil {
		t.Fatalf("delete: %d, %v", n, err)
	}
	if got := values(t, e, engines.Query{SQL: "SELECT count(*) FROM public.t"}); got[0][0] != "0" {
		t.Errorf("others see %s rows before COMMIT", got[0][0])
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(values(t, e, engines.Query{SQL: "SELECT count(*), sum(v), sum(g) FROM public.t"})); got != "[[1199 3.3 1441166]]" {
		t.Errorf("the table holds %s", got)
	}
}

func TestWritesThatFail(t *testing.T) {
	s := server(t, map[string]string{"updatable": "true"}, "CREATE TABLE public.t (id int CHECK (id < 3))", "CREATE TABLE public.p (id int) PARTITION BY LIST (id)")
	e := open(t, s)
	tx, err := e.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	target := engines.Target{Relation: "t", Schema: "public"}
	if _, err := tx.Insert(t.Context(), target, []string{"id"}, &framesOf{rows: [][]string{{"1"}, {"3"}, {"2"}}}); code(err) != "23514" {
		t.Errorf("a row against a constraint: %v", err)
	}
	if _, err := tx.Insert(t.Context(), target, []string{"id"}, &framesOf{rows: [][]string{{"1"}}}); code(err) != "25P02" {
		t.Errorf("after that: %v", err)
	}
	if err := tx.Commit(t.Context()); code(err) != "40000" {
		t.Errorf("commit of a failed transaction: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	if got := values(t, e, engines.Query{SQL: "SELECT count(*) FROM public.t"}); got[0][0] != "0" {
		t.Errorf("%s rows are left", got[0][0])
	}
	if tx, err = e.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Delete(t.Context(), engines.Target{Relation: "p", Schema: "public"}, &framesOf{rows: [][]string{{"1"}}}); code(err) != "0A000" {
		t.Errorf("delete from a partitioned table: %v", err)
	}
	s.Options["updatable"] = "false"
	if _, err := open(t, s).Begin(t.Context()); code(err) != "0A000" {
		t.Errorf("write at a read-only server: %v", err)
	}
}
