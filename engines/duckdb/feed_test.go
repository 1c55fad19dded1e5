package duckdb

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

func federation(t testing.TB) *Federation {
	t.Helper()
	f, err := NewFederation(map[string]string{"memory_limit": "500MB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// counted counts the streams of a feed that are open.
type counted struct {
	engines.Stream
	open *atomic.Int32
	once atomic.Bool
}

func (c *counted) Close() error {
	if !c.once.Swap(true) {
		c.open.Add(-1)
	}
	return c.Stream.Close()
}

// feedOf is a feed over a statement of another engine.
func feedOf(e engines.Engine, sql string, open *atomic.Int32, columns ...string) engines.Feed {
	f := engines.Feed{Open: func(ctx context.Context) (engines.Stream, error) {
		s, err := e.Open(ctx, engines.Query{SQL: sql})
		if err != nil {
			return nil, err
		}
		open.Add(1)
		return &counted{Stream: s, open: open}, nil
	}}
	for i := 0; i < len(columns); i += 2 {
		f.Columns = append(f.Columns, engines.FeedColumn{Name: columns[i], Type: columns[i+1]})
	}
	return f
}

func federate(t testing.TB, f *Federation, sql string, feeds ...engines.Feed) ([][]string, error) {
	t.Helper()
	s, err := f.Open(t.Context(), engines.FederatedQuery{Query: engines.Query{SQL: sql}, Feeds: feeds})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return drain(s)
}

// TestFeedTypes passes every type through a feed: what comes out is what went in.
func TestFeedTypes(t *testing.T) {
	e, f := database(t, nil), federation(t)
	for typ, values := range map[string]string{
		"BOOLEAN":        "true, false, NULL",
		"SMALLINT":       "-32768, 0, NULL, 32767",
		"INTEGER":        "-2147483648, 0, NULL, 2147483647",
		"BIGINT":         "-9223372036854775808, 0, NULL, 9223372036854775807",
		"FLOAT":          "'-0', 'nan', 'inf', '-inf', NULL, 1.5",
		"DOUBLE":         "'-0', 'nan', 'inf', '-inf', NULL, 5e-324",
		"DECIMAL(4,2)":   "-99.99, 0, NULL, 99.99",
		"DECIMAL(9,2)":   "-9999999.99, 0, NULL, 9999999.99",
		"DECIMAL(18,6)":  "-999999999999.999999, NULL, 0.000001",
		"DECIMAL(38,10)": "-9999999999999999999999999999.9999999999, NULL, -0.0000000001, 9999999999999999999999999999.9999999999",
		"VARCHAR":        "'', NULL, 'twelve bytes', 'thirteen byte', 'é日😀', repeat('x', 5000)",
		"JSON":           `'{"a":1,"a":2, "b" : [1, 2]}', NULL, '1.10'`,
		"BLOB":           `'', NULL, '\x00\xFF', 'a longer one than twelve'`,
		"DATE":           "'infinity', '-infinity', '0044-03-15 (BC)', NULL, '9999-12-31'",
		"TIME":           "'00:00', NULL, '23:59:59.999999'",
		"TIMESTAMP":      "'infinity', '-infinity', '0044-03-15 (BC) 12:00', NULL, '9999-12-31 23:59:59.999999'",
		"TIMESTAMPTZ":    "'infinity', '-infinity', '2024-03-10 07:30:00+00', NULL",
		"INTERVAL":       "'0 days', NULL, '-10 years 22 months 3 days 04:05:06.789'",
		"UUID":           "'00000000-0000-0000-0000-000000000000', NULL, '80000000-0000-0000-0000-00000000abcd', 'ffffffff-ffff-ffff-ffff-ffffffffffff'",
		"INTEGER[]":      "[1, NULL, 3], [], NULL, [2147483647]",
		"VARCHAR[]":      "['a', NULL, 'one of more than twelve'], [], NULL, ['']",
	} {
		t.Run(typ, func(t *testing.T) {
			// The order of rows is not kept, so each comes with its number.
			sql := "SELECT i::INTEGER AS i, v FROM (SELECT unnest([" + castAll(values, typ) + "]) AS v, generate_subscripts([" + castAll(values, typ) + "], 1) AS i) ORDER BY i"
			_, want := read(t, e, sql)
			var open atomic.Int32
			got, err := federate(t, f, "SELECT i, v FROM sluice_feed(1) ORDER BY i", feedOf(e, sql, &open, "i", "INTEGER", "v", typ))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("got %q\nwant %q", got, want)
			}
			if n := open.Load(); n != 0 {
				t.Errorf("%d streams stay open", n)
			}
		})
	}
}

// castAll casts each entry of a list, whose commas within brackets and quotes divide nothing.
func castAll(list, typ string) string {
	var out []string
	depth, quoted, from := 0, false, 0
	for i, r := range list + "," {
		switch {
		case r == '\'':
			quoted = !quoted
		case quoted:
		case r == '[' || r == '(':
			depth++
		case r == ']' || r == ')':
			depth--
		case r == ',' && depth == 0:
			out = append(out, "CAST("+strings.TrimSpace(list[from:i])+" AS "+typ+")")
			from = i + 1
		}
	}
	return strings.Join(out, ", ")
}

// TestFeedJoins joins feeds of several chunks with one another and with themselves.
func TestFeedJoins(t *testing.T) {
	e, other, f := database(t, nil), database(t, nil), federation(t)
	var open atomic.Int32
	big := feedOf(e, "SELECT i, i % 1000 AS k, 'row ' || i AS t FROM range(300000) r(i)", &open, "i", "BIGINT", "k", "BIGINT", "t", "VARCHAR")
	small := feedOf(other, "SELECT i, CASE WHEN i % 2 = 0 THEN i END AS k FROM range(1000) r(i)", &open, "i", "BIGINT", "k", "BIGINT")
	for sql, want := range map[string]string{
		"SELECT count(*)::BIGINT FROM sluice_feed(1)":                                                                            "300000",
		"SELECT count(*)::BIGINT, sum(a.i)::BIGINT FROM sluice_feed(1) a JOIN sluice_feed(2) b ON a.k = b.k":                     "150000|22499850000",
		"SELECT max(t) FROM sluice_feed(1) WHERE k = 7":                                                                          "row 99007",
		"SELECT count(*)::BIGINT FROM sluice_feed(2) a LEFT JOIN sluice_feed(2) b ON a.i = b.k":                                  "1000",
		"SELECT count(*)::BIGINT FROM (SELECT i FROM sluice_feed(1) LIMIT 10)":                                                   "10",
		"SELECT count(*)::BIGINT FROM sluice_feed(2) s WHERE NOT EXISTS (SELECT 1 FROM sluice_feed(1) b WHERE b.i = s.i * 1000)": "700",
	} {
		got, err := federate(t, f, sql, big, small)
		if err != nil || len(got) != 1 || strings.Join(got[0], "|") != want {
			t.Errorf("%s: got %v, %v, want %s", sql, got, err, want)
		}
		if n := open.Load(); n != 0 {
			t.Fatalf("%s: %d streams stay open", sql, n)
		}
	}
}

// TestFeedOnce reads a feed once where a statement names it once: there may be no second time.
func TestFeedOnce(t *testing.T) {
	e, f := database(t, nil), federation(t)
	var open atomic.Int32
	for _, sql := range []string{
		"SELECT bool_or(true) OVER (PARTITION BY k) FROM sluice_feed(1)",
		"SELECT k, i, count(*) OVER (PARTITION BY k) FROM sluice_feed(1)",
		"SELECT i FROM (SELECT i, row_number() OVER (PARTITION BY k ORDER BY i) AS n FROM sluice_feed(1)) WHERE n = 1",
		"SELECT i, k FROM sluice_feed(1) ORDER BY k LIMIT 3",
		"SELECT a.range, (SELECT max(i) FROM sluice_feed(1) WHERE k = a.range) FROM range(10) a",
		"SELECT k, i, count(DISTINCT i), avg(i) FROM sluice_feed(1) GROUP BY GROUPING SETS ((k), (i), ())",
		"WITH c AS (SELECT k, i FROM sluice_feed(1)) SELECT a.i FROM c a JOIN c b ON a.i = b.k",
		"SELECT i FROM sluice_feed(1) INTERSECT SELECT range FROM range(5)",
	} {
		reads := 0
		feed := feedOf(e, "SELECT i, i % 10 AS k FROM range(1000) r(i)", &open, "i", "BIGINT", "k", "BIGINT")
		read := feed.Open
		feed.Open = func(ctx context.Context) (engines.Stream, error) {
			reads++
			return read(ctx)
		}
		if _, err := federate(t, f, sql, feed); err != nil || reads != 1 {
			t.Errorf("%s: read %d times, %v", sql, reads, err)
		}
	}
}

// TestFeedErrors has sources fail when they are opened and in their midst: the statement fails as they do.
func TestFeedErrors(t *testing.T) {
	e, f := database(t, nil), federation(t)
	var open atomic.Int32
	middle := feedOf(e, "SELECT CASE WHEN i < 100000 THEN i ELSE ('x' || i)::BIGINT END AS i FROM range(1000000) r(i)", &open, "i", "BIGINT")
	gone := feedOf(e, "SELECT i FROM nope", &open, "i", "BIGINT")
	wrong := feedOf(e, "SELECT 'a' AS i", &open, "i", "BIGINT")
	refused := engines.Feed{Columns: gone.Columns, Open: func(context.Context) (engines.Stream, error) {
		return nil, pgerr.New(pgerr.InsufficientPrivilege, "not you")
	}}
	for _, test := range []struct {
		feed engines.Feed
		code string
	}{{middle, "22P02"}, {gone, "42P01"}, {refused, "42501"}, {wrong, "HV004"}} {
		for _, sql := range []string{"SELECT i FROM sluice_feed(1)", "SELECT sum(i)::BIGINT FROM sluice_feed(1)"} {
			if _, err := federate(t, f, sql, test.feed); code(err) != test.code {
				t.Errorf("%s: got %v, want %s", sql, err, test.code)
			}
		}
		if n := open.Load(); n != 0 {
			t.Errorf("%d streams stay open", n)
		}
	}
	for sql, want := range map[string]string{
		"SELECT 1 FROM sluice_feed(2)": "", "COPY (SELECT 1) TO '/tmp/x.csv'": "42501", "SELECT * FROM read_csv('/etc/passwd')": "42501",
		"ATTACH '/tmp/x.duckdb'": "25006", "SET memory_limit = '20GB'": "25006", "SELEKT": "42601",
	} {
		_, err := federate(t, f, sql, middle)
		if err == nil || want != "" && code(err) != want {
			t.Errorf("%s: got %v, want %s", sql, err, want)
		}
	}
}

// TestFeedLazy takes a few rows: sources are read little further, and closed at once.
func TestFeedLazy(t *testing.T) {
	e, f := database(t, nil), federation(t)
	var open atomic.Int32
	var batches atomic.Int64
	feed := feedOf(e, "SELECT i FROM range(100000000000) r(i)", &open, "i", "BIGINT")
	source := feed.Open
	feed.Open = func(ctx context.Context) (engines.Stream, error) {
		s, err := source(ctx)
		return &tallied{s, &batches}, err
	}
	s, err := f.Open(t.Context(), engines.FederatedQuery{Query: engines.Query{SQL: "SELECT i + 1 AS i FROM sluice_feed(1)"}, Feeds: []engines.Feed{feed}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := batches.Load(); n > 64 {
		t.Errorf("%d batches were read for three", n)
	}
	if err := s.Close(); err != nil || open.Load() != 0 {
		t.Errorf("closed with %v, %d streams stay open", err, open.Load())
	}
	if _, err := s.Next(t.Context()); err == nil {
		t.Error("a closed stream gives rows")
	}
}

type tallied struct {
	engines.Stream
	batches *atomic.Int64
}

func (s *tallied) Next(ctx context.Context) (engines.Batch, error) {
	s.batches.Add(1)
	return s.Stream.Next(ctx)
}

// stuck is a stream that gives nothing until it is cancelled.
type stuck struct{ waiting chan struct{} }

func (s stuck) Fields() []engines.Field { return []engines.Field{{Name: "i", OID: 20, Typmod: -1}} }
func (s stuck) Close() error            { return nil }
func (s stuck) Next(ctx context.Context) (engines.Batch, error) {
	s.waiting <- struct{}{}
	<-ctx.Done()
	return nil, io.EOF // as a driver may say of a result that was cancelled
}

// TestFeedCancel cancels statements that wait for a source, when they open and when they fetch.
func TestFeedCancel(t *testing.T) {
	f := federation(t)
	for _, sql := range []string{"SELECT sum(i)::BIGINT FROM sluice_feed(1)", "SELECT i FROM sluice_feed(1)"} {
		s := stuck{make(chan struct{}, 16)}
		feed := engines.Feed{
			Columns: []engines.FeedColumn{{Name: "i", Type: "BIGINT"}},
			Open:    func(context.Context) (engines.Stream, error) { return s, nil },
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() {
			stream, err := f.Open(ctx, engines.FederatedQuery{Query: engines.Query{SQL: sql}, Feeds: []engines.Feed{feed}})
			if err == nil {
				_, err = stream.Next(ctx)
				_ = stream.Close()
			}
			done <- err
		}()
		<-s.waiting
		cancel(pgerr.New(pgerr.QueryCanceled, "told to"))
		select {
		case err := <-done:
			if code(err) != pgerr.QueryCanceled || err.Error() != "ERROR: told to (SQLSTATE 57014)" {
				t.Errorf("%s: ended with %v", sql, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s does not end", sql)
		}
	}
}

// TestFederationOptions refuses what a federation has no use for.
func TestFederationOptions(t *testing.T) {
	for name, value := range map[string]string{"database": "/tmp/x.duckdb", "memory_limit": "much", "nope": "1", "threads": "0"} {
		if _, err := NewFederation(map[string]string{name: value}); code(err) != pgerr.FdwInvalidOption {
			t.Errorf("%s = %s: got %v", name, value, err)
		}
	}
}

// TestFeedsAtOnce runs many statements side by side, each with feeds of its own.
func TestFeedsAtOnce(t *testing.T) {
	e, f := database(t, nil), federation(t)
	var open atomic.Int32
	errs := make(chan error, 8)
	for i := range cap(errs) {
		go func() {
			feed := feedOf(e, fmt.Sprintf("SELECT i + %d AS i FROM range(100000) r(i)", i), &open, "i", "BIGINT")
			got, err := federate(t, f, "SELECT max(a.i)::BIGINT FROM sluice_feed(1) a JOIN sluice_feed(1) b ON a.i = b.i", feed)
			if err == nil && got[0][0] != fmt.Sprint(99999+i) {
				err = fmt.Errorf("run %d: got %v", i, got)
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
