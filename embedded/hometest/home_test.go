package hometest_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicedb/sluice/embedded/hometest"
)

func TestMain(m *testing.M) { hometest.Main(m) }

func TestDatabase(t *testing.T) {
	home := hometest.Start(t)
	if again := hometest.Start(t); again != home {
		t.Error("the second Start gave another home")
	}
	first, second := hometest.Database(t, home), hometest.Database(t, home)
	if first == second {
		t.Errorf("both tests get %s", first)
	}
	conn, err := pgx.Connect(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	// Left open on purpose when the database is dropped.
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	var tables int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables); err != nil || tables != 0 {
		t.Errorf("a fresh database has %d tables (%v)", tables, err)
	}
}
