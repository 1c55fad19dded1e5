package tests

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
	"github.com/sluicedb/sluice/internal/oracle"
)

// fixture makes the oracle's tables in a fresh database and returns its URL and a connection to it, around any proxy.
func fixture(t *testing.T) (url string, admin *pgx.Conn) {
	url = hometest.Database(t, hometest.Start(t))
	admin, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	loadFixture(t, admin)
	return url, admin
}

// loadFixture makes the tables that statements are asked of.
func loadFixture(t *testing.T, admin *pgx.Conn) {
	t.Helper()
	text, err := os.ReadFile("testdata/fixture.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.PgConn().Exec(t.Context(), string(text)).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// asked is one file of statements.
type asked struct {
	name string
	list []oracle.Statement
}

// statements loads the files of the oracle.
func statements(t *testing.T) []asked {
	paths, err := filepath.Glob("testdata/oracle/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no statements: %v", err)
	}
	var all []asked
	for _, path := range paths {
		list, err := oracle.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, asked{filepath.Base(path), list})
	}
	return all
}

// TestOracleOfItself asks Postgres twice: a statement whose answer is not the same each time proves nothing.
func TestOracleOfItself(t *testing.T) {
	url, _ := fixture(t)
	o := oracle.New(t, url, url, &oracle.Side{Name: "postgres again", Schema: "plain"})
	for _, file := range statements(t) {
		t.Run(file.name, func(t *testing.T) {
			for _, s := range file.list {
				o.Compare(t, s)
			}
		})
	}
	t.Log(o.Report())
}
