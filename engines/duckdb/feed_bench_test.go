package duckdb

import (
	"sync/atomic"
	"testing"
)

// BenchmarkFeed feeds two columns of another DuckDB into a join with a thousand rows and an aggregate.
func BenchmarkFeed(b *testing.B) {
	const n = 20_000_000
	e, f := database(b, nil), federation(b)
	var open atomic.Int32
	big := feedOf(e, "SELECT i, i % 1000 AS k FROM range(20000000) r(i)", &open, "i", "BIGINT", "k", "BIGINT")
	small := feedOf(e, "SELECT i FROM range(1000) r(i)", &open, "i", "BIGINT")
	for b.Loop() {
		if _, err := federate(b, f, "SELECT s.i, sum(b.i) FROM sluice_feed(1) b JOIN sluice_feed(2) s ON b.k = s.i GROUP BY 1", big, small); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
