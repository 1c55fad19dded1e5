package duckdb

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
)

func TestTypes(t *testing.T) {
	e := database(t, nil)
	for _, tc := range []struct {
		sql    string
		oid    uint32
		typmod int32
		want   string
	}{
		{"true", 16, -1, "true"},
		{"NULL::BOOLEAN", 16, -1, "NULL"},
		{"(-128)::TINYINT", 21, -1, "-128"},
		{"255::UTINYINT", 21, -1, "255"},
		{"(-32768)::SMALLINT", 21, -1, "-32768"},
		{"65535::USMALLINT", 23, -1, "65535"},
		{"(-2147483648)::INTEGER", 23, -1, "-2147483648"},
		{"4294967295::UINTEGER", 20, -1, "4294967295"},
		{"9223372036854775807", 20, -1, "9223372036854775807"},
		{"18446744073709551615::UBIGINT", 1700, -1, "18446744073709551615"},
		{"(-170141183460469231731687303715884105727)::HUGEINT", 1700, -1, "-170141183460469231731687303715884105727"},
		{"340282366920938463463374607431768211455::UHUGEINT", 1700, -1, "340282366920938463463374607431768211455"},
		{"1.5::FLOAT", 700, -1, "1.5"},
		{"'-Infinity'::DOUBLE", 701, -1, "-Inf"},
		{"1.25::DECIMAL(4,2)", 1700, 4<<16 | 2 + 4, "1.25"},
		{"-1.25::DECIMAL(9,2)", 1700, 9<<16 | 2 + 4, "-1.25"},
		{"-1.25::DECIMAL(18,2)", 1700, 18<<16 | 2 + 4, "-1.25"},
		{"-99999999999999999999999999999999999.999::DECIMAL(38,3)", 1700, 38<<16 | 3 + 4, "-99999999999999999999999999999999999.999"},
		{"'short'", 25, -1, "short"},
		{"'日本 a string that is not inlined'", 25, -1, "日本 a string that is not inlined"},
		{"'\\xDE\\xAD'::BLOB", 17, -1, `\xdead`},
		{"DATE '2024-02-29'", 1082, -1, "2024-02-29"},
		{"TIME '23:59:59.123456'", 1083, -1, "23:59:59.123456"},
		{"TIMETZ '10:00:00.5+05:30'", 1266, -1, "10:00:00.5+05:30"},
		{"TIMETZ '10:00:00-08'", 1266, -1, "10:00:00-08"},
		{"TIMESTAMP '2024-01-02 03:04:05.678901'", 1114, -1, "2024-01-02 03:04:05.678901"},
		{"TIMESTAMP_S '2024-01-02 03:04:05'", 1114, -1, "2024-01-02 03:04:05"},
		{"TIMESTAMP_MS '2024-01-02 03:04:05.678'", 1114, -1, "2024-01-02 03:04:05.678"},
		{"TIMESTAMP_NS '2024-01-02 03:04:05.678901234'", 1114, -1, "2024-01-02 03:04:05.678901234"},
		{"TIMESTAMPTZ '2024-01-02 03:04:05+02'", 1184, -1, "2024-01-02 01:04:05+00"},
		{"INTERVAL '1 year 2 months 3 days 04:05:06.789'", 1186, -1, "14 months 3 days 14706789000 microseconds"},
		{"'00112233-4455-6677-8899-aabbccddeeff'::UUID", 2950, -1, "00112233-4455-6677-8899-aabbccddeeff"},
		{"'b'::ENUM('a','b')", 25, -1, "b"},
		{"'0101100101'::BIT", 1562, -1, "0101100101"},
		{`'{"a": 1}'::JSON`, 114, -1, `{"a": 1}`},
		{"[1, NULL, 3]", 1007, -1, `{"1",NULL,"3"}`},
		{"[]::VARCHAR[]", 1009, -1, "{}"},
		{"['a', NULL, 'a string that is not inlined']", 1009, -1, `{"a",NULL,"a string that is not inlined"}`},
		{"[1.5, 2.25]::DECIMAL(5,2)[]", 1231, 5<<16 | 2 + 4, `{"1.50","2.25"}`},
		{"[[1], NULL, [2, 3]]", 1007, -1, `{"{\"1\"}",NULL,"{\"2\",\"3\"}"}`},
		{"array_value(1, 2, 3)", 1007, -1, `{"1","2","3"}`},
	} {
		fields, rows := read(t, e, "SELECT "+tc.sql+" AS x")
		if fields[0] != (engines.Field{Name: "x", OID: tc.oid, Typmod: tc.typmod}) {
			t.Errorf("%s: field is %+v", tc.sql, fields[0])
		}
		if len(rows) != 1 || rows[0][0] != tc.want {
			t.Errorf("%s: got %q, want %q", tc.sql, rows, tc.want)
		}
	}
}

func TestUnmappedTypes(t *testing.T) {
	e := database(t, nil)
	for _, tc := range []struct{ sql, name string }{
		{"{'a': 1}", "STRUCT"}, {"map {'a': 1}", "MAP"}, {"'123'::BIGNUM", "BIGNUM"}, {"[{'a': 1}]", "STRUCT[]"},
	} {
		_, err := e.Open(t.Context(), engines.Query{SQL: "SELECT 1, " + tc.sql + " AS odd"})
		if code(err) != "HV004" || !strings.Contains(err.Error(), tc.name) || !strings.Contains(err.Error(), `"odd"`) {
			t.Errorf("%s: %v", tc.sql, err)
		}
	}
}

// Infinity must not come out as a far year, and -infinity must be Postgres' own value.
func TestInfinity(t *testing.T) {
	e := database(t, nil)
	_, rows := read(t, e, `SELECT epoch_ms(0) AS t, NULL::DATE AS d WHERE false`)
	if len(rows) != 0 {
		t.Fatal(rows)
	}
	for _, typ := range []string{"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ"} {
		s, err := e.Open(t.Context(), engines.Query{SQL: fmt.Sprintf(
			"SELECT x::%[1]s FROM (VALUES ('infinity'), ('-infinity'), ('2000-01-01'), (NULL)) v(x)", typ)})
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		data := b.(engines.Columns).Record.Column(0).Data()
		size := 8
		if typ == "DATE" {
			size = 4
		}
		got := fmt.Sprintf("%x", data.Buffers()[1].Bytes()[:2*size])
		want := strings.Repeat("ff", size-1) + "7f" + strings.Repeat("00", size-1) + "80"
		if got != want {
			t.Errorf("%s: got %s, want %s", typ, got, want)
		}
		s.Close()
	}
}

// An interval that Arrow's nanoseconds cannot hold is an error, unless nobody sees it.
func TestIntervalOutOfRange(t *testing.T) {
	e := database(t, nil)
	s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT INTERVAL '3000000 hours' AS far"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := drain(s); code(err) != "22008" || !strings.Contains(err.Error(), "far") {
		t.Error(err)
	}
}

// Lists that a filter left gaps between, strings in them, and NULLs around them.
func TestListsWithGaps(t *testing.T) {
	e := database(t, nil, "CREATE TABLE l AS SELECT i, CASE WHEN i % 5 <> 0 THEN [i, NULL, -i] END AS n, "+
		"[repeat('x', (i % 20)::INT), 'y'] AS s FROM range(5000) t(i)")
	_, rows := read(t, e, "SELECT i, n, s FROM l WHERE i % 3 = 0 ORDER BY i")
	if len(rows) != 1667 {
		t.Fatal(len(rows))
	}
	for k, r := range rows {
		i := 3 * k
		want := fmt.Sprintf(`{"%d",NULL,"%d"}`, i, -i)
		if i%5 == 0 {
			want = "NULL"
		}
		s := fmt.Sprintf("{%q,%q}", strings.Repeat("x", i%20), "y")
		if r[0] != fmt.Sprint(i) || r[1] != want || r[2] != s {
			t.Fatalf("row %d: %q, want %s %s", i, r, want, s)
		}
	}
}

// A batch is bounded in bytes; one wider row travels alone.
func TestBatchesAreBounded(t *testing.T) {
	e := database(t, nil)
	for _, tc := range []struct {
		sql  string
		rows int
	}{
		{"SELECT i, repeat('x', 4000) AS s FROM range(5000) t(i)", 5000},
		{"SELECT i, repeat('x', 3000000) AS s FROM range(20) t(i)", 20},
		{"SELECT i, [repeat('x', 4000), 'y'] AS s FROM range(5000) t(i)", 5000},
		{"SELECT i, CASE WHEN i % 7 = 0 THEN repeat('x', 100000) END AS s FROM range(3000) t(i)", 3000},
	} {
		s, err := e.Open(t.Context(), engines.Query{SQL: tc.sql})
		if err != nil {
			t.Fatal(err)
		}
		next := 0
		for {
			b, err := s.Next(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			r := b.(engines.Columns).Record
			size := 0
			for i := range int(r.NumRows()) {
				if got := r.Column(0).ValueStr(i); got != fmt.Sprint(next+i) {
					t.Fatalf("%s: row %d is %s", tc.sql, next+i, got)
				}
				size += 12 + len(r.Column(1).ValueStr(i))
			}
			if r.NumRows() > 1 && size > engines.BatchBytes+engines.BatchBytes/8 {
				t.Errorf("%s: a batch of %d rows has %d bytes", tc.sql, r.NumRows(), size)
			}
			next += int(r.NumRows())
		}
		if next != tc.rows {
			t.Errorf("%s: %d rows", tc.sql, next)
		}
		s.Close()
	}
}

func TestArgs(t *testing.T) {
	e := database(t, nil)
	_, rows := read(t, e, "SELECT $1::INTEGER + 1, $2::DATE, $3::VARCHAR, $1 = '41'", text("41"), text("2024-01-01"), nil)
	if got := strings.Join(rows[0], "|"); got != "42|2024-01-01|NULL|true" {
		t.Error(got)
	}
	_, err := e.Open(t.Context(), engines.Query{SQL: "SELECT 1", Args: []*string{text("1")}})
	if code(err) != "08P01" {
		t.Error(err)
	}
}

// A stream never changes anything, whatever text it is given.
func TestStreamsOnlyRead(t *testing.T) {
	e := database(t, map[string]string{"read_only": "false"}, "CREATE TABLE t(a INTEGER)")
	for _, sql := range []string{"INSERT INTO t VALUES (1)", "DROP TABLE t", "COPY t TO 'x.csv'", "SET threads = 1", "ATTACH ':memory:' AS m"} {
		if _, err := e.Open(t.Context(), engines.Query{SQL: sql}); code(err) != "25006" && code(err) != "42501" && code(err) != "HV000" {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if _, rows := read(t, e, "SELECT count(*) FROM t"); rows[0][0] != "0" {
		t.Error(rows)
	}
}

const endless = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"

func TestCancelWhileExecuting(t *testing.T) {
	e := database(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err := e.Open(ctx, engines.Query{SQL: endless})
	if code(err) != "57014" {
		t.Fatal(err)
	}
	if err := e.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestCancelWhileFetching(t *testing.T) {
	e := database(t, nil)
	s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT i, i % 7 FROM range(100000000000) t(i)"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	for range 3 {
		if _, err := s.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if _, err = s.Next(ctx); code(err) != "57014" {
		t.Fatal(err)
	}
	if _, err = s.Next(context.Background()); code(err) != "57014" {
		t.Fatal("a stream goes on after an error:", err)
	}
}

// Close from another goroutine ends a Next that would take forever.
func TestCloseInterruptsNext(t *testing.T) {
	e := database(t, nil)
	// More than DuckDB's streaming buffer comes at once, and then nothing more.
	s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT i FROM range(1000000000000) t(i) WHERE i < 400000 OR hash(i) = 42"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	started := make(chan struct{})
	wg.Go(func() {
		rows := 0
		for {
			b, err := s.Next(context.Background())
			if err != nil {
				if code(err) != "57014" && code(err) != "24000" {
					t.Error(err)
				}
				return
			}
			if rows += b.NumRows(); rows == 2048 {
				close(started)
			}
		}
	})
	<-started
	wg.Go(func() { s.Close() })
	s.Close()
	wg.Wait()
	if _, err := s.Next(context.Background()); code(err) != "24000" {
		t.Error(err)
	}
}

// An error after rows is an error, not an end.
func TestErrorAfterRows(t *testing.T) {
	e := database(t, nil)
	s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT CASE WHEN i = 500000 THEN ('x' || i)::INTEGER ELSE i END FROM range(1000000) t(i)"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, err := drain(s)
	if code(err) != "22P02" || len(rows) == 0 || len(rows) > 500000 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestErrorOfThreads has one of several threads meet a value that is wrong, which interrupts the others: what is told is the
// value's error each time.
func TestErrorOfThreads(t *testing.T) {
	e := database(t, nil, "CREATE VIEW breaks AS SELECT CASE WHEN i < 300000 THEN i ELSE ('x' || i)::BIGINT END AS i FROM range(1000000) r(i)")
	for range 150 {
		s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT i FROM breaks"})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = s.Next(t.Context())
		}
		if code(err) != "22P02" {
			t.Fatalf("got %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Sessions at once share the idle connections, each of which is one reader's at a time.
func TestConnectionsAreShared(t *testing.T) {
	e := database(t, nil, "CREATE TABLE people AS SELECT i::INTEGER AS id FROM range(1, 6) r(i)")
	var wg sync.WaitGroup
	for reader := range keepIdle {
		wg.Go(func() {
			for i := range 2000 {
				id := strconv.Itoa((reader+i)%5 + 1)
				s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT id FROM people WHERE id = $1::INTEGER", Args: []*string{&id}})
				if err != nil {
					t.Error(err)
					return
				}
				rows, err := drain(s)
				if err != nil || len(rows) != 1 || rows[0][0] != id {
					t.Errorf("%s: %v, %v", id, rows, err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
