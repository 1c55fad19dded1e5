package fake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/sluicedb/sluice/engines"
)

var columnTypes = map[uint32]Column{16: {Type: "boolean"}, 21: {Type: "fixed", Precision: 4}, 23: {Type: "fixed", Precision: 9}, 20: {Type: "fixed", Precision: 18},
	701: {Type: "real"}, 25: {Type: "text"}, 1043: {Type: "text"}, 17: {Type: "binary"}, 1082: {Type: "date"}, 1083: {Type: "time", Scale: 9}, 1114: {Type: "timestamp_ntz", Scale: 9},
	1184: {Type: "timestamp_ltz", Scale: 9}, 114: {Type: "variant"}, 1186: {Type: "vector"}}

// describe says how the service describes columns.
func describe(fields []engines.Field) ([]Column, error) {
	var list []Column
	for _, f := range fields {
		c := columnTypes[f.OID]
		if f.OID == 1700 && f.Typmod > 4 {
			c = Column{Type: "fixed", Precision: int(f.Typmod-4) >> 16, Scale: int(f.Typmod-4) & 0xffff}
		}
		if c.Type == "" {
			return nil, fmt.Errorf("the fake has no type for OID %d", f.OID)
		}
		c.Name, c.Nullable = f.Name, true
		list = append(list, c)
	}
	return list, nil
}

// beginning is the rows that the answer itself has.
func (s *statement) beginning() ([]byte, int64, error) {
	b, err := s.stream.Next(s.ctx)
	if err != nil {
		return nil, 0, err
	}
	record := s.carried(b.(engines.Columns).Record)
	defer record.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(record.Schema()))
	if err := w.Write(record); err != nil {
		return nil, 0, err
	}
	s.fake.Produced.Add(record.NumRows())
	return out.Bytes(), record.NumRows(), w.Close()
}

// recite gives the answer that is written down.
func (s *statement) recite() error {
	s.columns = s.script.Columns
	s.total = int64(len(s.script.JSON))
	if s.inline = s.total; s.script.Record == nil {
		return nil
	}
	s.total = s.script.Record.NumRows()
	s.inline = s.total
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(s.script.Record.Schema()))
	if err := w.Write(s.script.Record); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if s.first = out.Bytes(); s.script.Parts > 0 {
		s.stored, s.first, s.inline = s.first, nil, 0
		s.partRows, s.total = s.total, s.total*int64(s.script.Parts)
	}
	return nil
}

// part is what storage yields, to whoever has the address and shows no token. Where the statement fails meanwhile, it breaks off.
func (a *Account) part(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	s := a.statements[r.PathValue("id")]
	a.mu.Unlock()
	n, err := strconv.Atoi(r.PathValue("n"))
	if s == nil || err != nil || r.Header.Get("Authorization") != "" || r.Header.Get("X-Storage") != "yes" {
		http.Error(w, "this is not for you", http.StatusForbidden)
		return
	}
	if s.stored != nil {
		_, _ = w.Write(s.stored)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(w, r, n); err != nil {
		s.forget()
		panic(http.ErrAbortHandler)
	}
}

// write sends the rows of a part.
func (s *statement) write(w io.Writer, r *http.Request, n int) error {
	from := s.inline + int64(n)*s.partRows
	left := min(s.partRows, s.total-from)
	if s.stream == nil || s.next != n {
		if err := s.seek(from); err != nil {
			return err
		}
	}
	s.next = n + 1
	cut := s.fake.Cut.Add(-1) >= 0
	if cut {
		left = left * 2 / 3
	}
	var writer *ipc.Writer
	for left > 0 {
		record, err := s.take(r, left)
		if err != nil {
			return err
		}
		carried := s.carried(record)
		if writer == nil {
			writer = ipc.NewWriter(w, ipc.WithSchema(carried.Schema()))
		}
		err = writer.Write(carried)
		carried.Release()
		if err != nil {
			return err
		}
		left -= record.NumRows()
		s.fake.Produced.Add(record.NumRows())
	}
	if cut {
		return errors.New("cut")
	}
	if from+s.partRows >= s.total {
		s.forget()
	}
	return writer.Close()
}

// take returns so many rows at most of those that come next. They are the stream's until its next batch.
func (s *statement) take(r *http.Request, most int64) (arrow.RecordBatch, error) {
	if s.rest == nil {
		b, err := s.stream.Next(r.Context())
		if err != nil {
			return nil, err
		}
		s.rest = b.(engines.Columns).Record
	}
	record := s.rest
	s.rest = nil
	if n := record.NumRows(); n > most {
		s.rest = record.NewSlice(most, n)
		record = record.NewSlice(0, most)
	}
	return record, nil
}

// seek makes the stream one that begins with a row.
func (s *statement) seek(row int64) error {
	s.forget()
	q := s.query
	q.SQL = fmt.Sprintf("SELECT * FROM (%s) OFFSET %d", q.SQL, row)
	return s.open(q)
}

// carried is a record batch as the service sends it.
func (s *statement) carried(record arrow.RecordBatch) arrow.RecordBatch {
	fields := make([]arrow.Field, record.NumCols())
	list := make([]arrow.Array, record.NumCols())
	for i, c := range record.Columns() {
		list[i] = carry(c)
		fields[i] = arrow.Field{Name: s.columns[i].Name, Type: list[i].DataType(), Nullable: true, Metadata: arrow.NewMetadata(
			[]string{"logicalType", "precision", "scale"}, []string{s.columns[i].Type, strconv.Itoa(s.columns[i].Precision), strconv.Itoa(s.columns[i].Scale)})}
	}
	out := array.NewRecordBatch(arrow.NewSchema(fields, nil), list, record.NumRows())
	for _, a := range list {
		a.Release()
	}
	return out
}

var instants = arrow.StructOf(arrow.Field{Name: "epoch", Type: arrow.PrimitiveTypes.Int64}, arrow.Field{Name: "fraction", Type: arrow.PrimitiveTypes.Int32})

// carry brings an array to the form that the service has for its type: integers of so many digits for decimals of up to 18, and seconds
// and nanoseconds for timestamps.
func carry(a arrow.Array) arrow.Array {
	switch a := a.(type) {
	case *array.Decimal128:
		if a.DataType().(*arrow.Decimal128Type).Precision > 18 {
			break
		}
		return integers(a, func(i int) int64 { return int64(a.Value(i).LowBits()) })
	case *array.Time64:
		return integers(a, func(i int) int64 { return int64(a.Value(i)) * 1000 })
	case *array.Timestamp:
		b := array.NewStructBuilder(memory.DefaultAllocator, instants)
		defer b.Release()
		for i := range a.Len() {
			if a.IsNull(i) {
				b.AppendNull()
				continue
			}
			b.Append(true)
			at := a.Value(i).ToTime(arrow.Microsecond)
			b.FieldBuilder(0).(*array.Int64Builder).Append(at.Unix())
			b.FieldBuilder(1).(*array.Int32Builder).Append(int32(at.Nanosecond()))
		}
		return b.NewArray()
	}
	a.Retain()
	return a
}

func integers(a arrow.Array, value func(i int) int64) arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(value(i))
		}
	}
	return b.NewArray()
}
