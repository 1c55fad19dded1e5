package encode_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/proxy/encode"
)

// bodies takes the data out of CopyData messages.
func bodies(t testing.TB, messages []byte) []byte {
	t.Helper()
	var out []byte
	for len(messages) > 0 {
		if messages[0] != 'd' {
			t.Fatalf("not CopyData: %x", messages[:min(16, len(messages))])
		}
		n := 1 + int(binary.BigEndian.Uint32(messages[1:]))
		out = append(out, messages[5:n]...)
		messages = messages[n:]
	}
	return out
}

// What AppendCopy and AppendCopyText write, home reads as the same values.
func TestCopyIntoPostgres(t *testing.T) {
	c := connect(t)
	set(t, c, "CREATE TYPE pg_temp.mood AS ENUM ('sad', 'ok, then')")
	rec := record(
		arr(arrow.PrimitiveTypes.Int64, 1, nil, 3),
		arr(arrow.BinaryTypes.String, "tab\there", `back\slash`, "line\nfeed\r"),
		arr(dec(10, 2), "1.50", "-0.25", nil),
		arr(arrow.ListOf(arrow.BinaryTypes.String), []any{"a b", nil}, []any{}, nil),
		arr(zoned, 0, nil, 1710055800000000),
		arr(arrow.BinaryTypes.String, "sad", nil, "ok, then"),
		arr(arrow.BinaryTypes.String, `{"b":1,"a":2}`, nil, "[]"),
		arr(arrow.BinaryTypes.Binary, "\x00\xff", "", nil),
	)
	want := "1|tab\there|1.50|{\"a b\",NULL}|1970-01-01 00:00:00+00|sad|{\"a\": 2, \"b\": 1}|\\x00ff;" +
		"-|back\\slash|-0.25|{}|-|-|-|\\x;" +
		"3|line\nfeed\r|-|-|2024-03-10 07:30:00+00|ok, then|[]|-"
	for _, format := range []int16{encode.Text, encode.Binary} {
		mood, oid := "pg_temp.mood", uint32(16400)
		if format == encode.Binary {
			mood, oid = "text", 25
		}
		target := []engines.Field{
			{OID: 20, Typmod: -1}, {OID: 25, Typmod: -1}, {OID: 1700, Typmod: 10<<16 | 2 + 4}, {OID: 1009, Typmod: -1},
			{OID: 1184, Typmod: -1}, {OID: oid, Typmod: -1}, {OID: 3802, Typmod: -1}, {OID: 17, Typmod: -1},
		}
		set(t, c, "SET TimeZone = 'UTC'")
		set(t, c, "DROP TABLE IF EXISTS f")
		set(t, c, "CREATE TEMP TABLE f (a int8, b text, c numeric(10,2), d text[], e timestamptz, f "+mood+", g jsonb, h bytea)")
		e, err := encode.New(target, []int16{format}, nil, encode.Home)
		if err != nil {
			t.Fatal(err)
		}
		var messages []byte
		sql := "COPY f FROM STDIN"
		if format == encode.Binary {
			sql += " (FORMAT binary)"
			messages = append(messages, encode.CopyHeader...)
			if messages, err = e.AppendCopy(messages, rec, 0, 3); err != nil {
				t.Fatal(err)
			}
			messages = append(messages, encode.CopyTrailer...)
		} else if messages, err = e.AppendCopyText(messages, rec, 0, 3); err != nil {
			t.Fatal(err)
		}
		if _, err := c.CopyFrom(t.Context(), bytes.NewReader(bodies(t, messages)), sql); err != nil {
			t.Fatal(err)
		}
		r := c.ExecParams(t.Context(), `SELECT string_agg(concat_ws('|', coalesce(a::text, '-'), coalesce(b, '-'), coalesce(c::text, '-'),
			coalesce(d::text, '-'), coalesce(e::text, '-'), coalesce(f::text, '-'), coalesce(g::text, '-'), coalesce(h::text, '-')), ';' ORDER BY a NULLS FIRST, b)
			FROM (SELECT * FROM f) f`, nil, nil, nil, nil).Read()
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		got := strings.Split(string(r.Rows[0][0]), ";")
		got[0], got[1] = got[1], got[0] // the row with NULL comes first
		if strings.Join(got, ";") != want {
			t.Errorf("format %d: got\n%q, want\n%q", format, got, want)
		}
	}
}

// Rows come in messages of bounded size, whole.
func TestCopyMessagesAreBounded(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range 3000 {
		b.Append(strings.Repeat("x", i%200))
	}
	rec := record(b.NewArray())
	e, err := encode.New([]engines.Field{{OID: 25, Typmod: -1}}, []int16{encode.Binary}, nil, encode.Home)
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.AppendCopy(nil, rec, 0, 3000)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for m := out; len(m) > 0; {
		n := 1 + int(binary.BigEndian.Uint32(m[1:]))
		if n > 64<<10 {
			t.Errorf("a message of %d bytes", n)
		}
		m = m[n:]
	}
	for body := bodies(t, out); len(body) > 0; rows++ {
		body = body[6+binary.BigEndian.Uint32(body[2:]):]
	}
	if rows != 3000 {
		t.Error(rows)
	}
}

func benchmark(b *testing.B, format int16) {
	const rows = 2048
	ints, texts, decimals := make([]any, rows), make([]any, rows), make([]any, rows)
	for i := range rows {
		ints[i], texts[i], decimals[i] = 1_000_000+i, fmt.Sprint(1_000_000+i), fmt.Sprintf("%d.5", 1_500_000+i)
	}
	rec := record(arr(arrow.PrimitiveTypes.Int64, ints...), arr(arrow.BinaryTypes.String, texts...), arr(dec(21, 1), decimals...))
	target := []engines.Field{{OID: 20, Typmod: -1}, {OID: 1043, Typmod: -1}, {OID: 1700, Typmod: 21<<16 | 1 + 4}}
	e, err := encode.New(target, []int16{format}, nil, encode.Home)
	if err != nil {
		b.Fatal(err)
	}
	columns := rec.Columns()
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		fresh := array.NewRecordBatch(rec.Schema(), columns, rows) // as each batch of a stream is
		if dst, err = e.Append(dst[:0], fresh, 0, rows); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(dst)))
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkAppendText(b *testing.B)   { benchmark(b, encode.Text) }
func BenchmarkAppendBinary(b *testing.B) { benchmark(b, encode.Binary) }

func BenchmarkAppendColumn(b *testing.B) {
	const rows = 2048
	for _, bc := range []struct {
		name string
		oid  uint32
		col  func(i int) any
		typ  arrow.DataType
	}{
		{"int8", 20, func(i int) any { return i * 1000003 }, arrow.PrimitiveTypes.Int64},
		{"text", 25, func(i int) any { return fmt.Sprint("value ", i) }, arrow.BinaryTypes.String},
		{"numeric", 1700, func(i int) any { return fmt.Sprintf("%d.25", i*1003) }, dec(18, 2)},
		{"float8", 701, func(i int) any { return float64(i) / 7 }, arrow.PrimitiveTypes.Float64},
		{"date", 1082, func(i int) any { return i }, arrow.FixedWidthTypes.Date32},
		{"timestamptz", 1184, func(i int) any { return i * 1000000007 }, zoned},
	} {
		values := make([]any, rows)
		for i := range values {
			values[i] = bc.col(i)
		}
		rec := record(arr(bc.typ, values...))
		for _, format := range []int16{encode.Text, encode.Binary} {
			b.Run(fmt.Sprintf("%s/%d", bc.name, format), func(b *testing.B) {
				e, err := encode.New([]engines.Field{{OID: bc.oid, Typmod: -1}}, []int16{format}, nil, encode.Home)
				if err != nil {
					b.Fatal(err)
				}
				var dst []byte
				for b.Loop() {
					if dst, err = e.Append(dst[:0], rec, 0, rows); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/rows, "ns/row")
			})
		}
	}
}
