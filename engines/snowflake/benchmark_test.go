package snowflake

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/snowflakedb/gosnowflake"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/snowflake/fake"
)

// drained is 20 million rows: BenchmarkDrain reads them by the engine, and by the library alone.
const (
	drained  = 20_000_000
	partRows = 100_000
)

var drainedFields = []engines.Field{{Name: "i", OID: oidInt8, Typmod: -1}, {Name: "n", OID: oidNumeric, Typmod: 12<<16 | 2 + 4}, {Name: "s", OID: oidText, Typmod: -1}}

// drainable serves the rows, a number, an amount and a text each, from memory.
func drainable(b *testing.B) *fake.Account {
	f := fake.Start(b)
	i, n, s := array.NewInt64Builder(arrowMemory), array.NewInt64Builder(arrowMemory), array.NewStringBuilder(arrowMemory)
	for row := range partRows {
		i.Append(int64(row))
		n.Append(int64(row) * 7)
		s.Append(fmt.Sprintf("label %d", row%1000))
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "I", Type: arrow.PrimitiveTypes.Int64}, {Name: "N", Type: arrow.PrimitiveTypes.Int64}, {Name: "S", Type: arrow.BinaryTypes.String}}, nil)
	f.Script("ALL", fake.Answer{Parts: drained / partRows, Record: array.NewRecordBatch(schema, []arrow.Array{i.NewArray(), n.NewArray(), s.NewArray()}, partRows),
		Columns: []fake.Column{{Name: "I", Type: "fixed", Precision: 18}, {Name: "N", Type: "fixed", Precision: 12, Scale: 2}, {Name: "S", Type: "text"}}})
	return f
}

func BenchmarkDrain(b *testing.B) {
	f := drainable(b)
	e, err := Wrapper{}.Open(b.Context(), server(f))
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			drainLibrary(b, e.(*Engine))
		}
		b.ReportMetric(drained*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	})
	b.Run("engine", func(b *testing.B) {
		for b.Loop() {
			drainEngine(b, e)
		}
		b.ReportMetric(drained*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	})
}

func drainEngine(b *testing.B, e engines.Engine) {
	began := time.Now()
	s, err := e.Open(b.Context(), engines.Query{SQL: "ALL", Fields: drainedFields})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rows := 0
	for {
		batch, err := s.Next(b.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		if rows == 0 {
			b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms-first")
		}
		rows += batch.NumRows()
	}
	if rows != drained {
		b.Fatalf("%d rows", rows)
	}
}

// drainLibrary reads the record batches as the server sends them, amounts as integers.
func drainLibrary(b *testing.B, e *Engine) {
	began := time.Now()
	config := *e.config
	config.Transporter = nil
	conn, err := gosnowflake.NewConnector(gosnowflake.SnowflakeDriver{}, config).Connect(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	loader, err := conn.(arrows).QueryArrowStream(b.Context(), "ALL")
	if err != nil {
		b.Fatal(err)
	}
	parts, err := loader.GetBatches()
	if err != nil {
		b.Fatal(err)
	}
	rows := int64(0)
	for i := range parts {
		body, err := parts[i].GetStream(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		reader, err := ipc.NewReader(body)
		if err != nil {
			b.Fatal(err)
		}
		for reader.Next() {
			if rows == 0 {
				b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms-first")
			}
			rows += reader.RecordBatch().NumRows()
		}
		reader.Release()
		_ = body.Close()
	}
	if rows != drained {
		b.Fatalf("%d rows", rows)
	}
}
