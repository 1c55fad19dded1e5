package clickhouse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
)

// webServer is an HTTP interface of a version of which tests say what it answers to statements. It keeps the requests.
type webServer struct {
	version string
	closes  bool // each connection behind an answer
	answer  func(w http.ResponseWriter, sql string)

	mu       sync.Mutex
	requests []*http.Request
	said     []string
}

func (f *webServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.requests, f.said = append(f.requests, r), append(f.said, string(body))
	closes := f.closes
	f.mu.Unlock()
	if closes {
		w.Header().Set("Connection", "close")
	}
	if strings.HasSuffix(string(body), "SELECT version()") {
		_, _ = w.Write(nativeBlock(1, nativeColumn("v", "String", appendText(nil, f.version))))
		return
	}
	f.answer(w, string(body))
}

// asked are the parameters of the last request, and its headers.
func (f *webServer) asked() (url.Values, http.Header) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.requests[len(f.requests)-1]
	return last.URL.Query(), last.Header
}

// against opens an engine on such a server.
func (f *webServer) against(t *testing.T, options ...string) *Engine {
	t.Helper()
	h := httptest.NewServer(f)
	t.Cleanup(h.Close)
	host, port, _ := net.SplitHostPort(h.Listener.Addr().String())
	s := engines.Server{Name: "events", Options: map[string]string{"host": host, "port": port, "protocol": "http"}, Mapping: map[string]string{"user": "ann", "password": "se&cr=t"}}
	for i := 0; i < len(options); i += 2 {
		s.Options[options[i]] = options[i+1]
	}
	return open(t, s)
}

func nativeColumn(name, typ string, data []byte) []byte {
	return append(appendTexts(nil, name, typ), data...)
}

func nativeBlock(rows uint64, columns ...[]byte) []byte {
	return append(appendSizes(nil, uint64(len(columns)), rows), bytes.Join(columns, nil)...)
}

var oneRow = nativeBlock(1, nativeColumn("x", "UInt8", []byte{7}))

// cut breaks an answer off.
func cut() { panic(http.ErrAbortHandler) }

func flushed(w http.ResponseWriter, parts ...string) {
	for _, p := range parts {
		_, _ = io.WriteString(w, p)
		w.(http.Flusher).Flush()
	}
}

// TestWebAnswers reads answers that end well, and others: whatever does not is an error behind the rows that came before it.
func TestWebAnswers(t *testing.T) {
	row := string(oneRow)
	framed := "\r\n__exception__\r\nabcdefghijklmnop\r\nCode: 395. DB::Exception: boom: while executing. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO) (version 26.9.2.1 (official build))\n\r\n130 abcdefghijklmnop\r\n__exception__\r\n"
	for name, c := range map[string]struct {
		rows       int
		code, says string
		answer     func(w http.ResponseWriter)
	}{
		"two blocks":     {2, "EOF", "", func(w http.ResponseWriter) { flushed(w, row, row) }},
		"an empty block": {1, "EOF", "", func(w http.ResponseWriter) { flushed(w, string(nativeBlock(0, nativeColumn("x", "UInt8", nil))), row) }},
		"block in parts": {1, "EOF", "", func(w http.ResponseWriter) { flushed(w, row[:3], row[3:5], row[5:]) }},
		"error of old": {1, "22P02", "Cannot parse 'x'", func(w http.ResponseWriter) {
			flushed(w, row, "Code: 6, e.displayText() = DB::Exception: Cannot parse 'x', e.what() = DB::Exception\n")
		}},
		"error of new":       {1, "22P02", "Cannot parse 'x'", func(w http.ResponseWriter) { flushed(w, row, "Code: 6. DB::Exception: Cannot parse 'x'\n"); cut() }},
		"marked error":       {1, "53200", "too much", func(w http.ResponseWriter) { flushed(w, row, "__exception__\r\nCode: 241. DB::Exception: too much\n") }},
		"framed error":       {1, "22000", "boom: while executing. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO)", func(w http.ResponseWriter) { flushed(w, row, framed); cut() }},
		"error at once":      {0, "22000", "boom", func(w http.ResponseWriter) { flushed(w, framed) }},
		"cut between blocks": {1, "08006", "closed", func(w http.ResponseWriter) { flushed(w, row); cut() }},
		"cut in a block":     {1, "08006", "closed", func(w http.ResponseWriter) { flushed(w, row, row[:4]); cut() }},
		"part of a block":    {1, "08006", "closed", func(w http.ResponseWriter) { flushed(w, row, row[:4]) }},
		"part of a length": {1, "08006", "closed", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", fmt.Sprint(2*len(row)))
			flushed(w, row)
			cut()
		}},
		"something else": {1, "08P01", "malformed", func(w http.ResponseWriter) { flushed(w, row, strings.Repeat("Lorem ipsum", 1000)) }},
		"number in a header": {0, "42601", "no", func(w http.ResponseWriter) {
			w.Header().Set("X-ClickHouse-Exception-Code", "62")
			flushed(w, "Code: 62. DB::Exception: no. (SYNTAX_ERROR)")
		}},
		"number without text": {0, "HV000", "9999", func(w http.ResponseWriter) { w.Header().Set("X-ClickHouse-Exception-Code", "9999") }},
		"from before it":      {0, "08006", "503", func(w http.ResponseWriter) { http.Error(w, "come again", http.StatusServiceUnavailable) }},
		"not let in":          {0, "28P01", "401", func(w http.ResponseWriter) { http.Error(w, "who are you", http.StatusUnauthorized) }},
		"led elsewhere":       {0, "08P01", "302", func(w http.ResponseWriter) { w.Header().Set("Location", "/login"); w.WriteHeader(http.StatusFound) }},
		"without an end": {0, "08P01", "malformed", func(w http.ResponseWriter) {
			c, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"+row)
			_ = c.Close()
		}},
		"no HTTP": {0, "08P01", "malformed", func(w http.ResponseWriter) {
			c, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH\r\n\r\n")
			_ = c.Close()
		}},
	} {
		f := &webServer{version: "26.9.2.1", answer: func(w http.ResponseWriter, _ string) { c.answer(w) }}
		rows, err := count(t, f.against(t), "SELECT x")
		if got := code(err); rows != c.rows || got != c.code || !strings.Contains(told(err), c.says) || strings.Contains(told(err), "abcdefgh") {
			t.Errorf("%s: %d rows, then %v; want %d and %s", name, rows, err, c.rows, c.code)
		}
	}
}

// told is all that an error says.
func told(err error) string {
	var pe *pgconn.PgError
	if !errors.As(err, &pe) {
		return fmt.Sprint(err)
	}
	return pe.Message + "|" + pe.Detail
}

// count reads a statement to its end, and says how many rows it had.
func count(t *testing.T, e *Engine, sql string, args ...string) (rows int, err error) {
	t.Helper()
	q := engines.Query{SQL: sql}
	for i := range args {
		q.Args = append(q.Args, &args[i])
	}
	s, err := e.Open(t.Context(), q)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for {
		b, err := s.Next(t.Context())
		if err != nil {
			return rows, err
		}
		rows += b.NumRows()
	}
}

// TestWebHeaders bounds what headers may take.
func TestWebHeaders(t *testing.T) {
	f := &webServer{version: "26.9.2.1", answer: func(w http.ResponseWriter, _ string) {
		c, _, _ := w.(http.Hijacker).Hijack()
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		for range 100 {
			if _, err := io.WriteString(c, "X: "+strings.Repeat("y", 64<<10)+"\r\n"); err != nil {
				return
			}
		}
	}}
	if _, err := count(t, f.against(t), "SELECT x"); code(err) != "54000" {
		t.Error(err)
	}
}

// TestWebManyColumns reads blocks that begin with the letters that errors do.
func TestWebManyColumns(t *testing.T) {
	for _, n := range []int{'C', '_', '\r', '\n'} {
		columns := slices.Repeat([][]byte{nativeColumn("", "UInt8", bytes.Repeat([]byte{7}, 'o'))}, n)
		block := string(nativeBlock('o', columns...))
		f := &webServer{version: "26.9.2.1", answer: func(w http.ResponseWriter, _ string) { flushed(w, block, block) }}
		if rows, err := count(t, f.against(t), "SELECT x"); rows != 2*'o' || err != io.EOF {
			t.Errorf("%d columns: %d rows, %v", n, rows, err)
		}
	}
}

// TestWebRequests looks at what a server is asked: neither user nor password in the address, settings that it knows, readonly last.
func TestWebRequests(t *testing.T) {
	for version, want := range map[string]string{
		"18.16.1": "database default_format max_block_size query_id readonly",
		"22.8.1":  "cancel_http_readonly_queries_on_client_close database default_format max_block_size param_p1 query_id readonly",
		"26.9.2":  "cancel_http_readonly_queries_on_client_close database default_format max_block_size output_format_json_quote_64bit_integers output_format_native_write_json_as_string param_p1 query_id readonly session_timezone",
	} {
		f := &webServer{version: version, answer: func(w http.ResponseWriter, _ string) { flushed(w, string(oneRow)) }}
		e := f.against(t)
		for range 2 {
			if rows, err := count(t, e, "SELECT $1", "a'\n"); rows != 1 || err != io.EOF {
				t.Fatal(rows, err)
			}
		}
		parameters, header := f.asked()
		var names []string
		for n := range parameters {
			names = append(names, n)
		}
		slices.Sort(names)
		last := f.requests[len(f.requests)-1].URL.RawQuery
		if strings.Join(names, " ") != want || !strings.HasSuffix(last, "&readonly=2") || strings.Contains(last, "ann") || strings.Contains(last, "cr") && strings.Contains(last, "se%26") {
			t.Errorf("%s: %s; want %s", version, last, want)
		}
		if sql, beside := f.said[len(f.said)-1], parameters.Get("param_p1"); beside == "" && sql != `SELECT 'a\'\n'` || beside != "" && (sql != "SELECT {p1:String}" || beside != `a\'\n`) {
			t.Errorf("%s: %s with %q", version, sql, beside)
		}
		if header.Get("X-ClickHouse-User") != "ann" || header.Get("X-ClickHouse-Key") != "se&cr=t" || header.Get("Authorization") != "" {
			t.Errorf("%s: %v", version, header)
		}
		if len(f.requests) != 3 || e.Idle() != 1 {
			t.Errorf("%s: %d requests, %d connections", version, len(f.requests), e.Idle())
		}
	}
}

// TestWebParameters has values stand within the statement where they are too long for an address, or too many.
func TestWebParameters(t *testing.T) {
	f := &webServer{version: "26.9.2", answer: func(w http.ResponseWriter, _ string) { flushed(w, string(oneRow)) }}
	e := f.against(t)
	for _, c := range []struct {
		values []string
		beside bool
	}{
		{slices.Repeat([]string{"1"}, 100), true}, {slices.Repeat([]string{"1"}, 1000), false}, {[]string{strings.Repeat("1", mostBeside)}, false},
	} {
		if rows, err := count(t, e, "SELECT $1", c.values...); rows != 1 || err != io.EOF {
			t.Fatal(rows, err)
		}
		if parameters, _ := f.asked(); parameters.Has("param_p1") != c.beside || len(f.requests[len(f.requests)-1].URL.RawQuery) > 4*mostBeside {
			t.Errorf("%d values: beside %t; %.60q", len(c.values), parameters.Has("param_p1"), f.said[len(f.said)-1])
		}
	}
}

// TestWebCloses has what stands before a server close each connection behind an answer.
func TestWebCloses(t *testing.T) {
	f := &webServer{version: "26.9.2.1", closes: true, answer: func(w http.ResponseWriter, sql string) {
		switch {
		case strings.HasPrefix(sql, "DESCRIBE"):
			flushed(w, string(nativeBlock(1, nativeColumn("name", "String", appendText(nil, "x")), nativeColumn("type", "String", appendText(nil, "UInt8")))))
		case !strings.Contains(sql, "none"):
			flushed(w, string(oneRow))
		}
	}}
	e := f.against(t)
	for range 2 {
		if rows, err := count(t, e, "SELECT x"); rows != 1 || err != io.EOF || e.Idle() != 0 {
			t.Error(rows, err, e.Idle())
		}
		if rows, err := count(t, e, "SELECT none"); rows != 0 || err != io.EOF || e.Idle() != 0 {
			t.Error(rows, err, e.Idle())
		}
		if err := e.Ping(t.Context()); err != nil || e.Idle() != 0 {
			t.Error(err)
		}
	}
}

// TestWebWrites has a connection that waits be closed behind the sign of life that is asked for before a statement which is not done twice.
func TestWebWrites(t *testing.T) {
	f := &webServer{version: "26.9.2.1", answer: func(http.ResponseWriter, string) {}}
	e := f.against(t)
	if err := e.Ping(t.Context()); err != nil || e.Idle() != 1 {
		t.Fatal(err, e.Idle())
	}
	f.mu.Lock()
	f.closes = true
	f.mu.Unlock()
	if err := e.change(t.Context(), "DROP TABLE t", engines.Tag{}); err != nil {
		t.Error(err)
	}
}

// TestWebEmpty has the columns of a statement without rows, of which an answer says nothing, and tells one that has none.
func TestWebEmpty(t *testing.T) {
	e := open(t, overWeb(t, server(t)))
	one := "1"
	for range 2 {
		s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT toNullable(number) AS n, toLowCardinality('a') AS s FROM system.numbers WHERE number < toUInt64($1) LIMIT 0 -- none", Args: []*string{&one}})
		if err != nil {
			t.Fatal(err)
		}
		f := s.Fields()
		if _, err := s.Next(t.Context()); len(f) != 2 || f[0].Name != "n" || f[0].OID != 1700 || f[1].OID != 25 || err != io.EOF {
			t.Errorf("%+v, %v", f, err)
		}
		if err := s.Close(); err != nil || e.Idle() != 1 {
			t.Error(err, e.Idle())
		}
		if _, err := s.Next(t.Context()); code(err) != "24000" {
			t.Error(err)
		}
	}
	if _, err := e.Open(t.Context(), engines.Query{SQL: "SELECT countState() FROM system.one WHERE dummy > 1 GROUP BY dummy"}); code(err) != "HV004" {
		t.Error(err)
	}
	var pe *pgconn.PgError
	if _, err := e.Open(t.Context(), engines.Query{SQL: "USE system"}); !errors.As(err, &pe) || pe.Where == "" {
		t.Error(err)
	}
}

// TestWebLeaving ends statements that nobody waits for: one that reads by closing its connection, where the server knows of that, others
// by name.
func TestWebLeaving(t *testing.T) {
	for version, killed := range map[string]int{"18.16.1": 2, "26.9.2": 1} {
		begun, done := make(chan struct{}), make(chan struct{})
		f := &webServer{version: version, answer: func(_ http.ResponseWriter, sql string) {
			if !strings.HasPrefix(sql, "KILL") {
				begun <- struct{}{}
				<-done
			}
		}}
		e := f.against(t)
		for _, run := range []func(ctx context.Context) error{
			func(ctx context.Context) error { return failure(ctx, e, "SELECT sleep(3)") },
			func(ctx context.Context) error { return e.change(ctx, "INSERT INTO t SELECT sleep(3)", engines.Tag{}) },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-begun
				cancel()
			}()
			if err := run(ctx); code(err) != "57014" {
				t.Errorf("%s: %v", version, err)
			}
		}
		close(done)
		f.mu.Lock()
		kills := 0
		for i, sql := range f.said {
			if strings.HasPrefix(sql, "KILL QUERY WHERE query_id = 'sluice-") && f.requests[i].Header.Get("X-ClickHouse-User") == "ann" {
				kills++
			}
		}
		f.mu.Unlock()
		if kills != killed {
			t.Errorf("%s: %d statements were ended by name, not %d", version, kills, killed)
		}
	}
}
