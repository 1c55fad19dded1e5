package clickhouse

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/keep"
	"github.com/sluicedb/sluice/internal/clickhousetest"
)

// keeperServer is an engine that takes handles in a database of its own.
func keeperServer(t testing.TB, statements ...string) *Engine {
	s := server(t, append([]string{"DROP DATABASE IF EXISTS keeper", "CREATE DATABASE keeper"}, statements...)...)
	s.Options["database"], s.Options["handles"] = "keeper", "true"
	return open(t, s)
}

// keeperOverHTTP is an engine on the same database over HTTP.
func keeperOverHTTP(t testing.TB) *Engine {
	s := clickhousetest.Start(t)
	return open(t, engines.Server{Name: "events", Options: map[string]string{"host": s.Host, "port": s.HTTP, "protocol": "http", "database": "keeper", "handles": "true"}, Mapping: map[string]string{"user": "analyst", "password": "secret"}})
}

// textRows is a stream of rows of texts in frames, of which "\N" is NULL, each so many times. It calls between after each batch.
type textRows struct {
	fields  []engines.Field
	rows    [][]string
	times   int
	between func()
}

func textsOf(columns int, times int, rows ...[]string) *textRows {
	return &textRows{fields: make([]engines.Field, columns), rows: rows, times: times}
}

func (r *textRows) Fields() []engines.Field { return r.fields }
func (r *textRows) Close() error            { return nil }

func (r *textRows) Next(context.Context) (engines.Batch, error) {
	if r.times == 0 {
		return nil, io.EOF
	}
	if r.times--; r.between != nil {
		r.between()
	}
	var f engines.Frames
	for _, row := range r.rows {
		var body []byte
		for _, v := range row {
			if v == `\N` {
				body = append(body, 0xff, 0xff, 0xff, 0xff)
				continue
			}
			body = append(binary.BigEndian.AppendUint32(body, uint32(len(v))), v...)
		}
		f.Data = binary.BigEndian.AppendUint32(append(f.Data, 'D'), uint32(len(body)+6))
		f.Data = append(binary.BigEndian.AppendUint16(f.Data, uint16(len(row))), body...)
		f.Rows++
	}
	return f, nil
}

// TestKeep makes tables, of which those that are committed stay, and reads back what was put in.
func TestKeep(t *testing.T) {
	for protocol, e := range map[string]*Engine{"native": keeperServer(t), "http": keeperOverHTTP(t)} {
		t.Run(protocol, func(t *testing.T) { keepIn(t, e) })
	}
}

func keepIn(t *testing.T, e *Engine) {
	ctx := t.Context()
	columns := []engines.Column{{Name: "a", Type: "bigint"}, {Name: "b `c", Type: "numeric(10,2)"}, {Name: "t", Type: "text"}, {Name: "d", Type: "date"}, {Name: "u", Type: "uuid"}, {Name: "f", Type: "real"}, {Name: "w", Type: "numeric(38,3)"}}
	names := []string{"a", "b `c", "t", "d", "u", "f", "w"}
	rows := [][]string{
		{"-9223372036854775808", "-99999999.99", "é 'x\\", "0044-03-15 BC", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "-Infinity", "-99999999999999999999999999999999999.999"},
		{`\N`, `\N`, `\N`, `\N`, `\N`, `\N`, `\N`}, {"7", "0.05", "", "infinity", "00000000-0000-0000-0000-000000000001", "1e-45", "0.001"},
	}
	begin := func() engines.Tx {
		tx, err := e.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	tx := begin()
	if err := tx.(engines.Maker).Make(ctx, "keep_1", columns); err != nil {
		t.Fatal(err)
	}
	target := engines.Target{Relation: "h", Options: map[string]string{"table_name": "keep_1"}}
	if n, err := tx.Insert(ctx, target, names, textsOf(len(names), 1, rows...)); n != 3 || err != nil {
		t.Fatalf("%d rows: %v", n, err)
	}
	if err := tx.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	got, err := e.texts(ctx, "SELECT concat(toString(a), '|', toString(`b \\`c`), '|', t, '|', d, '|', toString(u), '|', toString(f), '|', toString(w = toDecimal128(if(a > 0, '0.001', '-99999999999999999999999999999999999.999'), 3))) FROM keeper.keep_1 WHERE a IS NOT NULL ORDER BY a")
	if want := [][]string{{strings.Join(rows[0][:5], "|") + "|-inf|1"}, {strings.Join(rows[2][:5], "|") + "|1e-45|1"}}; err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%q: %v", got, err)
	}
	fillIn(t, e)
	tx = begin()
	if err := tx.(engines.Maker).Make(ctx, "keep_2", columns); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Insert(ctx, target, names, textsOf(len(names), 1, rows...)); code(err) != "0A000" {
		t.Errorf("a table of another transaction: %v", err)
	}
	for _, wrong := range []string{"NaN", "100000000.00", "0.001"} {
		target.Options["table_name"] = "keep_2"
		if _, err := tx.Insert(ctx, target, []string{"b `c"}, textsOf(1, 1, []string{wrong})); code(err) != "22P02" {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	if names, err := e.Kept(ctx, "keep_"); err != nil || !slices.Equal(names, []string{"keep_1"}) {
		t.Errorf("%v: %v", names, err)
	}
	if err := e.Forget(ctx, "keep_1"); err != nil {
		t.Error(err)
	}
	if names, err := e.Kept(ctx, "keep_"); err != nil || len(names) > 0 {
		t.Errorf("%v: %v", names, err)
	}
}

// TestKeepCancelled cancels in the midst of rows, and has the server refuse some.
func TestKeepCancelled(t *testing.T) {
	for protocol, e := range map[string]*Engine{"native": keeperServer(t), "http": keeperOverHTTP(t)} {
		ctx, cancel := context.WithCancel(t.Context())
		tx, err := e.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := tx.(engines.Maker).Make(ctx, "keep_1", []engines.Column{{Name: "a", Type: "text"}}); err != nil {
			t.Fatal(err)
		}
		target := engines.Target{Options: map[string]string{"table_name": "keep_1"}}
		times := map[string]int{"native": 1 << 20, "http": 16}[protocol] // over HTTP the server reads all rows before it says anything
		rows := textsOf(1, times, []string{strings.Repeat("x", 1<<20)})
		// The view has the server refuse rows after it has taken some.
		if err := e.change(ctx, "CREATE MATERIALIZED VIEW keeper.refusing ENGINE = Memory AS SELECT throwIf(startsWith(a, 'y')) AS x FROM keeper.keep_1", engines.Tag{}); err != nil {
			t.Fatal(err)
		}
		rows.between = func() {
			if rows.times == times-8 {
				rows.rows = [][]string{{strings.Repeat("y", 1<<20)}}
			}
		}
		if _, err := tx.Insert(ctx, target, []string{"a"}, rows); code(err) != "22000" || !strings.Contains(err.Error(), "throwIf") {
			t.Errorf("%s: %v", protocol, err)
		}
		if err := e.change(ctx, "DROP TABLE keeper.refusing", engines.Tag{}); err != nil {
			t.Error(err)
		}
		rows = textsOf(1, 1<<20, []string{strings.Repeat("x", 1<<20)})
		rows.between = func() {
			if rows.times == 1<<20-8 {
				cancel()
			}
		}
		if _, err := tx.Insert(ctx, target, []string{"a"}, rows); code(err) != "57014" {
			t.Errorf("%s: %v", protocol, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Errorf("%s: %v", protocol, err)
		}
		if names, err := e.Kept(t.Context(), "keep_"); err != nil || len(names) > 0 {
			t.Errorf("%s: %v: %v", protocol, names, err)
		}
	}
}

// TestKeepLost has a network go, while rows are written, that the server hears of first: an error that says so, and not that of the
// write, which was only woken.
func TestKeepLost(t *testing.T) {
	s := server(t, "DROP DATABASE IF EXISTS keeper", "CREATE DATABASE keeper")
	l := listen(t)
	var all sync.WaitGroup
	t.Cleanup(all.Wait)
	t.Cleanup(func() { _ = l.Close() })
	all.Go(func() {
		for client, err := l.Accept(); err == nil; client, err = l.Accept() {
			remote, err := net.Dial("tcp", net.JoinHostPort(s.Options["host"], s.Options["port"]))
			if err != nil {
				t.Error(err)
				return
			}
			all.Go(func() { _, _ = io.Copy(client, remote) })
			all.Go(func() {
				_, _ = io.CopyN(remote, client, 4<<20)
				time.Sleep(200 * time.Millisecond) // in which what is between here and there fills up, and a write waits
				_, _ = client.(*net.TCPConn).CloseWrite(), remote.Close()
				<-t.Context().Done() // nothing of what comes is read
				_ = client.Close()
			})
		}
	})
	far := elsewhere(s, l)
	far.Options["database"], far.Options["handles"] = "keeper", "true"
	tx, err := open(t, far).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.(engines.Maker).Make(t.Context(), "keep_1", []engines.Column{{Name: "a", Type: "text"}}); err != nil {
		t.Fatal(err)
	}
	target := engines.Target{Options: map[string]string{"table_name": "keep_1"}}
	if _, err := tx.Insert(t.Context(), target, []string{"a"}, textsOf(1, 1<<20, []string{strings.Repeat("x", 1<<20)})); code(err) != "08006" {
		t.Error(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}

// fillIn makes tables of what the server computes, of types that are the columns' and others, and rolls them back.
func fillIn(t *testing.T, e *Engine) {
	ctx := t.Context()
	tx, err := e.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	fill := func(typ, sql string, args ...*string) (rows int64, ok bool, err error) {
		return tx.(engines.Maker).Fill(ctx, "filled_"+strconv.Itoa(int(numbered.Add(1))), []engines.Column{{Name: "a", Type: typ}}, engines.Query{SQL: sql, Args: args})
	}
	for _, c := range []struct{ typ, sql, want string }{
		{"bigint", "SELECT count() AS `x y` FROM numbers(7)", "7"}, {"bigint", "SELECT sum(toDecimal128(toNullable(toInt32(number)), 0)) AS s FROM numbers(7)", "21"},
		{"smallint", "SELECT toUInt8(200) AS x", "200"}, {"integer", "SELECT CAST(NULL AS Nullable(Int32)) AS x", "NULL"}, {"numeric(20,0)", "SELECT toUInt64(18446744073709551615) AS x", "18446744073709551615"},
		{"text", "SELECT 'é' AS x", "é"}, {"date", "SELECT toDate(0) AS x", "1970-01-01"}, {"date", "SELECT toNullable(toDate('2105-12-31')) AS x", "2105-12-31"},
		{"timestamp with time zone", "SELECT toDateTime(0) AS x", "1970-01-01 00:00:00+00"}, {"timestamp with time zone", "SELECT toDateTime(3601, 'Asia/Tokyo') AS x", "1970-01-01 01:00:01+00"},
		{"numeric(9,2)", "SELECT toDecimal32('-1.25', 2) AS x", "-1.25"}, {"double precision", "SELECT 0.5 AS x", "0.5"},
	} {
		n, ok, err := fill(c.typ, c.sql)
		if n != 1 || !ok || err != nil {
			t.Errorf("%s: %d rows, %t: %v", c.sql, n, ok, err)
			continue
		}
		got, err := e.texts(ctx, "SELECT ifNull(toString(a), 'NULL') FROM keeper.filled_"+strconv.Itoa(int(numbered.Load())))
		if err != nil || got[0][0] != c.want {
			t.Errorf("%s: %v: %v", c.sql, got, err)
		}
	}
	if n, ok, err := fill("text", "SELECT $1 AS x FROM numbers(5)", new("it's")); n != 5 || !ok || err != nil {
		t.Errorf("%d rows, %t: %v", n, ok, err)
	}
	for sql, typ := range map[string]string{
		"SELECT toUInt64(9223372036854775808) AS x": "bigint", "SELECT toInt32(40000) AS x": "smallint", "SELECT toDecimal128('9223372036854775808', 0) AS x": "bigint",
	} {
		if n, ok, err := fill(typ, sql); ok || code(err) != "22003" {
			t.Errorf("%s: %d rows, %t: %v", sql, n, ok, err)
		}
	}
	for sql, typ := range map[string]string{
		"SELECT toDecimal32(1, 1) AS x": "numeric(9,2)", "SELECT toDecimal32(1, 0) AS a": "numeric", "SELECT 'a' AS x": "date", "SELECT toFixedString('a', 2) AS x": "text", "SELECT [1] AS x": "integer[]", "SELECT toFloat32(1) AS x": "double precision", "SELECT 1 AS x": "boolean",
		"SELECT 'x' AS x": "character(3)", "SELECT toDateTime(1) AS x": "timestamp without time zone",
	} {
		if n, ok, err := fill(typ, sql); ok || n != 0 || err != nil {
			t.Errorf("%s: %d rows, %t: %v", sql, n, ok, err)
		}
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
	if names, err := e.Kept(ctx, "filled_"); err != nil || len(names) > 0 {
		t.Errorf("%v: %v", names, err)
	}
}

// numbered counts tables.
var numbered atomic.Int32

// TestWebAbort gives an INSERT up whose end the server has said meanwhile: there is nothing to end by name then. Run with -race, it looks
// at who knows of that.
func TestWebAbort(t *testing.T) {
	f := &webServer{version: "18.16.1"}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("query") {
			c, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") // without the rows
			return
		}
		f.ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	host, port, _ := net.SplitHostPort(h.Listener.Addr().String())
	e := open(t, engines.Server{Name: "events", Options: map[string]string{"host": host, "port": port, "protocol": "http", "handles": "true"}, Mapping: map[string]string{"user": "ann"}})
	sinks, err := e.Insert(t.Context(), "t", []keep.Column{{Name: "a", Remote: "Nullable(String)"}})
	if err != nil {
		t.Fatal(err)
	}
	s := sinks.(*sink)
	for deadline := time.Now().Add(10 * time.Second); len(s.said) == 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the end was not read")
		}
	}
	s.Abort()
	f.mu.Lock()
	defer f.mu.Unlock()
	if kills := slices.IndexFunc(f.said, func(sql string) bool { return strings.HasPrefix(sql, "KILL") }); kills >= 0 || e.Idle() != 0 {
		t.Errorf("%q, %d connections", f.said, e.Idle())
	}
}
