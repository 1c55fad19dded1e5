package tests

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded"
	"github.com/sluicedb/sluice/embedded/hometest"
)

// patience is how long anything may take before a test calls it hung.
const patience = 60 * time.Second

// world is a database with the extension, a proxy in front of it and a DuckDB file beside it.
type world struct {
	home     *embedded.Home
	addr     string // of the proxy
	database string
	direct   string // URL around the proxy
	through  string // URL through the proxy
	dir      string
	file     string // the DuckDB file
}

// newWorld makes a DuckDB file by the statements given, and a database in which server lake names it.
func newWorld(t *testing.T, duck ...string) *world {
	t.Helper()
	w := &world{home: hometest.Start(t), dir: t.TempDir()}
	w.direct = hometest.Database(t, w.home)
	u, err := url.Parse(w.direct)
	if err != nil {
		t.Fatal(err)
	}
	w.database = strings.TrimPrefix(u.Path, "/")
	w.addr = startProxy(t, w.home)
	w.through = proxyURL(w.addr, w.database)
	w.file = filepath.Join(w.dir, "lake.duckdb")
	duckExec(t, w.file, duck...)
	exec(t, w.through, "CREATE EXTENSION sluice", w.server("lake", ""))
	return w
}

// server declares the DuckDB file; more is further options with a leading comma.
func (w *world) server(name, more string) string {
	return "CREATE SERVER " + name + " FOREIGN DATA WRAPPER sluice_duckdb OPTIONS (database '" + w.file + "'" + more + ")"
}

// duckExec runs statements in a DuckDB file and closes it.
func duckExec(t *testing.T, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("duckdb", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("DuckDB: %s: %v", s, err)
		}
	}
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// connect opens a connection that ends with the test.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = conn.Close(ctx)
	})
	return conn
}

// timed bounds one step of a test.
func timed(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// rows runs a statement in the simple protocol and returns its rows with | between fields, or the SQLSTATE.
func rows(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	results, err := conn.PgConn().Exec(timed(t), sql).ReadAll()
	if code := sqlState(err); code != "" {
		return code
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var out []string
	for _, r := range results {
		for _, row := range r.Rows {
			var fields []string
			for _, v := range row {
				if v == nil {
					v = []byte("NULL")
				}
				fields = append(fields, string(v))
			}
			out = append(out, strings.Join(fields, "|"))
		}
		if len(r.FieldDescriptions) == 0 {
			out = append(out, r.CommandTag.String())
		}
	}
	return strings.Join(out, "\n")
}

// sqlState is the SQLSTATE of an error of the server; empty for others and for none.
func sqlState(err error) string {
	if pe := pgError(err); pe != nil {
		return pe.Code
	}
	return ""
}

func pgError(err error) *pgconn.PgError {
	for err != nil {
		if pe, ok := err.(*pgconn.PgError); ok {
			return pe
		}
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return nil
		}
		err = u.Unwrap()
	}
	return nil
}

// want fails the test unless a statement answers as it should.
func want(t *testing.T, conn *pgx.Conn, sql, answer string) {
	t.Helper()
	if got := rows(t, conn, sql); got != answer {
		t.Errorf("%s\n got: %s\nwant: %s", sql, got, answer)
	}
}
