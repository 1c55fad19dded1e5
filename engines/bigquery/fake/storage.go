package fake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/sluicedb/sluice/engines"
)

// rows are those of a job, from which the streams of a session take a message each in turn.
type rows struct {
	fake   *Project
	schema []byte

	mu     sync.Mutex
	stream engines.Stream
	shapes []shape
	ahead  arrow.RecordBatch // read, and in no message yet
	err    error             // that comes behind it
	out    map[string]*sent
	closed bool
}

// sent is what a stream has got, of which the last is kept: reading may be taken up there.
type sent struct {
	offset int64
	kept   []chunk
	size   int
}

type chunk struct {
	at, rows int64
	data     []byte
}

const mostKept = 4 << 20

func newRows(ctx context.Context, p *Project, stream engines.Stream) (*rows, error) {
	r := &rows{fake: p, stream: stream, out: map[string]*sent{}}
	fields := make([]arrow.Field, len(stream.Fields()))
	b, err := stream.Next(ctx)
	if err != nil && err != io.EOF {
		return nil, err
	}
	for i, f := range stream.Fields() {
		s, err := shapeOf(f, columnType(b, i))
		if err != nil {
			return nil, err
		}
		r.shapes = append(r.shapes, s)
		fields[i] = arrow.Field{Name: f.Name, Type: s.typ, Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	payload := ipc.GetSchemaPayload(schema, memory.DefaultAllocator)
	defer payload.Release()
	if _, err := payload.WritePayload(&out); err != nil {
		return nil, err
	}
	r.schema = out.Bytes()
	if r.err = err; b != nil {
		r.gather(ctx, schema, b)
	}
	return r, nil
}

// gather makes a message of a batch and those behind it: the service's are larger than DuckDB's.
func (r *rows) gather(ctx context.Context, schema *arrow.Schema, b engines.Batch) {
	const most = 800 << 10
	var parts []arrow.RecordBatch
	for size := 0; ; {
		record, err := reshape(schema, b.(engines.Columns).Record, r.shapes)
		if err != nil {
			r.err = err
			break
		}
		parts = append(parts, record)
		for _, c := range record.Columns() {
			size += int(c.Data().SizeInBytes())
		}
		if size+size/len(parts) > most {
			break
		}
		if b, r.err = r.stream.Next(ctx); r.err != nil {
			break
		}
	}
	columns := make([]arrow.Array, schema.NumFields())
	rows := int64(0)
	for i := range columns {
		list := make([]arrow.Array, len(parts))
		for j, p := range parts {
			list[j] = p.Column(i)
		}
		var err error
		if columns[i], err = array.Concatenate(list, memory.DefaultAllocator); err != nil {
			r.err = err
			return
		}
		rows = int64(columns[i].Len())
	}
	r.ahead = array.NewRecordBatch(schema, columns, rows)
}

func columnType(b engines.Batch, i int) arrow.DataType {
	if b == nil {
		return nil
	}
	return b.(engines.Columns).Record.Column(i).DataType()
}

func (r *rows) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		_ = r.stream.Close()
		r.out = map[string]*sent{}
	}
}

// next returns the message of a stream that begins at a row: one that it has got before, or a new one; nil at the end.
func (r *rows) next(ctx context.Context, stream string, at int64) (*chunk, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.out[stream]
	if s == nil {
		s = &sent{}
		r.out[stream] = s
	}
	if at < s.offset {
		for _, c := range s.kept {
			if c.at == at {
				return &c, nil
			}
		}
		return nil, status.Errorf(codes.OutOfRange, "row %d of stream %s", at, stream)
	}
	if at > s.offset || r.closed {
		return nil, status.Errorf(codes.OutOfRange, "row %d of stream %s, which has %d", at, stream, s.offset)
	}
	if r.ahead == nil {
		if r.err == io.EOF {
			return nil, nil
		}
		return nil, status.Error(codes.FailedPrecondition, r.err.Error())
	}
	c, err := r.message(at)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	s.offset += c.rows
	s.kept, s.size = append(s.kept, *c), s.size+len(c.data)
	for s.size > mostKept {
		s.size -= len(s.kept[0].data)
		s.kept = s.kept[1:]
	}
	r.peek(ctx)
	return c, nil
}

func (r *rows) message(at int64) (*chunk, error) {
	payload, err := ipc.GetRecordBatchPayload(r.ahead)
	if err != nil {
		return nil, err
	}
	defer payload.Release()
	var out bytes.Buffer
	if _, err := payload.WritePayload(&out); err != nil {
		return nil, err
	}
	return &chunk{at: at, rows: r.ahead.NumRows(), data: out.Bytes()}, nil
}

func (r *rows) peek(ctx context.Context) {
	schema := r.ahead.Schema()
	r.ahead.Release()
	r.ahead = nil
	if r.err != nil {
		return
	}
	b, err := r.stream.Next(ctx)
	if r.err = err; err == nil {
		r.gather(ctx, schema, b)
	}
}

// permitted looks at the headers of a request: who asks, and what about.
func (p *Project) permitted(ctx context.Context, parameter string) error {
	headers, _ := metadata.FromIncomingContext(ctx)
	if !p.accepts(strings.Join(headers.Get("authorization"), "")) {
		return status.Error(codes.Unauthenticated, "Request had invalid authentication credentials.")
	}
	if got := strings.Join(headers.Get("x-goog-request-params"), ""); got != parameter {
		return status.Errorf(codes.InvalidArgument, "the request is routed by %q, not %q", got, parameter)
	}
	return nil
}

// CreateReadSession prepares the reading of a job's result.
func (p *Project) CreateReadSession(ctx context.Context, q *storagepb.CreateReadSessionRequest) (*storagepb.ReadSession, error) {
	table := q.GetReadSession().GetTable()
	if err := p.permitted(ctx, "read_session.table="+strings.ReplaceAll(table, "/", "%2F")); err != nil {
		return nil, err
	}
	id, ok := strings.CutPrefix(table, "projects/"+Name+"/datasets/_results/tables/anon")
	p.mu.Lock()
	j := p.jobs[id]
	p.mu.Unlock()
	switch {
	case !ok || j == nil:
		return nil, status.Errorf(codes.NotFound, "Not found: Table %s", table)
	case q.Parent != "projects/"+Name || q.ReadSession.DataFormat != storagepb.DataFormat_ARROW || q.MaxStreamCount < 1:
		return nil, status.Errorf(codes.InvalidArgument, "the request is %v", q)
	}
	<-j.done
	if j.rows == nil {
		return nil, status.Error(codes.NotFound, errGone.Error())
	}
	session := &storagepb.ReadSession{
		Name: "projects/" + Name + "/locations/eu/sessions/" + id, Table: table, DataFormat: storagepb.DataFormat_ARROW,
		Schema: &storagepb.ReadSession_ArrowSchema{ArrowSchema: &storagepb.ArrowSchema{SerializedSchema: j.rows.schema}},
	}
	j.rows.mu.Lock()
	defer j.rows.mu.Unlock()
	if j.rows.ahead == nil && j.rows.err == io.EOF {
		return session, nil
	}
	for i := range min(int(q.MaxStreamCount), int(p.Streams.Load())) {
		session.Streams = append(session.Streams, &storagepb.ReadStream{Name: session.Name + "/streams/" + strconv.Itoa(i)})
	}
	return session, nil
}

// ReadRows sends a stream's messages from a row on.
func (p *Project) ReadRows(q *storagepb.ReadRowsRequest, to storagepb.BigQueryRead_ReadRowsServer) error {
	ctx := to.Context()
	if err := p.permitted(ctx, "read_stream="+strings.ReplaceAll(q.ReadStream, "/", "%2F")); err != nil {
		return err
	}
	parts := strings.Split(q.ReadStream, "/")
	if len(parts) != 8 {
		return status.Errorf(codes.InvalidArgument, "stream %s", q.ReadStream)
	}
	p.mu.Lock()
	j := p.jobs[parts[5]]
	p.mu.Unlock()
	if j == nil {
		return status.Errorf(codes.NotFound, "Not found: stream %s", q.ReadStream)
	}
	p.Running.Add(1)
	defer p.Running.Add(-1)
	j.read.Add(1)
	defer j.read.Add(-1)
	at, cut := q.Offset, p.Cut.Add(-1) >= 0
	for {
		c, err := j.rows.next(ctx, q.ReadStream, at)
		if err != nil || c == nil {
			return err
		}
		err = to.Send(&storagepb.ReadRowsResponse{RowCount: c.rows, Rows: &storagepb.ReadRowsResponse_ArrowRecordBatch{
			ArrowRecordBatch: &storagepb.ArrowRecordBatch{SerializedRecordBatch: c.data}}})
		if err != nil {
			return err
		}
		p.Produced.Add(c.rows)
		at += c.rows
		if cut {
			return status.Error(codes.Unavailable, "the connection is gone")
		}
	}
}

var errShape = errors.New("no such type")

func unshaped(f engines.Field, t arrow.DataType) error {
	return fmt.Errorf("%w: %s of %v", errShape, f.Name, t)
}
