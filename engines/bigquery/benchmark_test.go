package bigquery

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/bigquery/fake"
)

// drained is 20 million rows: BenchmarkDrain reads them by the engine, and by the service's own interface alone.
const drained = 20_000_000

var (
	drainedSQL    = fmt.Sprintf("SELECT i, CAST(i %% 1000000 AS DECIMAL(12,2)) AS n, 'label ' || (i %% 1000) AS s FROM range(%d) t(i)", drained)
	drainedFields = []engines.Field{{Name: "i", OID: 20, Typmod: -1}, {Name: "n", OID: 1700, Typmod: 12<<16 | 2 + 4}, {Name: "s", OID: 25, Typmod: -1}}
)

func BenchmarkDrain(b *testing.B) {
	p := fake.Start(b)
	e, err := Wrapper{}.Open(b.Context(), server(p))
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for name, drain := range map[string]func(*testing.B, *Engine) int64{"library": drainLibrary, "engine": drainEngine} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if n := drain(b, e.(*Engine)); n != drained {
					b.Fatalf("%d rows", n)
				}
			}
			b.ReportMetric(drained*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

func drainEngine(b *testing.B, e *Engine) (rows int64) {
	began := time.Now()
	s, err := e.Open(b.Context(), engines.Query{SQL: drainedSQL, Fields: drainedFields})
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
			b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms-first")
		}
		rows += int64(batch.NumRows())
	}
}

// drainLibrary reads the streams of a result side by side, and decodes the record batches as they come.
func drainLibrary(b *testing.B, e *Engine) int64 {
	began := time.Now()
	r, err := e.execute(b.Context(), engines.Query{SQL: drainedSQL})
	if err != nil {
		b.Fatal(err)
	}
	table := fmt.Sprintf("projects/%s/datasets/%s/tables/%s", r.table.ProjectId, r.table.DatasetId, r.table.TableId)
	session, err := e.client.storage.CreateReadSession(routed(b.Context(), "read_session.table", table), &storagepb.CreateReadSessionRequest{
		Parent: "projects/" + e.project, MaxStreamCount: mostStreams, ReadSession: &storagepb.ReadSession{Table: table, DataFormat: storagepb.DataFormat_ARROW}})
	if err != nil {
		b.Fatal(err)
	}
	var rows atomic.Int64
	var reading sync.WaitGroup
	for _, s := range session.Streams {
		reading.Go(func() {
			if err := drainStream(b, e, session, s.Name, began, &rows); err != nil {
				b.Error(err)
			}
		})
	}
	reading.Wait()
	return rows.Load()
}

func drainStream(b *testing.B, e *Engine, session *storagepb.ReadSession, name string, began time.Time, rows *atomic.Int64) error {
	d, err := newDecoder(session.GetArrowSchema().GetSerializedSchema())
	if err != nil {
		return err
	}
	stream, err := e.client.storage.ReadRows(routed(b.Context(), "read_stream", name), &storagepb.ReadRowsRequest{ReadStream: name})
	for err == nil {
		var m *storagepb.ReadRowsResponse
		if m, err = stream.Recv(); err == nil && m.RowCount > 0 {
			if _, err = d.decode(m.GetArrowRecordBatch().GetSerializedRecordBatch()); err == nil && rows.Add(m.RowCount) == m.RowCount {
				b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "ms-first")
			}
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}
