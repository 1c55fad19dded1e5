package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/internal/mariadbtest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

// maria returns the objects for an engine on a new database, in which statements were run.
func maria(t testing.TB, statements ...string) engines.Server {
	t.Helper()
	m := mariadbtest.Start(t)
	name := fmt.Sprintf("t%d_%d", os.Getpid(), databases.Add(1))
	ctx := context.Background()
	if err := m.Do(ctx, "", "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Do(ctx, "", "DROP DATABASE "+name) })
	if err := m.Do(ctx, name, statements...); err != nil {
		t.Fatal(err)
	}
	return engines.Server{
		Name:    "other",
		Options: map[string]string{"driver": "mysql", "host": "127.0.0.1", "port": strconv.Itoa(m.Port), "database": name},
		Mapping: map[string]string{"user": mariadbtest.Reader, "password": mariadbtest.ReaderPassword},
	}
}

// databases numbers the databases of this process.
var databases atomic.Int64

// lite returns the objects for an engine on a new file, in which statements were run.
func lite(t testing.TB, statements ...string) engines.Server {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a 'file'?.db")
	conn, err := (&sqlite3.SQLiteDriver{}).Open(fileURL(file))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, sql := range append([]string{"CREATE TABLE empty(a)"}, statements...) {
		if _, err := conn.(driver.ExecerContext).ExecContext(t.Context(), sql, nil); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	return engines.Server{Name: "other", Options: map[string]string{"driver": "sqlite", "file": file}}
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

func code(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return fmt.Sprint(err)
}

func where(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Where
	}
	return ""
}
