package bigquery

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/bigquery/fake"
)

// keeper is an engine that takes handles in dataset kept.
func keeper(t *testing.T) (*fake.Project, *Engine) {
	p := fake.Start(t, "CREATE SCHEMA kept", "CREATE TABLE kept.item AS SELECT i AS id, 'item ' || i AS name FROM range(1000) t(i)")
	s := server(p)
	s.Options["dataset"], s.Options["handles"], s.Options["handle_expiration"] = "kept", "true", "3600"
	return p, open(t, s)
}

// textRows is a stream of one row of texts, so many times in each of some batches.
type textRows struct {
	row     []string
	times   int
	batches int
	between func()
}

func (r *textRows) Fields() []engines.Field { return make([]engines.Field, len(r.row)) }
func (r *textRows) Close() error            { return nil }

func (r *textRows) Next(context.Context) (engines.Batch, error) {
	if r.batches == 0 {
		return nil, io.EOF
	}
	if r.batches--; r.between != nil {
		r.between()
	}
	var body []byte
	for _, v := range r.row {
		if v == `\N` {
			body = append(body, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		body = append(binary.BigEndian.AppendUint32(body, uint32(len(v))), v...)
	}
	one := binary.BigEndian.AppendUint32([]byte{'D'}, uint32(len(body)+6))
	one = append(binary.BigEndian.AppendUint16(one, uint16(len(r.row))), body...)
	return engines.Frames{Data: []byte(strings.Repeat(string(one), r.times)), Rows: r.times}, nil
}

var (
	keptColumns = []engines.Column{{Name: "a", Type: "bigint"}, {Name: "n", Type: "numeric(10,2)"}, {Name: "big", Type: "numeric(38,20)"}, {Name: "t", Type: "text"}, {Name: "d", Type: "date"},
		{Name: "at", Type: "timestamp with time zone"}, {Name: "ok", Type: "boolean"}, {Name: "f", Type: "double precision"}, {Name: "x", Type: "bytea"}}
	keptText   = "é 'x\\\n<" + strings.Repeat("x", 1000)
	keptValues = []string{"-9223372036854775808", "-99999999.99", "123456789012345678.00000000000000000001", keptText, "0001-01-01", "9999-12-31 23:59:59.999999+00", "t", "NaN", `\x00ff`}
)

// TestKeep makes a table of many parts of an upload, reads back what was put in, and drops what is rolled back.
func TestKeep(t *testing.T) {
	p, e := keeper(t)
	ctx, began := t.Context(), time.Now()
	names := make([]string, len(keptColumns))
	for i, c := range keptColumns {
		names[i] = "`" + c.Name + "`"
	}
	plain := strings.Split(strings.ReplaceAll(strings.Join(names, ","), "`", ""), ",")
	for _, batches := range []int{0, 1, 60} { // none, one request, and some
		tx, err := e.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.(engines.Maker).Make(ctx, "keep_1", keptColumns); err != nil {
			t.Fatal(err)
		}
		target := engines.Target{Relation: "h", Options: map[string]string{"table_name": "keep_1"}}
		if n, err := tx.Insert(ctx, target, plain, &textRows{row: keptValues, times: 100, batches: batches}); n != int64(100*batches) || err != nil {
			t.Fatalf("%d rows: %v", n, err)
		}
		if n, err := tx.Insert(ctx, target, plain[:1], &textRows{row: []string{`\N`}, times: 1, batches: 1}); n != 1 || err != nil {
			t.Fatalf("%d rows: %v", n, err)
		}
		rows, err := read(t, e, engines.Query{SQL: "SELECT count(*) AS c, count(a) AS k FROM `acme-lake`.`kept`.`keep_1`"})
		if err != nil || !slices.Equal(rows[0], []string{strconv.Itoa(100*batches + 1), strconv.Itoa(100 * batches)}) {
			t.Errorf("%v: %v", rows, err)
		}
		if batches > 0 {
			rows, err = read(t, e, engines.Query{SQL: "SELECT " + strings.Join(names, ", ") + " FROM `acme-lake`.`kept`.`keep_1` WHERE `a` IS NOT NULL LIMIT 1"})
			want := []string{"-9223372036854775808", "-9.999999999e+07", "1.2345678901234567800000000000000000001e+17", keptText, "0001-01-01", "9999-12-31T23:59:59.999999Z", "true", "NaN", "AP8="}
			if err != nil || len(rows) != 1 || rows[0][0] != want[0] || !slices.Equal(rows[0][3:], want[3:]) {
				t.Errorf("%q: %v", rows, err)
			}
		}
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
		if names, err := e.Kept(ctx, "keep_"); err != nil || len(names) > 0 {
			t.Errorf("%v: %v", names, err)
		}
	}
	if made := p.Made(); len(made) != 3 || made[0].ExpirationTime < began.Add(time.Hour).UnixMilli() || made[0].ExpirationTime > time.Now().Add(time.Hour).UnixMilli() || made[0].Schema.Fields[2].Type != "BIGNUMERIC" {
		t.Errorf("%d tables were made", len(made))
	}
}

// TestKeepRefuses what the service would not hold, or would hold otherwise.
func TestKeepRefuses(t *testing.T) {
	_, e := keeper(t)
	ctx := t.Context()
	tx, err := e.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	maker := tx.(engines.Maker)
	for _, typ := range []string{"integer[]", "interval", "timestamp(3) without time zone"} {
		if err := maker.Make(ctx, "keep_1", []engines.Column{{Name: "a", Type: typ}}); code(err) != "0A000" {
			t.Errorf("%s: %v", typ, err)
		}
	}
	for _, name := range []string{"?column?", "_PARTITIONTIME", "a b", ""} {
		if err := maker.Make(ctx, "keep_1", []engines.Column{{Name: name, Type: "text"}}); code(err) != "0A000" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := maker.Make(ctx, "keep_1", keptColumns); err != nil {
		t.Fatal(err)
	}
	target := engines.Target{Relation: "h", Options: map[string]string{"table_name": "keep_1"}}
	for column, value := range map[string]string{"n": "NaN", "d": "infinity", "at": "0044-03-15 00:00:00+00 BC"} {
		if _, err := tx.Insert(ctx, target, []string{column}, &textRows{row: []string{value}, times: 1, batches: 1}); code(err) != "22P02" {
			t.Errorf("%s: %v", value, err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	s := server(fake.Start(t))
	s.Options["handles"] = "true" // and no dataset
	if err := open(t, s).Keeps(); code(err) != "0A000" {
		t.Error(err)
	}
}

// TestFill has the service make a table of what it computes, unless it has that in other types.
func TestFill(t *testing.T) {
	_, e := keeper(t)
	ctx := t.Context()
	tx, err := e.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	columns := []engines.Column{{Name: "id", Type: "bigint"}, {Name: "name", Type: "text"}}
	q := engines.Query{SQL: "SELECT `id` AS `c1`, `name` AS `c2` FROM `acme-lake`.`kept`.`item` WHERE (`id` < CAST($1 AS INT64))", Args: []*string{text("7")}}
	if n, ok, err := tx.(engines.Maker).Fill(ctx, "keep_1", columns, q); n != 7 || !ok || err != nil {
		t.Errorf("%d %t: %v", n, ok, err)
	}
	q = engines.Query{SQL: "SELECT nope FROM `acme-lake`.`kept`.`item`"}
	if _, ok, err := tx.(engines.Maker).Fill(ctx, "keep_2", columns[:1], q); ok || err == nil {
		t.Errorf("%t: %v", ok, err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Error(err)
	}
	if names, err := e.Kept(ctx, "keep_1"); err != nil || !slices.Equal(names, []string{"keep_1"}) {
		t.Errorf("%v: %v", names, err)
	}
	if err := errors.Join(e.Forget(ctx, "keep_1"), e.Forget(ctx, "keep_1")); err != nil {
		t.Error(err)
	}
}

// TestKeepCancelled ends an upload in the midst, of which no job is made.
func TestKeepCancelled(t *testing.T) {
	p, e := keeper(t)
	ctx, cancel := context.WithCancel(t.Context())
	tx, err := e.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.(engines.Maker).Make(ctx, "keep_1", keptColumns[:1]); err != nil {
		t.Fatal(err)
	}
	batches := 0
	rows := &textRows{row: []string{"1"}, times: 10_000, batches: 1 << 20, between: func() {
		if batches++; batches == 50 {
			cancel()
		}
	}}
	_, err = tx.Insert(ctx, engines.Target{Relation: "h", Options: map[string]string{"table_name": "keep_1"}}, []string{"a"}, rows)
	if code(err) != "57014" {
		t.Error(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	for _, j := range p.Jobs() {
		t.Errorf("job %s was made", j.JobReference.JobId)
	}
	if names, err := e.Kept(t.Context(), "keep_"); err != nil || len(names) > 0 {
		t.Errorf("%v: %v", names, err)
	}
}
