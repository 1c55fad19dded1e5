package sqldb

import (
	"database/sql/driver"
	"io"
	"testing"
	"time"

	"github.com/sluicedb/sluice/engines"
)

// drained is 20 million rows: BenchmarkDrain reads them by the engine, and by the driver alone.
const drained = 20_000_000

var drainedFields = []engines.Field{{Name: "i", OID: oidInt8, Typmod: -1}, {Name: "n", OID: oidNumeric, Typmod: decimal(12, 2)}, {Name: "s", OID: oidText, Typmod: -1}}

// BenchmarkDrain reads a number, an amount and a text each, which the server computes.
func BenchmarkDrain(b *testing.B) {
	b.Run("MariaDB", func(b *testing.B) {
		e := open(b, maria(b))
		drain(b, e, "SELECT CAST(seq AS SIGNED) AS i, CAST(seq / 8 AS DECIMAL(12,2)) AS n, CONCAT('label ', seq % 1000) AS s FROM seq_1_to_20000000")
	})
	b.Run("SQLite", func(b *testing.B) {
		e := open(b, lite(b))
		drain(b, e, "WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g LIMIT 20000000) SELECT i, i / 4.0 AS n, 'label ' || (i % 1000) AS s FROM g")
	})
	b.Run("SQLServer", func(b *testing.B) {
		_, s := standIn(b)
		drain(b, openServer(b, s), "SELECT value AS i, CAST(value / 8.0 AS DECIMAL(12,2)) AS n, CONCAT('label ', value % 1000) AS s FROM GENERATE_SERIES(CAST(1 AS BIGINT), CAST(20000000 AS BIGINT))")
	})
}

// BenchmarkFirst waits for the first row of a few, over a connection that is there, by the engine and by the driver alone.
func BenchmarkFirst(b *testing.B) {
	for _, c := range []struct {
		name   string
		server func(testing.TB, ...string) engines.Server
		sql    string
	}{
		{"MariaDB", maria, "SELECT CAST(seq AS SIGNED) AS i, CAST(seq / 8 AS DECIMAL(12,2)) AS n, CONCAT('label ', seq % 1000) AS s FROM seq_1_to_100"},
		{"SQLite", lite, "WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g LIMIT 100) SELECT i, i / 4.0 AS n, 'label ' || (i % 1000) AS s FROM g"},
	} {
		e := open(b, c.server(b))
		for name, read := range map[string]func(*testing.B, *Engine, string, func(time.Time)) int{"library": readDriver, "engine": readEngine} {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				var waited time.Duration
				for b.Loop() {
					read(b, e, c.sql, func(began time.Time) { waited += time.Since(began) })
				}
				b.ReportMetric(float64(waited.Microseconds())/1000/float64(b.N), "ms-first")
			})
		}
	}
}

func drain(b *testing.B, e *Engine, sql string) {
	if err := e.Ping(b.Context()); err != nil { // the driver's connection is there too, before its time begins
		b.Fatal(err)
	}
	for name, read := range map[string]func(*testing.B, *Engine, string, func(time.Time)) int{"library": readDriver, "engine": readEngine} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				first := func(began time.Time) { b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms-first") }
				if rows := read(b, e, sql, first); rows != drained {
					b.Fatalf("%d rows", rows)
				}
			}
			b.ReportMetric(drained*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

func readEngine(b *testing.B, e *Engine, sql string, first func(began time.Time)) (rows int) {
	began := time.Now()
	s, err := e.Open(b.Context(), engines.Query{SQL: sql, Fields: drainedFields})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for {
		batch, err := s.Next(b.Context())
		if err == io.EOF {
			return rows
		}
		if err != nil {
			b.Fatal(err)
		}
		if rows == 0 {
			first(began)
		}
		rows += batch.NumRows()
	}
}

// readDriver reads rows as the driver has them, on a connection of its own.
func readDriver(b *testing.B, e *Engine, sql string, first func(began time.Time)) (rows int) {
	c, err := e.source.connect(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	stmt, found, err := c.query(b.Context(), sql, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer stmt.Close()
	defer found.Close()
	row := make([]driver.Value, len(found.Columns()))
	for {
		err := found.Next(row)
		if err == io.EOF {
			return rows
		}
		if err != nil {
			b.Fatal(err)
		}
		if rows == 0 {
			first(began)
		}
		rows++
	}
}
