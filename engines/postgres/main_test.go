package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// server returns the objects for an engine on a new database, made by statements.
func server(t testing.TB, options map[string]string, statements ...string) engines.Server {
	t.Helper()
	return at(t, hometest.Database(t, hometest.Start(t)), options, statements...)
}

// at returns the objects for an engine on the database of a URL.
func at(t testing.TB, address string, options map[string]string, statements ...string) engines.Server {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, sql := range statements {
		if err := conn.Exec(t.Context(), sql).Close(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	s := engines.Server{
		Name:    "other",
		Options: map[string]string{"host": u.Hostname(), "port": u.Port(), "dbname": u.Path[1:]},
		Mapping: map[string]string{"user": u.User.Username(), "password": password},
	}
	if password == "" {
		s.Mapping["password_required"] = "false"
	}
	for k, v := range options {
		s.Options[k] = v
	}
	return s
}

// open opens an engine and closes it with the test.
func open(t testing.TB, s engines.Server) *Engine {
	t.Helper()
	e, err := Wrapper{}.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e.(*Engine)
}

// values reads a query into text, NULL for NULL.
func values(t testing.TB, e *Engine, q engines.Query) [][]string {
	t.Helper()
	s, err := e.Open(t.Context(), q)
	if err != nil {
		t.Fatalf("%s: %v", q.SQL, err)
	}
	defer s.Close()
	rows, err := collect(t.Context(), s)
	if err != nil {
		t.Fatalf("%s: %v", q.SQL, err)
	}
	var out [][]string
	for _, r := range rows {
		row := make([]string, len(r))
		for i, v := range r {
			if row[i] = "NULL"; v != nil {
				row[i] = *v
			}
		}
		out = append(out, row)
	}
	return out
}

func code(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return fmt.Sprint(err)
}

func text(s string) *string { return &s }
