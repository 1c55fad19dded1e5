package trino

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/internal/trinotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server returns the objects for an engine on the tests' server.
func server(t testing.TB) engines.Server {
	t.Helper()
	s := trinotest.Start(t)
	return engines.Server{
		Name: "cluster", Options: map[string]string{"host": s.Host, "port": s.Port, "secure": "false", "catalog": "tpch"},
		Mapping: map[string]string{"user": "analyst"},
	}
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

// answer is what a query yields: its fields, and its values as Arrow spells them, a row each.
func answer(ctx context.Context, e engines.Engine, q engines.Query) (fields []engines.Field, rows [][]string, err error) {
	s, err := e.Open(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	for {
		b, err := s.Next(ctx)
		if err == io.EOF {
			return s.Fields(), rows, nil
		}
		if err != nil {
			return s.Fields(), rows, err
		}
		record := b.(engines.Columns).Record
		for i := range b.NumRows() {
			row := make([]string, record.NumCols())
			for k, c := range record.Columns() {
				row[k] = c.ValueStr(i)
			}
			rows = append(rows, row)
		}
	}
}

func whereOf(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Where
	}
	return ""
}
