package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

func TestStyles(t *testing.T) {
	e := open(t, server(t, nil))
	const sql = `SELECT '2024-07-01 12:00+00'::timestamptz, '1 day -2:03'::interval, '\x01'::bytea, 0.1::float8 + 0.2::float8`
	if got, want := fmt.Sprint(values(t, e, engines.Query{SQL: sql})), `[[2024-07-01 12:00:00+00 1 day -02:03:00 \x01 0.30000000000000004]]`; got != want {
		t.Errorf("plain styles give %s, want %s", got, want)
	}
	berlin := engines.Styles{TimeZone: "Europe/Berlin", DateStyle: "German, DMY", IntervalStyle: "iso_8601", ExtraFloatDigits: "0", ByteaOutput: "escape"}
	if got, want := fmt.Sprint(values(t, e, engines.Query{SQL: sql, Styles: berlin})), `[[01.07.2024 14:00:00 CEST P1DT-2H-3M \001 0.3]]`; got != want {
		t.Errorf("other styles give %s, want %s", got, want)
	}
	if _, err := e.Open(t.Context(), engines.Query{SQL: "SELECT 1", Styles: engines.Styles{TimeZone: "Nowhere"}}); code(err) != "22023" {
		t.Errorf("a time zone that the server lacks: %v", err)
	}
	if got := values(t, e, engines.Query{SQL: "SELECT 1/$1::int", Args: []*string{text("1")}, Styles: berlin}); got[0][0] != "1" {
		t.Errorf("after that: %v", got)
	}
	if n := e.Idle(); n != 1 {
		t.Errorf("%d connections were kept, want 1", n)
	}
}

func TestFormats(t *testing.T) {
	e := open(t, server(t, nil))
	s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT $1::int4, 'a'::text", Args: []*string{text("258")}, Formats: []int16{1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := s.(engines.FrameStream).Formats(); !slices.Equal(got, []int16{1, 0}) {
		t.Errorf("formats are %v", got)
	}
	b, err := s.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b.(engines.Frames).Data), "D\x00\x00\x00\x13\x00\x02\x00\x00\x00\x04\x00\x00\x01\x02\x00\x00\x00\x01a"; got != want {
		t.Errorf("the frame is %q, want %q", got, want)
	}
}

// Connections that the server has ended while they were idle are replaced without an error.
func TestReconnects(t *testing.T) {
	s := server(t, nil)
	e := open(t, s)
	pid := values(t, e, engines.Query{SQL: "SELECT pg_backend_pid()"})[0][0]
	admin := open(t, s)
	values(t, admin, engines.Query{SQL: "SELECT pg_terminate_backend($1::int, 5000)", Args: []*string{&pid}})
	if again := values(t, e, engines.Query{SQL: "SELECT pg_backend_pid()"})[0][0]; again == pid {
		t.Error("the ended connection is still there")
	}
}

func TestMidStreamEndOfServer(t *testing.T) {
	s := server(t, nil)
	e, admin := open(t, s), open(t, s)
	rows, err := e.Open(t.Context(), engines.Query{SQL: "SELECT pg_backend_pid(), generate_series(1, 1000000000)"})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	b, err := rows.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, _ := fieldsOf(b.(engines.Frames).Data[headerSize:mustSize(t, b)], 2)
	values(t, admin, engines.Query{SQL: "SELECT pg_terminate_backend($1::int, 5000)", Args: first[:1]})
	for err == nil {
		_, err = rows.Next(t.Context())
	}
	if code(err) != "08006" {
		t.Errorf("the stream ends with %v", err)
	}
}

func mustSize(t *testing.T, b engines.Batch) int {
	n, ok := rowSize(b.(engines.Frames).Data)
	if !ok {
		t.Fatal("not a DataRow")
	}
	return n
}

func TestConnectErrors(t *testing.T) {
	good := server(t, nil)
	for _, c := range []struct {
		name, code, detail string
		change             func(s *engines.Server)
	}{
		{"no server", "08001", "refused", func(s *engines.Server) { s.Options["port"] = "1" }},
		{"no database", "08001", "does not exist", func(s *engines.Server) { s.Options["dbname"] = "nope" }},
		{"no role", "28000", "", func(s *engines.Server) { s.Mapping["user"] = "nope" }},
	} {
		s := good
		s.Options, s.Mapping = clone(good.Options), clone(good.Mapping)
		c.change(&s)
		err := open(t, s).Ping(t.Context())
		var pe *pgconn.PgError
		if !errors.As(err, &pe) || pe.Code != c.code || !strings.Contains(pe.Detail, c.detail) || strings.Contains(pe.Detail, "password=") {
			t.Errorf("%s: %+v", c.name, err)
		}
	}
	s := good
	s.Mapping = map[string]string{"user": "x"}
	if _, err := (Wrapper{}).Open(context.Background(), s); code(err) != "2F003" {
		t.Errorf("without a password: %v", err)
	}
}

func clone(m map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// A server that lets everybody in is no proof of who made the mapping.
func TestPasswordIsAskedFor(t *testing.T) {
	s := server(t, nil)
	s.Mapping = map[string]string{"user": "postgres", "password": "any"}
	err := open(t, s).Ping(t.Context())
	if e := pgerr.From(err); err == nil || e.Code != "2F003" || e.Message != `server "`+s.Name+`" does not ask for the password` || e.Hint == "" {
		t.Errorf("a login without a password: %+v", e)
	}
}

// What stands in the proxy's own environment goes to no server.
func TestEnvironmentStaysOut(t *testing.T) {
	t.Setenv("PGPASSWORD", "the proxy's")
	t.Setenv("PGUSER", "proxy")
	t.Setenv("PGDATABASE", "proxy")
	t.Setenv("PGSERVICE", "")
	t.Setenv("PGAPPNAME", "proxy")
	config, err := connectConfig(engines.Server{Name: "s", Mapping: map[string]string{"user": "u", "password_required": "false"}})
	if err != nil {
		t.Fatal(err)
	}
	if config.Password != "" || config.User != "u" || config.Database != "u" || config.Host != "localhost" || config.RuntimeParams["application_name"] != "sluice" {
		t.Errorf("configuration has %q %q %q %q %v", config.Password, config.User, config.Database, config.Host, config.RuntimeParams)
	}
}

func TestFacts(t *testing.T) {
	e := open(t, server(t, nil))
	one, err := e.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	two, err := open(t, server(t, nil)).Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if one != two || one.Version < oldest || one.Collation == "" {
		t.Errorf("two databases of one cluster have %+v and %+v", one, two)
	}
}

func TestIntrospect(t *testing.T) {
	e := open(t, server(t, nil, `CREATE SCHEMA s`, `CREATE TABLE s.b (id int PRIMARY KEY, n numeric(10,2) DEFAULT 1.5, t text COLLATE "C", g int GENERATED ALWAYS AS (id * 2) STORED)`,
		`COMMENT ON TABLE s.b IS 'about b'`, `COMMENT ON COLUMN s.b.n IS 'about n'`, `CREATE VIEW s.a AS SELECT id FROM s.b`,
		`CREATE TYPE s.mood AS ENUM ('ok')`, `CREATE TABLE s.p (m s.mood) PARTITION BY LIST (m)`, `CREATE TABLE s.p1 PARTITION OF s.p FOR VALUES IN ('ok')`))
	tables, err := e.Introspect(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tb := range tables {
		got = append(got, tb.Name+":"+tb.Comment+":"+tb.Options["schema_name"])
		for _, c := range tb.Columns {
			got = append(got, fmt.Sprintf(" %s %s %t %q %q %q %q", c.Name, c.Type, c.NotNull, c.Comment, c.Default, c.Generated, c.Collation))
		}
	}
	want := []string{
		"a::s", ` id integer false "" "" "" ""`, "b:about b:s", ` id integer true "" "" "" ""`, ` n numeric(10,2) false "about n" "1.5" "" ""`,
		` t text false "" "" "" "pg_catalog.\"C\""`, ` g integer false "" "" "(id * 2)" ""`, "p::s", ` m s.mood false "" "" "" ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if _, err := e.Introspect(t.Context(), "nope"); code(err) != "HV00Q" {
		t.Errorf("a schema that is not there: %v", err)
	}
}
