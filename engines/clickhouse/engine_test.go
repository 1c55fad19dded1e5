package clickhouse

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/engines"
)

// TestConnecting fails to connect in many ways, each of which names the server and what to do.
func TestConnecting(t *testing.T) {
	overEach(t, checkConnecting)
}

func checkConnecting(t *testing.T, good engines.Server) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	go func() { // hangs up on everybody
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 1<<10))
			_, _ = io.WriteString(c, "HTTP/1.0 400 Bad Request\r\n\r\n")
			_ = c.Close()
		}
	}()
	for _, c := range []struct{ option, value, code, says string }{
		{"port", "1", "08001", "127.0.0.1:1"},
		{"host", "no.such.host.invalid", "08001", "no.such.host.invalid"},
		{"port", port, "08P01", map[bool]string{false: "malformed", true: "400 Bad Request"}[good.Options["protocol"] == overHTTP]},
		{"secure", "true", "08001", "127.0.0.1"},
		{"user", "nobody", "28P01", "nobody"},
		{"password", "wrong", "28P01", "analyst"},
		{"database", "nope", "3F000", "nope"},
	} {
		s := engines.Server{Name: "events", Options: maps.Clone(good.Options), Mapping: maps.Clone(good.Mapping)}
		if c.option == "user" || c.option == "password" {
			s.Mapping[c.option] = c.value
		} else {
			s.Options[c.option] = c.value
		}
		err := failure(t.Context(), open(t, s), "SELECT 1")
		var pe *pgconn.PgError
		switch {
		case !errors.As(err, &pe) || pe.Code != c.code:
			t.Errorf("%s %s: %v; want %s", c.option, c.value, err, c.code)
		case !strings.Contains(pe.Message+pe.Detail, c.says) || !strings.Contains(pe.Where, `"events"`) || pe.Hint == "" && c.code != "08P01":
			t.Errorf("%s %s: %+v", c.option, c.value, pe)
		}
		if strings.Contains(pe.Message+pe.Detail+pe.Hint, "secret") {
			t.Errorf("%s %s tells the password: %+v", c.option, c.value, pe)
		}
	}
}

// TestOptions refuses options that make no server.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		kind    engines.ObjectKind
		options map[string]string
		code    string
	}{
		{engines.ServerObject, nil, ""},
		{engines.ServerObject, map[string]string{"secure": "true", "sslrootcert": "/x"}, ""},
		{engines.ServerObject, map[string]string{"sslrootcert": "/x"}, "HV00D"},
		{engines.ServerObject, map[string]string{"secure": "false", "skip_verify": "true"}, "HV00D"},
		{engines.MappingObject, map[string]string{"sslcert": "/x"}, "HV00D"},
		{engines.MappingObject, map[string]string{"sslcert": "/x", "sslkey": "/y"}, ""},
	} {
		if err := (Wrapper{}).Check(c.kind, c.options); err != nil && code(err) != c.code || err == nil && c.code != "" {
			t.Errorf("%v: %v; want %q", c.options, err, c.code)
		}
	}
	for name, value := range map[string]string{"port": "70000", "protocol": "https", "connect_timeout": "0", "max_block_size": "x", "secure": "perhaps"} {
		for _, o := range serverOptions {
			if o.Name == name && o.Check(value) == nil {
				t.Errorf("option %s takes %q", name, value)
			}
		}
	}
}

// TestReader reads as a user who may not set anything.
func TestReader(t *testing.T) {
	overEach(t, checkReader)
}

func checkReader(t *testing.T, s engines.Server) {
	s.Mapping = map[string]string{"user": "reader", "password": "read"}
	e := open(t, s)
	for range 2 {
		if err := failure(t.Context(), e, "SELECT number FROM system.numbers LIMIT 100000"); err != io.EOF {
			t.Fatal(err)
		}
	}
	if err := failure(t.Context(), e, "CREATE TABLE t (a Int8) ENGINE = Memory"); code(err) != "25006" {
		t.Error(err)
	}
}

// TestReconnect has connections that wait break: the next statement gets a new one.
func TestReconnect(t *testing.T) {
	overEach(t, checkReconnect)
}

func checkReconnect(t *testing.T, s engines.Server) {
	e := open(t, s)
	if err := errors.Join(e.Ping(t.Context()), e.Ping(t.Context())); err != nil {
		t.Fatal(err)
	}
	if n := e.Idle(); n != 1 {
		t.Fatalf("%d connections wait", n)
	}
	breakIdle(t, e)
	if err := failure(t.Context(), e, "SELECT 1"); err != io.EOF {
		t.Fatal(err)
	}
	breakIdle(t, e)
	if err := e.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// breakIdle breaks the connection that would be used next.
func breakIdle(t *testing.T, e *Engine) {
	t.Helper()
	c, err := e.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.socket.Close()
	e.pool.Release(c)
}

// TestBroken has the connection break in the middle of rows, which is an error and no end.
func TestBroken(t *testing.T) {
	overEach(t, checkBroken)
}

func checkBroken(t *testing.T, s engines.Server) {
	e := open(t, s)
	rows, err := e.Open(t.Context(), engines.Query{SQL: "SELECT number FROM system.numbers"})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for range 3 {
		if _, err := rows.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_ = rows.(*stream).connection.socket.Close()
	for err == nil {
		_, err = rows.Next(t.Context())
	}
	if _, again := rows.Next(t.Context()); code(err) != "08006" || code(again) != "08006" {
		t.Errorf("%v, then %v", err, again)
	}
}

// TestServerLimit has the server end a statement by its own limit, which is told apart from the client's cancel.
func TestServerLimit(t *testing.T) {
	overEach(t, checkServerLimit)
}

func checkServerLimit(t *testing.T, s engines.Server) {
	s.Options["max_execution_time"] = "1"
	var pe *pgconn.PgError
	if err := failure(t.Context(), open(t, s), "SELECT sum(number) FROM system.numbers"); !errors.As(err, &pe) || pe.Code != "57014" || !strings.Contains(pe.Hint, "max_execution_time") {
		t.Errorf("%+v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := failure(ctx, open(t, s), "SELECT 1"); code(err) != "57014" {
		t.Error(err)
	}
}

// TestIntrospect lists tables and views, and says what their columns are.
func TestIntrospect(t *testing.T) {
	overEach(t, checkIntrospect, "DROP DATABASE IF EXISTS listed", "CREATE DATABASE listed", "CREATE TABLE listed.b (id UInt64, n LowCardinality(Nullable(String)), a Array(Nullable(Int32)), s AggregateFunction(sum, Int8)) ENGINE = Memory",
		"CREATE VIEW listed.a AS SELECT 1 AS one, tuple(1, 'x') AS pair", "CREATE TABLE listed.m (k Int32) ENGINE = MergeTree ORDER BY k",
		"CREATE MATERIALIZED VIEW listed.v ENGINE = MergeTree ORDER BY k AS SELECT k FROM listed.m")
}

func checkIntrospect(t *testing.T, s engines.Server) {
	e := open(t, s)
	tables, err := e.Introspect(t.Context(), "listed")
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, table := range tables {
		got += table.Options["schema_name"] + "." + table.Options["table_name"]
		for _, c := range table.Columns {
			got += " " + c.Name + ":" + c.Type
			if c.NotNull {
				got += "!"
			}
		}
		got += "\n"
	}
	const want = "listed.a one:smallint! pair:jsonb!\nlisted.b id:numeric(20,0)! n:text a:integer[]! s:!\nlisted.m k:integer!\nlisted.v k:integer!\n"
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	if _, err := e.Introspect(t.Context(), "nope"); code(err) != "HV00Q" {
		t.Error(err)
	}
}

// TestDescribeJSON leaves documents out where they are not read.
func TestDescribeJSON(t *testing.T) {
	for remote, want := range map[string]string{"JSON": "jsonb", "Array(JSON(a Int8))": "jsonb[]", "Tuple(a Nullable(JSON))": "jsonb", "String": "text"} {
		over := (&Engine{config: &config{http: true}}).describe("x", remote)
		if native := (&Engine{config: &config{}}).describe("x", remote); over.Type != want || (native.Type == "") != (want != "text") {
			t.Errorf("%s: %q, natively %q", remote, over.Type, native.Type)
		}
	}
}
