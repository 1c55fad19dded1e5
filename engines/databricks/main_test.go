package databricks

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/goleak"

	"github.com/sluicedb/sluice/engines"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
		var record arrow.RecordBatch = b.(engines.Columns).Record
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
	s, err := e.Open(t.Context(), engines.Query{SQL: sql, Args: args})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return drain(t.Context(), s)
}

func text(s string) *string { return &s }
