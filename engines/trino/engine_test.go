package trino

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
)

// elsewhere is a server by another address.
func elsewhere(s engines.Server, address string) engines.Server {
	host, port, _ := net.SplitHostPort(address)
	s.Options = maps.Clone(s.Options)
	s.Options["host"], s.Options["port"] = host, port
	return s
}

// coordinator answers as a test says, and notes what it was asked.
type coordinator struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []string // methods and paths
	first   *http.Request
	sql     string
	deleted chan string
}

// fake starts a coordinator. answer gets the number of the request, from 0.
func fake(t *testing.T, secure bool, answer func(n int, w http.ResponseWriter, r *http.Request)) (*coordinator, engines.Server) {
	c := &coordinator{deleted: make(chan string, 8)}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sql, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		n := len(c.asked)
		if c.asked = append(c.asked, r.Method+" "+r.URL.Path); n == 0 {
			c.first, c.sql = r, string(sql)
		}
		c.mu.Unlock()
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			c.deleted <- r.URL.Path
			return
		}
		answer(n, w, r)
	})
	options := map[string]string{"secure": "false"}
	if secure {
		c.Server = httptest.NewTLSServer(handler)
		file := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
		options = map[string]string{"sslrootcert": file}
	} else {
		c.Server = httptest.NewServer(handler)
	}
	t.Cleanup(c.Close)
	return c, elsewhere(engines.Server{Name: "cluster", Options: options, Mapping: map[string]string{"user": "analyst"}}, c.Listener.Addr().String())
}

// send writes a page: next is a path, empty at the end.
func send(w http.ResponseWriter, next, rest string) {
	if next != "" {
		rest = `"nextUri":"http://elsewhere.example:1` + next + `",` + rest
	}
	_, _ = fmt.Fprint(w, `{"id":"x",`, rest, `,"stats":{}}`)
}

const (
	oneColumn = `"columns":[{"name":"a","type":"bigint"}]`
	oneRow    = oneColumn + `,"data":[[1]]`
)

// TestProtocol reads pages by the paths that they name at the server that was asked, and tells it who asks for what.
func TestProtocol(t *testing.T) {
	c, s := fake(t, true, func(n int, w http.ResponseWriter, r *http.Request) {
		if size := r.URL.Query().Get("targetResultSize"); n > 0 && size != "1024kB" {
			t.Errorf("pages of %q are asked for", size)
		}
		switch n {
		case 0:
			send(w, "/v1/statement/queued/1", `"x":null`)
		case 1:
			send(w, "/v1/statement/executing/2", oneRow)
		case 2:
			send(w, "/v1/statement/executing/3", oneColumn+`,"data":[[2],[null]]`)
		case 3:
			send(w, "", oneColumn)
		}
	})
	maps.Copy(s.Options, map[string]string{"catalog": "hive", "schema": "web", "role": "reporting, hive=admin", "session_properties": "a=1, hive.b=x y",
		"max_execution_time": "7"})
	s.Mapping["password"] = "secret"
	one := "1"
	fields, rows, err := answer(t.Context(), open(t, s), engines.Query{SQL: "SELECT $1", Args: []*string{&one}, Tag: engines.Tag{Role: "alice", ID: "7-a"}})
	if err != nil || fmt.Sprint(rows) != "[[1] [2] [(null)]]" || len(fields) != 1 || fields[0].OID != 20 {
		t.Errorf("%v %v %v", fields, rows, err)
	}
	if want := "POST /v1/statement, GET /v1/statement/queued/1, GET /v1/statement/executing/2, GET /v1/statement/executing/3"; strings.Join(c.asked, ", ") != want {
		t.Errorf("asked %v", c.asked)
	}
	if c.sql != "EXECUTE IMMEDIATE 'SELECT ?' USING '1'" {
		t.Errorf("handed in %s", c.sql)
	}
	for name, want := range map[string]string{"X-Trino-User": "analyst", "X-Trino-Source": "sluice", "X-Trino-Client-Info": "sluice id=7-a role=alice", "X-Trino-Catalog": "hive",
		"X-Trino-Schema": "web", "X-Trino-Time-Zone": "UTC", "X-Trino-Client-Capabilities": "PARAMETRIC_DATETIME", "Authorization": "Basic YW5hbHlzdDpzZWNyZXQ=",
		"X-Trino-Role": "system=ROLE%7Breporting%7D|hive=ROLE%7Badmin%7D", "X-Trino-Session": "a=1|hive.b=x+y|query_max_execution_time=7s"} {
		if got := strings.Join(c.first.Header.Values(name), "|"); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
}

// TestLeft ends a statement at the cluster that nobody reads any more, that is cancelled, or whose rows cannot be read.
func TestLeft(t *testing.T) {
	for name, c := range map[string]struct {
		page string
		read func(t *testing.T, e *Engine)
	}{
		"closed": {oneRow, func(t *testing.T, e *Engine) {
			s, err := e.Open(t.Context(), engines.Query{SQL: "SELECT 1"})
			if err != nil {
				t.Fatal(err)
			}
			_ = s.Close()
		}},
		"cancelled": {oneRow, func(t *testing.T, e *Engine) {
			ctx, cancel := context.WithCancel(t.Context())
			s, err := e.Open(ctx, engines.Query{SQL: "SELECT 1"})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			cancel()
			if _, err := s.Next(ctx); err == nil {
				_, err = s.Next(ctx)
				if code(err) != "57014" {
					t.Error(err)
				}
			}
		}},
		"unreadable": {`"columns":[{"name":"a","type":"bigint"}],"data":[["x"]]`, func(t *testing.T, e *Engine) {
			if _, _, err := answer(t.Context(), e, engines.Query{SQL: "SELECT 1"}); code(err) != "08P01" {
				t.Error(err)
			}
		}},
		"of a type without a counterpart": {`"columns":[{"name":"a","type":"hyperloglog"}]`, func(t *testing.T, e *Engine) {
			if _, _, err := answer(t.Context(), e, engines.Query{SQL: "SELECT 1"}); code(err) != "HV004" {
				t.Error(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := fake(t, false, func(n int, w http.ResponseWriter, r *http.Request) {
				switch n {
				case 0:
					send(w, "/v1/statement/queued/1", `"x":null`)
				case 1:
					send(w, "/v1/statement/executing/2", c.page)
				default:
					<-r.Context().Done()
				}
			})
			c.read(t, open(t, s))
			if path := <-f.deleted; !strings.HasPrefix(path, "/v1/statement/") {
				t.Errorf("deleted %s", path)
			}
		})
	}
}

// TestRealPaused reads on after a pause that is longer than the cluster waits to be asked.
func TestRealPaused(t *testing.T) {
	t.Parallel()
	s, err := open(t, server(t)).Open(t.Context(), engines.Query{SQL: "SELECT orderkey, comment FROM tpch.sf1.lineitem WHERE orderkey <= 600000"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for rows := 0; ; {
		b, err := s.Next(t.Context())
		if err == io.EOF {
			if rows != 600572 {
				t.Errorf("%d rows", rows)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if rows == 0 {
			time.Sleep(15 * time.Second)
		}
		rows += b.NumRows()
	}
}

// TestAgain asks again for what a server has put off and for a page that broke off, but hands no statement in twice that it may have taken.
func TestAgain(t *testing.T) {
	drop := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "1000")
		_, _ = fmt.Fprint(w, `{"id":`)
		panic(http.ErrAbortHandler)
	}
	_, s := fake(t, false, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 0, 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 1:
			send(w, "/v1/statement/executing/1", oneRow)
		case 3:
			drop(w)
		default:
			send(w, "", oneColumn+`,"data":[[2]]`)
		}
	})
	if _, rows, err := answer(t.Context(), open(t, s), engines.Query{SQL: "SELECT 1"}); err != nil || fmt.Sprint(rows) != "[[1] [2]]" {
		t.Errorf("%v %v", rows, err)
	}
	c, s := fake(t, false, func(_ int, w http.ResponseWriter, _ *http.Request) { drop(w) })
	_, _, err := answer(t.Context(), open(t, s), engines.Query{SQL: "SELECT 1"})
	c.mu.Lock()
	defer c.mu.Unlock()
	if code(err) != "HV00N" || len(c.asked) != 1 {
		t.Errorf("%v after %v", err, c.asked)
	}
}

// TestRefused gives what a server refuses its SQLSTATE, a hint and the server's name.
func TestRefused(t *testing.T) {
	status := func(status int, text string) func(int, http.ResponseWriter, *http.Request) {
		return func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = fmt.Fprint(w, text)
		}
	}
	failed := func(name string) func(int, http.ResponseWriter, *http.Request) {
		return func(_ int, w http.ResponseWriter, _ *http.Request) {
			send(w, "", `"error":{"message":"it failed\nbadly","errorName":"`+name+`"}`)
		}
	}
	for want, answers := range map[string]func(int, http.ResponseWriter, *http.Request){
		"28P01": status(401, "Access Denied: Invalid credentials"), "28000": status(403, ""), "HV00N": status(404, "<html>"), "53300": status(429, ""), "57P03": status(503, ""),
		"08000": status(500, "x"), "42501": status(500, "a.b.Exception: Access Denied: Cannot set role"), "22023": status(400, "Invalid role"), "42P01": failed("TABLE_NOT_FOUND"), "57014": failed("EXCEEDED_TIME_LIMIT"), "53200": failed("CLUSTER_OUT_OF_MEMORY"), "HV000": failed("GENERIC_INTERNAL_ERROR"),
		"08P01": status(200, "hello"),
	} {
		_, s := fake(t, false, answers)
		_, _, err := answer(t.Context(), open(t, s), engines.Query{SQL: "SELECT 1"})
		if code(err) != want || !strings.Contains(whereOf(err), `foreign server "cluster"`) || strings.Contains(err.Error(), "badly") {
			t.Errorf("want %s: %v", want, err)
		}
	}
	c, s := fake(t, false, failed(""))
	c.Close()
	if _, _, err := answer(t.Context(), open(t, s), engines.Query{SQL: "SELECT 1"}); code(err) != "HV00N" {
		t.Errorf("nobody answers: %v", err)
	}
	if _, err := open(t, s).Probes(t.Context()); code(err) != "HV00N" {
		t.Errorf("nobody answers who is to be certified: %v", err)
	}
	c, s = fake(t, true, failed(""))
	delete(s.Options, "sslrootcert")
	if _, _, err := answer(t.Context(), open(t, s), engines.Query{SQL: "SELECT 1"}); code(err) != "HV00N" || len(c.asked) > 0 {
		t.Errorf("an impostor: %v", err)
	}
	s.Mapping = nil
	if _, _, err := answer(t.Context(), open(t, s), engines.Query{SQL: "SELECT 1"}); code(err) != "28000" {
		t.Errorf("no user: %v", err)
	}
}

// TestOptions refuses options that do not fit, and credentials that would go over the network in clear.
func TestOptions(t *testing.T) {
	for _, c := range []struct {
		kind    engines.ObjectKind
		options map[string]string
	}{
		{engines.ServerObject, map[string]string{"secure": "false", "sslrootcert": "/x"}},
		{engines.ServerObject, map[string]string{"secure": "maybe"}},
		{engines.ServerObject, map[string]string{"handles": "true", "catalog": "hive"}},
		{engines.MappingObject, map[string]string{"password": "a", "token": "b"}},
	} {
		if err := (Wrapper{}).Check(c.kind, c.options); code(err) != "HV00D" {
			t.Errorf("%v: %v", c.options, err)
		}
	}
	for _, o := range serverOptions {
		if o.Name == "host" && (o.Check("https://trino.example") == nil || o.Check("trino.example") != nil) {
			t.Error("host is not checked")
		}
		if o.Name == "session_properties" && (o.Check("a=1,b") == nil || o.Check("a b=1") == nil || o.Check("a=1, c.b=2") != nil) {
			t.Error("session_properties is not checked")
		}
	}
	for _, m := range []map[string]string{{"user": "a", "password": "b"}, {"user": "a", "token": "b"}} {
		_, err := Wrapper{}.Open(t.Context(), engines.Server{Name: "cluster", Options: map[string]string{"secure": "false"}, Mapping: m})
		if code(err) != "HV00D" {
			t.Errorf("%v: %v", m, err)
		}
	}
}

// TestRaised reads the SQLSTATE of errors that our own statements raise.
func TestRaised(t *testing.T) {
	for _, c := range []struct{ name, message, code, text string }{
		{"GENERIC_USER_ERROR", "SQLSTATE 22012: division by zero", "22012", "division by zero"},
		{"GENERIC_USER_ERROR", "SQLSTATE: none", "HV000", "SQLSTATE: none"},
		{"GENERIC_INTERNAL_ERROR", "SQLSTATE 22012: of another", "HV000", "SQLSTATE 22012: of another"},
		{"DIVISION_BY_ZERO", "Division by zero", "22012", "Division by zero"},
	} {
		if e := (&failure{Name: c.name, Message: c.message}).postgres(); e.Code != c.code || e.Message != c.text {
			t.Errorf("%+v: %s %q", c, e.Code, e.Message)
		}
	}
}
