package databricks

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/databricks/fake"
	"github.com/sluicedb/sluice/pgerr"
)

// server is how a workspace is declared.
func server(f *fake.Workspace) engines.Server {
	return engines.Server{Name: "brick", Options: map[string]string{"host": f.URL, "warehouse_id": fake.Warehouse, "catalog": "lake"}, Mapping: map[string]string{"token": fake.Token}}
}

func open(t testing.TB, s engines.Server) *Engine {
	t.Helper()
	e, err := Wrapper{}.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e.(*Engine)
}

func TestParameters(t *testing.T) {
	f := fake.Start(t)
	rows, err := read(t, open(t, server(f)), `SELECT CAST($1 AS INTEGER) + 1, $2, '$1 it''s', $3 AS "$2"`, text("41"), nil, text(`a'b\`))
	if err != nil || strings.Join(rows[0], "|") != `42|(null)|$1 it's|a'b\` {
		t.Errorf("%v %v", rows, err)
	}
	if o := f.Orders()[1]; strings.Contains(o.Statement, "41") || o.Catalog != "lake" {
		t.Errorf("%+v", o)
	}
}

func TestNamed(t *testing.T) {
	for sql, want := range map[string]string{
		"$1": ":p1", "a = $12 AND b": "a = :p12 AND b", `'$1\'$2' || $3`: `'$1\'$2' || :p3`, "`$1``$2` = $1": "`$1``$2` = :p1",
		`"$1" = $2 -- $3`: `"$1" = :p2 -- $3`, "1 -- it's\n + $1": "1 -- it's\n + :p1", "$": "$", "'open $1": "'open $1", "$0": "$0",
	} {
		if got := named(sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// TestCredentials logs in by token and by OAuth, and replaces a token that is not accepted any more.
func TestCredentials(t *testing.T) {
	f := fake.Start(t)
	for name, c := range map[string]struct {
		mapping map[string]string
		code    string
	}{
		"token":        {map[string]string{"token": fake.Token}, ""},
		"wrong token":  {map[string]string{"token": "dapi-other"}, "28000"},
		"none":         {nil, "28000"},
		"OAuth":        {map[string]string{"client_id": fake.ClientID, "client_secret": fake.ClientSecret}, ""},
		"wrong secret": {map[string]string{"client_id": fake.ClientID, "client_secret": "x"}, "28000"},
	} {
		s := server(f)
		s.Mapping = c.mapping
		if err := open(t, s).Ping(t.Context()); code(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := server(f)
	s.Mapping = map[string]string{"client_id": fake.ClientID, "client_secret": fake.ClientSecret}
	e := open(t, s)
	for range 2 {
		if err := e.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		f.Revoke()
	}
}

// TestUnreachable names the server and what to look at.
func TestUnreachable(t *testing.T) {
	f := fake.Start(t)
	for name, c := range map[string]struct{ option, value, code, hint string }{
		"no host":      {"host", "http://127.0.0.1:1", "HV00N", "host"},
		"no warehouse": {"warehouse_id", "other", "HV00N", "warehouse_id"},
	} {
		s := server(f)
		s.Options[c.option] = c.value
		err := open(t, s).Ping(t.Context())
		pe := pgerr.From(err)
		if pe.Code != c.code || !strings.Contains(pe.Hint, c.hint) || !strings.Contains(pe.Where, "brick") || strings.Contains(pe.Message, "/api/") {
			t.Errorf("%s: %+v", name, pe)
		}
	}
}

func TestIntrospect(t *testing.T) {
	f := fake.Start(t, "CREATE SCHEMA shop", `CREATE TABLE shop.orders (id BIGINT NOT NULL, day DATE, moment TIMESTAMPTZ, local TIMESTAMP, amount DECIMAL(12,2), tags INTEGER[], "odd name" VARCHAR, span INTERVAL)`,
		"COMMENT ON TABLE shop.orders IS 'what was ordered'", "CREATE TABLE shop.empty (a STRUCT(x INTEGER))")
	e := open(t, server(f))
	tables, err := e.Introspect(t.Context(), "shop")
	if err != nil || len(tables) != 2 || tables[1].Comment != "what was ordered" || tables[1].Options["table_name"] != "orders" {
		t.Fatalf("%+v %v", tables, err)
	}
	var got []string
	for _, c := range tables[1].Columns {
		got = append(got, fmt.Sprintf("%s %s %t %s", c.Name, c.Type, c.NotNull, c.Options["nested"]))
	}
	want := "id bigint true |day date false |moment timestamp with time zone false |local timestamp without time zone false |amount numeric(12,2) false |tags jsonb false true|odd name text false |span text false "
	if strings.Join(got, "|") != want {
		t.Errorf("%s", strings.Join(got, "|"))
	}
	if _, err := e.Introspect(t.Context(), "nowhere"); code(err) != "HV00Q" {
		t.Error(err)
	}
}

// TestSettings refuses a warehouse on which statements would mean something else, until it is set otherwise, and asks for that once.
func TestSettings(t *testing.T) {
	f := fake.Start(t)
	e := open(t, server(f))
	zone := "Europe/Berlin"
	f.TimeZone.Store(&zone)
	if _, err := read(t, e, "SELECT 1 AS i"); code(err) != "55000" || !strings.Contains(pgerr.From(err).Message, zone) || !strings.Contains(pgerr.From(err).Hint, "TIMEZONE") {
		t.Error(err)
	}
	f.TimeZone.Store(nil)
	f.NoANSI.Store(true)
	if _, err := e.Introspect(t.Context(), "main"); code(err) != "55000" || !strings.Contains(pgerr.From(err).Hint, "ANSI_MODE") {
		t.Error(err)
	}
	f.NoANSI.Store(false)
	before := len(f.Orders())
	for range 2 {
		if _, err := read(t, e, "SELECT 1 AS i"); err != nil {
			t.Error(err)
		}
	}
	if n := len(f.Orders()) - before; n != 3 {
		t.Errorf("%d statements", n)
	}
}

// TestBusy tries a request again that the service has put off.
func TestBusy(t *testing.T) {
	f := fake.Start(t)
	e := open(t, server(f))
	f.Busy.Store(3)
	if err := e.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	f.Busy.Store(busyTries)
	if err := e.Ping(t.Context()); code(err) != "53400" {
		t.Error(err)
	}
}

// TestFiles goes on where a link has expired or a file has broken off, and loses no row and doubles none.
func TestFiles(t *testing.T) {
	f := fake.Start(t)
	e := open(t, server(f))
	const sql = "SELECT i FROM range(20000) t(i)"
	for name, trouble := range map[string]func(n int64){"expired": f.Expired.Store, "cut": f.Cut.Store} {
		for n, want := range map[int64]string{1: "", 2: "", 3: "08006"} {
			trouble(n)
			rows, err := read(t, e, sql)
			trouble(0)
			if got := code(err); got != want && !(want == "08006" && err != nil) {
				t.Errorf("%s %d times: %v", name, n, err)
			}
			if want == "" && (len(rows) != 20000 || rows[19999][0] != "19999") {
				t.Errorf("%s %d times: %d rows", name, n, len(rows))
			}
		}
	}
}

// TestCancelWhileSubmitted cancels a statement whose id is not known yet, too.
func TestCancelWhileSubmitted(t *testing.T) {
	f := fake.Start(t)
	e := open(t, server(f))
	f.Busy.Store(2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := e.Open(ctx, engines.Query{SQL: "SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(10000000) b(i)"})
	if code(err) != "57014" {
		t.Error(err)
	}
	for deadline := time.Now().Add(30 * time.Second); len(f.Orders()) > 0 && f.Running.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the statement still runs")
		}
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		failure failure
		want    string
	}{
		{failure{"BAD_REQUEST", "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL ==\nSELECT 1/0", ""}, "22012 [DIVIDE_BY_ZERO] Division by zero."},
		{failure{"BAD_REQUEST", "[CAST_INVALID_INPUT] The value 'x' cannot be cast.", "22018"}, "22P02 [CAST_INVALID_INPUT] The value 'x' cannot be cast."},
		{failure{"BAD_REQUEST", "[DATATYPE_MISMATCH] No.", "42K09"}, "42804 [DATATYPE_MISMATCH] No."},
		{failure{"BAD_REQUEST", "[OTHER] No.", "42KD9"}, "HV000 [OTHER] No."},
		{failure{"RESOURCE_EXHAUSTED", "", ""}, "53000 the statement failed: RESOURCE_EXHAUSTED"},
		{failure{"TEMPORARILY_UNAVAILABLE", "The warehouse is stopped.", ""}, "57P03 The warehouse is stopped."},
	} {
		pe := c.failure.postgres()
		if got := pe.Code + " " + pe.Message; got != c.want {
			t.Errorf("%+v: %s", c.failure, got)
		}
	}
}

func TestOptions(t *testing.T) {
	for host, ok := range map[string]bool{
		"adb-1.7.azuredatabricks.net": true, "https://x.cloud.databricks.com/": true, "http://127.0.0.1:8080": true, "http://x.example": false,
		"": false, "https://x/path": false, "https://u:p@x": false,
	} {
		if err := checkHost(host); (err == nil) != ok {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, c := range []struct {
		options map[string]string
		code    string
	}{
		{map[string]string{"token": "x"}, ""}, {map[string]string{"client_id": "x", "client_secret": "y"}, ""},
		{map[string]string{"token": "x", "client_id": "x"}, "HV00D"}, {map[string]string{"client_id": "x"}, "HV00B"},
	} {
		if err := (Wrapper{}).Check(engines.MappingObject, c.options); code(err) != c.code {
			t.Errorf("%v: %v", c.options, err)
		}
	}
}

func TestTypeNames(t *testing.T) {
	for remote, want := range map[string]string{
		"decimal(10,2)": "numeric(10,2)", "DECIMAL(38,0)": "numeric(38,0)", "string": "text", "varchar(20)": "text", "array<int>": "jsonb nested",
		"struct<a:int,b:array<string>>": "jsonb nested", "variant": "jsonb nested", "timestamp": "timestamp with time zone", "timestamp_ntz": "timestamp without time zone",
		"interval day to second": "text", "tinyint": "smallint", "void": "", "geometry(0)": "",
	} {
		got, nested := postgresName(remote)
		if nested {
			got += " nested"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
}
