// Package fake is a workspace of Databricks for tests: the SQL Statement Execution API over statements that a DuckDB computes. It
// checks every request, and refuses what the service would. The one rule: it shares no code with the engine that it checks.
package fake

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/pgerr"

	_ "github.com/duckdb/duckdb-go/v2" // DuckDB, by database/sql
)

// Workspace is one whose statements a DuckDB computes. It checks every request, and refuses what the service would.
type Workspace struct {
	*httptest.Server
	duck engines.Engine
	path string       // of the DuckDB
	open sync.RWMutex // who reads, or writes, holds it

	mu         sync.Mutex
	tokens     map[string]bool // that are accepted
	granted    int             // tokens that OAuth has given out
	statements map[string]*statement
	orders     []Order // as they were handed in

	// Settings of warehouses, which are UTC and ANSI mode where they are not set otherwise.
	TimeZone atomic.Pointer[string]
	NoANSI   atomic.Bool

	// What it counts.
	Produced atomic.Int64 // rows that are in files
	Running  atomic.Int64 // statements that are neither read to their end nor cancelled

	// What it is to do, so many times.
	Busy    atomic.Int64 // requests that are answered with status 429
	Expired atomic.Int64 // links that are refused
	Cut     atomic.Int64 // files that break off
}

// What the workspace accepts.
const (
	Version      = "4.0.0 0123456789abcdef"
	Token        = "dapi-secret"
	Warehouse    = "0123456789abcdef"
	ClientID     = "principal"
	ClientSecret = "s%cret:"
)

// Start serves a workspace on this machine until the test ends. Its catalog lake is a DuckDB that the statements make.
func Start(t testing.TB, statements ...string) *Workspace {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lake.duckdb")
	build(t, file, slices.Concat(informationSchema, statements))
	return Serve(t, file)
}

// Serve is Start over a DuckDB that there is: its file's name is that of the catalog, which has no information schema.
func Serve(t testing.TB, file string) *Workspace {
	t.Helper()
	duck, err := inside(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	f := &Workspace{duck: duck, path: file, tokens: map[string]bool{Token: true}, statements: map[string]*statement{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /oidc/v1/token", f.grant)
	mux.HandleFunc("POST /api/2.0/sql/statements", f.authorized(f.execute))
	mux.HandleFunc("GET /api/2.0/sql/statements/{id}", f.authorized(f.status))
	mux.HandleFunc("POST /api/2.0/sql/statements/{id}/cancel", f.authorized(f.cancel))
	mux.HandleFunc("GET /api/2.0/sql/statements/{id}/result/chunks/{n}", f.authorized(f.chunk))
	mux.HandleFunc("GET /files/{id}/{n}", f.file)
	f.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		f.Close()
		for _, s := range f.statements {
			s.end()
		}
		_ = f.duck.Close()
	})
	return f
}

func inside(ctx context.Context, file string) (engines.Engine, error) {
	return duckdb.Wrapper{}.Open(ctx, engines.Server{Name: "inside", Options: map[string]string{"database": file, "read_only": "true"}})
}

// change executes a statement that is no query, while nobody reads.
func (f *Workspace) change(ctx context.Context, q engines.Query) error {
	f.open.Lock()
	defer f.open.Unlock()
	err := f.duck.Close()
	db, err2 := sql.Open("duckdb", f.path)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	args := make([]any, len(q.Args))
	for i, v := range q.Args {
		args[i] = v
	}
	_, err = db.ExecContext(ctx, q.SQL, args...)
	err = errors.Join(err, db.Close())
	f.duck, err2 = inside(context.Background(), f.path)
	return errors.Join(err, err2)
}

// Orders are the statements that were handed in.
func (f *Workspace) Orders() []Order {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.orders)
}

func (f *Workspace) answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (f *Workspace) refuse(w http.ResponseWriter, status int, code, format string, args ...any) {
	f.answer(w, status, map[string]string{"error_code": code, "message": fmt.Sprintf(format, args...)})
}

func (f *Workspace) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		ok := f.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		f.mu.Unlock()
		switch {
		case !ok:
			f.refuse(w, http.StatusUnauthorized, "UNAUTHENTICATED", "Credential was not sent or was of an unsupported type for this API.")
		case f.Busy.Add(-1) >= 0:
			w.Header().Set("Retry-After", "0")
			f.refuse(w, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "too many requests")
		default:
			next(w, r)
		}
	}
}

// grant is OAuth's, by client credentials.
func (f *Workspace) grant(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	if id != ClientID || secret != "s%25cret%3A" || r.PostFormValue("grant_type") != "client_credentials" || r.PostFormValue("scope") != "all-apis" {
		f.answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client", "error_description": "Client authentication failed"})
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.granted++
	token := "granted-" + strconv.Itoa(f.granted)
	f.tokens[token] = true
	f.answer(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600})
}

// Revoke makes the tokens that OAuth has given out invalid.
func (f *Workspace) Revoke() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for token := range f.tokens {
		delete(f.tokens, token)
	}
}

// informationSchema makes what the service has and DuckDB has under other names.
var informationSchema = []string{
	"CREATE SCHEMA fake_information",
	"CREATE VIEW fake_information.schemata AS SELECT schema_name FROM duckdb_schemas() WHERE database_name = 'lake' AND schema_name <> 'fake_information'",
	"CREATE VIEW fake_information.tables AS SELECT schema_name AS table_schema, table_name, comment FROM duckdb_tables() WHERE database_name = 'lake'",
	`CREATE VIEW fake_information.columns AS SELECT schema_name AS table_schema, table_name, column_name, column_index AS ordinal_position, comment,
	 CASE WHEN is_nullable THEN 'YES' ELSE 'NO' END AS is_nullable,
	 CASE WHEN data_type LIKE 'STRUCT%' THEN 'struct<a:int>' WHEN data_type LIKE '%[]' THEN 'array<int>' ELSE replace(replace(replace(replace(replace(replace(lower(data_type), 'varchar', 'string'), 'integer', 'int'),
	  'blob', 'binary'), 'timestamp with time zone', 'moment'), 'timestamp', 'timestamp_ntz'), 'moment', 'timestamp') END AS full_data_type FROM duckdb_columns() WHERE database_name = 'lake'`,
}

func build(t testing.TB, file string, statements []string) {
	t.Helper()
	db, err := sql.Open("duckdb", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func (f *Workspace) execute(w http.ResponseWriter, r *http.Request) {
	var o Order
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		f.refuse(w, http.StatusBadRequest, "BAD_REQUEST", "%v", err)
		return
	}
	switch {
	case o.Warehouse != Warehouse:
		f.refuse(w, http.StatusNotFound, "NOT_FOUND", "SQL warehouse %s does not exist", o.Warehouse)
		return
	case o.Disposition != "EXTERNAL_LINKS" || o.Format != "ARROW_STREAM" || o.WaitTimeout != "0s" || o.Catalog == "" || r.Header.Get("Content-Type") != "application/json":
		f.refuse(w, http.StatusBadRequest, "BAD_REQUEST", "the order is %+v", o)
		return
	}
	args := make([]*string, len(o.Parameters))
	for i, p := range o.Parameters {
		if p.Name != "p"+strconv.Itoa(i+1) || p.Type != "STRING" {
			f.refuse(w, http.StatusBadRequest, "BAD_REQUEST", "parameter %+v", p)
			return
		}
		args[i] = p.Value
	}
	f.mu.Lock()
	s := &statement{fake: f, id: fmt.Sprintf("01ef-%04d", len(f.statements)), changes: changing.MatchString(o.Statement), opened: make(chan struct{})}
	f.statements[s.id], f.orders = s, append(f.orders, o)
	f.mu.Unlock()
	s.ctx, s.stop = context.WithCancel(context.Background())
	f.Running.Add(1)
	go s.run(engines.Query{SQL: f.translate(o.Statement), Args: args})
	f.answer(w, http.StatusOK, map[string]any{"statement_id": s.id, "status": map[string]string{"state": "PENDING"}})
}

func (f *Workspace) find(w http.ResponseWriter, r *http.Request) *statement {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.statements[r.PathValue("id")]
	if s == nil {
		f.refuse(w, http.StatusNotFound, "NOT_FOUND", "statement %s does not exist", r.PathValue("id"))
	}
	return s
}

func (f *Workspace) cancel(w http.ResponseWriter, r *http.Request) {
	if s := f.find(w, r); s != nil {
		s.end()
		f.answer(w, http.StatusOK, struct{}{})
	}
}

func (f *Workspace) status(w http.ResponseWriter, r *http.Request) {
	s := f.find(w, r)
	if s == nil {
		return
	}
	select {
	case <-s.opened:
	default:
		f.answer(w, http.StatusOK, map[string]any{"statement_id": s.id, "status": map[string]string{"state": "RUNNING"}})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil && s.err != nil:
		f.answer(w, http.StatusOK, map[string]any{"statement_id": s.id, "status": map[string]string{"state": "CANCELED"}})
	case s.err != nil:
		pe := pgerr.From(s.err)
		f.answer(w, http.StatusOK, map[string]any{"statement_id": s.id, "status": map[string]any{"state": "FAILED",
			"error": map[string]string{"error_code": "BAD_REQUEST", "message": "[SOME_CONDITION] " + pe.Message + " SQLSTATE: " + pe.Code + "\n== SQL ==\nsecret"}}})
	default:
		f.answer(w, http.StatusOK, map[string]any{"statement_id": s.id, "status": map[string]string{"state": "SUCCEEDED"}, "manifest": s.manifest()})
	}
}

func (f *Workspace) chunk(w http.ResponseWriter, r *http.Request) {
	s := f.find(w, r)
	if s == nil {
		return
	}
	n, _ := strconv.Atoi(r.PathValue("n"))
	l, err := s.part(n)
	if err != nil {
		f.refuse(w, http.StatusBadRequest, "BAD_REQUEST", "%v", err)
		return
	}
	l.URL = "http://" + r.Host + l.URL // by the way that its reader has come
	f.answer(w, http.StatusOK, map[string]any{"external_links": []link{l}})
}

// file is what storage yields, to whoever has the link and shows no token.
func (f *Workspace) file(w http.ResponseWriter, r *http.Request) {
	s := f.find(w, r)
	if s == nil {
		return
	}
	switch {
	case r.Header.Get("Authorization") != "" || r.Header.Get("X-Storage") != "yes":
		http.Error(w, "credentials do not belong here", http.StatusBadRequest)
	case f.Expired.Add(-1) >= 0:
		http.Error(w, "the link has expired", http.StatusForbidden)
	default:
		s.mu.Lock()
		content := s.content
		s.mu.Unlock()
		if f.Cut.Add(-1) >= 0 {
			content = content[:len(content)*2/3]
			w.Header().Set("Content-Length", strconv.Itoa(len(content)+1))
		}
		_, _ = w.Write(content)
	}
}
