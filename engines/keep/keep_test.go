package keep

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// memory is a Store that has tables as lists of rows.
type memory struct {
	tables  map[string][]string
	batches []int
	err     error // of the next batch
	aborted int
}

func (m *memory) Open(context.Context, engines.Query) (engines.Stream, error) { return nil, nil }

func (m *memory) Create(_ context.Context, table string, _ []Column) error {
	m.tables[table] = nil
	return m.err
}

func (m *memory) Forget(_ context.Context, table string) error {
	delete(m.tables, table)
	return nil
}

type memorySink struct {
	Each
	of *memory
}

func (s memorySink) Abort() { s.of.aborted++ }

func (m *memory) Insert(_ context.Context, table string, columns []Column) (Sink, error) {
	return memorySink{func(_ context.Context, b *Batch) error {
		m.batches = append(m.batches, b.Rows())
		for row := range b.Rows() {
			var values []string
			for i := range columns {
				if v := b.Value(row, i); v == nil {
					values = append(values, "NULL")
				} else {
					values = append(values, string(v))
				}
			}
			m.tables[table] = append(m.tables[table], strings.Join(values, "|"))
		}
		return m.err
	}, m}, nil
}

// frames is a stream of rows of texts, each in a batch of its own; nil is NULL.
type frames [][]*string

func (f *frames) Fields() []engines.Field { return make([]engines.Field, len((*f)[0])) }
func (f *frames) Close() error            { return nil }

func (f *frames) Next(context.Context) (engines.Batch, error) {
	if len(*f) == 1 { // which tells how many fields there are
		return nil, io.EOF
	}
	row := (*f)[1]
	*f = append((*f)[:1:1], (*f)[2:]...)
	var body []byte
	for _, v := range row {
		if v == nil {
			body = append(body, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(*v))), *v...)
	}
	data := binary.BigEndian.AppendUint32([]byte{'D'}, uint32(len(body)+6))
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(row))), body...)
	return engines.Frames{Data: data, Rows: 1}, nil
}

func framesOf(rows ...[]*string) *frames {
	f := frames(append([][]*string{rows[0]}, rows...))
	return &f
}

var texts = Rules{Engine: "Memory", BatchRows: 2, Folds: true, Names: func(n string) bool { return n != "odd" }, Remote: func(t Type) string {
	if t.Name == "json" {
		return ""
	}
	return "text"
}}

func code(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return ""
}

// TestTx makes tables, fills them batch by batch, and drops what is rolled back, also where that had failed to be made.
func TestTx(t *testing.T) {
	ctx, m := t.Context(), &memory{tables: map[string][]string{}}
	tx := Begin("s", texts, m)
	maker, columns := tx.(engines.Maker), []engines.Column{{Name: "a", Type: "integer"}, {Name: "b", Type: "text"}}
	if err := maker.Make(ctx, "one", columns); err != nil {
		t.Fatal(err)
	}
	target := engines.Target{Relation: "r", Options: map[string]string{"table_name": "one"}}
	rows := func() engines.Stream {
		return framesOf([]*string{new("1"), nil}, []*string{new("2"), new("")}, []*string{nil, new("é")})
	}
	if n, err := tx.Insert(ctx, target, []string{"b", "a"}, rows()); n != 3 || err != nil {
		t.Errorf("%d rows: %v", n, err)
	}
	if want := []string{"1|NULL", "2|", "NULL|é"}; !slices.Equal(m.tables["one"], want) || !slices.Equal(m.batches, []int{2, 1}) {
		t.Errorf("%q in batches of %d", m.tables["one"], m.batches)
	}
	if n, ok, err := maker.Fill(ctx, "two", columns, engines.Query{}); n != 0 || ok || err != nil {
		t.Errorf("a store that fills nothing has filled %d rows, %t: %v", n, ok, err)
	}
	if m.err = pgerr.New(pgerr.DiskFull, "full"); code(maker.Make(ctx, "two", columns)) != pgerr.DiskFull {
		t.Error("the disk is not full")
	}
	if _, err := tx.Insert(ctx, target, []string{"a", "b"}, rows()); code(err) != pgerr.DiskFull || m.aborted != 1 {
		t.Errorf("%d aborted: %v", m.aborted, err)
	}
	for _, other := range []engines.Target{{Options: map[string]string{"table_name": "other"}}, {Relation: "one"}, {Options: map[string]string{"table_name": "one", "schema_name": "s"}}} {
		if _, err := tx.Insert(ctx, other, []string{"a", "b"}, rows()); code(err) != pgerr.FeatureNotSupported {
			t.Errorf("%v: %v", other, err)
		}
	}
	_, updated := tx.Update(ctx, target, []string{"a"}, rows())
	_, deleted := tx.Delete(ctx, target, rows())
	for _, err := range []error{updated, deleted, tx.Truncate(ctx, target)} {
		if code(err) != pgerr.FeatureNotSupported {
			t.Error(err)
		}
	}
	if _, err := tx.Insert(ctx, target, []string{"a"}, rows()); code(err) != pgerr.InternalError {
		t.Error(err)
	}
	if err := errors.Join(tx.Rollback(), tx.Rollback()); err != nil || len(m.tables) > 0 {
		t.Errorf("%v are left: %v", m.tables, err)
	}
	if err := maker.Make(ctx, "three", columns); code(err) != "25000" || len(m.tables) > 0 {
		t.Errorf("the transaction is over: %v", err)
	}
}

// TestCommit has tables stay.
func TestCommit(t *testing.T) {
	m := &memory{tables: map[string][]string{}}
	tx := Begin("s", texts, m)
	if err := tx.(engines.Maker).Make(t.Context(), "one", []engines.Column{{Name: "a", Type: "text"}}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tx.Commit(t.Context()), tx.Rollback()); err != nil || len(m.tables) != 1 {
		t.Errorf("%v: %v", m.tables, err)
	}
	if err := tx.Commit(t.Context()); code(err) != "25000" {
		t.Error(err)
	}
}

// TestColumns takes types apart, and refuses those whose values are not known to be their text.
func TestColumns(t *testing.T) {
	for text, want := range map[string]Type{
		"integer": {Name: "integer"}, "numeric(10,2)": {Name: "numeric", Precision: 10, Scale: 2}, "numeric(3,-1)[]": {Name: "numeric", Precision: 3, Scale: -1, List: true},
		"numeric": {Name: "numeric"}, "timestamp(3) with time zone": {Name: "timestamp with time zone", Length: 3}, "character varying(7)": {Name: "character varying", Length: 7},
		"anyenum[]": {Name: "anyenum", List: true}, "bit(3)": {Name: "bit", Length: 3},
	} {
		if got, ok := Parse(text); !ok || got != want {
			t.Errorf("%s: %+v, %t", text, got, ok)
		}
	}
	for typ, is := range map[string]bool{"numeric(38,38)": true, "numeric(39,1)": false, "numeric(3,5)": false, "numeric(3,-1)": false, "numeric": false, "numeric(3,1)[]": false, "integer": false} {
		if got, _ := Parse(typ); got.Decimal(38) != is {
			t.Errorf("%s is a decimal: %t", typ, got.Decimal(38))
		}
	}
	for _, columns := range [][]engines.Column{
		{{Name: "a", Type: "money"}}, {{Name: "a", Type: "regclass"}}, {{Name: "a", Type: "mood"}}, {{Name: "a", Type: "money[]"}}, {{Name: "a", Type: "interval year"}}, {{Name: "a", Type: "bpchar"}},
		{{Name: "a", Type: `"json"`}}, {{Name: "a", Type: "json"}}, {{Name: "a", Type: "text"}, {Name: "A", Type: "text"}}, {{Name: "odd", Type: "text"}}, {},
	} {
		var pe *pgconn.PgError
		if _, err := texts.Declare("s", columns); !errors.As(err, &pe) || pe.Hint == "" || pe.Code != pgerr.FeatureNotSupported && pe.Code != pgerr.DuplicateColumn {
			t.Errorf("%v: %v", columns, err)
		}
	}
	if options, err := texts.Declare("s", []engines.Column{{Name: "a", Type: "date"}}); err != nil || options[0]["remote_type"] != "text" {
		t.Errorf("%v: %v", options, err)
	}
}
