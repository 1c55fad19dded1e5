package bigquery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/columnar"
	"github.com/sluicedb/sluice/pgerr"
)

// mostStreams is by how many streams rows come whose order does not matter.
const mostStreams = 4

// open has the service prepare the reading of a result, and begins it.
func (e *Engine) open(ctx context.Context, q engines.Query, r *result) (engines.Stream, error) {
	table := "projects/" + r.table.ProjectId + "/datasets/" + r.table.DatasetId + "/tables/" + r.table.TableId
	order := &storagepb.CreateReadSessionRequest{
		Parent: "projects/" + e.project, MaxStreamCount: mostStreams,
		ReadSession: &storagepb.ReadSession{Table: table, DataFormat: storagepb.DataFormat_ARROW},
	}
	if sorted(q.SQL) { // which holds within a stream alone
		order.MaxStreamCount = 1
	}
	session, err := call(ctx, e.client, func(ctx context.Context) (*storagepb.ReadSession, error) {
		return e.client.storage.CreateReadSession(routed(ctx, "read_session.table", table), order)
	})
	if err != nil {
		return nil, err
	}
	if len(session.Streams) > 1 && order.MaxStreamCount == 1 {
		return nil, malformed(errors.New("rows in order would come by several streams"))
	}
	d, err := newDecoder(session.GetArrowSchema().GetSerializedSchema())
	if err != nil {
		return nil, err
	}
	forms, err := formsOf(d.schema(), q.Fields)
	if err != nil {
		return nil, err
	}
	return columnar.NewStream(e.server, fieldsOf(forms), e.read(session, &rows{decoder: d, forms: forms, total: r.rows})), nil
}

// rows are the record batches of one result, whose streams are received by a goroutine each. One holds a message until that is
// taken.
type rows struct {
	decoder *decoder
	forms   []form
	total   int64 // rows that there must be, 0 where that is not known
	read    int64

	stop     context.CancelFunc
	reading  sync.WaitGroup
	messages chan message
	record   arrow.RecordBatch
}

// message is a record batch as it came, or the error that a stream has ended with.
type message struct {
	data []byte
	rows int64
	err  error
}

// read begins to receive the streams.
func (e *Engine) read(session *storagepb.ReadSession, r *rows) *rows {
	ctx, stop := context.WithCancel(context.Background())
	r.stop, r.messages = stop, make(chan message)
	for _, s := range session.Streams {
		one := &received{client: e.client, name: s.Name, to: r.messages}
		r.reading.Go(func() { one.run(ctx) })
	}
	go func() {
		r.reading.Wait()
		close(r.messages)
	}()
	return r
}

// Next returns the next record batch, in the types that home has for the columns.
func (r *rows) Next(ctx context.Context) (arrow.RecordBatch, error) {
	r.release()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case m, more := <-r.messages:
		switch {
		case !more:
			return nil, r.complete()
		case m.err != nil:
			return nil, m.err
		}
		record, err := r.decoder.decode(m.data)
		if err != nil {
			return nil, err
		}
		if record.NumRows() != m.rows || int(record.NumCols()) != len(r.forms) {
			return nil, malformed(fmt.Errorf("a message has %d rows of %d columns and should have %d of %d", record.NumRows(), record.NumCols(), m.rows, len(r.forms)))
		}
		r.read += m.rows
		r.record, err = convert(record, r.forms)
		return r.record, err
	}
}

// complete looks at whether all rows have come.
func (r *rows) complete() error {
	if r.total > 0 && r.total != r.read {
		return fmt.Errorf("there are %d rows of %d", r.read, r.total)
	}
	return io.EOF
}

func (r *rows) release() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

// Close ends the streams, which are all that runs: the job has ended.
func (r *rows) Close(bool) {
	r.stop()
	r.release()
	for range r.messages { // until each stream has seen that
	}
}

// received is one stream of rows.
type received struct {
	client *client
	name   string
	to     chan<- message
	offset int64 // rows that have come
}

// A stream that breaks off is taken up where it broke, so often in a row, unless so many bytes have come meanwhile.
const (
	breaks    = 3
	longSince = 16 << 20
)

func (r *received) run(ctx context.Context) {
	broken := 0
	for {
		size, err := r.receive(ctx)
		if size >= longSince {
			broken = 0
		}
		if broken++; err != nil && broken < breaks && resumable(err) && pause(ctx, time.Duration(broken)*100*time.Millisecond) == nil {
			continue
		}
		if err == nil {
			return
		}
		r.hand(ctx, message{err: brokenOff(err)})
		return
	}
}

// receive hands on the messages of a stream from the offset on, until it ends (nil) or breaks off.
func (r *received) receive(ctx context.Context) (size int, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := r.client.storage.ReadRows(routed(ctx, "read_stream", r.name), &storagepb.ReadRowsRequest{ReadStream: r.name, Offset: r.offset})
	if err != nil {
		return 0, err
	}
	for {
		m, err := stream.Recv()
		switch {
		case err == io.EOF:
			return size, nil
		case err != nil:
			return size, err
		case m.RowCount == 0:
			continue
		}
		data := m.GetArrowRecordBatch().GetSerializedRecordBatch()
		if !r.hand(ctx, message{data: data, rows: m.RowCount}) {
			return size, ctx.Err()
		}
		r.offset += m.RowCount
		size += len(data)
	}
}

func (r *received) hand(ctx context.Context, m message) bool {
	select {
	case r.to <- m:
		return true
	case <-ctx.Done():
		return false
	}
}

// resumable reports whether a stream that ended so can be taken up.
func resumable(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.Internal, codes.Aborted, codes.DeadlineExceeded:
		return true
	}
	return false
}

// brokenOff is the error of a stream: that of the network where it is one of that, even if there is none to connect to any more.
func brokenOff(err error) error {
	if s, ok := status.FromError(err); ok && s.Code() != codes.Unavailable && s.Code() != codes.DeadlineExceeded {
		return rowsRefused(s)
	}
	return pgerr.Hint(pgerr.New(pgerr.ConnectionFailure, "the rows broke off: %s", status.Convert(err).Message()), "Run the statement again.")
}

// sorted reports whether a statement may ask for an order. What stands in texts does not matter, as one stream is never wrong.
func sorted(sql string) bool { return orderBy.MatchString(sql) }

var orderBy = regexp.MustCompile(`(?i)\border\s+by\b`)
