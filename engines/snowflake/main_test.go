package snowflake

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/snowflake/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is how an account is declared.
func server(a *fake.Account) engines.Server {
	return engines.Server{Name: "flake", Options: a.Options(), Mapping: map[string]string{"user": fake.User, "password": fake.Password}}
}

func open(t testing.TB, s engines.Server) *Engine {
	t.Helper()
	e, err := Wrapper{}.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e.(*Engine)
}

func code(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return ""
}

// drain reads s to its end and returns the text of each value by rows.
func drain(ctx context.Context, s engines.Stream) ([][]string, error) {
	var rows [][]string
	for {
		b, err := s.Next(ctx)
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		record := b.(engines.Columns).Record
		for i := range int(record.NumRows()) {
			row := make([]string, record.NumCols())
			for j, c := range record.Columns() {
				row[j] = c.ValueStr(i)
			}
			rows = append(rows, row)
		}
	}
}

func read(t testing.TB, e engines.Engine, sql string, args ...*string) ([][]string, error) {
	t.Helper()
	return readAs(t, e, engines.Query{SQL: sql, Args: args})
}

func readAs(t testing.TB, e engines.Engine, q engines.Query) ([][]string, error) {
	t.Helper()
	s, err := e.Open(t.Context(), q)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return drain(t.Context(), s)
}

func text(s string) *string { return &s }
