package duckdb

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// given is a stream of rows as home sends them: DataRow frames in text format, some rows a batch.
type given struct {
	fields []engines.Field
	rows   [][]*string
	err    error // after the rows
}

func (g *given) Fields() []engines.Field { return g.fields }
func (g *given) Close() error            { return nil }

func (g *given) Next(context.Context) (engines.Batch, error) {
	if len(g.rows) == 0 {
		if g.err != nil {
			return nil, g.err
		}
		return nil, io.EOF
	}
	n := min(len(g.rows), 1000)
	var f engines.Frames
	for _, row := range g.rows[:n] {
		at := len(f.Data)
		f.Data = append(f.Data, 'D', 0, 0, 0, 0)
		f.Data = binary.BigEndian.AppendUint16(f.Data, uint16(len(row)))
		for _, v := range row {
			if v == nil {
				f.Data = append(f.Data, 0xff, 0xff, 0xff, 0xff)
				continue
			}
			f.Data = binary.BigEndian.AppendUint32(f.Data, uint32(len(*v)))
			f.Data = append(f.Data, *v...)
		}
		binary.BigEndian.PutUint32(f.Data[at+1:], uint32(len(f.Data)-at-1))
		f.Rows++
	}
	g.rows = g.rows[n:]
	return f, nil
}

// rowsOf makes a stream; the word NULL stands for NULL.
func rowsOf(oids []uint32, rows ...[]string) *given {
	g := &given{}
	for _, oid := range oids {
		g.fields = append(g.fields, engines.Field{Name: "f", OID: oid, Typmod: -1})
	}
	for _, row := range rows {
		out := make([]*string, len(row))
		for i := range row {
			if row[i] != "NULL" {
				out[i] = &row[i]
			}
		}
		g.rows = append(g.rows, out)
	}
	return g
}

func begin(t *testing.T, e engines.Engine) engines.Tx {
	t.Helper()
	tx, err := e.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	})
	return tx
}

func writable(t *testing.T, statements ...string) engines.Engine {
	t.Helper()
	return database(t, map[string]string{"read_only": "false"}, statements...)
}

// Postgres' text of each type goes in, and comes out as the same value.
func TestInsertTypes(t *testing.T) {
	const (
		boolOID, byteaOID, int8OID, textOID, jsonOID, floatOID = 16, 17, 20, 25, 114, 701
		dateOID, timeOID, tsOID, tzOID, ivOID, numOID, uuidOID = 1082, 1083, 1114, 1184, 1186, 1700, 2950
	)
	cases := []struct {
		typ  string
		oid  uint32
		in   string
		want string // as DuckDB prints it
	}{
		{"BOOLEAN", boolOID, "t", "true"},
		{"BOOLEAN", boolOID, "f", "false"},
		{"BOOLEAN", boolOID, "NULL", "NULL"},
		{"TINYINT", 21, "-128", "-128"},
		{"BIGINT", int8OID, "-9223372036854775808", "-9223372036854775808"},
		{"UBIGINT", numOID, "18446744073709551615", "18446744073709551615"},
		{"HUGEINT", numOID, "170141183460469231731687303715884105727", "170141183460469231731687303715884105727"},
		{"DECIMAL(10,2)", numOID, "-1.50", "-1.50"},
		{"DOUBLE", floatOID, "1e-05", "1e-05"},
		{"DOUBLE", floatOID, "-Infinity", "-inf"},
		{"DOUBLE", floatOID, "NaN", "nan"},
		{"VARCHAR", textOID, "", ""},
		{"VARCHAR", textOID, `a"b\c {x}, é`, `a"b\c {x}, é`},
		{"BLOB", byteaOID, `\xdead00`, `\xDE\xAD\x00`},
		{"BLOB", byteaOID, `\x`, ``},
		{"DATE", dateOID, "2024-02-29", "2024-02-29"},
		{"DATE", dateOID, "0044-03-15 BC", "0044-03-15 (BC)"},
		{"DATE", dateOID, "infinity", "infinity"},
		{"DATE", dateOID, "-infinity", "-infinity"},
		{"DATE", dateOID, "10000-01-01", "10000-01-01"},
		{"TIME", timeOID, "24:00:00", "24:00:00"},
		{"TIMETZ", 1266, "10:00:00.5+05:30", "10:00:00.5+05:30"},
		{"TIMESTAMP", tsOID, "2024-01-02 03:04:05.678901", "2024-01-02 03:04:05.678901"},
		{"TIMESTAMP", tsOID, "0044-03-15 10:00:00 BC", "0044-03-15 (BC) 10:00:00"},
		{"TIMESTAMP_S", tsOID, "2024-01-02 03:04:05", "2024-01-02 03:04:05"},
		{"TIMESTAMP_NS", tsOID, "2024-01-02 03:04:05.678901", "2024-01-02 03:04:05.678901"},
		{"TIMESTAMPTZ", tzOID, "2024-01-02 03:04:05+00", "2024-01-02 03:04:05+00"},
		{"TIMESTAMPTZ", tzOID, "0044-03-15 10:00:00+00 BC", "0044-03-15 (BC) 10:00:00+00"},
		{"TIMESTAMPTZ", tzOID, "-infinity", "-infinity"},
		{"INTERVAL", ivOID, "1 year 2 mons 3 days 04:05:06.789", "1 year 2 months 3 days 04:05:06.789"},
		{"INTERVAL", ivOID, "1 mon -1 days +02:00:00", "1 month -1 day 02:00:00"},
		{"INTERVAL", ivOID, "-8 years -2 mons", "-8 years -2 months"},
		{"INTERVAL", ivOID, "-00:00:01.5", "-00:00:01.5"},
		{"UUID", uuidOID, "00112233-4455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-aabbccddeeff"},
		{"BIT", 1562, "0101100101", "0101100101"},
		{"JSON", jsonOID, `{"a":1, "b":[null]}`, `{"a":1, "b":[null]}`},
		{"ENUM('sad','ok')", textOID, "ok", "ok"},
		{"INTEGER[]", 1007, "{1,NULL,-3}", "[1, NULL, -3]"},
		{"INTEGER[]", 1007, "{}", "[]"},
		{"VARCHAR[]", 1009, `{a,NULL,"NULL","a b","a,b","a\"b\\c",""}`, `[a, NULL, 'NULL', a b, 'a,b', 'a"b\\c', '']`},
		{"BLOB[]", 1001, `{"\\x00ff",NULL}`, `[\x00\xFF, NULL]`},
		{"DATE[]", 1182, `{"0044-03-15 BC",2024-01-01}`, "['0044-03-15 (BC)', 2024-01-01]"},
		{"INTEGER[2]", 1007, "{1,2}", "[1, 2]"},
		{"STRUCT(a INTEGER, b VARCHAR[])", jsonOID, `{"a":1,"b":["x",null]}`, "{'a': 1, 'b': [x, NULL]}"},
		{"MAP(VARCHAR, INTEGER)", jsonOID, `{"a":1}`, "{a=1}"},
		{"INTEGER[][]", jsonOID, `[[1],[2,3]]`, "[[1], [2, 3]]"},
	}
	definitions := make([]string, len(cases))
	for i, tc := range cases {
		definitions[i] = fmt.Sprintf("CREATE TABLE t%d(a %s)", i, tc.typ)
	}
	e := writable(t, definitions...)
	for i, tc := range cases {
		name := fmt.Sprintf("t%d", i)
		tx := begin(t, e)
		n, err := tx.Insert(t.Context(), engines.Target{Relation: name}, []string{"a"}, rowsOf([]uint32{tc.oid}, []string{tc.in}))
		if err != nil || n != 1 {
			t.Errorf("%s %q: %d, %v", tc.typ, tc.in, n, err)
			continue
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Error(err)
		}
		if _, rows := read(t, e, "SELECT a::VARCHAR FROM "+name); rows[0][0] != tc.want {
			t.Errorf("%s %q: got %q, want %q", tc.typ, tc.in, rows[0][0], tc.want)
		}
	}
}

func TestInsertErrors(t *testing.T) {
	e := writable(t, "CREATE TABLE t(a TINYINT NOT NULL CHECK (a <> 5), b VARCHAR UNIQUE, c INTEGER[], d DECIMAL(4,2))",
		"INSERT INTO t VALUES (1, 'one', NULL, NULL)")
	target := engines.Target{Relation: "x", Options: map[string]string{"schema_name": "main", "table_name": "t"}}
	for _, tc := range []struct {
		column string
		oid    uint32
		in     string
		want   string
	}{
		{"a", 21, "300", "22003"}, {"a", 21, "NULL", "23502"}, {"a", 21, "5", "23514"}, {"a", 25, "x", "22P02"},
		{"nope", 25, "x", "42703"}, {"b", 25, "a\xff", "22021"}, {"c", 1007, "{{1},{2}}", "2202E"}, {"c", 1007, "{1", "22P02"},
		{"d", 1700, "100.00", "22003"}, {"d", 1700, "NaN", "22P02"},
	} {
		tx := begin(t, e)
		_, err := tx.Insert(t.Context(), target, []string{tc.column}, rowsOf([]uint32{tc.oid}, []string{tc.in}))
		if code(err) != tc.want {
			t.Errorf("%s = %q: %v, want %s", tc.column, tc.in, err, tc.want)
		}
	}
	tx := begin(t, e)
	if _, err := tx.Insert(t.Context(), target, []string{"a", "b"}, rowsOf([]uint32{21, 25}, []string{"2", "one"})); code(err) != "23505" {
		t.Error(err)
	}
	tx = begin(t, e)
	if _, err := tx.Insert(t.Context(), engines.Target{Relation: "gone"}, []string{"a"}, rowsOf([]uint32{21})); code(err) != "42P01" {
		t.Error(err)
	}
	// A source that fails half way takes its own error along and leaves nothing.
	tx = begin(t, e)
	src := rowsOf([]uint32{21}, []string{"7"})
	src.err = pgerr.New("22012", "division by zero")
	if _, err := tx.Insert(t.Context(), target, []string{"a"}, src); code(err) != "22012" {
		t.Error(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	if _, rows := read(t, e, "SELECT count(*) FROM t"); rows[0][0] != "1" {
		t.Error(rows)
	}
}

func TestInsertManyRows(t *testing.T) {
	e := writable(t, "CREATE TABLE t(a BIGINT, b VARCHAR)")
	src := rowsOf([]uint32{20, 25})
	long := strings.Repeat("long ", 100)
	for i := range 10001 {
		a, b := text(strings.Repeat("1", 1+i%9)), &long
		if i%3 == 0 {
			b = nil
		}
		src.rows = append(src.rows, []*string{a, b})
	}
	tx := begin(t, e)
	n, err := tx.Insert(t.Context(), engines.Target{Relation: "t"}, []string{"a", "b"}, src)
	if err != nil || n != 10001 {
		t.Fatal(n, err)
	}
	if _, rows := read(t, e, "SELECT count(*) FROM t"); rows[0][0] != "0" {
		t.Error("an open transaction is visible:", rows)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error("rollback after commit:", err)
	}
	_, rows := read(t, e, "SELECT count(*), count(b), sum(length(b)), max(a) FROM t")
	if got := strings.Join(rows[0], "|"); got != "10001|6667|3333500|111111111" {
		t.Error(got)
	}
	if _, err := tx.Insert(t.Context(), engines.Target{Relation: "t"}, []string{"a", "b"}, rowsOf([]uint32{20, 25})); code(err) != "25000" {
		t.Error(err)
	}
}

// Columns of one engine's stream go into another's table.
func TestInsertColumns(t *testing.T) {
	const types = "true AS a, -5::SMALLINT AS b, 1.50::DECIMAL(10,2) AS c, 'x' AS d, '\\xDE\\xAD'::BLOB AS e, DATE '0044-03-15 (BC)' AS f, " +
		"TIMESTAMP '2024-01-02 03:04:05.6' AS g, TIMESTAMPTZ 'infinity' AS h, INTERVAL '14 months -3 days 04:05:06' AS i, " +
		"'00112233-4455-6677-8899-aabbccddeeff'::UUID AS j, [1, NULL] AS k, ['a\"b', NULL] AS l, 1e300::DOUBLE AS m, TIME '10:00:00.5' AS n, " +
		"18446744073709551615::UBIGINT AS o, NULL::INTEGER AS p"
	from := database(t, nil)
	e := writable(t, "CREATE TABLE t AS SELECT "+types+" LIMIT 0")
	s, err := from.Open(t.Context(), engines.Query{SQL: "SELECT " + types + " FROM range(3000)"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tx := begin(t, e)
	columns := strings.Split("abcdefghijklmnop", "")
	if n, err := tx.Insert(t.Context(), engines.Target{Relation: "t"}, columns, s); err != nil || n != 3000 {
		t.Fatal(n, err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, want := read(t, from, "SELECT (x)::VARCHAR FROM (SELECT "+types+") x")
	_, got := read(t, e, "SELECT (x)::VARCHAR, count(*) FROM t x GROUP BY 1")
	if len(got) != 1 || got[0][0] != want[0][0] || got[0][1] != "3000" {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUpdateDeleteTruncate(t *testing.T) {
	e := writable(t, "CREATE SCHEMA s", `CREATE TABLE s."T" AS SELECT i AS "Id", 'v' || i AS v FROM range(10) t(i)`)
	target := engines.Target{Relation: "ft", Options: map[string]string{"schema_name": "s", "table_name": "T"}}
	_, ids := read(t, e, `SELECT rowid FROM s."T" WHERE "Id" IN (2, 3, 5) ORDER BY "Id"`)
	tx := begin(t, e)
	n, err := tx.Update(t.Context(), target, []string{"v", "Id"}, rowsOf([]uint32{20, 25, 20}, []string{ids[0][0], "two", "22"}, []string{ids[1][0], "NULL", "33"}))
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	n, err = tx.Delete(t.Context(), target, rowsOf([]uint32{20}, []string{ids[2][0]}))
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, rows := read(t, e, `SELECT string_agg("Id" || '=' || coalesce(v, '-'), ' ' ORDER BY "Id") FROM s."T"`)
	if rows[0][0] != "0=v0 1=v1 4=v4 6=v6 7=v7 8=v8 9=v9 22=two 33=-" {
		t.Error(rows)
	}
	tx = begin(t, e)
	if err := tx.Truncate(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, rows := read(t, e, `SELECT count(*) FROM s."T"`); rows[0][0] != "9" {
		t.Error(rows)
	}
	tx = begin(t, e)
	if err := tx.Truncate(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, rows := read(t, e, `SELECT count(*) FROM s."T"`); rows[0][0] != "0" {
		t.Error(rows)
	}
}

func TestBeginOnReadOnlyServers(t *testing.T) {
	for _, e := range []engines.Engine{database(t, nil), server(t, map[string]string{"directory": t.TempDir()})} {
		if _, err := e.Begin(t.Context()); code(err) != "0A000" {
			t.Error(err)
		}
	}
}

// Two writers of one row: the second is told so, as Postgres tells a serialization failure.
func TestWriteConflict(t *testing.T) {
	e := writable(t, "CREATE TABLE t AS SELECT 1 AS a")
	target := engines.Target{Relation: "t"}
	row := func() *given { return rowsOf([]uint32{20, 23}, []string{"0", "2"}) }
	first, second := begin(t, e), begin(t, e)
	if _, err := first.Update(t.Context(), target, []string{"a"}, row()); err != nil {
		t.Fatal(err)
	}
	_, err := second.Update(t.Context(), target, []string{"a"}, row())
	if code(err) != "40001" {
		t.Error(err)
	}
}

func TestCancelledInsert(t *testing.T) {
	e := writable(t, "CREATE TABLE t(a BIGINT)")
	tx := begin(t, e)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := tx.Insert(ctx, engines.Target{Relation: "t"}, []string{"a"}, rowsOf([]uint32{20}, []string{"1"}))
	if code(err) != "57014" {
		t.Error(err)
	}
}

func FuzzListJSON(f *testing.F) {
	for _, s := range []string{"{}", "{1,NULL}", `{"a\"b",c}`, "[0:1]={1,2}", "{", `{"`, `{a\`, "{,}", "{{1}}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := appendListJSON(nil, in)
		if err != nil && out != nil {
			t.Error("both a value and an error")
		}
	})
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("D\x00\x00\x00\x0b\x00\x01\x00\x00\x00\x01x"))
	f.Add([]byte("D\xff\xff\xff\xff\x00\x01\x7f\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		size := 0
		err := eachField(data, 1, func(_ int, v []byte) error { size += len(v); return nil }, func() error { return nil })
		if err != nil && code(err) != "08P01" || size > len(data) {
			t.Error(size, err)
		}
	})
}
