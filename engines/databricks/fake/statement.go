package fake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluicedb/sluice/engines"
)

// Order is a statement as it was handed in.
type Order struct {
	Warehouse   string `json:"warehouse_id"`
	Statement   string `json:"statement"`
	Catalog     string `json:"catalog"`
	Disposition string `json:"disposition"`
	Format      string `json:"format"`
	WaitTimeout string `json:"wait_timeout"`
	Parameters  []struct {
		Name  string  `json:"name"`
		Value *string `json:"value"`
		Type  string  `json:"type"`
	} `json:"parameters"`
}

type link struct {
	Chunk   int               `json:"chunk_index"`
	Rows    int64             `json:"row_count"`
	URL     string            `json:"external_link"`
	Expires string            `json:"expiration"`
	Next    *int              `json:"next_chunk_index,omitempty"`
	Headers map[string]string `json:"http_headers"`
}

// statement is a statement and the part of its result that was asked for last.
type statement struct {
	fake    *Workspace
	id      string
	ctx     context.Context
	stop    context.CancelFunc
	changes bool // it is no query
	opened  chan struct{}
	ended   sync.Once

	mu      sync.Mutex
	stream  engines.Stream
	err     error
	ahead   arrow.RecordBatch // read, and in no part yet
	number  int
	latest  link
	content []byte
}

func (s *statement) run(q engines.Query) {
	var err error
	if s.changes {
		err = s.fake.change(s.ctx, q)
		q = engines.Query{SQL: "SELECT 1 AS done LIMIT 0"} // what it answers nobody reads
	}
	s.fake.open.RLock()
	var stream engines.Stream
	if err == nil {
		stream, err = s.fake.duck.Open(s.ctx, q)
	}
	s.mu.Lock()
	s.stream, s.err, s.number = stream, err, -1
	if err == nil {
		s.err = s.peek()
	}
	if s.err != nil {
		s.finish()
	}
	s.mu.Unlock()
	close(s.opened)
}

// end is for a statement that nobody wants any more.
func (s *statement) end() {
	s.stop()
	<-s.opened
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish()
}

func (s *statement) finish() {
	s.ended.Do(func() {
		if s.stream != nil {
			_ = s.stream.Close()
		}
		s.fake.open.RUnlock()
		s.fake.Running.Add(-1)
	})
}

// peek reads the rows that come next, whose memory is theirs.
func (s *statement) peek() error {
	s.ahead = nil
	b, err := s.stream.Next(s.ctx)
	if errors.Is(err, io.EOF) {
		s.finish()
		return nil
	}
	if err != nil {
		return err
	}
	record := b.(engines.Columns).Record
	columns := make([]arrow.Array, record.NumCols())
	for i, c := range record.Columns() {
		if columns[i], err = array.Concatenate([]arrow.Array{c}, memory.DefaultAllocator); err != nil {
			return err
		}
	}
	s.ahead = array.NewRecordBatch(record.Schema(), columns, record.NumRows())
	return nil
}

var typeNames = map[uint32]string{16: "BOOLEAN", 21: "SHORT", 23: "INT", 20: "LONG", 700: "FLOAT", 701: "DOUBLE", 25: "STRING", 17: "BINARY", 1082: "DATE", 1184: "TIMESTAMP",
	1114: "TIMESTAMP_NTZ", 114: "STRING", 1700: "DECIMAL", 1186: "INTERVAL"}

func (s *statement) manifest() map[string]any {
	var columns []map[string]any
	for i, f := range s.stream.Fields() {
		c := map[string]any{"name": f.Name, "position": i, "type_name": typeNames[f.OID], "type_text": typeNames[f.OID]}
		if f.OID == 1700 {
			c["type_precision"], c["type_scale"] = int(f.Typmod-4)>>16, int(f.Typmod-4)&0xffff
		}
		columns = append(columns, c)
	}
	m := map[string]any{"format": "ARROW_STREAM", "schema": map[string]any{"column_count": len(columns), "columns": columns}}
	if s.ahead == nil {
		m["total_chunk_count"], m["total_row_count"] = 0, 0
	}
	return m
}

// part makes the file of a part, which is the last one or the next, of two record batches at most. Where the statement fails
// meanwhile, the file breaks off.
func (s *statement) part(n int) (link, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case n == s.number:
		return s.latest, nil
	case n != s.number+1 || s.ahead == nil:
		return link{}, fmt.Errorf("part %d is not there", n)
	}
	var out bytes.Buffer
	writer := ipc.NewWriter(&out, ipc.WithSchema(s.ahead.Schema()))
	rows, failed := int64(0), int64(0)
	for range 2 {
		if s.ahead == nil || failed > 0 {
			break
		}
		if err := writer.Write(s.ahead); err != nil {
			return link{}, err
		}
		rows += s.ahead.NumRows()
		s.fake.Produced.Add(s.ahead.NumRows())
		if err := s.peek(); err != nil {
			failed = 1
		}
	}
	if err := writer.Close(); err != nil {
		return link{}, err
	}
	s.number, s.content = n, out.Bytes()
	s.latest = link{Chunk: n, Rows: rows + failed, URL: fmt.Sprintf("/files/%s/%d?signature=x", s.id, n), Headers: map[string]string{"X-Storage": "yes"}}
	if s.ahead != nil || failed > 0 {
		next := n + 1
		s.latest.Next = &next
	}
	return s.latest, nil
}
