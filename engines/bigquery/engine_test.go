package bigquery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	rest "google.golang.org/api/bigquery/v2"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/bigquery/fake"
	"github.com/sluicedb/sluice/pgerr"
)

// TestParameters binds values, which are no part of the text, and labels a job with who asks.
func TestParameters(t *testing.T) {
	p := fake.Start(t)
	rows, err := read(t, open(t, server(p)), engines.Query{
		SQL:  `SELECT CAST($1 AS INT64) + 1, $2, '$1 it''s', $3 AS "$2", $4`,
		Args: []*string{text("41"), nil, text(`a'b\`), text("")}, Tag: engines.Tag{Role: "Zoë Q", ID: "4f-1"},
	})
	if err != nil || strings.Join(rows[0], "|") != `42|(null)|$1 it's|a'b\|` {
		t.Errorf("%v %v", rows, err)
	}
	job := p.Jobs()[0]
	if q := job.Configuration.Query.Query; strings.Contains(q, "41") || !strings.Contains(q, "@p4") {
		t.Error(q)
	}
	if l := job.Configuration.Labels; l["sluice_role"] != "zo__q" || l["sluice_id"] != "4f-1" {
		t.Error(l)
	}
}

func TestNamed(t *testing.T) {
	for sql, want := range map[string]string{
		"$1": "@p1", "a = $12 AND b": "a = @p12 AND b", `'$1\'$2' || $3`: `'$1\'$2' || @p3`, "`$1\\`$2` = $1": "`$1\\`$2` = @p1",
		`"$1" = $2 -- $3`: `"$1" = @p2 -- $3`, "1 # it's\n + $1": "1 # it's\n + @p1", "$": "$", "'open $1": "'open $1", "$0": "$0",
	} {
		if got, _ := named(sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// TestCredentials logs in by token and by key. What the proxy itself may do is not used.
func TestCredentials(t *testing.T) {
	p := fake.Start(t)
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere")
	key := p.Key(t)
	for name, c := range map[string]struct {
		mapping map[string]string
		code    string
	}{
		"token":       {map[string]string{"access_token": fake.Token + "\n"}, ""},
		"wrong token": {map[string]string{"access_token": "ya29.other"}, "28000"},
		"none":        {nil, "28000"},
		"key":         {map[string]string{"service_account": key}, ""},
		"other key":   {map[string]string{"service_account": strings.Replace(key, fake.Account, "other@x", 1)}, "28000"},
		"no key":      {map[string]string{"service_account": "{}"}, "28000"},
		"other kind":  {map[string]string{"service_account": `{"type": "external_account", "credential_source": {"executable": {"command": "/bin/true"}}}`}, "28000"},
	} {
		s := server(p)
		s.Mapping = c.mapping
		e, err := Wrapper{}.Open(t.Context(), s)
		if err == nil {
			_, err = read(t, e, engines.Query{SQL: "SELECT 1"})
			_ = e.Close()
		}
		if code(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := server(p)
	s.Mapping = map[string]string{"service_account": key}
	e := open(t, s)
	before := p.Granted.Load()
	for range 3 {
		if err := e.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if n := p.Granted.Load() - before; n != 1 {
		t.Errorf("%d tokens", n)
	}
	p.Revoke()
	if _, err := read(t, e, engines.Query{SQL: "SELECT 1"}); code(err) != "28000" || pgerr.From(err).Hint != loginHint {
		t.Error(err)
	}
}

// TestUnreachable names the server and what to look at.
func TestUnreachable(t *testing.T) {
	p := fake.Start(t)
	for name, c := range map[string]struct{ option, value, code, hint string }{
		"no service": {"endpoint", "http://127.0.0.1:1", "08001", "endpoint"},
		"no rows":    {"storage_endpoint", "127.0.0.1:1", "08001", "storage_endpoint"},
		"elsewhere":  {"location", "US", "HV00Q", "location"},
		"no project": {"project", "other-project", "HV00N", "project"},
	} {
		s := server(p)
		s.Options[c.option] = c.value
		_, err := read(t, open(t, s), engines.Query{SQL: "SELECT 1"})
		pe := pgerr.From(err)
		if pe == nil || pe.Code != c.code || !strings.Contains(pe.Hint, c.hint) || !strings.Contains(pe.Where, "lake") || strings.Contains(pe.Message, "/bigquery/") {
			t.Errorf("%s: %+v", name, pe)
		}
	}
}

// TestLimits refuses what would be billed for more than the server's option allows, before it runs.
func TestLimits(t *testing.T) {
	p := fake.Start(t)
	s := server(p)
	s.Options["maximum_bytes_billed"], s.Options["job_timeout"] = "1000000", "60"
	e := open(t, s)
	_, err := read(t, e, engines.Query{SQL: "SELECT 1"})
	if pe := pgerr.From(err); pe == nil || pe.Code != "54000" || !strings.Contains(pe.Hint, "maximum_bytes_billed") {
		t.Error(err)
	}
	p.Bytes.Store(1000)
	if _, err := read(t, e, engines.Query{SQL: "SELECT 1"}); err != nil {
		t.Error(err)
	}
	if c := p.Jobs()[1].Configuration; c.JobTimeoutMs != 60_000 || c.Query.MaximumBytesBilled != 1_000_000 {
		t.Errorf("%+v", c)
	}
}

func TestIntrospect(t *testing.T) {
	p := fake.Start(t, "CREATE SCHEMA shop", `CREATE TABLE shop.orders (id BIGINT NOT NULL, ok BOOLEAN, f DOUBLE, day DATE, "at" TIME, moment TIMESTAMPTZ, local TIMESTAMP, amount DECIMAL(12,2),
	 n DECIMAL(38,9), big DECIMAL(38,20), tags INTEGER[], prices DECIMAL(38,9)[], "odd name" VARCHAR, data BLOB, doc JSON, docs JSON[], span INTERVAL, one STRUCT(a INTEGER), many STRUCT(a INTEGER)[])`,
		"COMMENT ON TABLE shop.orders IS 'What was ordered.'", "COMMENT ON COLUMN shop.orders.day IS 'of the order'",
		"CREATE TABLE shop.empty (a MAP(VARCHAR, BIGINT))", "CREATE TABLE shop.third (a BIGINT)", "CREATE SCHEMA bare")
	p.Describe("shop", "orders", rest.Table{TimePartitioning: &rest.TimePartitioning{Type: "DAY", Field: "day"}, Clustering: &rest.Clustering{Fields: []string{"id", "ok"}}, RequirePartitionFilter: true})
	e := open(t, server(p))
	tables, err := e.Introspect(t.Context(), "shop")
	if err != nil || len(tables) != 3 {
		t.Fatalf("%+v %v", tables, err)
	}
	orders := tables[1]
	if orders.Comment != "What was ordered. Partitioned by day, DAY. Clustered by id, ok. A condition on the partition is required." || orders.Options["table_name"] != "orders" {
		t.Errorf("%+v", orders)
	}
	var got []string
	for _, c := range orders.Columns {
		got = append(got, fmt.Sprintf("%s %s %t %s", c.Name, c.Type, c.NotNull, c.Options["remote_type"]))
	}
	want := `id bigint true INT64|ok boolean false BOOL|f double precision false FLOAT64|day date false DATE|at time without time zone false TIME|moment timestamp with time zone false TIMESTAMP|` +
		`local timestamp without time zone false DATETIME|amount numeric(12,2) false NUMERIC(12,2)|n numeric(38,9) false NUMERIC|big numeric(38,20) false BIGNUMERIC(38,20)|` +
		`tags bigint[] false ARRAY<INT64>|prices numeric(38,9)[] false ARRAY<NUMERIC>|odd name text false STRING|data bytea false BYTES|doc jsonb false JSON|docs jsonb false ARRAY<JSON>|` +
		`span text false INTERVAL|one jsonb false STRUCT|many jsonb false ARRAY<STRUCT>`
	if strings.Join(got, "|") != want || orders.Columns[3].Comment != "of the order" {
		t.Errorf("%s", strings.Join(got, "|"))
	}
	if c := tables[0].Columns[0]; c.Type != "" || c.RemoteType != "RANGE" {
		t.Errorf("%+v", c)
	}
	for schema, want := range map[string]string{"nowhere": "HV00Q", "other-project.x": "HV00N", "a b": "HV00Q", "bare": "", fake.Name + ".shop": ""} {
		if _, err := e.Introspect(t.Context(), schema); code(err) != want {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

// TestIngestion lists the pseudo-columns that a table has which is partitioned by when rows came in.
func TestIngestion(t *testing.T) {
	for _, c := range []struct {
		by   *rest.TimePartitioning
		want string
	}{
		{nil, ""},
		{&rest.TimePartitioning{Type: "DAY", Field: "day"}, ""},
		{&rest.TimePartitioning{Type: "DAY"}, "_partitiontime timestamp with time zone _PARTITIONTIME TIMESTAMP|_partitiondate date _PARTITIONDATE DATE"},
		{&rest.TimePartitioning{Type: "HOUR"}, "_partitiontime timestamp with time zone _PARTITIONTIME TIMESTAMP"},
	} {
		var got []string
		for _, f := range ingestion(c.by) {
			got = append(got, strings.Join([]string{f.Name, f.Type, f.Options["column_name"], f.Options["remote_type"]}, " "))
			if !f.Partition || f.NotNull || f.Comment == "" {
				t.Errorf("%+v", f)
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%+v: %q", c.by, got)
		}
	}
}

// TestBusy makes a request again that the service has put off, or whose answer was lost: the job runs once all the same.
func TestBusy(t *testing.T) {
	p := fake.Start(t)
	e := open(t, server(p))
	p.Busy.Store(2)
	if err := e.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	p.Busy.Store(tries)
	if err := e.Ping(t.Context()); code(err) != "53400" {
		t.Error(err)
	}
	p.Lost.Store(1)
	rows, err := read(t, e, engines.Query{SQL: "SELECT 7"})
	if err != nil || rows[0][0] != "7" {
		t.Error(rows, err)
	}
	ids := map[string]bool{}
	for _, j := range p.Jobs() {
		if id := j.JobReference.JobId; id != "" {
			ids[id] = true
		}
	}
	if len(ids) != 1 {
		t.Errorf("%d jobs", len(ids))
	}
}

// TestRows takes up a stream of rows where it broke, without losing or doubling any, and finds out where some are missing.
func TestRows(t *testing.T) {
	p := fake.Start(t)
	e := open(t, server(p))
	const n = 250_000
	for streams, most := range []int64{20, 2, 2} {
		p.Streams.Store(int64(streams) + 1)
		for cut, want := range map[int64]string{0: "", 1: "", 2: "", 20: "08006"} {
			if cut > most { // each stream would get all its messages before it gives up
				continue
			}
			p.Cut.Store(cut)
			rows, err := read(t, e, engines.Query{SQL: "SELECT i FROM range(250000) t(i)"})
			p.Cut.Store(0)
			if code(err) != want {
				t.Errorf("%d streams, %d cuts: %v", streams+1, cut, err)
			}
			seen := map[string]bool{}
			for _, r := range rows {
				seen[r[0]] = true
			}
			if want == "" && (len(rows) != n || len(seen) != n) {
				t.Errorf("%d streams, %d cuts: %d rows, %d of them different", streams+1, cut, len(rows), len(seen))
			}
		}
	}
	rows, err := read(t, e, engines.Query{SQL: "SELECT i FROM range(250000) t(i) ORDER BY i"})
	if err != nil || !slices.IsSortedFunc(rows, func(a, b []string) int { return len(a[0]) - len(b[0]) }) || rows[n-1][0] != "249999" {
		t.Errorf("%d rows are in no order: %v", len(rows), err)
	}
	p.Short.Store(true)
	if _, err := read(t, e, engines.Query{SQL: "SELECT 1"}); code(err) != "08006" {
		t.Error(err)
	}
}

// TestCancelWhileSubmitted cancels a job whose id the service has not confirmed yet, too.
func TestCancelWhileSubmitted(t *testing.T) {
	p := fake.Start(t)
	e := open(t, server(p))
	p.Busy.Store(2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := e.Open(ctx, engines.Query{SQL: "SELECT sum(a.i * b.i)::BIGINT FROM range(10000000) a(i), range(10000000) b(i)"})
	if code(err) != "57014" {
		t.Error(err)
	}
	for deadline := time.Now().Add(30 * time.Second); len(p.Jobs()) == 0 || p.Running.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the job still runs")
		}
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		status          int
		reason, message string
		want            string
	}{
		{400, "invalidQuery", "Syntax error: Unexpected identifier \"SELEKT\" at [1:1]", "42601"},
		{400, "invalidQuery", "Unrecognized name: nope at [1:8]", "42703"},
		{400, "invalidQuery", "No matching signature for operator = for argument types: INT64, STRING.", "42883"},
		{400, "invalidQuery", "division by zero: 1 / 0", "22012"},
		{400, "invalidQuery", "Bad int64 value: x", "22P02"},
		{400, "invalidQuery", "Could not cast literal \"x\" to type DATE at [1:13]", "22P02"},
		{400, "invalidQuery", "int64 overflow: 9223372036854775807 + 1", "22003"},
		{400, "invalidQuery", "Cannot query over table 'a.b' without a filter over column(s) 'day' that can be used for partition elimination", "0A000"},
		{400, "bytesBilledLimitExceeded", "Query exceeded limit for bytes billed: 1. 10485760 or higher required.", "54000"},
		{400, "resourcesExceeded", "Resources exceeded during query execution", "53000"},
		{403, "responseTooLarge", "Response too large to return.", "54000"},
		{403, "accessDenied", "Access Denied: Table a:b.c: User does not have permission", "42501"},
		{403, "quotaExceeded", "Quota exceeded: Your project exceeded quota for free query bytes scanned.", "53400"},
		{403, "rateLimitExceeded", "Exceeded rate limits", "53400"},
		{404, "notFound", "Not found: Table a:b.c was not found in location EU", "42P01"},
		{404, "notFound", "Not found: Dataset a:b", "HV00Q"},
		{404, "notFound", "Not found: Project a", "HV00N"},
		{401, "authError", "Request had invalid authentication credentials.", "28000"},
		{400, "stopped", "Job execution was cancelled", "57014"},
		{503, "backendError", "Error encountered during execution. Retrying may solve the problem.", "57P03"},
		{500, "", "", "57P03"},
		{418, "", "", "HV000"},
	} {
		if pe := refused(c.status, c.reason, c.message); pe.Code != c.want || pe.Message == "" {
			t.Errorf("%+v: %+v", c, pe)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		kind    engines.ObjectKind
		options map[string]string
		code    string
	}{
		{engines.MappingObject, map[string]string{"access_token": "x"}, ""},
		{engines.MappingObject, map[string]string{"access_token": "x", "service_account": "x"}, "HV00D"},
		{engines.ServerObject, map[string]string{"endpoint": "https://x.example"}, ""},
		{engines.ServerObject, map[string]string{"endpoint": "http://127.0.0.1:9050"}, ""},
		{engines.ServerObject, map[string]string{"endpoint": "http://x.example"}, "HV00D"},
		{engines.ServerObject, map[string]string{"endpoint": "http://x.example", "storage_endpoint": "x.example:1", "emulator": "true"}, ""},
		{engines.ServerObject, map[string]string{"emulator": "true"}, "HV00B"},
	} {
		if err := (Wrapper{}).Check(c.kind, c.options); code(err) != c.code {
			t.Errorf("%v: %v", c.options, err)
		}
	}
	for v, ok := range map[string]bool{"acme-prod-1": true, "example.com:acme": true, "Acme": false, "a/b": false, "": false} {
		if err := checkProject(v); (err == nil) != ok {
			t.Errorf("%s: %v", v, err)
		}
	}
	if (Wrapper{}).Userless(map[string]string{"emulator": "on"}) != true || (Wrapper{}).Userless(nil) {
		t.Error("who is userless")
	}
}
