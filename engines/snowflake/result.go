package snowflake

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/snowflakedb/gosnowflake"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/engines/columnar"
	"github.com/sluicedb/sluice/pgerr"
)

// result reads the parts of one result one after another, each from its network connection.
type result struct {
	engine  *Engine
	session *session
	loader  gosnowflake.ArrowStreamLoader
	columns []*column
	schema  *arrow.Schema

	parts   []gosnowflake.ArrowStreamBatch
	at      int   // the part that is read, or comes next
	open    *part // nil between two parts
	record  arrow.RecordBatch
	read    int64 // rows of parts that were read to the end
	retries int
}

// part is one part of a result that is read.
type part struct {
	stop   context.CancelFunc
	body   io.Closer
	reader *ipc.Reader
	rows   int64 // that were read
	given  int64 // of these, in an earlier attempt at the same part, to be left out
}

var _ columnar.Source = (*result)(nil)

// newResult describes a result in the types wanted, or in its own where none are.
func newResult(e *Engine, s *session, loader gosnowflake.ArrowStreamLoader, wanted []engines.Field) (*result, []engines.Field, error) {
	r := &result{engine: e, session: s, loader: loader}
	types := loader.RowTypes()
	if wanted != nil && len(wanted) != len(types) {
		return nil, nil, pgerr.New(pgerr.InternalError, "the statement yields %d columns where %d are expected", len(types), len(wanted))
	}
	var fields []engines.Field
	var list []arrow.Field
	for i, t := range types {
		from := remoteColumn{name: t.Name, kind: t.Type, precision: int(t.Precision), scale: int(t.Scale)}
		field, err := from.field()
		if wanted != nil {
			field, err = wanted[i], nil
		}
		if err != nil {
			return nil, nil, err
		}
		c, err := newColumn(from, field)
		if err != nil {
			return nil, nil, err
		}
		fields, r.columns = append(fields, field), append(r.columns, c)
		list = append(list, arrow.Field{Name: field.Name, Type: c.typ, Nullable: true})
	}
	r.schema = arrow.NewSchema(list, nil)
	var err error
	if r.parts, err = loader.GetBatches(); err != nil {
		return nil, nil, malformed("%s", err)
	}
	if len(r.parts) == 0 && len(loader.JSONData()) > 0 {
		return nil, nil, pgerr.Hint(pgerr.New(pgerr.FeatureNotSupported, "the server sends the rows of this statement in another format than Arrow"),
			"SHOW and DESCRIBE cannot be read, nor can results where an administrator has fixed GO_QUERY_RESULT_FORMAT.")
	}
	return r, fields, nil
}

// tries is how often a part is opened whose reading breaks off. Its rows stay as they are, so that those that were given out are left
// out.
const tries = 3

// Next comes to the next record batch, of this part or the next.
func (r *result) Next(ctx context.Context) (arrow.RecordBatch, error) {
	r.drop()
	for {
		record, err := r.step(ctx)
		switch {
		case err == nil && record == nil:
		case err == nil:
			return r.convert(record)
		case err == io.EOF || ctx.Err() != nil || r.open == nil:
			return nil, err
		default:
			given := max(r.open.rows, r.open.given)
			r.closePart()
			if r.retries++; r.retries >= tries {
				return nil, err
			}
			again, partsErr := r.loader.GetBatches()
			if partsErr != nil || len(again) != len(r.parts) {
				return nil, err
			}
			r.parts = again
			r.open = &part{given: given}
		}
	}
}

// step returns a record batch of the part that is open, or none where that has begun or ended.
func (r *result) step(ctx context.Context) (arrow.RecordBatch, error) {
	if r.open == nil {
		if r.at == len(r.parts) {
			if total := r.loader.TotalRows(); total != r.read {
				return nil, fmt.Errorf("there are %d rows of %d", r.read, total)
			}
			return nil, io.EOF
		}
		r.open = &part{}
	}
	p := r.open
	if p.reader == nil {
		return nil, r.start(ctx, p)
	}
	if p.reader.Next() {
		return r.take(p, p.reader.RecordBatch()), nil
	}
	if err := p.reader.Err(); err != nil && err != io.EOF {
		return nil, err
	}
	if want := r.parts[r.at].NumRows(); p.rows != want { // the format has no end that a cut could not be taken for
		return nil, fmt.Errorf("a part has %d rows of %d", p.rows, want)
	}
	r.closePart()
	r.parts[r.at] = gosnowflake.ArrowStreamBatch{}
	r.read, r.retries = r.read+p.rows, 0
	r.at++
	return nil, nil
}

// start opens a part.
func (r *result) start(ctx context.Context, p *part) error {
	ctx, p.stop = context.WithCancel(ctx)
	ctx, t := noting(ctx)
	body, err := r.parts[r.at].GetStream(ctx)
	if err == nil {
		p.body = body
		p.reader, err = ipc.NewReader(body)
	}
	var se *gosnowflake.SnowflakeError
	switch {
	case t.err != nil:
		err = t.err
	case errors.As(err, &se):
		err = errors.New("a part of the result was refused")
	}
	if errors.Is(err, io.EOF) { // of the network, and not of the rows
		err = io.ErrUnexpectedEOF
	}
	return err
}

// take is a record batch without the rows that were given out before; nil where none are left.
func (r *result) take(p *part, record arrow.RecordBatch) arrow.RecordBatch {
	skip := min(max(p.given-p.rows, 0), record.NumRows())
	p.rows += record.NumRows()
	if skip == record.NumRows() {
		return nil
	}
	return record.NewSlice(skip, record.NumRows())
}

// convert brings a record batch to the types that the fields say. It frees what it is given.
func (r *result) convert(record arrow.RecordBatch) (arrow.RecordBatch, error) {
	defer record.Release()
	if int(record.NumCols()) != len(r.columns) {
		return nil, malformed("%d columns of %d", record.NumCols(), len(r.columns))
	}
	list := make([]arrow.Array, len(r.columns))
	defer func() {
		for _, a := range list {
			if a != nil {
				a.Release()
			}
		}
	}()
	for i, c := range r.columns {
		var err error
		if list[i], err = c.convert(record.Column(i)); err != nil {
			return nil, err
		}
	}
	r.record = array.NewRecordBatch(r.schema, list, record.NumRows())
	return r.record, nil
}

func (r *result) drop() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

func (r *result) closePart() {
	p := r.open
	if p == nil {
		return
	}
	if p.stop != nil {
		p.stop()
	}
	if p.reader != nil {
		p.reader.Release()
	}
	if p.body != nil {
		_ = p.body.Close()
	}
	r.open = nil
}

// Close frees what is read. The statement has ended at the server before its rows came.
func (r *result) Close(bool) {
	r.drop()
	r.closePart()
	r.engine.release(r.session)
}
