// Package fake is a project of BigQuery for tests: its REST API for jobs and tables, and its Storage Read API, over statements that a
// DuckDB computes. It checks every request, and refuses what the service would. The one rule: it shares no code with the engine
// that it checks.
package fake

import (
	"crypto/rsa"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	rest "google.golang.org/api/bigquery/v2"
	"google.golang.org/grpc"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"

	_ "github.com/duckdb/duckdb-go/v2" // DuckDB, by database/sql
)

// Project is one whose statements a DuckDB computes: the schemas of its database are the datasets.
type Project struct {
	storagepb.UnimplementedBigQueryReadServer

	URL     string // of the REST API
	Address string // of the Storage Read API

	duck   engines.Engine
	tables []table
	key    *rsa.PrivateKey

	mu      sync.Mutex
	tokens  map[string]bool // that are accepted
	jobs    map[string]*job
	uploads map[string]*upload
	kept    []table      // that requests have made
	made    []rest.Table // all of them
	results []*job       // of which the rows are kept, the oldest first
	ordered []*rest.Job  // as they were handed in
	details map[string]rest.Table

	// What it counts.
	Produced atomic.Int64 // rows that were sent
	Running  atomic.Int64 // jobs that have not ended, and streams of rows that are being read
	Granted  atomic.Int64 // tokens that were given out for keys

	// What it is to do.
	Streams atomic.Int64 // by how many streams rows come at most, where their order does not matter
	Busy    atomic.Int64 // so many requests are put off
	Lost    atomic.Int64 // so many answers to new jobs are lost
	Cut     atomic.Int64 // so many streams break off behind their first message
	Bytes   atomic.Int64 // what a statement is billed for
	Short   atomic.Bool  // says that there are more rows than come
}

// What the project accepts.
const (
	Name    = "acme-lake"
	Token   = "ya29.secret"
	Account = "reader@acme-lake.iam.gserviceaccount.com"
)

// Start serves a project on this machine until the test ends, over a DuckDB that the statements make.
func Start(t testing.TB, statements ...string) *Project {
	t.Helper()
	file := filepath.Join(t.TempDir(), Name+".duckdb")
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
	tables, err := readTables(db)
	if err != nil {
		t.Fatal(err)
	}
	_ = db.Close()
	return serve(t, file, tables)
}

func serve(t testing.TB, file string, tables []table) *Project {
	t.Helper()
	duck, err := duckdb.Wrapper{}.Open(t.Context(), engines.Server{Name: "inside", Options: map[string]string{"database": file, "read_only": "false", "handles": "true"}})
	if err != nil {
		t.Fatal(err)
	}
	p := &Project{duck: duck, tables: tables, tokens: map[string]bool{Token: true}, jobs: map[string]*job{}, uploads: map[string]*upload{}, details: map[string]rest.Table{}}
	p.Streams.Store(1)
	p.Bytes.Store(10 << 20)
	web := httptest.NewServer(p.routes())
	p.URL = web.URL
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.Address = listener.Addr().String()
	rows := grpc.NewServer(grpc.InitialWindowSize(1<<20), grpc.WriteBufferSize(32<<10))
	storagepb.RegisterBigQueryReadServer(rows, p)
	go func() { _ = rows.Serve(listener) }()
	t.Cleanup(func() {
		web.Close()
		for _, j := range p.jobs {
			j.end()
		}
		rows.Stop()
		_ = duck.Close()
	})
	return p
}

// Describe adds to a table what DuckDB does not know of it.
func (p *Project) Describe(dataset, table string, more rest.Table) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.details[dataset+"."+table] = more
}

// Jobs are those that were handed in, dry runs too.
func (p *Project) Jobs() []*rest.Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.ordered)
}

// Revoke makes all tokens invalid.
func (p *Project) Revoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.tokens)
}

func (p *Project) routes() http.Handler {
	const project = "/bigquery/v2/projects/{project}"
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", p.grant)
	mux.HandleFunc("POST "+project+"/jobs", p.authorized(p.insert))
	mux.HandleFunc("GET "+project+"/jobs/{job}", p.authorized(p.get))
	mux.HandleFunc("POST "+project+"/jobs/{job}/cancel", p.authorized(p.cancel))
	mux.HandleFunc("GET "+project+"/queries/{job}", p.authorized(p.await))
	mux.HandleFunc("GET "+project+"/datasets/{dataset}/tables", p.authorized(p.list))
	mux.HandleFunc("GET "+project+"/datasets/{dataset}/tables/{table}", p.authorized(p.describe))
	mux.HandleFunc("POST "+project+"/datasets/{dataset}/tables", p.authorized(p.makeTable))
	mux.HandleFunc("DELETE "+project+"/datasets/{dataset}/tables/{table}", p.authorized(p.dropTable))
	mux.HandleFunc("POST /upload"+project+"/jobs", p.authorized(p.upload))
	mux.HandleFunc("POST /uploads/{upload}", p.part)
	return mux
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, reason, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	answer(w, status, map[string]any{"error": map[string]any{"code": status, "message": message, "status": "X",
		"errors": []map[string]string{{"message": message, "domain": "global", "reason": reason}}}})
}

func (p *Project) accepts(authorization string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	token, ok := strings.CutPrefix(authorization, "Bearer ")
	return ok && p.tokens[token]
}

func (p *Project) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !p.accepts(r.Header.Get("Authorization")):
			refuse(w, http.StatusUnauthorized, "authError", "Request had invalid authentication credentials.")
		case p.Busy.Add(-1) >= 0:
			refuse(w, http.StatusForbidden, "rateLimitExceeded", "Exceeded rate limits: too many api requests per user per method for this user_method.")
		case r.PathValue("project") != Name:
			refuse(w, http.StatusNotFound, "notFound", "Not found: Project %s", r.PathValue("project"))
		default:
			next(w, r)
		}
	}
}
