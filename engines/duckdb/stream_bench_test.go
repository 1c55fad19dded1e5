package duckdb

import (
	"io"
	"testing"

	"github.com/sluicedb/sluice/engines"
)

// BenchmarkStream drains a result of three columns.
func BenchmarkStream(b *testing.B) {
	e := database(b, nil)
	rows := 0
	for b.Loop() {
		s, err := e.Open(b.Context(), engines.Query{SQL: "SELECT i, i::VARCHAR AS s, i * 1.5 AS d FROM range(5000000) t(i)"})
		if err != nil {
			b.Fatal(err)
		}
		for {
			batch, err := s.Next(b.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			rows += batch.NumRows()
		}
		s.Close()
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// BenchmarkOpen opens, reads and closes a result of one row.
func BenchmarkOpen(b *testing.B) {
	e := database(b, nil)
	for b.Loop() {
		s, err := e.Open(b.Context(), engines.Query{SQL: "SELECT 1"})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
