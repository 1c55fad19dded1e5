package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// build runs statements on a new database file, or on none when path is empty, and closes it.
func build(t testing.TB, path string, statements ...string) {
	t.Helper()
	var db bindings.Database
	var config bindings.Config
	var message string
	bindings.CreateConfig(&config)
	defer bindings.DestroyConfig(&config)
	if bindings.OpenExt(path, &db, config, &message) == bindings.StateError {
		t.Fatal(message)
	}
	defer bindings.Close(&db)
	c, err := (&instance{db: db}).connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.disconnect()
	for _, sql := range statements {
		if _, err := c.exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// server opens an engine and closes it with the test.
func server(t testing.TB, options map[string]string) engines.Engine {
	t.Helper()
	e, err := Wrapper{}.Open(t.Context(), engines.Server{Name: "lake", Options: options})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// database makes a database file from statements and opens it.
func database(t testing.TB, options map[string]string, statements ...string) engines.Engine {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.duckdb")
	build(t, path, statements...)
	all := map[string]string{"database": path}
	for k, v := range options {
		all[k] = v
	}
	return server(t, all)
}

// read drains a query into Postgres' text, one slice a row.
func read(t testing.TB, e engines.Engine, sql string, args ...*string) ([]engines.Field, [][]string) {
	t.Helper()
	s, err := e.Open(context.Background(), engines.Query{SQL: sql, Args: args})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer s.Close()
	rows, err := drain(s)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return s.Fields(), rows
}

func drain(s engines.Stream) ([][]string, error) {
	var rows [][]string
	for {
		b, err := s.Next(context.Background())
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		r := b.(engines.Columns).Record
		for i := range int(r.NumRows()) {
			row := make([]string, r.NumCols())
			for j, col := range r.Columns() {
				if row[j] = "NULL"; col.IsValid(i) {
					text, err := appendArrow(nil, col, i)
					if err != nil {
						return rows, err
					}
					row[j] = string(text)
				}
			}
			rows = append(rows, row)
		}
	}
}

func code(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return fmt.Sprint(err)
}

func text(s string) *string { return &s }

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
