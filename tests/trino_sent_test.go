package tests

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/duckdb"
	"github.com/sluicedb/sluice/engines/trino"
	"github.com/sluicedb/sluice/proxy"
)

// statementsAsked are those that a server in place of a Trino was handed.
type statementsAsked struct {
	mu   sync.Mutex
	list []string
}

// last returns the statement handed in last, and forgets all.
func (a *statementsAsked) last() (sql string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.list); n > 0 {
		sql = a.list[n-1]
	}
	a.list = nil
	return sql
}

// ServeHTTP answers counts with 42, and else with two rows of integers.
func (a *statementsAsked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	sql := string(body)
	a.mu.Lock()
	a.list = append(a.list, sql)
	a.mu.Unlock()
	name, rows := "integer", "[[1],[2]]"
	if strings.Contains(sql, "count(") {
		name, rows = "bigint", "[[42]]"
	}
	fmt.Fprintf(w, `{"id":"q","columns":[{"name":"x","type":"%s"}],"data":%s}`, name, rows)
}

// TestSentToTrino hands a server that joins the rows which it does not reach, each as it is when the statement runs.
func TestSentToTrino(t *testing.T) {
	asked := &statementsAsked{}
	remote := httptest.NewServer(asked)
	t.Cleanup(remote.Close)
	address, err := url.Parse(remote.URL)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgconn.ParseConfig(hometest.Database(t, hometest.Start(t)))
	if err != nil {
		t.Fatal(err)
	}
	through := proxyURL(serveProxy(t, proxy.Config{Home: config, Wrappers: []engines.Wrapper{duckdb.Wrapper{}, trino.Wrapper{}}, Federation: federation()}), config.Database)
	exec(t, through, "CREATE EXTENSION sluice", fmt.Sprintf("CREATE SERVER cluster FOREIGN DATA WRAPPER sluice_trino OPTIONS (host '%s', port '%s', secure 'false', catalog 'c', values_rows '3')", address.Hostname(), address.Port()),
		"CREATE USER MAPPING FOR PUBLIC SERVER cluster OPTIONS (user 'test')", "CREATE FOREIGN TABLE facts (k int) SERVER cluster",
		"CREATE TABLE here (id int, t text)", `INSERT INTO here VALUES (1, 'it''s'), (2, NULL)`)
	conn := connect(t, through)
	want(t, conn, "SET sluice.federation_server = 'cluster'", "SET")
	const sql = "SELECT count(*) FROM facts f JOIN here h ON h.id = f.k WHERE h.t IS DISTINCT FROM 'none'"
	sent := func(answer, values string) {
		t.Helper()
		asked.last()
		if got := answerOf(t, conn, sql, nil); got != answerOf(t, conn, "SELECT "+answer+"::bigint AS count", nil) {
			t.Errorf("%s; want %s", got, answer)
		}
		if got := asked.last(); values == "" && strings.Contains(got, "VALUES") || !strings.Contains(got, values) {
			t.Errorf("the server was asked %s; want %s", got, values)
		}
	}
	sent("42", `(VALUES ('1', 'it''s'), ('2', NULL)) AS "v" ("c1", "c2")`)
	want(t, conn, "INSERT INTO here VALUES (3, '?'), (9, 'none')", "INSERT 0 2")
	sent("42", `(VALUES ('1', 'it''s'), ('2', NULL), ('3', '?')) AS "v" ("c1", "c2")`)
	want(t, conn, "INSERT INTO here VALUES (4, '')", "INSERT 0 1")
	sent("2", "") // too many: two of the rows that the server has find theirs
	want(t, conn, "DELETE FROM here", "DELETE 5")
	sent("42", `(SELECT NULL, NULL WHERE false) AS "v" ("c1", "c2")`)
	params := "SELECT count(*) FROM facts f JOIN here h ON h.id = f.k WHERE h.t = $1"
	exec(t, through, `INSERT INTO here VALUES (1, 'x''y'), (2, 'z')`)
	for _, text := range []string{"x'y", "z"} {
		asked.last()
		var n int
		if err := conn.QueryRow(t.Context(), params, text).Scan(&n); err != nil || n != 42 {
			t.Errorf("%d, %v", n, err)
		}
		quoted := strings.ReplaceAll(text, "'", "''")
		if got := asked.last(); strings.Count(got, "VALUES") != 1 || !strings.Contains(got, strings.ReplaceAll(quoted, "'", "''")) || !strings.HasSuffix(got, " USING '"+quoted+"'") {
			t.Errorf("the server was asked %s", got)
		}
	}
}
