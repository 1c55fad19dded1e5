package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/internal/clickhousetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server returns the objects for an engine on the tests' server, after statements.
func server(t testing.TB, statements ...string) engines.Server {
	t.Helper()
	s := clickhousetest.Start(t)
	s.Run(t, statements...)
	return engines.Server{
		Name: "events", Options: map[string]string{"host": s.Host, "port": s.Port},
		Mapping: map[string]string{"user": "analyst", "password": "secret"},
	}
}

// overEach runs a test over each protocol.
func overEach(t *testing.T, test func(t *testing.T, s engines.Server), statements ...string) {
	native := server(t, statements...)
	t.Run(overNative, func(t *testing.T) { test(t, native) })
	t.Run(overHTTP, func(t *testing.T) { test(t, overWeb(t, native)) })
}

// overWeb turns the objects of server into those for its HTTP interface.
func overWeb(t testing.TB, s engines.Server) engines.Server {
	t.Helper()
	s.Options = maps.Clone(s.Options)
	s.Options["protocol"], s.Options["port"] = overHTTP, clickhousetest.Start(t).HTTP
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

func code(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return fmt.Sprint(err)
}

// failure is what a statement of an engine fails with.
func failure(ctx context.Context, e engines.Engine, sql string) error {
	s, err := e.Open(ctx, engines.Query{SQL: sql})
	if err != nil {
		return err
	}
	defer s.Close()
	for err == nil {
		_, err = s.Next(ctx)
	}
	return err
}
