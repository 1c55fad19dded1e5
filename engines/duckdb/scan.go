package duckdb

import (
	"io"
	"sync"
	"unicode/utf8"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/sluicedb/sluice/engines"
	"github.com/sluicedb/sluice/pgerr"
)

// scan reads the stream of one feed, on whatever threads DuckDB has. It holds one batch.
type scan struct {
	run     *federated
	width   int // columns of the stream
	columns []scanColumn

	mu     sync.Mutex
	stream engines.Stream // nil once it was closed
	batch  engines.Batch  // nil when it is used up
	row    int            // of Columns: the next one
	data   []byte         // of Frames: what is left
}

// scanColumn is a column that the statement reads.
type scanColumn struct {
	source, target int // its place in the stream and in the chunk
	typ            *feedType
	sink           sink
	offsets        []int32 // of texts in binary form
	text           []byte
}

func (b *boundFeed) open() (*scan, error) {
	stream, err := b.feed.Open(b.run.ctx)
	if err != nil {
		return nil, err
	}
	s := &scan{run: b.run, stream: stream, width: len(b.types)}
	if n := len(stream.Fields()); n != s.width {
		s.close()
		return nil, pgerr.New(pgerr.InternalError, "a stream of %d columns came for a feed of %d", n, s.width)
	}
	b.run.add(s)
	return s, nil
}

// close closes the stream, once.
func (s *scan) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil {
		_ = s.stream.Close() // the scan is over: there is nobody to tell
		s.stream, s.batch = nil, nil
	}
}

// fill puts the next rows into a chunk, none at the end.
func (s *scan) fill(chunk bindings.DataChunk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n == 0 {
		if err := s.fetch(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		for i := range s.columns {
			c := &s.columns[i]
			c.sink = sinkOf(bindings.DataChunkGetVector(chunk, bindings.IdxT(c.target)))
		}
		var err error
		if n, err = s.take(); err != nil {
			return err
		}
	}
	bindings.DataChunkSetSize(chunk, bindings.IdxT(n))
	return nil
}

// fetch makes sure that there is a batch in hand.
func (s *scan) fetch() error {
	for s.batch == nil {
		if s.stream == nil {
			return io.EOF
		}
		batch, err := s.stream.Next(s.run.ctx)
		if err == io.EOF && s.run.ctx.Err() != nil { // a driver may end a cancelled result as if it were whole
			err = pgerr.Ended(s.run.ctx)
		}
		if err != nil {
			return err
		}
		if batch.NumRows() == 0 {
			continue
		}
		s.batch, s.row = batch, 0
		if f, ok := batch.(engines.Frames); ok {
			s.data = f.Data
		}
	}
	return nil
}

// take moves rows of the batch in hand into the sinks and returns how many.
func (s *scan) take() (n int, err error) {
	switch b := s.batch.(type) {
	case engines.Columns:
		to := min(s.row+chunkRows, b.NumRows())
		n = to - s.row
		for i := range s.columns {
			c := &s.columns[i]
			if err := c.sink.put(c.typ, 0, b.Record.Column(c.source), s.row, to); err != nil {
				return 0, err
			}
		}
		if s.row = to; to == b.NumRows() {
			s.batch = nil
		}
		return n, nil
	case engines.Frames:
		if n, err = s.takeFrames(); len(s.data) == 0 {
			s.batch = nil
		}
		return n, err
	default:
		return 0, pgerr.New(pgerr.InternalError, "unknown form of batch %T", b)
	}
}

// takeFrames reads up to a chunk of DataRow messages.
func (s *scan) takeFrames() (n int, err error) {
	places := make([]*scanColumn, s.width)
	for i := range s.columns {
		c := &s.columns[i]
		places[c.source] = c
		c.offsets, c.text = append(c.offsets[:0], 0), c.text[:0]
	}
	s.data, err = someFrames(s.data, chunkRows, s.width, func(i int, v []byte) error {
		if places[i] == nil {
			return nil
		}
		return places[i].read(n, v)
	}, func() error { n++; return nil })
	for i := range s.columns {
		if c := &s.columns[i]; c.typ.isText() && err == nil {
			c.sink.assignTexts(0, c.offsets, c.text)
		}
	}
	return n, err
}

// read takes in a value in binary form, nil for NULL.
func (c *scanColumn) read(row int, v []byte) error {
	if v == nil {
		c.sink.null(row)
	} else if !c.typ.isText() {
		return c.typ.binary(c.typ, c.sink.data, row, v)
	}
	if c.typ.isText() {
		if c.typ.id == bindings.TypeVarchar && !utf8.Valid(v) {
			return pgerr.New(codeCharacterNotInRepertoire, "invalid byte sequence for encoding \"UTF8\"")
		}
		c.text = append(c.text, v...)
		c.offsets = append(c.offsets, int32(len(c.text)))
	}
	return nil
}
