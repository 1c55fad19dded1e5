// Package fake is an account of Snowflake for tests: the protocol that Snowflake's own drivers speak, over statements that a DuckDB
// computes. It checks every request, and refuses what the service would. The one rule: it shares no code with the engine that it checks.
package fake

import (
	"context"
	"crypto/rsa"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"

	_ "github.com/duckdb/duckdb-go/v2" // DuckDB, by database/sql
)

// What the account accepts.
const (
	Name      = "fake-account"
	User      = "analyst"
	Password  = `s%cret'\`
	Token     = "oauth-token"
	Pat       = "programmatic-token"
	Database  = "LAKE"
	Warehouse = "COMPUTE"
	Role      = "READER"
)

// Account is one whose statements a DuckDB computes.
type Account struct {
	*httptest.Server
	duck    engines.Engine
	path    string       // of the DuckDB
	reading sync.RWMutex // who has a stream open, or changes something, holds it

	mu         sync.Mutex
	key        *rsa.PublicKey // of User, nil for none
	sessions   map[string]bool
	logins     int
	statements map[string]*statement // by id
	requests   map[string]*statement // by the id of the request
	orders     []Order
	answers    map[string]Answer
	storage    string // where results are said to lie
	unexpected []string

	// ChunkRows is how many rows a part has that lies in storage.
	ChunkRows int64

	// What it counts.
	Produced atomic.Int64 // rows that were sent
	Running  atomic.Int64 // statements that compute
	Aborted  atomic.Int64 // statements that were aborted
	Sessions atomic.Int64 // that are logged in

	// What it is to do, so many times.
	Busy    atomic.Int64 // statements that are answered with status 503
	Expired atomic.Int64 // statements whose session's token has expired
	Cut     atomic.Int64 // parts that break off
}

// Order is a statement as it was handed in.
type Order struct {
	SQL  string
	Tag  string
	Args []*string
}

// Answer is the result of a statement that is not computed.
type Answer struct {
	Columns []Column
	Record  arrow.RecordBatch
	Parts   int         // so many parts in storage have the record each, in place of the answer
	JSON    [][]*string // rows in place of a record
	Number  string      // of an error, with SQLState and Message
	State   string
	Message string
}

// Column describes a column of a result.
type Column struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Precision int    `json:"precision"`
	Scale     int    `json:"scale"`
	Nullable  bool   `json:"nullable"`
}

// Start serves an account on this machine until the test ends. Its database LAKE is a DuckDB that the statements make.
func Start(t testing.TB, statements ...string) *Account {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lake.duckdb")
	build(t, file, slices.Concat(informationSchema, statements))
	duck, err := inside(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	a := &Account{duck: duck, path: file, sessions: map[string]bool{}, statements: map[string]*statement{}, requests: map[string]*statement{}, answers: map[string]Answer{},
		ChunkRows: 50_000}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /session/v1/login-request", a.login)
	mux.HandleFunc("POST /session/token-request", a.renew)
	mux.HandleFunc("POST /session", a.authorized(a.logout))
	mux.HandleFunc("POST /queries/v1/query-request", a.authorized(a.execute))
	mux.HandleFunc("POST /queries/v1/abort-request", a.authorized(a.abort))
	mux.HandleFunc("GET /queries/{id}/result", a.authorized(a.await))
	mux.HandleFunc("GET /storage/{id}/{n}", a.part)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.unexpected = append(a.unexpected, r.URL.Path)
		a.mu.Unlock()
		http.Error(w, "no such path", http.StatusNotFound)
	})
	a.Server = httptest.NewServer(mux)
	a.Advertise(a.URL)
	t.Cleanup(func() {
		a.Close()
		for _, s := range a.statements {
			s.end()
		}
		_ = a.duck.Close()
		if len(a.unexpected) > 0 {
			t.Errorf("the account was asked for %q", a.unexpected)
		}
	})
	return a
}

func inside(ctx context.Context, file string) (engines.Engine, error) {
	return duckdb.Wrapper{}.Open(ctx, engines.Server{Name: "inside", Options: map[string]string{"database": file, "read_only": "true"}})
}

// change executes a statement that is no query, while nobody reads, and returns how many rows it has written.
func (a *Account) change(ctx context.Context, q engines.Query) (rows int64, err error) {
	a.reading.Lock()
	defer a.reading.Unlock()
	err = a.duck.Close()
	db, openErr := sql.Open("duckdb", a.path)
	if err = errors.Join(err, openErr); err != nil {
		return 0, err
	}
	args := make([]any, len(q.Args))
	for i, v := range q.Args {
		args[i] = v
	}
	done, err := db.ExecContext(ctx, q.SQL, args...)
	if err == nil {
		rows, err = done.RowsAffected()
	}
	err = errors.Join(err, db.Close())
	a.duck, openErr = inside(context.Background(), a.path)
	return rows, errors.Join(err, openErr)
}

// Options are those of a foreign server that is the account.
func (a *Account) Options() map[string]string {
	host, port, _ := net.SplitHostPort(a.Listener.Addr().String())
	return Options(host, port)
}

// Options are those of a foreign server that is an account at an address.
func Options(host, port string) map[string]string {
	return map[string]string{"account": Name, "host": host, "port": port, "protocol": "http", "database": Database, "warehouse": Warehouse, "role": Role}
}

// Accept has key-pair logins of User accepted.
func (a *Account) Accept(key *rsa.PublicKey) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.key = key
}

// Advertise says where results are said to lie.
func (a *Account) Advertise(url string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.storage = url
}

// Script has a statement answered so.
func (a *Account) Script(sql string, answer Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[sql] = answer
}

// Revoke ends all sessions.
func (a *Account) Revoke() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.sessions)
}

// Orders are the statements that were handed in.
func (a *Account) Orders() []Order {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.orders)
}

// Logins is how often somebody has logged in.
func (a *Account) Logins() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.logins
}

// answer says that a request has succeeded, refuse that it has not.
func (a *Account) answer(w http.ResponseWriter, data any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"success": true, "code": nil, "message": nil, "data": data})
}

func (a *Account) refuse(w http.ResponseWriter, code, state, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"success": false, "code": code, "message": fmt.Sprintf(format, args...),
		"data": map[string]any{"sqlState": state, "queryId": "01b2-fake", "errorCode": code}})
}

func (a *Account) authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token := r.Header.Get("Authorization")
		a.mu.Lock()
		ok := a.sessions[token]
		a.mu.Unlock()
		switch {
		case !ok && token == "":
			http.Error(w, "no token", http.StatusBadRequest)
		case !ok:
			a.refuse(w, "390111", "08001", "Session no longer exists. New login required to access the service.")
		case r.Header.Get("Accept") != "application/snowflake":
			http.Error(w, "Accept is "+r.Header.Get("Accept"), http.StatusNotAcceptable)
		default:
			next(w, r)
		}
	}
}

// informationSchema makes what the service has and DuckDB has under other names. Names without capitals are those that were written
// without quotes, which are upper case there; but for those of handles, which the engine writes with quotes.
var informationSchema = []string{
	"CREATE SCHEMA fake_information",
	"CREATE MACRO current_version() AS '9.0.0'",
	"CREATE MACRO startswith(a, b) AS starts_with(a, b)",
	"CREATE MACRO to_binary(a, f) AS CASE f WHEN 'HEX' THEN unhex(a) END",
	"CREATE MACRO fake_information.folded(name) AS CASE WHEN name = lower(name) AND NOT starts_with(name, 'sluice_handle_') THEN upper(name) ELSE name END",
	`CREATE VIEW fake_information.SCHEMATA AS SELECT fake_information.folded(schema_name) AS SCHEMA_NAME FROM duckdb_schemas()
	 WHERE database_name = 'lake' AND schema_name <> 'fake_information'`,
	`CREATE VIEW fake_information.TABLES AS SELECT fake_information.folded(schema_name) AS TABLE_SCHEMA, fake_information.folded(table_name) AS TABLE_NAME, comment AS COMMENT,
	 estimated_size AS ROW_COUNT FROM duckdb_tables() WHERE database_name = 'lake'
	 UNION ALL SELECT fake_information.folded(schema_name), fake_information.folded(view_name), comment, NULL FROM duckdb_views() WHERE database_name = 'lake' AND NOT internal`,
	`CREATE VIEW fake_information.COLUMNS AS SELECT fake_information.folded(schema_name) AS TABLE_SCHEMA, fake_information.folded(table_name) AS TABLE_NAME,
	 fake_information.folded(column_name) AS COLUMN_NAME, column_index AS ORDINAL_POSITION, comment AS COMMENT, CASE WHEN is_nullable THEN 'YES' ELSE 'NO' END AS IS_NULLABLE,
	 CASE WHEN data_type LIKE 'DECIMAL%' OR data_type LIKE '%INT' OR data_type = 'INTEGER' THEN 'NUMBER' WHEN data_type = 'VARCHAR' THEN 'TEXT' WHEN data_type = 'DOUBLE' THEN 'FLOAT' WHEN data_type = 'BLOB' THEN 'BINARY'
	  WHEN data_type = 'JSON' THEN 'VARIANT' WHEN data_type = 'TIMESTAMP' THEN 'TIMESTAMP_NTZ' WHEN data_type LIKE 'TIMESTAMP WITH%' THEN 'TIMESTAMP_LTZ'
	  WHEN data_type = 'INTERVAL' THEN 'VECTOR' ELSE data_type END AS DATA_TYPE,
	 CASE data_type WHEN 'SMALLINT' THEN 4 WHEN 'INTEGER' THEN 9 WHEN 'BIGINT' THEN 18 ELSE numeric_precision END AS NUMERIC_PRECISION, numeric_scale AS NUMERIC_SCALE
	 FROM duckdb_columns() WHERE database_name = 'lake'`,
}

func build(t testing.TB, file string, statements []string) {
	t.Helper()
	db, err := sql.Open("duckdb", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func token(n int) string { return `Snowflake Token="session-` + strconv.Itoa(n) + `"` }
